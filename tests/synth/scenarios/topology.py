"""Deployments over several nodes or several engines, and what they do to the remedies."""

from __future__ import annotations

from dataclasses import replace

from .. import failure as f
from ..release import V0251, V0260, V0310, V0320, V0330, Release, nightly
from ..sample import Expect, scenario
from ..server import DEEPSEEK, LLAMA, Server
from ..startup import startup
from ..traffic import load, stats
from ..writer import Log
from .common import BACKEND, CAPTURE, FLAGSHIP, FUSED, LAUNCH, confirmed, crash, fault, first


def kin(faulting: str, **over: object) -> Expect:
    """Return the expected report of the kin without HiSparse."""
    expect: Expect = {
        "status": "probable",
        "root": FUSED,
        "outcome": "crashed",
        "runs": 1,
        "faulting": [faulting],
        "considered": {FLAGSHIP: "ruled-out"},
        "remedies": {"trtllm-backend": "yes"},
        "evidence": [fault(faulting), BACKEND],
        "first_failure": first(faulting),
        "not_roots": [FLAGSHIP, CAPTURE],
        "exit": 1,
    }
    return expect | over


@scenario("flagship/tp16_two_nodes_033")
def tp_two_nodes() -> tuple[Log, Expect]:
    """0.33.0, TP 16 over two nodes: confirmed, but trtllm would raise ValueError there."""
    server = Server(tp=16, nodes=2)
    return crash(server, [6]), confirmed(
        ["Worker_TP6"],
        remedies={"trtllm-backend": "no", "flashinfer-0-7-4": "yes", "avoid-spill": "yes"},
        facts={"parallel.tp": 16, "parallel.world_size": 16, "parallel.local_world_size": 8,
               "parallel.multi_node": True},
    )  # fmt: skip


@scenario("flagship/dp2_tp4_033")
def dp2_tp4() -> tuple[Log, Expect]:
    """0.33.0, DP 2 and TP 4: rank TP2 of the second engine faults, the first stays healthy."""
    server = Server(tp=4, dp=2)
    log = Log(V0330)
    startup(log, server)
    load(log, server)
    proc = server.worker(2, dp=1)
    f.async_error(log, proc)
    log.tick(4)
    stats(log, server, 15, 83.0)
    stats(log, server, 16, 99.2, generation=0.0, engine=1)
    log.tick(296)
    f.timeout(log, server, dp=1)
    f.api_dead(log, server, 1)
    f.teardown(log, server, [proc])
    return log, confirmed(
        ["Worker_DP1_TP2"],
        facts={"parallel.tp": 4, "parallel.dp": 2, "parallel.multi_node": False,
               "allreduce.backend": "mnnvl"},
    )  # fmt: skip


def _pipeline(release: Release, applies: str) -> tuple[Log, Expect]:
    server = Server(release, model=DEEPSEEK, pp=2, nodes=2, hisparse=False)
    log = Log(release)
    startup(log, server)
    load(log, server, metrics=False)
    proc = server.worker(3)
    f.async_error(log, proc)
    f.stalled(log, server)
    f.timeout(log, server)
    f.api_dead(log, server, 1)
    f.teardown(log, server, [proc])
    return log, kin(
        "Worker_PP0_TP3",
        remedies={"trtllm-backend": applies},
        facts={"parallel.tp": 8, "parallel.pp": 2, "parallel.world_size": 16,
               "parallel.local_world_size": 8},
    )  # fmt: skip


@scenario("kin/pp2_two_nodes_033")
def pipeline_033() -> tuple[Log, Expect]:
    """0.33.0, PP 2 over two nodes, TP 8 inside each: trtllm applies (the choice is per group)."""
    return _pipeline(V0330, "yes")


@scenario("kin/pp2_two_nodes_032")
def pipeline_032() -> tuple[Log, Expect]:
    """0.32.0, PP 2 over two nodes, TP 8 inside each: the first release with a choice per group."""
    return _pipeline(V0320, "yes")


@scenario("kin/pp2_two_nodes_031")
def pipeline_031() -> tuple[Log, Expect]:
    """0.31.0, PP 2 over two nodes, TP 8 inside each: whether trtllm applies cannot be told."""
    return _pipeline(V0310, "unknown")


@scenario("kin/no_hisparse_033")
def no_hisparse() -> tuple[Log, Expect]:
    """0.33.0, mnnvl without HiSparse: a launch failure on TP4 while decoding."""
    log = crash(Server(model=DEEPSEEK, hisparse=False), [4], metrics=False)
    return log, kin("Worker_TP4", facts={"hisparse.enabled": False, "allreduce.backend": "mnnvl"})


@scenario("kin/no_hisparse_026_auto_line")
def no_hisparse_026() -> tuple[Log, Expect]:
    """0.26.0: `Auto-selected flashinfer allreduce backend: mnnvl` is still an INFO line."""
    server = Server(V0260, model=LLAMA, hisparse=False, autotune="0.6.14", gpu_arch="90a")
    log = crash(server, [1], metrics=False, ending="failed")
    return log, kin("Worker_TP1", facts={"flashinfer.version": "0.6.14", "gpu.arch": "90a"})


@scenario("kin/no_hisparse_025_quant_trtllm")
def no_hisparse_025() -> tuple[Log, Expect]:
    """0.25.1: norm workspace mnnvl, quantization workspace trtllm; two facts, no conflict."""
    server = Server(V0251, model=LLAMA, hisparse=False, quant_backend="trtllm")
    log = crash(server, [0], metrics=False, ending="failed")
    return log, kin(
        "Worker_TP0",
        facts={"allreduce.backend": "mnnvl", "allreduce.quant_backend": "trtllm"},
    )


@scenario("kin/tp2_033")
def tp2() -> tuple[Log, Expect]:
    """0.33.0, TP 2 on two GPUs: the smallest group with an all-reduce."""
    server = replace(Server(model=LLAMA, hisparse=False), tp=2)
    log = crash(server, [1], metrics=False)
    return log, kin("Worker_TP1", facts={"parallel.tp": 2})


@scenario("kin/flashinfer_unknown_nightly")
def nightly_kin() -> tuple[Log, Expect]:
    """Nightly without HiSparse, mnnvl stated: FlashInfer is unknown, the kin stays probable."""
    server = Server(nightly("0.1.dev21402+g0d1c2b3a4"), model=DEEPSEEK, hisparse=False)
    log = crash(server, [2], metrics=False, ending="failed")
    expect = kin("Worker_TP2")
    expect["not_roots"] = [CAPTURE, LAUNCH]
    return log, expect
