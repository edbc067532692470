"""Healthy servers with frightening lines, and bench clients."""

from __future__ import annotations

from .. import failure as f
from ..outside import bench
from ..release import V0251, V0300, V0330
from ..sample import Expect, scenario
from ..server import DEEPSEEK, LLAMA, Server
from ..startup import startup
from ..traffic import load, requests, shm_wait, stats
from ..writer import Log

_CLEAN: Expect = {"status": "clean", "root": None, "runs": 1, "exit": 0}


def _noise(log: Log, server: Server) -> None:
    """Write many lines of Part N: start-up warnings that every second server prints."""
    lead, api = server.worker(0), server.api
    texts = {
        "customar": "Custom allreduce is disabled because it's not supported on more than two "
        "PCIe-only GPUs. To silence this warning, specify disable_custom_all_reduce=True "
        "explicitly.",
        "symm": "SymmMemCommunicator: Device capability 12.0 not supported, communicator is not "
        "available.",
        "fa": "Cannot use FA version 3 on Blackwell platform, defaulting to FA version 4 if "
        "supported, otherwise FA2.",
        "moe": "Using default MoE config. Performance might be sub-optimal! Config file not found "
        "at /opt/venv/lib/python3.12/site-packages/vllm/model_executor/layers/fused_moe/configs/"
        "E=256,N=128,device_name=NVIDIA_B200.json",
        "jitwarn": "Triton kernel JIT compilation during inference: kernel_unified_attention. This "
        "causes a latency spike; consider extending warmup to cover this shape/config.",
    }
    for site, text in texts.items():
        log.record(lead, "WARNING", site, text)
    unknown = "Unknown vLLM environment variable detected: VLLM_ATTENTION_BACKEND"
    log.record(api, "WARNING", "unkenv", unknown)
    log.record(
        api, "WARNING", "ulimit",
        "Found ulimit of 20000 and failed to automatically increase with error current limit "
        "exceeds maximum limit. This can cause fd limit errors like `OSError: [Errno 24] Too many "
        "open files`. Consider increasing with ulimit -n",
    )  # fmt: skip
    log.native(
        "[W1201 10:00:31.104 ProcessGroupNCCL.cpp:5138] Guessing device ID based on global rank. "
        "This can cause a hang if rank to GPU mapping is heterogeneous."
    )
    shm_wait(log, server)
    log.record(
        lead, "INFO", "freemem",
        "Free memory on device (126.4/178.36 GiB) on startup. Desired GPU memory utilization is "
        "(0.92, 164.09 GiB). Actual usage is 51.88 GiB for consumed memory (weights + non-torch), "
        "2.1 GiB for peak activation, and 0.61 GiB for CUDAGraph memory.",
    )  # fmt: skip


@scenario("clean/sigterm_engine_dead_033")
def sigterm() -> tuple[Log, Expect]:
    """0.33.0: SIGTERM under load prints EngineDeadError and stream errors; nothing is wrong."""
    server = Server(model=DEEPSEEK, hisparse=False)
    log = Log(V0330)
    startup(log, server)
    load(log, server, metrics=False)
    f.orderly_stop(log, server)
    return log, _CLEAN | {"outcome": "stopped"}


@scenario("clean/sigterm_engine_dead_025")
def sigterm_025() -> tuple[Log, Expect]:
    """0.25.1 with the stream hook: the same stop, raw lines prefixed."""
    server = Server(V0251, model=LLAMA, hisparse=False, tp=4)
    log = Log(V0251)
    startup(log, server)
    load(log, server, metrics=False)
    f.orderly_stop(log, server)
    return log, _CLEAN | {"outcome": "stopped"}


@scenario("clean/noise_and_shm_notice_033")
def noise() -> tuple[Log, Expect]:
    """0.33.0: many benign warnings, the 60-second notice while compiling, still serving."""
    server = Server(model=LLAMA, hisparse=False)
    log = Log(V0330)
    startup(log, server, compiling=lambda: _noise(log, server))
    load(log, server, metrics=False)
    for _ in range(3):
        log.tick(10)
        stats(log, server, 16, 61.0)
    return log, _CLEAN | {"outcome": "running"}


@scenario("clean/noise_json_033")
def noise_json() -> tuple[Log, Expect]:
    """0.33.0 in JSON, the same noise after the start, then an orderly stop."""
    server = Server(model=LLAMA, hisparse=False, tp=2)
    log = Log(V0330, "json")
    startup(log, server)
    _noise(log, server)
    load(log, server, metrics=False)
    f.orderly_stop(log, server)
    return log, _CLEAN | {"outcome": "stopped"}


@scenario("clean/survived_errors_030")
def survived() -> tuple[Log, Expect]:
    """0.30.0: an ERROR with a traceback at start-up that the server survived, then a stop."""
    server = Server(V0300, model=LLAMA, hisparse=False)
    log = Log(V0300)
    startup(log, server)
    exc = [
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/renderers/hf.py", line 644, in render',
        "    return template.render(**context)",
        "jinja2.exceptions.TemplateSyntaxError: Expected an expression, got 'end of print'",
    ]
    log.record(server.api, "ERROR", "chat", "Chat template warmup failed", exc)
    requests(log, server, 4)
    for _ in range(3):
        log.tick(10)
        stats(log, server, 4, 9.0)
    shm_wait(log, server, "worker")
    f.orderly_stop(log, server, noise=False)
    return log, _CLEAN | {"outcome": "stopped"}


_TRUNCATED: Expect = {"status": "confirmed", "root": "bench-truncated-success", "exit": 1}


@scenario("bench/truncated_611_of_65536")
def truncated() -> tuple[str, Expect]:
    """Bench client: 16 successes, 611 tokens came of 16 x 4,096 asked, ignore_eos on."""
    return bench(16, 32768, 4096, 611, eos=True), _TRUNCATED


@scenario("bench/truncated_some_failed")
def truncated_failed() -> tuple[str, Expect]:
    """Bench client: 3 of 64 failed, 61 successes with 4,012 tokens of 61 x 512 asked."""
    errors = (
        "Failed requests during benchmark run detected (capping to 10):\n"
        "Error 0: Never received a valid chunk to calculate TTFT.This response will be marked as "
        "failed!"
    )
    return bench(64, 1024, 512, 4012, eos=True, failed=3, errors=errors), _TRUNCATED


@scenario("bench/complete")
def complete() -> tuple[str, Expect]:
    """Bench client whose 16 requests each brought all their 4,096 tokens."""
    return bench(16, 32768, 4096, 65536, eos=True), {"status": "clean", "root": None, "exit": 0}


@scenario("bench/short_without_ignore_eos")
def early_eos() -> tuple[str, Expect]:
    """Bench client without ignore_eos: few tokens prove nothing, requests may end early."""
    return bench(16, 1024, 512, 1210, eos=False), {
        "status": "clean", "root": None, "not_roots": ["bench-truncated-success"], "exit": 0,
    }  # fmt: skip
