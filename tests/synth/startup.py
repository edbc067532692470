"""Write what a server prints from its banner to `Application startup complete.`."""

from __future__ import annotations

from collections.abc import Callable

from .loading import CACHE, collectives, load_model
from .server import Server
from .writer import Log, Proc

_LOGO = (
    "       █     █     █▄   ▄█",
    " ▄▄ ▄█ █     █     █ ▀▄▀ █  version {version}",
    "  █▄█▀ █     █     █     █  model   {model}",
    "   ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀",
)
_ROUTES = (
    "/health, Methods: GET",
    "/metrics, Methods: GET",
    "/v1/models, Methods: GET",
    "/v1/chat/completions, Methods: POST",
    "/v1/completions, Methods: POST",
)


def startup(
    log: Log, server: Server, until: str = "ready", compiling: Callable[[], None] | None = None
) -> None:
    """Write the start-up; `until` is ready, capture, profile or loading.

    `compiling` is called once after the model is loaded, to write more lines there.
    """
    banner(log, server)
    configure(log, server)
    groups(log, server)
    collectives(log, server)
    if not load_model(log, server, until):
        return
    if compiling:
        compiling()
    _kv_cache(log, server)
    if until in ("capture", "profile"):
        return
    _capture(log, server)
    _serve(log, server)


def banner(log: Log, server: Server) -> None:
    """Write the logo (or its one-line form) and the arguments."""
    names = {"version": server.release.version, "model": server.model[0]}
    if server.logo and log.style != "json":
        text = "\n".join(["", *(part.format(**names) for part in _LOGO), ""])
        log.record(server.api, "INFO", "logo", text)
    else:
        message = "vLLM server version {version}, serving model {model}".format(**names)
        log.record(server.api, "INFO", "banner", message)
    log.record(server.api, "INFO", "args", f"non-default args: {server.args()}")


def configure(log: Log, server: Server) -> None:
    """Write what the API server decides before the engine exists."""
    api = server.api
    log.tick(6)
    log.record(api, "INFO", "arch", f"Resolved architecture: {server.model[1]}")
    log.record(api, "INFO", "maxlen", f"Using max model len {server.max_len}")
    log.record(
        api, "INFO", "chunked", "Chunked prefill is enabled with max_num_batched_tokens=8192."
    )
    if server.eager:
        log.record(
            api, "WARNING", "vllmcfg",
            "Enforce eager set, disabling torch.compile, CUDAGraphs, and JIT kernel warmup. "
            "This is equivalent to setting -cc.mode=none -cc.cudagraph_mode=none and "
            "--kernel_config.enable_jit_warmup=False",
        )  # fmt: skip
    log.record(api, "INFO", "async", "Asynchronous scheduling is enabled.")
    if server.hisparse:
        log.record(
            api, "WARNING", "hsconn",
            "HiSparse host-resident KV is configured with connector HiSparseConnector. "
            "NixlConnector (GPU-staged host imports) and MooncakeStoreConnector (shared-store "
            "offload) are the validated paths; other connectors are treated as debug/fallback "
            "paths.",
        )  # fmt: skip
    if server.fused and not server.eager and server.tp > 1:
        message = "Enabled custom fusions: norm_quant, act_quant, allreduce_rms"
        log.record(api, "INFO", "fusions", message)
    if server.dp > 1:
        message = f"Started DP Coordinator process (PID: {server.first_pid + 200})"
        log.record(api, "INFO", "dpcoord", message)


def groups(log: Log, server: Server) -> None:
    """Write the engine, its workers and their process groups."""
    release = server.release
    log.tick(11)
    first = server.engine()
    message = f"Initializing a V1 LLM engine (v{release.version}) with config: {server.config()}"
    log.record(first, "INFO", "engine", message)
    for dp in range(server.dp):
        log.record(
            server.engine(dp), "INFO", "leader",
            "DP group leader: node_rank=0, node_rank_within_dp=0, master_addr="
            f"{'192.0.2.10' if server.nodes > 1 else '127.0.0.1'}, mq_connect_ip=192.0.2.10 "
            f"(local), world_size={server.tp * server.pp}, local_world_size={server.local_world}",
        )  # fmt: skip
    log.tick(14)
    world = server.tp * server.pp * server.dp
    host = "192.0.2.10" if server.nodes > 1 else "127.0.0.1"
    shuffled = list(enumerate(server.all_workers()))
    log.rng.shuffle(shuffled)
    for rank, worker in shuffled:
        log.record(
            worker.named("Worker"), "INFO", "group",
            f"world_size={world} rank={rank} local_rank={rank % 8} "
            f"distributed_init_method=tcp://{host}:48213 backend=nccl",
        )  # fmt: skip
    lead = server.worker(0).named("Worker")
    log.record(lead, "INFO", "nccl", "vLLM is using nccl==2.30.4")
    etp = " ETP rank 0," if release.etp else ""
    log.record(
        lead, "INFO", "rankmap",
        f"rank 0 in world size {world} is assigned as DP rank 0, PP rank 0, PCP rank 0, "
        f"TP rank 0,{etp} EP rank N/A, EPLB rank N/A",
    )  # fmt: skip


def _kv_cache(log: Log, server: Server) -> None:
    lead, engine = server.worker(0), server.engine()
    if server.hisparse:
        message = "Creating v1 connector with name: HiSparseConnector and engine_id: 5f0c2e9a"
        log.record(engine, "INFO", "connector", message)
    label = "GPU + host" if server.hisparse else "GPU"
    size = f"{label} KV cache size: {server.pool_tokens:,} tokens"
    conc = (
        f"Maximum concurrency for {server.max_len:,} tokens per request: {server.concurrency:.2f}x"
    )
    for message in [f"{size}, {conc}"] if server.release.one_line_capacity else [size, conc]:
        log.record(engine, "INFO", "capacity", message)
    if not server.hisparse:
        return
    log.record(
        lead, "INFO", "hslayout",
        f"HiSparse HMA: {server.host_pool:.1f} GiB host source (41943 blocks), 12.0 GiB shared "
        f"GPU indexer/resident/hot pool ({server.pool_tokens // 64} blocks).",
    )  # fmt: skip
    log.record(
        lead, "INFO", "hsruntime",
        "Enabled experimental HiSparse HMA hot cache: top_k=2048, device_buffer_size=2048 "
        f"(2048 LRU rows), max_num_seqs={server.max_num_seqs}.",
    )  # fmt: skip
    if server.release.steady:
        log.record(
            engine, "INFO", "steady",
            f"HiSparse steady-state maximum concurrency for {server.max_len:,} tokens per "
            f"request: {2.41 * server.concurrency:.2f}x (running requests reading from host).",
        )  # fmt: skip


def _capture(log: Log, server: Server) -> None:
    lead = server.worker(0)
    if server.autotune:
        log.record(
            lead, "INFO", "autotune",
            f"Using FlashInfer autotune cache file: {CACHE}/flashinfer_autotune_cache/"
            f"{server.autotune}/{server.gpu_arch}/3bca25ec50ab9d6d/autotune_configs.json",
        )  # fmt: skip
    log.tick(5)
    if server.graphs and not server.eager:
        for kind in ("PIECEWISE", "FULL"):
            log.bar(lead, f"Capturing CUDA graphs ({kind})", 7)
        log.tick(4)
        for worker in server.all_workers():
            log.record(
                worker, "INFO", "captured", "Graph capturing finished in 4 secs, took 0.61 GiB"
            )
    elif not server.eager:
        log.record(
            lead, "INFO", "captured",
            "Skipping CUDA graph capture. To turn on CUDA graph capture, ensure "
            "`cudagraph_mode` was not manually set to `NONE`",
        )  # fmt: skip
    log.record(
        lead, "INFO", "jit",
        "Kernel JIT monitor activated; monitored JIT compilations during inference will use "
        "mode=warn.",
    )  # fmt: skip
    log.record(
        server.engine(), "INFO", "init",
        "init engine (profile, create kv cache, warmup model) took 41.77 s (compilation: 10.32 s)",
    )  # fmt: skip


def _serve(log: Log, server: Server) -> None:
    api: Proc = server.api
    log.tick(3)
    log.record(api, "INFO", "tasks", "Supported tasks: ['generate']")
    log.record(api, "INFO", "serving", f"Starting vLLM server on http://0.0.0.0:{server.port}")
    log.record(api, "INFO", "routes", "Available routes are:")
    for route in _ROUTES:
        log.record(api, "INFO", "route", f"Route: {route}")
    log.raw(f"INFO:     Started server process [{api.pid}]", api)
    log.raw("INFO:     Waiting for application startup.", api)
    log.raw("INFO:     Application startup complete.", api)
