"""Hold the tracebacks: frames as real servers print them, with generic paths."""

from __future__ import annotations

from .release import Release

_SITE = "/opt/venv/lib/python3.12/site-packages"
_PY = "/usr/lib/python3.12"
HEAD = "Traceback (most recent call last):"

#: kind -> (text of the CUDA error, name of the code)
CUDA = {
    "launch": ("unspecified launch failure", "cudaErrorLaunchFailure"),
    "illegal": ("an illegal memory access was encountered", "cudaErrorIllegalAddress"),
    "invalid": ("invalid argument", "cudaErrorInvalidValue"),
}
DEAD = (
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. "
    "See stack trace (above) for the root cause."
)


def frame(path: str, line: int, func: str, code: str) -> list[str]:
    """Return the two lines of a frame; `path` starts with vllm/, torch/ or /."""
    full = path if path.startswith("/") else f"{_SITE}/{path}"
    return [f'  File "{full}", line {line}, in {func}', f"    {code}"]


def cuda_text(kind: str) -> list[str]:
    """Return the five lines of torch's message and the empty one that ends it."""
    text, code = CUDA[kind]
    return [
        f"CUDA error: {text}",
        f"Search for `{code}' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
        "group__CUDART__TYPES.html for more information.",
        "CUDA kernel errors might be asynchronously reported at some other API call, so the "
        "stacktrace below might be incorrect.",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
        "",
    ]


def torch_error(kind: str) -> list[str]:
    """Return the exception line and what follows it."""
    first, *rest = cuda_text(kind)
    return [f"torch.AcceleratorError: {first}", *rest]


def async_output(release: Release, kind: str) -> list[str]:
    """Return the traceback under `Error getting async model runner output`."""
    line = release.at("asyncout")[1]
    return [
        HEAD,
        *frame("vllm/v1/executor/multiproc_executor.py", line - 2, "enqueue_output",
               "output = output.get_output()"),
        "             ^^^^^^^^^^^^^^^^^^^^",
        *frame("vllm/v1/worker/gpu/async_utils.py", 175, "get_output",
               "self.copy_event.synchronize()"),
        *frame("torch/cuda/streams.py", 254, "synchronize", "super().synchronize()"),
        *torch_error(kind),
    ]  # fmt: skip


def in_worker(inner: list[str], error: list[str], method: str = "execute_model") -> list[str]:
    """Return the traceback under `WorkerProc hit an exception.`: printed twice, as vLLM does."""
    once = [
        HEAD,
        *frame("vllm/v1/executor/multiproc_executor.py", 1181, "_execute_worker_rpc",
               "output = func(*args, **kwargs)"),
        "             ^^^^^^^^^^^^^^^^^^^^^",
        *frame("torch/utils/_contextlib.py", 124, "decorate_context",
               "return func(*args, **kwargs)"),
        *frame("vllm/v1/worker/gpu_worker.py", 1401, method,
               f"output = self.model_runner.{method}("),
        *inner,
        *error,
    ]  # fmt: skip
    return [*(once[:-1] if once[-1] == "" else once), *once[:-1], ""]


def forward_frames() -> list[str]:
    """Return the frames of a step that replays a CUDA graph."""
    return [
        *frame("vllm/v1/worker/gpu/model_runner.py", 1388, "execute_model",
               "model_output = self.cudagraph_manager.run_fullgraph(batch_descriptor)"),
        *frame("vllm/v1/worker/gpu/cudagraph_utils.py", 377, "run_fullgraph",
               "self.graphs[desc].replay()"),
        *frame("torch/cuda/graphs.py", 138, "replay", "super().replay()"),
    ]  # fmt: skip


def capture_frames(profile: bool) -> list[str]:
    """Return the frames of graph capture, or of the profiling of graph memory."""
    outer = "profile_cudagraph_memory" if profile else "capture_model"
    return [
        *frame("vllm/v1/worker/gpu/model_runner.py", 1102, outer,
               "self.cudagraph_manager.capture("),
        *frame("vllm/v1/worker/gpu/cudagraph_utils.py", 291, "capture",
               "self._capture_full_graph(desc, model, inputs)"),
        *frame("torch/cuda/graphs.py", 268, "__exit__", "self.cuda_graph.capture_end()"),
    ]  # fmt: skip


def _engine_tail() -> list[str]:
    return [
        HEAD,
        *frame("vllm/v1/engine/core.py", 1570, "run_engine_core", "engine_core.run_busy_loop()"),
        *frame("vllm/v1/engine/core.py", 1629, "run_busy_loop", "self._process_engine_step()"),
        *frame("vllm/v1/engine/core.py", 1680, "_process_engine_step",
               "outputs, model_executed = self.step_fn()"),
        "                              ^^^^^^^^^^^^^^",
        *frame("vllm/v1/engine/core.py", 737, "step_with_batch_queue",
               "model_output = future.result()"),
        *frame(f"{_PY}/concurrent/futures/_base.py", 401, "__get_result",
               "raise self._exception"),
        *frame("vllm/v1/executor/multiproc_executor.py", 108, "_wait_for_response",
               "response = self.aggregate(self.get_response())"),
        "                              ^^^^^^^^^^^^^^^^^^^",
    ]  # fmt: skip


def rpc_timeout(method: str) -> list[str]:
    """Return the engine's traceback of an RPC that timed out (a `direct cause` chain)."""
    return [
        HEAD,
        *frame("vllm/v1/executor/multiproc_executor.py", 507, "get_response",
               "status, result = mq.dequeue(timeout=dequeue_timeout)"),
        "                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        *frame("vllm/distributed/device_communicators/shm_broadcast.py", 971, "dequeue",
               "with self.acquire_read(timeout, indefinite) as buf:"),
        *frame("vllm/distributed/device_communicators/shm_broadcast.py", 817, "timeout_ms",
               "raise TimeoutError"),
        "TimeoutError",
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        *_engine_tail(),
        *frame("vllm/v1/executor/multiproc_executor.py", 509, "get_response",
               'raise TimeoutError(f"RPC call to {method} timed out.") from e'),
        f"TimeoutError: RPC call to {method} timed out.",
    ]  # fmt: skip


def worker_failed(text: list[str]) -> list[str]:
    """Return the engine's traceback of `Worker failed with error '…'`."""
    first = f"RuntimeError: Worker failed with error '{text[0]}"
    body = [first, *text[1:]]
    body[-1] += "', please check the stack trace above for the root cause"
    where = frame(
        "vllm/v1/executor/multiproc_executor.py", 525, "get_response", "raise RuntimeError("
    )
    return [*_engine_tail(), *where, *body]


def connector_output() -> list[str]:
    """Return the engine's traceback of `Worker failed with KV connector output` (0.33)."""
    where = frame(
        "vllm/v1/executor/multiproc_executor.py", 516, "get_response", "raise RuntimeError("
    )
    return [*_engine_tail(), *where, "RuntimeError: Worker failed with KV connector output"]


def engine_dead() -> list[str]:
    """Return the API server's traceback when the engine is gone."""
    return [
        HEAD,
        *frame("vllm/v1/engine/async_llm.py", 864, "output_handler",
               "outputs = await engine_core.get_output_async()"),
        "              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        *frame("vllm/v1/engine/core_client.py", 1251, "get_output_async",
               "raise self._format_exception(outputs) from None"),
        DEAD,
    ]  # fmt: skip


def stream_error(depth: int) -> list[str]:
    """Return one open request's traceback; it grows, since all share one exception object."""
    generate = [
        *frame("vllm/entrypoints/openai/completion/serving.py", 311,
               "completion_stream_generator", "async for prompt_idx, res in result_generator:"),
        *frame("vllm/v1/engine/async_llm.py", 779, "generate",
               "out = q.get_nowait() or await q.get()"),
        *frame("vllm/v1/engine/output_processor.py", 92, "get", "raise output"),
    ]  # fmt: skip
    return [HEAD, *generate * depth, *engine_dead()[1:]]
