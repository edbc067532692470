"""Logs that show only a part: tails, nightlies without the backend line, starts at risk."""

from __future__ import annotations

from .. import failure as f
from .. import tracebacks as tb
from ..release import V0300, V0330, nightly
from ..sample import Expect, scenario
from ..server import Server
from ..startup import startup
from ..traffic import kv_metrics, load, requests, stats
from ..writer import Log
from .common import (
    BACKEND,
    CAPTURE,
    FLAGSHIP,
    FUSED,
    ILLEGAL,
    LAUNCH,
    SPILL,
    confirmed,
    crash,
    fault,
    first,
    ruled_out,
)


def _tail(server: Server, *, metrics: bool = False, dump: bool = False, rank: int = 5) -> Log:
    log = Log(server.release, start="10:07:40")
    stats(log, server, 16, 97.6)
    if metrics:
        kv_metrics(log, server, 733184, 96871, 4067033088)
    log.tick(7)
    proc = server.worker(rank)
    f.async_error(log, proc)
    f.stalled(log, server)
    if dump:
        f.dump(log, server)
    f.engine_fatal(log, server, tb.rpc_timeout("sample_tokens"))
    f.api_dead(log, server, 1)
    for worker in server.all_workers():
        message = "Parent process exited, terminating worker queues"
        log.record(worker, "INFO", "parentgone", message)
    f.api_exit(log, server)
    return log


def _open(**over: object) -> Expect:
    expect: Expect = {
        "status": "probable",
        "root": LAUNCH,
        "outcome": "crashed",
        "faulting": ["Worker_TP5"],
        "considered": {FLAGSHIP: "open"},
        "because": {FLAGSHIP: "(?i)backend"},
        "evidence": [fault("Worker_TP5")],
        "first_failure": first("Worker_TP5"),
        "not_roots": [FLAGSHIP, FUSED, CAPTURE],
        "exit": 1,
    }
    return expect | over


@scenario("flagship/tail_only_033")
def tail_only() -> tuple[Log, Expect]:
    """0.33.0, only the crash tail: no banner, no configuration, no HiSparse line."""
    return _tail(Server(hisparse=False)), _open()


@scenario("flagship/tail_with_dump_033")
def tail_dump() -> tuple[Log, Expect]:
    """0.33.0, a tail whose dump repeats the configuration: version, TP and graphs are known."""
    return _tail(Server(hisparse=False), dump=True), _open(
        facts={"vllm.version": "0.33.0", "parallel.tp": 8, "engine.enforce_eager": False,
               "cuda_graphs.mode": "FULL_AND_PIECEWISE"},
        fact_basis={"parallel.tp": "stated"},
    )  # fmt: skip


@scenario("flagship/tail_with_dump_eager_033")
def tail_dump_eager() -> tuple[Log, Expect]:
    """0.33.0, a tail whose dump says enforce_eager=True: that alone refutes the flagship."""
    return _tail(Server(hisparse=False, eager=True), dump=True), _open(
        considered={FLAGSHIP: "ruled-out"}, because={FLAGSHIP: "(?i)another DSA model"},
        facts={"engine.enforce_eager": True},
    )  # fmt: skip


@scenario("flagship/tail_with_metrics_033")
def tail_metrics() -> tuple[Log, Expect]:
    """0.33.0, a tail with HiSparse metrics: one specific condition is true, so it is probable."""
    expect = confirmed(["Worker_TP5"], status="probable", evidence=[fault("Worker_TP5"), SPILL])
    for key in ("facts", "fact_basis", "remedies"):
        del expect[key]
    return _tail(Server(), metrics=True), expect | {
        "facts": {"hisparse.enabled": True, "hisparse.spilled": True}
    }


@scenario("flagship/warning_level_033")
def warning_level() -> tuple[Log, Expect]:
    """0.33.0 at VLLM_LOGGING_LEVEL=WARNING: no INFO line exists, so absence proves nothing.

    The HiSparse warning is the only specific sign: probable.
    """
    full = crash(Server(), [5])
    keep = [line for line in full.lines if " INFO 12-01 " not in line.data]
    full.lines = keep
    expect = confirmed(["Worker_TP5"], status="probable", evidence=[fault("Worker_TP5")])
    for key in ("facts", "fact_basis", "remedies"):
        del expect[key]
    return full, expect | {"facts": {"hisparse.enabled": True}}


@scenario("flagship/illegal_access_033")
def illegal_access() -> tuple[Log, Expect]:
    """0.33.0, all conditions of the flagship, but the text is an illegal memory access."""
    return crash(Server(), [5], kind="illegal"), confirmed(
        ["Worker_TP5"],
        status="probable",
        evidence=[fault("Worker_TP5", "illegal"), BACKEND, SPILL],
        first_failure=first("Worker_TP5", "illegal"),
        not_roots=[FUSED, CAPTURE, LAUNCH],
    )


@scenario("generic/illegal_access_trtllm_033")
def illegal_trtllm() -> tuple[Log, Expect]:
    """0.33.0 with trtllm and no HiSparse: an illegal access that nothing names."""
    log = crash(Server(hisparse=False, backend="trtllm"), [5], kind="illegal", metrics=False)
    return log, ruled_out(
        "(?i)trtllm|hisparse", ["Worker_TP5"], root=ILLEGAL, not_roots=[FLAGSHIP, FUSED, LAUNCH],
        evidence=[fault("Worker_TP5", "illegal")], first_failure=first("Worker_TP5", "illegal"),
    )  # fmt: skip


def _nightly(version: str, backend: str | None = None) -> Log:
    return crash(Server(nightly(version), backend=backend), [5])


def _nightly_probable(version: str, **facts: object) -> Expect:
    expect = confirmed(
        ["Worker_TP5"], status="probable", evidence=[fault("Worker_TP5"), SPILL],
        facts={"vllm.version": version, "hisparse.enabled": True, **facts},
    )  # fmt: skip
    del expect["remedies"], expect["fact_basis"]
    return expect


@scenario("flagship/nightly_bad_commit")
def nightly_bad() -> tuple[Log, Expect]:
    """Nightly at the field's crashing commit, 9 digits, no backend line: mnnvl is inferred."""
    version = "0.1.dev21371+g65faf4efa"
    expect = _nightly_probable(version, **{"allreduce.backend": "mnnvl"})
    return _nightly(version), expect | {"fact_basis": {"allreduce.backend": "inferred"}}


@scenario("flagship/nightly_bad_commit_12_digits")
def nightly_bad_long() -> tuple[Log, Expect]:
    """Nightly at the bisection's first bad commit, 12 digits; shas compare as prefixes."""
    version = "0.1.dev21180+g21e09ea9590c"
    expect = _nightly_probable(version, **{"allreduce.backend": "mnnvl"})
    return _nightly(version), expect | {"fact_basis": {"allreduce.backend": "inferred"}}


@scenario("flagship/nightly_good_commit")
def nightly_good() -> tuple[Log, Expect]:
    """Nightly at the field's clean commit, no backend line: trtllm is inferred, ruled out."""
    return _nightly("0.1.dev20877+g4a30c4cad"), ruled_out(
        "(?i)trtllm", ["Worker_TP5"], facts={"allreduce.backend": "trtllm"},
        fact_basis={"allreduce.backend": "inferred"},
    )  # fmt: skip


@scenario("flagship/nightly_bad_commit_trtllm_line")
def nightly_bad_trtllm() -> tuple[Log, Expect]:
    """Nightly at a crashing commit whose log says backend=trtllm: the line beats the commit."""
    return _nightly("0.1.dev21371+g65faf4efa0", "trtllm"), ruled_out(
        "(?i)trtllm", ["Worker_TP5"], facts={"allreduce.backend": "trtllm"},
        fact_basis={"allreduce.backend": "stated"},
    )  # fmt: skip


@scenario("flagship/nightly_good_commit_mnnvl_line")
def nightly_good_mnnvl() -> tuple[Log, Expect]:
    """Nightly at the last clean commit with mnnvl forced: the line beats the commit, confirmed."""
    expect = confirmed(["Worker_TP5"], facts={"vllm.version": "0.1.dev21179+gf98ae6a9f"})
    del expect["remedies"]
    return _nightly("0.1.dev21179+gf98ae6a9f", "mnnvl"), expect


@scenario("flagship/nightly_unknown_commit")
def nightly_unknown() -> tuple[Log, Expect]:
    """Nightly at an unlisted commit, no backend line: version unknown, not older."""
    return _nightly("0.1.dev21400+gdeadbee12"), _nightly_probable("0.1.dev21400+gdeadbee12")


def _at_risk(**over: object) -> Expect:
    expect: Expect = {
        "status": "at-risk",
        "root": FLAGSHIP,
        "outcome": "running",
        "runs": 1,
        "remedies": {"trtllm-backend": "yes"},
        "facts": {"kv_cache.tokens": 209920, "kv_cache.max_concurrency": 5.12,
                  "scheduler.max_num_seqs": 16, "model.max_len": 40960},
        "not_roots": [FUSED, LAUNCH],
        "exit": 0,
    }  # fmt: skip
    return expect | over


@scenario("flagship/at_risk_startup_033")
def at_risk_startup() -> tuple[Log, Expect]:
    """0.33.0, start-up only: 16 x 40,960 tokens exceed the pool of 209,920."""
    log = Log(V0330)
    startup(log, Server())
    return log, _at_risk()


@scenario("flagship/at_risk_serving_030")
def at_risk_serving() -> tuple[Log, Expect]:
    """0.30.0, serving a light load without a fault so far."""
    server = Server(V0300)
    log = Log(V0300)
    startup(log, server)
    log.tick(20)
    requests(log, server, 3)
    for usage in (21.0, 22.4, 23.9):
        log.tick(10)
        stats(log, server, 3, usage, generation=310.2)
        kv_metrics(log, server, 40960, 0, 0)
    return log, _at_risk()


@scenario("clean/hisparse_trtllm_startup_033")
def no_risk_trtllm() -> tuple[Log, Expect]:
    """0.33.0, HiSparse with the workaround in place: no risk."""
    server = Server(backend="trtllm")
    log = Log(V0330)
    startup(log, server)
    load(log, server)
    return log, {"status": "clean", "root": None, "outcome": "running", "exit": 0,
                 "not_roots": [FLAGSHIP]}  # fmt: skip
