"""The same crash where something in the log refutes the flagship."""

from __future__ import annotations

from .. import failure as f
from .. import tracebacks as tb
from ..outside import environment
from ..release import V0240, V0300, V0320, V0330
from ..sample import Expect, scenario
from ..server import LLAMA, Server
from ..startup import startup
from ..traffic import load
from ..writer import Log
from .common import FLAGSHIP, FUSED, crash, first, ruled_out

_PACKAGES = {"flashinfer-python": "0.7.4", "torch": "2.14.0+cu130"}


@scenario("flagship/refuted_trtllm_033")
def trtllm() -> tuple[Log, Expect]:
    """0.33.0: the start-up line says backend=trtllm, and the server crashes all the same."""
    return crash(Server(backend="trtllm", auto=False), [5]), ruled_out(
        "(?i)trtllm", ["Worker_TP5"], facts={"allreduce.backend": "trtllm"}
    )


@scenario("flagship/refuted_fallback_033")
def fallback() -> tuple[Log, Expect]:
    """0.33.0 on a node without multicast: falls back from mnnvl to trtllm."""
    return crash(Server(backend="trtllm", fallback=True), [1, 6]), ruled_out(
        "(?i)trtllm|multicast", ["Worker_TP1", "Worker_TP6"], facts={"allreduce.backend": "trtllm"}
    )


@scenario("flagship/refuted_fallback_warning_only_030")
def fallback_only() -> tuple[Log, Expect]:
    """0.30.0: the fallback warning stands, the line of the workspace was lost."""
    return crash(Server(V0300, backend=None, fallback=True), [4]), ruled_out(
        "(?i)trtllm|multicast|fall", ["Worker_TP4"]
    )


@scenario("flagship/refuted_environment_074_033")
def environment_074() -> tuple[Log, Expect]:
    """0.33.0: an environment block before the log lists flashinfer-python 0.7.4."""
    log = Log(V0330)
    environment(log, _PACKAGES)
    return crash(Server(), [5], log=log), ruled_out(
        r"0\.7\.4", ["Worker_TP5"], facts={"flashinfer.version": "0.7.4"},
        fact_basis={"flashinfer.version": "stated"},
    )  # fmt: skip


@scenario("flagship/refuted_environment_074_after_032")
def environment_after() -> tuple[Log, Expect]:
    """0.32.0: the environment block is pasted after the log, the way issues are filled in."""
    log = crash(Server(V0320), [3], ending="failed")
    environment(log, _PACKAGES)
    return log, ruled_out(r"0\.7\.4", ["Worker_TP3"], facts={"flashinfer.version": "0.7.4"})


@scenario("flagship/refuted_environment_074_check_off_033")
def environment_check_off() -> tuple[Log, Expect]:
    """0.33.0: FlashInfer 0.7.4 and the version check off, but no older jit-cache is listed."""
    log = Log(V0330)
    environment(log, _PACKAGES, {"FLASHINFER_DISABLE_VERSION_CHECK": "1"})
    return crash(Server(), [5], log=log), ruled_out(
        r"0\.7\.4", ["Worker_TP5"], facts={"env.FLASHINFER_DISABLE_VERSION_CHECK": "1"}
    )


@scenario("flagship/refuted_autotune_074_033")
def autotune_074() -> tuple[Log, Expect]:
    """0.33.0: the autotune cache path states FlashInfer 0.7.4."""
    return crash(Server(autotune="0.7.4"), [7]), ruled_out(
        r"0\.7\.4", ["Worker_TP7"],
        facts={"flashinfer.version": "0.7.4", "gpu.arch": "100a"},
    )  # fmt: skip


@scenario("flagship/refuted_release_024")
def release_024() -> tuple[Log, Expect]:
    """0.24.0 with mnnvl asked for: its FlashInfer 0.6.12 lacks the defect.

    No async-output record exists: the copy thread dies under Python's excepthook, with the prefix
    of the stream hook, and the timeout follows.
    """
    server = Server(V0240, model=LLAMA, hisparse=False, auto=False)
    log = Log(V0240)
    startup(log, server)
    load(log, server, metrics=False)
    proc = server.worker(3)
    death = [
        "Exception in thread WorkerAsyncOutputCopy:",
        *tb.async_output(V0240, "launch")[:-1],
    ]
    log.raw("\n".join(death), proc)
    f.stalled(log, server)
    f.timeout(log, server)
    f.api_dead(log, server, 1)
    f.teardown(log, server, [])
    return log, ruled_out(
        r"(?i)0\.24|0\.6\.12|hisparse", ["Worker_TP3"],
        considered={FLAGSHIP: "ruled-out", FUSED: "ruled-out"},
        facts={"vllm.version": "0.24.0", "flashinfer.version": "0.6.12"},
        fact_basis={"flashinfer.version": "inferred"},
        first_failure=first("Worker_TP3"),
        evidence=["pid=895…CUDA error: unspecified launch failure"],
    )  # fmt: skip


@scenario("flagship/refuted_eager_033")
def eager() -> tuple[Log, Expect]:
    """0.33.0 with --enforce-eager: no CUDA graphs. The field saw eager complete elsewhere only."""
    return crash(Server(eager=True), [5]), ruled_out(
        "(?i)another DSA model", ["Worker_TP5"], facts={"engine.enforce_eager": True}
    )


@scenario("flagship/refuted_cudagraph_none_033")
def cudagraph_none() -> tuple[Log, Expect]:
    """0.33.0 compiled, but with cudagraph_mode NONE."""
    extra = {"compilation_config": {"cudagraph_mode": "NONE"}}
    return crash(Server(graphs=False, extra_args=extra), [5]), ruled_out(
        "(?i)graph", ["Worker_TP5"]
    )


@scenario("flagship/refuted_quant_mnnvl_norm_trtllm_033")
def quant_mnnvl() -> tuple[Log, Expect]:
    """0.33.0: mnnvl is the backend of the *quantization* workspace; the norm one is trtllm."""
    server = Server(backend="trtllm", quant_backend="mnnvl")
    return crash(server, [2]), ruled_out(
        "(?i)trtllm", ["Worker_TP2"],
        facts={"allreduce.backend": "trtllm", "allreduce.quant_backend": "mnnvl"},
    )  # fmt: skip


@scenario("flagship/refuted_no_spill_stated_033")
def no_spill() -> tuple[Log, Expect]:
    """0.33.0: the last metrics before the crash state no misses and no bytes from the host."""
    return crash(Server(), [5], spill=False), ruled_out(
        "(?i)spill|host", ["Worker_TP5"], facts={"hisparse.spilled": False}
    )


@scenario("flagship/refuted_dp_without_tp_033")
def dp_without_tp() -> tuple[Log, Expect]:
    """0.33.0, DP 2 with TP 1: every worker is plain `Worker`, and nothing is all-reduced."""
    server = Server(tp=1, dp=2, backend=None)
    log = Log(V0330)
    startup(log, server)
    load(log, server)
    proc = server.worker(0, dp=1)
    f.async_error(log, proc)
    f.dump(log, server, dp=1)
    f.engine_fatal(log, server, tb.worker_failed(tb.cuda_text("launch")), dp=1)
    f.api_dead(log, server, 1)
    f.teardown(log, server, [proc])
    return log, ruled_out(
        "(?i)tensor|TP", ["Worker"], facts={"parallel.dp": 2, "parallel.tp": 1},
        evidence=[f"pid={proc.pid}…torch.AcceleratorError"],
    )  # fmt: skip
