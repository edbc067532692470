"""Write what a busy, healthy server prints: access lines, stats, KV transfer metrics."""

from __future__ import annotations

from .server import Server
from .writer import Log


def requests(log: Log, server: Server, count: int = 16) -> None:
    """Write the access lines of streaming requests: 200 before the first token is out."""
    for n in range(count):
        port = 41000 + 8 * n
        log.raw(f'INFO:     127.0.0.1:{port} - "POST /v1/completions HTTP/1.1" 200 OK', server.api)


def stats(
    log: Log,
    server: Server,
    running: int,
    usage: float,
    *,
    prompt: float = 0.0,
    generation: float = 1180.4,
    waiting: int = 0,
    engine: int = 0,
) -> None:
    """Write one periodic stats line."""
    log.record(
        server.api, "INFO", "stats",
        f"Engine {engine:03d}: Avg prompt throughput: {prompt:.1f} tokens/s, Avg generation "
        f"throughput: {generation:.1f} tokens/s, Running: {running} reqs, Waiting: {waiting} "
        f"reqs, GPU KV cache usage: {usage:.1f}%, Prefix cache hit rate: 0.0%",
    )  # fmt: skip


def kv_metrics(
    log: Log, server: Server, hits: int, misses: int, nbytes: int, host: float = 11.8
) -> None:
    """Write one line of HiSparse transfer metrics; misses and bytes above zero state a spill."""
    tail = f", HiSparse host KV cache usage %={host:.1f}" if server.release.steady else ""
    log.record(
        server.api, "INFO", "kvmetrics",
        f"KV Transfer metrics: HiSparse hot-buffer hits={hits}, HiSparse hot-buffer "
        f"misses={misses}, HiSparse host-to-device bytes={nbytes}{tail}",
    )  # fmt: skip


def load(log: Log, server: Server, *, spill: bool = True, metrics: bool = True) -> None:
    """Write some 30 s of the field report's load: a prefill wave, then decoding of 16 requests.

    With `spill` exactly one metrics line (the last) has misses and bytes above zero.
    """
    log.tick(20)
    log.raw('INFO:     127.0.0.1:40990 - "GET /health HTTP/1.1" 200 OK', server.api)
    requests(log, server, 16 if spill else 4)
    log.tick(10)
    running, waiting = (6, 10) if spill else (3, 1)
    stats(log, server, running, 31.4, prompt=19661.2, generation=88.7, waiting=waiting)
    if metrics:
        kv_metrics(log, server, 40960, 0, 0, 3.2)
    log.tick(10)
    full = 99.2 if spill else 58.3
    stats(log, server, 16 if spill else 4, full, prompt=29491.8, generation=402.9)
    if metrics and spill:
        kv_metrics(log, server, 733184, 96871, 4067033088)
    elif metrics:
        kv_metrics(log, server, 733184, 0, 0)
    log.tick(6)


def shm_wait(log: Log, proc_server: Server, who: str = "engine") -> None:
    """Write the 60-second shared-memory notice (INFO, no error)."""
    proc = proc_server.engine() if who == "engine" else proc_server.worker(0)
    log.record(
        proc, "INFO", "shm",
        "No available shared memory broadcast block found in 60 seconds. This typically happens "
        "when some processes are hanging or doing some time-consuming work (e.g. compilation, "
        "weight/kv cache quantization).",
    )  # fmt: skip
