"""Write the lines of a death: the fault on its ranks, the engine, the API server, the end."""

from __future__ import annotations

from . import tracebacks as tb
from .server import Server
from .traffic import shm_wait, stats
from .writer import Line, Log, Proc

ASYNC = "Error getting async model runner output"
WORKER = "WorkerProc hit an exception."


def async_block(log: Log, proc: Proc, kind: str = "launch") -> list[Line]:
    """Return the record of a device error that surfaced when outputs were copied."""
    return log.render(proc, "ERROR", "asyncout", ASYNC, tb.async_output(log.release, kind))


def async_error(log: Log, proc: Proc, kind: str = "launch") -> None:
    """Write that record."""
    log.lines.extend(async_block(log, proc, kind))


def worker_error(log: Log, proc: Proc, kind: str = "launch") -> None:
    """Write the record of a device error that surfaced inside a step."""
    exc = tb.in_worker(tb.forward_frames(), tb.torch_error(kind))
    log.record(proc, "ERROR", "workerexc", WORKER, exc)


def python_error(log: Log, proc: Proc, inner: list[str], error: str) -> None:
    """Write the record of a Python exception of a worker's step."""
    log.record(proc, "ERROR", "workerexc", WORKER, tb.in_worker(inner, [error, ""]))


def dump(log: Log, server: Server, *, tokens: int = 16, dp: int = 0) -> None:
    """Write the three dump records."""
    engine = server.engine(dp)
    ids = [f"cmpl-5f61-{n}-{0xA000 + 791 * n:x}" for n in range(tokens)]
    steps = ", ".join(f"{i}: 1" for i in ids)
    meta = "HiSparseConnectorMetadata(...)" if server.hisparse else "null"
    log.record(
        engine, "ERROR", "dumpin",
        f"Dumping input data for V1 LLM engine (v{server.release.version}) with config: "
        f"{server.config()}, ",
    )  # fmt: skip
    log.record(
        engine, "ERROR", "dumpout",
        "Dumping scheduler output for model execution: SchedulerOutput(scheduled_new_reqs=[], "
        f"scheduled_cached_reqs=CachedRequestData(req_ids={ids},resumed_req_ids=set(),"
        f"new_token_ids_lens=[],all_token_ids_lens={{}},num_computed_tokens="
        f"{[32768 + 41 + n for n in range(tokens)]}), num_scheduled_tokens={{{steps}}}, "
        f"total_num_scheduled_tokens={tokens}, scheduled_spec_decode_tokens={{}}, "
        f"finished_req_ids=[], preempted_req_ids=[], kv_connector_metadata={meta})",
    )  # fmt: skip
    log.record(
        engine, "ERROR", "dumpstats",
        f"Dumping scheduler stats: SchedulerStats(num_running_reqs={tokens}, num_waiting_reqs=0, "
        "num_skipped_waiting_reqs=0, step_counter=0, current_wave=0, kv_cache_usage=0.9918, "
        "kv_connector_stats=None, cudagraph_stats=None)",
    )  # fmt: skip


def engine_fatal(log: Log, server: Server, exc: list[str], *, dp: int = 0) -> None:
    """Write the engine's last error."""
    message = "EngineCore encountered a fatal error."
    log.record(server.engine(dp), "ERROR", "fatal", message, exc)


def stalled(log: Log, server: Server, *, notices: int = 2, running: int = 16) -> None:
    """Write the 300 s between a fault on some rank and the timeout at the engine."""
    usage = 99.2 if running > server.concurrency else 58.3
    log.tick(4)
    stats(log, server, running, usage, generation=61.3)
    log.tick(10)
    stats(log, server, running, usage, generation=0.0)
    log.tick(46)
    for _ in range(notices):
        shm_wait(log, server)
        log.tick(240 / notices)


def timeout(
    log: Log, server: Server, method: str = "sample_tokens", *, dp: int = 0, tokens: int = 16
) -> None:
    """Write the ending with an RPC timeout; the clock must already stand there."""
    dump(log, server, tokens=tokens, dp=dp)
    engine_fatal(log, server, tb.rpc_timeout(method), dp=dp)


def api_dead(log: Log, server: Server, streams: int = 4) -> None:
    """Write what the API server prints when the engine is gone, one block an open request."""
    message = "AsyncLLM output_handler failed."
    log.record(server.api, "ERROR", "outhandler", message, tb.engine_dead())
    for n in range(streams):
        exc = tb.stream_error(min(n + 1, 2))
        log.record(server.api, "ERROR", "stream", "Error in completion stream generator.", exc)


def teardown(
    log: Log, server: Server, broken: list[Proc], *, stuck: bool = False, kind: str = "launch"
) -> None:
    """Write the workers' end and the API server's shutdown after a crash."""
    workers = server.all_workers()
    for proc in workers:
        message = "Parent process exited, terminating worker queues"
        log.record(proc, "INFO", "parentgone", message)
    for proc in broken if server.hisparse else []:
        log.record(
            proc, "WARNING", "hsteardown",
            f"HiSparse: CUDA context unusable at teardown (CUDA error: {tb.CUDA[kind][0]}); "
            "leaving 78 host-pool tensors pinned for kernel exit reclaim.",
        )  # fmt: skip
    message = f"[shutdown] Executor: waiting for worker exit count={len(workers)}"
    log.record(server.engine(), "INFO", "execwait", message)
    if stuck:
        log.tick(5)
        log.record(
            server.engine(), "WARNING", "execwait",
            "[shutdown] Executor: workers still running after SIGTERM; sending SIGKILL "
            f"count={len(workers) - len(broken)}",
        )  # fmt: skip
    log.tick(4)
    api_exit(log, server)


def api_exit(log: Log, server: Server) -> None:
    """Write the last lines of the API server and of Python's resource tracker."""
    api = server.api
    log.raw("INFO:     Shutting down", api)
    log.raw("INFO:     Waiting for application shutdown.", api)
    log.raw("INFO:     Application shutdown complete.", api)
    log.raw(f"INFO:     Finished server process [{api.pid}]", api)
    for step in ("start timeout=0s", "stopping engine manager", "engine manager stopped",
                 "cleaning up background resources", "complete"):  # fmt: skip
        log.record(api, "INFO", "mpclient", f"[shutdown] MPClient: {step}")
    log.native(
        "/usr/lib/python3.12/multiprocessing/resource_tracker.py:254: UserWarning: "
        "resource_tracker: There appear to be 9 leaked shared_memory objects to clean up at "
        "shutdown\n  warnings.warn('resource_tracker: There appear to be %d '"
    )


def orderly_stop(log: Log, server: Server, *, noise: bool = True, streams: int = 1) -> None:
    """Write an operator's SIGTERM; with `noise`, EngineDeadError for requests in flight."""
    api, engine = server.api, server.engine()
    log.record(api, "INFO", "apistop", "[shutdown] API server: shutdown triggered")
    log.record(
        api, "INFO", "apistop",
        "[shutdown] API server: stopping engine client mode=abort timeout=0s",
    )  # fmt: skip
    log.record(engine, "INFO", "trigger", "[shutdown] EngineCore: trigger received signal=SIGTERM")
    log.record(engine, "INFO", "corestop", "[shutdown] EngineCore: start mode=abort timeout=0s")
    log.record(
        api, "WARNING", "procmgr",
        f"[shutdown] Process manager: force killing remaining process EngineCore pid {engine.pid}",
    )  # fmt: skip
    if noise:
        api_dead(log, server, streams)
    for proc in server.all_workers():
        message = "Parent process exited, terminating worker queues"
        log.record(proc, "INFO", "parentgone", message)
    if server.hisparse:
        message = "HiSparse: unpinned 128.0 GiB of host pool in 3.1s."
        log.record(server.worker(0), "INFO", "hsunpin", message)
    api_exit(log, server)
