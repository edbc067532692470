"""Describe the server whose log is written: topology, model, options, processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .release import V0330, Release
from .writer import Proc

GLM = ("/models/GLM-5.3-NVFP4", "GlmMoeDsaForCausalLM")
DEEPSEEK = ("/models/DeepSeek-V3.2", "DeepseekV32ForCausalLM")
LLAMA = ("/models/Llama-3.3-70B-Instruct", "LlamaForCausalLM")


class Bare(str):
    """A string whose repr is itself: an object's repr inside a printed dictionary."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text without quotes."""
        return str(self)


@dataclass
class Server:
    """One start of `vllm serve`."""

    release: Release = V0330
    model: tuple[str, str] = GLM
    tp: int = 8
    pp: int = 1
    dp: int = 1
    nodes: int = 1
    hisparse: bool = True
    backend: str | None = "mnnvl"
    """Backend of the norm workspace; None prints no line."""
    quant_backend: str | None = None
    fallback: bool = False
    auto: bool = True
    eager: bool = False
    graphs: bool = True
    autotune: str | None = None
    """FlashInfer version in the autotune cache path; None switches autotuning off."""
    gpu_arch: str = "100a"
    max_len: int = 40960
    max_num_seqs: int = 16
    pool_tokens: int = 209920
    host_pool: int = 128
    fused: bool = True
    first_pid: int = 412
    port: int = 8000
    logo: bool = True
    extra_args: dict[str, Any] = field(default_factory=dict)

    @property
    def api(self) -> Proc:
        """The API server process."""
        return Proc("APIServer", self.first_pid)

    @property
    def concurrency(self) -> float:
        """The printed maximum concurrency for a request of the maximum length."""
        return self.pool_tokens / self.max_len

    def engine(self, dp: int = 0) -> Proc:
        """Return the engine process of one data-parallel rank."""
        name = f"EngineCore_DP{dp}" if self.dp > 1 else "EngineCore"
        return Proc(name, self.first_pid + 276 + 4 * dp, name)

    @property
    def local_world(self) -> int:
        """Worker processes of one engine on this node."""
        return self.tp * self.pp // self.nodes

    def worker(self, tp: int, dp: int = 0, pp: int = 0) -> Proc:
        """Return the worker process of one rank."""
        rank = pp * self.tp + tp
        parts = [f"_DP{dp}" * (self.dp > 1 and self.tp > 1), f"_PP{pp}" * (self.pp > 1)]
        name = "Worker" + "".join(parts) + f"_TP{tp}" * (self.tp > 1)
        pid = self.first_pid + 480 + dp * self.local_world + rank
        return Proc(name, pid, f"VllmWorker-{rank}")

    def workers(self, dp: int = 0) -> list[Proc]:
        """Return this node's workers of one engine, by rank."""
        return [self.worker(r % self.tp, dp, r // self.tp) for r in range(self.local_world)]

    def all_workers(self) -> list[Proc]:
        """Return this node's workers of every engine."""
        return [w for dp in range(self.dp) for w in self.workers(dp)]

    def args(self) -> dict[str, Any]:
        """Return the dictionary of the `non-default args` line."""
        args: dict[str, Any] = {"model_tag": self.model[0], "port": self.port}
        args |= {"model": self.model[0], "max_model_len": self.max_len}
        if self.eager:
            args["enforce_eager"] = True
        args |= {"tensor_parallel_size": self.tp} if self.tp > 1 else {}
        args |= {"pipeline_parallel_size": self.pp} if self.pp > 1 else {}
        args |= {"data_parallel_size": self.dp} if self.dp > 1 else {}
        if self.nodes > 1:
            args |= {"nnodes": self.nodes, "node_rank": 0, "master_addr": "192.0.2.10"}
        args |= {"kv_cache_memory_bytes": 12884901888, "max_num_seqs": self.max_num_seqs}
        if self.hisparse:
            args["kv_transfer_config"] = Bare(
                "KVTransferConfig(kv_connector='HiSparseConnector', kv_buffer_device='cuda', "
                "kv_buffer_size=1000000000.0, kv_role='kv_both', kv_rank=None, "
                "kv_parallel_size=1, kv_ip='127.0.0.1', kv_port=14579, "
                f"kv_connector_extra_config={{'host_pool_gib': {self.host_pool}}})"
            )
        if self.autotune is None:
            args["kernel_config"] = Bare("KernelConfig(enable_flashinfer_autotune=False)")
        return args | self.extra_args

    def config(self) -> str:
        """Return the engine configuration as VllmConfig prints it."""
        model = self.model[0]
        graphs = "FULL_AND_PIECEWISE: (2, 1)" if self.graphs and not self.eager else "NONE: 0"
        sizes = [1, 2, 4, 8, 16, 24, 32] if self.graphs and not self.eager else []
        mode = "NONE: 0" if self.eager else "VLLM_COMPILE: 3"
        return (
            f"model='{model}', speculative_config=None, tokenizer='{model}', "
            "tokenizer_mode=auto, revision=None, "
            "tokenizer_revision=None, trust_remote_code=False, dtype=torch.bfloat16, "
            f"max_seq_len={self.max_len}, download_dir=None, load_format=auto, "
            f"tensor_parallel_size={self.tp}, pipeline_parallel_size={self.pp}, "
            f"data_parallel_size={self.dp}, decode_context_parallel_size=1, "
            "dcp_comm_backend=ag_rs, disable_custom_all_reduce=False, quantization=None, "
            f"quantization_config=None, enforce_eager={self.eager}, kv_cache_dtype=auto, "
            "device_config=cuda, observability_config=ObservabilityConfig("
            "jit_monitor_mode='warn', jit_monitor_verbose=False), seed=0, "
            f"served_model_name={model}, enable_prefix_caching=True, "
            "enable_chunked_prefill=True, pooler_config=None, compilation_config={'mode': "
            f"<CompilationMode.{mode}>, 'debug_dump_path': None, 'backend': 'inductor', "
            f"'cudagraph_mode': <CUDAGraphMode.{graphs}>, 'cudagraph_num_of_warmups': 1, "
            f"'cudagraph_capture_sizes': {sizes}, 'pass_config': {{'fuse_norm_quant': True, "
            f"'fuse_act_quant': True, 'fuse_attn_quant': False, 'fuse_allreduce_rms': "
            f"{self.fused and not self.eager}}}, 'max_cudagraph_capture_size': "
            f"{sizes[-1] if sizes else None}}}, kernel_config=KernelConfig("
            f"enable_flashinfer_autotune={self.autotune is not None}, "
            "enable_cutedsl_warmup=True, moe_backend='auto', linear_backend='auto')"
        )
