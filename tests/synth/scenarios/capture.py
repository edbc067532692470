"""Crashes while graphs are captured or their memory is profiled: the capture kin."""

from __future__ import annotations

from .. import failure as f
from .. import tracebacks as tb
from ..release import V0260, V0320, V0330
from ..sample import Expect, scenario
from ..server import LLAMA, Server
from ..startup import startup
from ..writer import Log
from .common import CAPTURE, FLAGSHIP, FUSED, MESSAGE

_INIT = (
    "RuntimeError: Engine core initialization failed. See root cause above. "
    "Failed core proc(s): {'EngineCore': 1}"
)


def _init_failed(log: Log, server: Server, text: list[str]) -> None:
    message = "EngineCore failed to start."
    log.record(server.engine(), "ERROR", "fatal", message, tb.worker_failed(text))
    log.tick(3)
    log.raw(
        "\n".join([
            tb.HEAD,
            *tb.frame("/opt/venv/bin/vllm", 8, "<module>", "sys.exit(main())"),
            *tb.frame("vllm/v1/engine/utils.py", 1473, "wait_for_engine_startup",
                      "raise RuntimeError("),
            _INIT,
        ]),
        server.api,
    )  # fmt: skip


def _expect(process: str, kind: str, **over: object) -> Expect:
    expect: Expect = {
        "root": CAPTURE,
        "outcome": "failed-to-start",
        "runs": 1,
        "first_failure": {
            "type": "torch.AcceleratorError",
            "message": MESSAGE[kind],
            "process": process,
        },
        "not_roots": [FLAGSHIP, FUSED],
        "exit": 1,
    }
    return expect | over


@scenario("kin/capture_crash_033")
def capture_crash() -> tuple[Log, Expect]:
    """0.33.0 on bridged NVLink: every rank faults while graphs are captured."""
    server = Server(model=LLAMA, hisparse=False, gpu_arch="90a")
    log = Log(V0330)
    startup(log, server, until="capture")
    log.tick(5)
    log.native(
        "\rCapturing CUDA graphs (PIECEWISE):   0%|          | 0/7 [00:00<?, ?it/s]\r"
        "Capturing CUDA graphs (PIECEWISE):  14%|█▍        | 1/7 [00:00<00:03,  1.71it/s]"
    )
    frames = tb.capture_frames(profile=False)
    for worker in (server.worker(r) for r in (3, 0, 1, 2, 4, 5, 6, 7)):
        exc = tb.in_worker(frames, tb.torch_error("illegal"), "compile_or_warm_up_model")
        log.record(worker, "ERROR", "workerexc", f.WORKER, exc)
    _init_failed(log, server, tb.cuda_text("illegal"))
    return log, _expect("Worker_TP3", "illegal", remedies={"disable-fusion": "yes"})


@scenario("kin/capture_crash_hisparse_032")
def capture_crash_hisparse() -> tuple[Log, Expect]:
    """0.32.0 with HiSparse on: still the capture kin, the server never served."""
    server = Server(V0320)
    log = Log(V0320)
    startup(log, server, until="capture")
    log.tick(5)
    log.native("\rCapturing CUDA graphs (FULL):   0%|          | 0/7 [00:00<?, ?it/s]")
    frames = tb.capture_frames(profile=False)
    for rank in (1, 6):
        exc = tb.in_worker(frames, tb.torch_error("illegal"), "compile_or_warm_up_model")
        log.record(server.worker(rank), "ERROR", "workerexc", f.WORKER, exc)
    _init_failed(log, server, tb.cuda_text("illegal"))
    return log, _expect("Worker_TP1", "illegal")


@scenario("kin/profile_graph_memory_crash_033")
def profile_crash() -> tuple[Log, Expect]:
    """0.33.0: the fault strikes while CUDA graph memory is profiled, before capture."""
    server = Server(model=LLAMA, hisparse=False)
    log = Log(V0330)
    startup(log, server, until="profile")
    lead = server.worker(0)
    log.record(
        lead, "WARNING", "symm",
        "SymmMemCommunicator: symmetric memory multicast operations are not supported.",
    )  # fmt: skip
    message = "Profiling CUDA graph memory: PIECEWISE=7 (largest=32), FULL=7 (largest=32)"
    log.record(lead, "INFO", "profgraph", message)
    log.tick(2)
    frames = tb.capture_frames(profile=True)
    for rank in (0, 2):
        exc = tb.in_worker(frames, tb.torch_error("illegal"), "determine_available_memory")
        log.record(server.worker(rank), "ERROR", "workerexc", f.WORKER, exc)
    _init_failed(log, server, tb.cuda_text("illegal"))
    expect = _expect("Worker_TP0", "illegal")
    return log, expect


@scenario("kin/capture_custom_all_reduce_026")
def capture_custom_all_reduce() -> tuple[Log, Expect]:
    """0.26.0: custom_all_reduce.cuh reports the poisoned context on bare stderr, workers exit."""
    server = Server(V0260, model=LLAMA, hisparse=False)
    log = Log(V0260)
    startup(log, server, until="capture")
    log.tick(5)
    bar = "\rCapturing CUDA graphs (PIECEWISE):   0%|          | 0/7 [00:00<?, ?it/s]"
    log.raw(bar, server.worker(0))
    for _ in range(8):
        log.native(
            "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:455 'an illegal memory "
            "access was encountered'"
        )
    died = "Worker proc VllmWorker-3 died unexpectedly (exit code: None), shutting down executor."
    log.record(server.engine(), "ERROR", "died", died)
    message = "EngineCore failed to start."
    exc = [
        tb.HEAD,
        *tb.frame("vllm/v1/engine/core.py", 1201, "__init__", "super().__init__("),
        *tb.frame("vllm/v1/executor/multiproc_executor.py", 372, "collective_rpc",
                  'raise RuntimeError("Executor failed.")'),
        "RuntimeError: Executor failed.",
    ]  # fmt: skip
    log.record(server.engine(), "ERROR", "fatal", message, exc)
    log.raw("\n".join([tb.HEAD, _INIT]), server.api)
    expect = _expect("", "illegal", symptoms={"sym-worker-died": 1})
    del expect["first_failure"]
    return log, expect
