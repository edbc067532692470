"""Write the part of a start-up between the process groups and the KV cache."""

from __future__ import annotations

from .server import Server
from .writer import Log

CACHE = "/root/.cache/vllm"


def collectives(log: Log, server: Server) -> None:
    """Write how the tensor-parallel group reduces."""
    if server.tp == 1:
        return
    lead = server.worker(0).named("Worker")
    log.record(
        lead, "INFO", "dispatch",
        "Using ['FLASHINFER', 'CUSTOM', 'SYMM_MEM', 'PYNCCL'] all-reduce backends (in dispatch "
        "order) for group 'tp:0' out of potential backends: ['FLASHINFER_PCIE_IPC', 'FLASHINFER', "
        "'NCCL_SYMM_MEM', 'QUICK_REDUCE', 'AITER_CUSTOM', 'CUSTOM', 'SYMM_MEM', 'PYNCCL'].",
    )  # fmt: skip
    log.record(lead, "INFO", "runner", "Using V2 Model Runner")


def workspace(log: Log, server: Server) -> None:
    """Write the lines of the FlashInfer workspaces: first local rank only, they are `*_once`."""
    lead = server.worker(0)
    if server.fallback:
        log.record(
            lead, "WARNING", "arnomc",
            "FlashInfer MNNVL multicast is unavailable on the current topology.",
        )  # fmt: skip
        log.record(
            lead, "WARNING", "arfallback",
            "FlashInfer mnnvl allreduce workspace unavailable (likely no NVSwitch multicast "
            "support); falling back to trtllm backend for single node.",
        )  # fmt: skip
    if server.backend and server.release.auto_line:
        verb = "Auto-selected" if server.auto else "Using"
        message = f"{verb} flashinfer allreduce backend: {server.backend}"
        log.record(lead, "INFO", "arauto", message)
    if server.backend:
        message = (
            f"Initialized FlashInfer Allreduce norm fusion workspace with backend={server.backend}"
        )
        log.record(lead, "INFO", "arinit", message)
    if server.quant_backend:
        message = (
            "Initialized FlashInfer Allreduce norm quantization fusion workspace with "
            f"backend={server.quant_backend}"
        )
        log.record(lead, "INFO", "arquant", message)


def load_model(log: Log, server: Server, until: str) -> bool:
    """Write the loading; return False where the log ends in it."""
    lead = server.worker(0)
    workers = server.all_workers()
    for worker in workers:
        log.record(worker, "INFO", "scratch", "Loading model from scratch...")
    if server.hisparse:
        backend = "FLASHINFER_MLA_SPARSE"
        others = "['FLASHINFER_MLA_SPARSE', 'FLASHMLA_SPARSE']"
    else:
        backend, others = "FLASHINFER", "['FLASHINFER', 'TRITON_ATTN']"
    message = f"Using {backend} attention backend out of potential backends: {others}."
    log.record(lead, "INFO", "attn", message)
    log.record(
        lead, "INFO", "fs",
        "Filesystem type for checkpoints: XFS. Checkpoint size: 391.20 GiB. "
        "Available RAM: 1701.44 GiB.",
    )  # fmt: skip
    log.bar(lead, "Loading safetensors checkpoint shards", 47)
    if until == "loading":
        return False
    log.tick(96)
    log.record(lead, "INFO", "weights", "Loading weights took 94.61 seconds")
    for worker in workers:
        seconds = log.rng.uniform(95, 99)
        message = f"Model loading took 51.88 GiB memory and {seconds:.6f} seconds"
        log.record(worker, "INFO", "loaded", message)
    workspace(log, server)
    if not server.eager:
        log.tick(9)
        name = f"{CACHE}/torch_compile_cache/dc9ff0b376/rank_0_0/backbone"
        message = f"Using cache directory: {name} for vLLM's torch.compile"
        log.record(lead, "INFO", "cachedir", message)
        log.record(lead, "INFO", "compiled", "torch.compile took 10.32 s in total")
    log.record(
        lead, "INFO", "kvbytes",
        "Initial free memory 126.42 GiB, reserved 12.0 GiB memory for KV Cache as specified by "
        "kv_cache_memory_bytes config and skipped memory profiling. This does not respect the "
        "gpu_memory_utilization config.",
    )  # fmt: skip
    return True
