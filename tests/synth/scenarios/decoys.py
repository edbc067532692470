"""Logs that tempt a matcher: quoted texts, advice, echoes, hangs, silence."""

from __future__ import annotations

from .. import failure as f
from .. import tracebacks as tb
from ..release import V0300, V0310, V0330
from ..sample import Expect, scenario
from ..server import DEEPSEEK, LLAMA, Server
from ..startup import startup
from ..traffic import load, requests, stats
from ..writer import Log
from .common import CAPTURE, FLAGSHIP, FUSED, LAUNCH, crash, finish

_ROOTS = [FLAGSHIP, FUSED, CAPTURE, LAUNCH, "cuda-illegal-memory-access", "gpu-xid"]
_QUOTED = (
    "My server died with `torch.AcceleratorError: CUDA error: unspecified launch failure` and "
    "`RPC call to sample_tokens timed out.`; the log says Initialized FlashInfer Allreduce norm "
    "fusion workspace with backend=mnnvl and (Worker_TP5 pid=605) ERROR 12-01 09:00:00 "
    "[multiproc_executor.py:1105] Error getting async model runner output. Why? NVRM: Xid "
    "(PCI:0000:5d:00): 79, GPU has fallen off the bus. EngineDeadError, help!"
)


def _clean(**over: object) -> Expect:
    expect: Expect = {"status": "clean", "root": None, "outcome": "running", "runs": 1,
                      "not_roots": _ROOTS, "exit": 0}  # fmt: skip
    return expect | over


def _quiet() -> tuple[Log, Server]:
    server = Server(model=DEEPSEEK, hisparse=False)
    log = Log(V0330)
    startup(log, server)
    log.tick(12)
    return log, server


@scenario("decoy/error_text_in_prompt_033")
def prompt() -> tuple[Log, Expect]:
    """0.33.0: a user pastes a crash into a prompt, and INFO `Received request` logs it."""
    log, server = _quiet()
    message = (
        f"Received request cmpl-7d1f0a: prompt: {_QUOTED!r}, params: SamplingParams(n=1, "
        "temperature=0.7, max_tokens=512), lora_request: None."
    )
    for _ in range(3):
        log.record(server.api, "INFO", "request", message)
        requests(log, server, 1)
        log.tick(10)
        stats(log, server, 1, 2.0, generation=88.0)
    return log, _clean()


@scenario("decoy/error_text_in_prompt_json_033")
def prompt_json() -> tuple[Log, Expect]:
    """0.33.0 in JSON: the same prompt, with a traceback, inside `message`."""
    server = Server(model=DEEPSEEK, hisparse=False)
    log = Log(V0330, "json")
    startup(log, server)
    text = "\n".join([_QUOTED, *tb.async_output(V0330, "launch")])
    message = f"Received request cmpl-7d1f0a: prompt: {text!r}, params: SamplingParams(n=1)"
    log.record(server.api, "INFO", "request", message)
    log.tick(10)
    stats(log, server, 1, 2.0, generation=88.0)
    return log, _clean()


@scenario("decoy/advice_in_warning_033")
def advice() -> tuple[Log, Expect]:
    """0.33.0: a warning names the CUDA errors as advice; nothing has failed."""
    log, server = _quiet()
    log.record(
        server.worker(0), "WARNING", "advice",
        "If you see `CUDA error: unspecified launch failure` or `CUDA error: an illegal memory "
        "access was encountered` while serving, consider passing CUDA_LAUNCH_BLOCKING=1 or "
        "setting CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 before the start.",
    )  # fmt: skip
    log.tick(10)
    stats(log, server, 4, 11.0)
    return log, _clean()


@scenario("decoy/oom_first_then_cuda_033")
def oom_first() -> tuple[Log, Expect]:
    """0.33.0, trtllm: TP3 runs out of memory; a second later its peers' kernels fault."""
    server = Server(model=LLAMA, hisparse=False, backend="trtllm")
    log = Log(V0330)
    startup(log, server)
    load(log, server, metrics=False)
    oom = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 3 has a total "
        "capacity of 178.36 GiB of which 1.07 GiB is free."
    )
    f.python_error(log, server.worker(3), tb.forward_frames(), oom)
    log.tick(1)
    for rank in (0, 1):
        f.async_error(log, server.worker(rank))
    finish(log, server, [], ending="failed")
    return log, {
        "outcome": "crashed",
        "considered": {FLAGSHIP: "ruled-out"},
        "first_failure": {"type": "torch.OutOfMemoryError", "message": "CUDA out of memory",
                          "process": "Worker_TP3", "phase": "serving"},
        "root": ["gpu-oom-runtime", "cuda-launch-failure"],  # two roots, the first one leads
        "not_roots": [FLAGSHIP, FUSED, CAPTURE],
        "exit": 1,
    }  # fmt: skip


@scenario("decoy/python_error_then_gloo_033")
def python_then_gloo() -> tuple[Log, Expect]:
    """0.33.0: TP3 raises a RuntimeError; TP0's gloo text becomes the engine's headline."""
    server = Server(model=LLAMA, hisparse=False)
    log = Log(V0330)
    startup(log, server)
    load(log, server, metrics=False)
    inner = tb.frame(
        "vllm/v1/worker/gpu/input_batch.py", 311, "make_dummy", "raise RuntimeError(msg)"
    )
    f.python_error(log, server.worker(3), inner, "RuntimeError: block table has a hole at row 7")
    gloo = (
        "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
        "[127.0.0.1]:54457. This is typically caused by a remote worker hanging or crashing"
    )
    log.tick(1)
    f.python_error(log, server.worker(0), [], f"RuntimeError: {gloo}")
    f.dump(log, server)
    f.engine_fatal(log, server, tb.worker_failed([gloo]))
    f.api_dead(log, server, 1)
    f.teardown(log, server, [])
    return log, {
        "status": "unexplained",
        "root": None,
        "outcome": "crashed",
        "first_failure": {"type": "RuntimeError", "message": "block table has a hole at row 7",
                          "process": "Worker_TP3", "phase": "serving",
                          "frame": "vllm/v1/worker/gpu/input_batch.py:make_dummy"},
        "symptoms": {"sym-worker-failed": 1},
        "not_roots": _ROOTS,
        "exit": 1,
    }  # fmt: skip


@scenario("decoy/ends_in_loading_033")
def loading() -> tuple[Log, Expect]:
    """0.33.0: the log ends while shards are loading, with no error and no stop."""
    log = Log(V0330)
    startup(log, Server(), until="loading")
    return log, {"status": "symptom-only", "root": None, "outcome": "unknown", "runs": 1,
                 "not_roots": _ROOTS, "exit": 1}  # fmt: skip


def _hang(server: Server, method: str) -> tuple[Log, Expect]:
    log = Log(server.release)
    startup(log, server)
    load(log, server, metrics=server.hisparse)
    f.stalled(log, server)
    f.timeout(log, server, method)
    f.api_dead(log, server, 1)
    f.teardown(log, server, [], stuck=True)
    return log, {
        "status": "symptom-only",
        "root": "sym-rpc-timeout",
        "outcome": "hung",
        "runs": 1,
        "symptoms": {"sym-rpc-timeout": 1, "sym-engine-fatal": 1},
        "not_roots": [r for r in _ROOTS if r != FLAGSHIP or not server.hisparse],
        "exit": 1,
    }


@scenario("generic/hang_sample_tokens_033")
def hang() -> tuple[Log, Expect]:
    """0.33.0, mnnvl and HiSparse under load: sample_tokens times out with no error anywhere."""
    return _hang(Server(), "sample_tokens")


@scenario("generic/hang_execute_model_031")
def hang_execute() -> tuple[Log, Expect]:
    """0.31.0 without HiSparse: execute_model times out, nothing else is logged."""
    return _hang(Server(V0310, model=LLAMA, hisparse=False), "execute_model")


@scenario("generic/worker_killed_030")
def killed() -> tuple[Log, Expect]:
    """0.30.0, the flagship's conditions, but a worker ends with exit code -9 and no CUDA error."""
    server = Server(V0300)
    log = Log(V0300)
    startup(log, server)
    load(log, server)
    died = "Worker proc VllmWorker-4 died unexpectedly (exit code: -9), shutting down executor."
    log.record(server.engine(), "ERROR", "died", died)
    f.dump(log, server)
    exc = [*tb.worker_failed([""])[:-1], "RuntimeError: cancelled"]
    f.engine_fatal(log, server, exc)
    f.api_dead(log, server, 1)
    f.teardown(log, server, [])
    return log, {
        "status": "symptom-only",
        "root": "sym-worker-died",
        "outcome": "crashed",
        "symptoms": {"sym-worker-died": 1},
        "not_roots": [r for r in _ROOTS if r != FLAGSHIP],
        "exit": 1,
    }


@scenario("decoy/crash_text_before_stop_033")
def sigterm_after_crash() -> tuple[Log, Expect]:
    """0.33.0, no HiSparse, trtllm: a launch failure; an operator's SIGTERM follows it. A crash."""
    server = Server(model=LLAMA, hisparse=False, backend="trtllm")
    log = Log(V0330)
    startup(log, server)
    load(log, server, metrics=False)
    f.async_error(log, server.worker(1))
    log.tick(40)
    f.orderly_stop(log, server)
    return log, {"status": "probable", "root": LAUNCH, "faulting": ["Worker_TP1"],
                 "not_roots": [FLAGSHIP, FUSED], "exit": 1}  # fmt: skip


@scenario("generic/launch_failure_named_nothing_033")
def launch_failure() -> tuple[Log, Expect]:
    """0.33.0 with trtllm and no HiSparse: the plain unnamed launch failure."""
    server = Server(model=LLAMA, hisparse=False, backend="trtllm")
    return crash(server, [6], metrics=False, ending="failed"), {
        "status": "probable", "root": LAUNCH, "outcome": "crashed", "faulting": ["Worker_TP6"],
        "not_roots": [FLAGSHIP, FUSED, CAPTURE], "exit": 1,
    }  # fmt: skip
