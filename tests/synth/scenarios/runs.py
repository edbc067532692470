"""Several lives of one server in one log."""

from __future__ import annotations

from dataclasses import replace

from .. import failure as f
from .. import tracebacks as tb
from ..release import V0300, V0320, V0330
from ..sample import Expect, scenario
from ..server import Server
from ..startup import banner, configure, groups, startup
from ..traffic import load, requests, stats
from ..writer import Log
from .common import CAPTURE, FUSED, confirmed, crash

_INIT = (
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
)


def serve_cleanly(log: Log, server: Server, *, stop: bool) -> None:
    """Write a run that serves the same load without a fault."""
    startup(log, server)
    load(log, server)
    for usage in (99.1, 98.8, 99.4, 97.0):
        log.tick(10)
        stats(log, server, 16, usage)
    if stop:
        f.orderly_stop(log, server, noise=False)


def port_in_use(log: Log, server: Server) -> None:
    """Write a start that fails because the old process still listens."""
    banner(log, server)
    message = f"port {server.port} is used by process 412 launched with command: vllm serve"
    log.record(server.api, "WARNING", "portuser", message)
    log.raw(
        "\n".join([
            tb.HEAD,
            *tb.frame("/opt/venv/bin/vllm", 8, "<module>", "sys.exit(main())"),
            *tb.frame("vllm/entrypoints/launchers/launcher.py", 348, "create_server_socket",
                      "sock.bind(addr)"),
            "OSError: [Errno 98] Address already in use",
        ]),
        server.api,
    )  # fmt: skip


def too_little_memory(log: Log, server: Server) -> None:
    """Write a start that fails because the crashed run's workers still hold the GPUs."""
    banner(log, server)
    configure(log, server)
    groups(log, server)
    text = (
        "Free memory on device cuda:0 (61.20/178.36 GiB) on startup is less than desired GPU "
        "memory utilization (0.92, 164.09 GiB). Decrease GPU memory utilization or reduce GPU "
        "memory used by other processes."
    )
    exc = [
        tb.HEAD,
        *tb.frame("vllm/v1/executor/multiproc_executor.py", 1021, "worker_main",
                  "worker = WorkerProc(*args, **kwargs)"),
        *tb.frame("vllm/v1/worker/utils.py", 762, "request_memory", "raise ValueError("),
        f"ValueError: {text}",
    ]  # fmt: skip
    for worker in server.workers():
        failed = "WorkerProc failed to start."
        log.record(worker.named("Worker"), "ERROR", "startfail", failed, exc)
    init = (
        "Exception: WorkerProc initialization failed due to an exception in a background process. "
        "See stack trace for root cause."
    )
    where = tb.frame("vllm/v1/executor/multiproc_executor.py", 795, "wait_for_ready",
                     "raise e from None")  # fmt: skip
    message = "EngineCore failed to start."
    log.record(server.engine(), "ERROR", "fatal", message, [tb.HEAD, *where, init])
    log.tick(3)
    log.raw("\n".join([tb.HEAD, _INIT]), server.api)


@scenario("runs/crash_then_trtllm_033")
def crash_then_trtllm() -> tuple[Log, Expect]:
    """0.33.0: the flagship, then a restart with trtllm that serves the same load cleanly."""
    log = crash(Server(), [5])
    log.tick(40)
    serve_cleanly(log, Server(backend="trtllm", auto=False, first_pid=2412), stop=False)
    return log, confirmed(["Worker_TP5"], runs=2, shown_run=1)


@scenario("runs/crash_twice_then_trtllm_030")
def crash_twice() -> tuple[Log, Expect]:
    """0.30.0: two crashes on different ranks, then a clean run: the last failed one is shown."""
    log = crash(Server(V0300), [5])
    log.tick(15)
    second = Server(V0300, first_pid=2412)
    startup(log, second)
    load(log, second)
    f.async_error(log, second.worker(2))
    f.stalled(log, second)
    f.timeout(log, second)
    f.api_dead(log, second, 1)
    f.teardown(log, second, [second.worker(2)], stuck=True)
    log.tick(30)
    third = replace(second, backend="trtllm", first_pid=4412)
    serve_cleanly(log, third, stop=True)
    return log, confirmed(
        ["Worker_TP2"], runs=3, shown_run=2,
        remedies={"trtllm-backend": "yes", "avoid-spill": "yes"},
        evidence=["(Worker_TP2…torch.AcceleratorError: CUDA error: unspecified launch failure"],
    )  # fmt: skip


@scenario("runs/crash_then_port_in_use_032")
def crash_then_port() -> tuple[Log, Expect]:
    """0.32.0: the flagship, then two starts that fail with `Address already in use`."""
    log = crash(Server(V0320), [3])
    for pid in (2412, 2600):
        log.tick(10)
        port_in_use(log, Server(V0320, first_pid=pid))
    return log, confirmed(
        ["Worker_TP3"], runs=3, shown_run=1, not_roots=[FUSED, CAPTURE, "gpu-xid"]
    )


@scenario("runs/crash_then_no_memory_033")
def crash_then_memory() -> tuple[Log, Expect]:
    """0.33.0: the flagship, then a start that finds the GPUs still held by leftover workers."""
    log = crash(Server(), [7], ending="failed")
    log.tick(10)
    too_little_memory(log, Server(first_pid=2412))
    return log, confirmed(["Worker_TP7"], runs=2, shown_run=1)


@scenario("runs/port_in_use_alone_033")
def port_alone() -> tuple[Log, Expect]:
    """0.33.0: the port is taken by something else; there is no earlier crash to blame."""
    log = Log(V0330)
    port_in_use(log, Server())
    return log, {"status": "confirmed", "root": "port-in-use", "outcome": "failed-to-start",
                 "runs": 1, "exit": 1}  # fmt: skip


@scenario("runs/no_memory_alone_033")
def memory_alone() -> tuple[Log, Expect]:
    """0.33.0: another process holds the GPUs; all eight workers report it."""
    log = Log(V0330)
    too_little_memory(log, Server(hisparse=False))
    return log, {
        "status": "confirmed",
        "root": "gpu-free-memory-below-utilization",
        "outcome": "failed-to-start",
        "runs": 1,
        "first_failure": {"type": "ValueError", "message": "less than desired GPU memory"},
        "exit": 1,
    }


@scenario("runs/crash_then_loading_033")
def crash_then_loading() -> tuple[Log, Expect]:
    """0.33.0: the flagship, then a restart that is still loading when the log ends."""
    log = crash(Server(), [2])
    log.tick(20)
    startup(log, Server(backend="trtllm", first_pid=2412), until="loading")
    return log, confirmed(["Worker_TP2"], runs=2, shown_run=1)


@scenario("runs/clean_stop_then_crash_033")
def stop_then_crash() -> tuple[Log, Expect]:
    """0.33.0: a trtllm run stopped by the operator, then mnnvl crashes: run 2 is shown."""
    log = Log(V0330)
    first_server = Server(backend="trtllm")
    startup(log, first_server)
    requests(log, first_server, 3)
    log.tick(10)
    stats(log, first_server, 3, 22.0)
    f.orderly_stop(log, first_server)
    log.tick(60)
    crash(Server(first_pid=2412), [5], log=log)
    return log, confirmed(["Worker_TP5"], runs=2, shown_run=2)
