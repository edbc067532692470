"""Compose whole runs, and the parts of an expected report that many samples share."""

from __future__ import annotations

from typing import Any

from .. import failure as f
from .. import tracebacks as tb
from ..server import Server
from ..startup import startup
from ..traffic import load
from ..writer import Log, Proc

FLAGSHIP = "fi-mnnvl-hisparse-spill-crash"
FUSED = "fi-mnnvl-fused-allreduce-crash"
CAPTURE = "fi-mnnvl-no-full-multicast-capture-crash"
LAUNCH = "cuda-launch-failure"
ILLEGAL = "cuda-illegal-memory-access"

BACKEND = "norm fusion workspace with backend=mnnvl"
SPILL = "host-to-device bytes=4067033088"
MESSAGE = {kind: f"CUDA error: {text}" for kind, (text, _) in tb.CUDA.items()}
OUTPUT_FRAME = "vllm/v1/worker/gpu/async_utils.py:get_output"


def fault(proc: str, kind: str = "launch") -> str:
    """Return the text that finds the exception line of a process."""
    return f"{proc}…torch.AcceleratorError: {MESSAGE[kind]}"


def first(proc: str, kind: str = "launch", frame: str = OUTPUT_FRAME) -> dict[str, str]:
    """Return the expected first failure of a CUDA error."""
    return {
        "type": "torch.AcceleratorError",
        "message": MESSAGE[kind],
        "process": proc,
        "frame": frame,
        "phase": "serving",
    }


def crash(
    server: Server,
    ranks: list[int],
    *,
    ending: str = "timeout",
    kind: str = "launch",
    style: str = "plain",
    log: Log | None = None,
    spill: bool = True,
    metrics: bool = True,
    mixed: bool = False,
    streams: int = 1,
) -> Log:
    """Write start-up, traffic and crash on `ranks` in that order.

    `ending` is timeout, failed (`Worker failed with error`) or connector.
    """
    log = log or Log(server.release, style)
    startup(log, server)
    load(log, server, spill=spill, metrics=metrics)
    procs = [server.worker(rank) for rank in ranks]
    errors(log, procs, kind, mixed=mixed)
    running = 16 if spill else 4
    finish(log, server, procs, ending=ending, kind=kind, streams=streams, running=running)
    return log


def errors(log: Log, procs: list[Proc], kind: str = "launch", *, mixed: bool = False) -> None:
    """Write the fault of each process; `mixed` mixes the lines of the blocks after the first."""
    if not mixed:
        for proc in procs:
            f.async_error(log, proc, kind)
        return
    head, *rest = [f.async_block(log, proc, kind) for proc in procs]
    log.lines.extend(head[:-4])
    log.interleave(head[-4:], *rest)


def finish(
    log: Log,
    server: Server,
    procs: list[Proc],
    *,
    ending: str = "timeout",
    kind: str = "launch",
    streams: int = 1,
    running: int = 16,
) -> None:
    """Write everything after the fault."""
    if ending == "timeout":
        f.stalled(log, server, running=running)
        f.timeout(log, server, tokens=running)
    else:
        f.dump(log, server, tokens=running)
        failed = tb.worker_failed(tb.cuda_text(kind))
        f.engine_fatal(log, server, failed if ending == "failed" else tb.connector_output())
    f.api_dead(log, server, streams)
    f.teardown(log, server, procs, stuck=ending == "timeout", kind=kind)


def confirmed(faulting: list[str], **over: Any) -> dict[str, Any]:
    """Return the expected report of the flagship, confirmed on one node."""
    expect: dict[str, Any] = {
        "status": "confirmed",
        "root": FLAGSHIP,
        "outcome": "crashed",
        "runs": 1,
        "shown_run": 1,
        "faulting": faulting,
        "remedies": {"trtllm-backend": "yes", "flashinfer-0-7-4": "yes", "avoid-spill": "yes"},
        "open_refuters": ["(?i)xid", "(?i)flashinfer"],
        "evidence": [fault(faulting[0]), BACKEND, SPILL],
        "first_failure": first(faulting[0]),
        "facts": {
            "allreduce.backend": "mnnvl",
            "hisparse.enabled": True,
            "hisparse.spilled": True,
            "parallel.tp": 8,
            "engine.enforce_eager": False,
        },
        "fact_basis": {"allreduce.backend": "stated", "hisparse.spilled": "stated"},
        "not_roots": [FUSED, CAPTURE, ILLEGAL, "gpu-xid"],
        "exit": 1,
    }
    return expect | over


def ruled_out(because: str, faulting: list[str], **over: Any) -> dict[str, Any]:
    """Return the expected report where the flagship is refuted: the unnamed launch failure."""
    expect: dict[str, Any] = {
        "status": "probable",
        "root": LAUNCH,
        "outcome": "crashed",
        "runs": 1,
        "faulting": faulting,
        "considered": {FLAGSHIP: "ruled-out"},
        "because": {FLAGSHIP: because},
        "evidence": [fault(faulting[0])],
        "first_failure": first(faulting[0]),
        "not_roots": [FLAGSHIP, FUSED, CAPTURE, "gpu-xid"],
        "exit": 1,
    }
    return expect | over
