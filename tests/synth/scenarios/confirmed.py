"""The flagship, confirmed: endings, releases, formats."""

from __future__ import annotations

from .. import failure as f
from .. import tracebacks as tb
from ..outside import environment
from ..release import V0300, V0310, V0320, V0330
from ..sample import Expect, scenario
from ..server import DEEPSEEK, Server
from ..startup import startup
from ..traffic import load
from ..writer import Log
from .common import BACKEND, confirmed, crash, errors, fault, finish, first


@scenario("flagship/timeout_one_rank_033")
def timeout_one_rank() -> tuple[Log, Expect]:
    """0.33.0: TP5 faults while HiSparse reads from host; TP0 spins; sample_tokens times out."""
    log = crash(Server(), [5], streams=16)
    return log, confirmed(
        ["Worker_TP5"],
        symptoms={"sym-rpc-timeout": 1, "sym-async-output": 1, "sym-engine-fatal": 1},
        facts={
            "vllm.version": "0.33.0",
            "model.architecture": "GlmMoeDsaForCausalLM",
            "allreduce.backend": "mnnvl",
            "hisparse.enabled": True,
            "hisparse.host_pool_gib": 128,
            "hisparse.spilled": True,
            "parallel.tp": 8,
            "parallel.world_size": 8,
            "parallel.local_world_size": 8,
            "parallel.multi_node": False,
            "kv_cache.tokens": 209920,
            "kv_cache.max_concurrency": 5.12,
            "scheduler.max_num_seqs": 16,
            "attention.backend": "FLASHINFER_MLA_SPARSE",
        },
    )


@scenario("flagship/timeout_three_ranks_mixed_033")
def timeout_three_ranks() -> tuple[Log, Expect]:
    """0.33.0: TP5, TP2 and TP7 fault in one second, their blocks mixed line by line."""
    log = crash(Server(), [5, 2, 7], mixed=True)
    return log, confirmed(
        ["Worker_TP5", "Worker_TP2", "Worker_TP7"],
        symptoms={"sym-rpc-timeout": 1, "sym-async-output": 3, "sym-engine-fatal": 1},
    )


@scenario("flagship/timeout_032")
def timeout_032() -> tuple[Log, Expect]:
    """0.32.0: TP3 and TP2 fault; the autotune path states FlashInfer 0.7.0.post1 (defective)."""
    server = Server(V0320, autotune="0.7.0.post1")
    return crash(server, [3, 2]), confirmed(
        ["Worker_TP3", "Worker_TP2"],
        open_refuters=["(?i)xid"],
        symptoms={"sym-rpc-timeout": 1, "sym-async-output": 2},
        facts={"flashinfer.version": "0.7.0.post1", "hisparse.spilled": True,
               "vllm.version": "0.32.0"},
        fact_basis={"flashinfer.version": "stated"},
    )  # fmt: skip


@scenario("flagship/timeout_031")
def timeout_031() -> tuple[Log, Expect]:
    """0.31.0: no steady-state line, no host usage metric; TP7 faults."""
    return crash(Server(V0310), [7]), confirmed(
        ["Worker_TP7"], remedies={"trtllm-backend": "yes", "avoid-spill": "yes"}
    )


@scenario("flagship/timeout_030_hook")
def timeout_030() -> tuple[Log, Expect]:
    """0.30.0: the stream hook prefixes raw lines, TP2 faults.

    The engine's traceback is printed again, raw, under `Process EngineCore:`.
    """
    server = Server(V0300, model=DEEPSEEK)
    log = Log(V0300)
    startup(log, server)
    load(log, server)
    procs = [server.worker(2)]
    errors(log, procs)
    f.stalled(log, server)
    f.timeout(log, server)
    f.api_dead(log, server, 1)
    log.raw("\n".join(["Process EngineCore:", *tb.rpc_timeout("sample_tokens")]), server.engine())
    f.teardown(log, server, procs, stuck=True)
    return log, confirmed(
        ["Worker_TP2"],
        remedies={"trtllm-backend": "yes", "avoid-spill": "yes"},
        symptoms={"sym-async-output": 1},
    )


@scenario("flagship/worker_failed_033")
def worker_failed() -> tuple[Log, Expect]:
    """0.33.0: the output rank TP0 faults itself, so the engine ends at once with the text."""
    log = crash(Server(), [0, 4], ending="failed")
    return log, confirmed(
        ["Worker_TP0", "Worker_TP4"], symptoms={"sym-worker-failed": 1, "sym-async-output": 2}
    )


@scenario("flagship/worker_failed_030_echoes")
def worker_failed_echoes() -> tuple[Log, Expect]:
    """0.30.0: TP0 faults, others echo.

    NCCL watchdog, cupy and c10 report the dead context again and TP1 loses its peer.
    """
    server = Server(V0300)
    log = Log(V0300)
    startup(log, server)
    load(log, server)
    proc = server.worker(0)
    f.async_error(log, proc)
    log.native(
        "[rank0]:[E1201 10:03:27.104 ProcessGroupNCCL.cpp:2093] [PG ID 2 PG GUID 3 Rank 0] Process "
        "group watchdog thread terminated with exception: CUDA error: unspecified launch failure"
    )
    gloo = (
        "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection "
        "closed by peer [127.0.0.1]:54457. This is typically caused by a remote worker hanging "
        "or crashing"
    )
    f.python_error(log, server.worker(1), [], gloo)
    log.raw(
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "cupy_backends/cuda/api/driver.pyx", line 73, in '
        "cupy_backends.cuda.api.driver.check_status\n"
        "[rank0]: cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_LAUNCH_FAILED: "
        "unspecified launch failure",
        proc,
    )
    f.worker_error(log, proc)
    finish(log, server, [proc], ending="failed")
    log.native(
        "terminate called after throwing an instance of 'c10::AcceleratorError'\n"
        "  what():  CUDA error: unspecified launch failure\n"
        "Search for `cudaErrorLaunchFailure' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
        "group__CUDART__TYPES.html for more information.\n"
        "Exception raised from currentStreamCaptureStatusMayInitCtx at "
        "/pytorch/c10/cuda/CUDAGraphsC10Utils.h:71 (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x9d (0x7f3d81b7305d in "
        "/opt/venv/lib/python3.12/site-packages/torch/lib/libc10.so)"
    )
    return log, confirmed(["Worker_TP0"], remedies={"trtllm-backend": "yes", "avoid-spill": "yes"})


@scenario("flagship/connector_output_033")
def connector_output() -> tuple[Log, Expect]:
    """0.33.0: the engine says only `Worker failed with KV connector output`.

    The CUDA text stands at the worker alone.
    """
    log = crash(Server(), [0], ending="connector")
    return log, confirmed(["Worker_TP0"], symptoms={"sym-worker-failed": 1, "sym-async-output": 1})


@scenario("flagship/worker_exception_033")
def worker_exception() -> tuple[Log, Expect]:
    """0.33.0: the fault surfaces in TP6's next graph replay, then the timeout.

    `WorkerProc hit an exception.` prints its traceback twice in one record.
    """
    server = Server()
    log = Log(V0330)
    startup(log, server)
    load(log, server)
    f.worker_error(log, server.worker(6))
    finish(log, server, [server.worker(6)])
    return log, confirmed(
        ["Worker_TP6"],
        symptoms={"sym-rpc-timeout": 1, "sym-worker-exception": 1},
        first_failure=first(
            "Worker_TP6", frame="vllm/v1/worker/gpu/cudagraph_utils.py:run_fullgraph"
        ),
    )


@scenario("flagship/spill_inferred_033")
def spill_inferred() -> tuple[Log, Expect]:
    """0.33.0: no KV transfer metrics in the log.

    The spill follows from 16 running requests above the printed 5.12x, and from 99 % usage.
    """
    log = crash(Server(), [2], metrics=False)
    return log, confirmed(
        ["Worker_TP2"],
        evidence=[fault("Worker_TP2"), BACKEND],
        fact_basis={"hisparse.spilled": "inferred", "allreduce.backend": "stated"},
    )


@scenario("flagship/fuse_allreduce_rms_off_033")
def fuse_off() -> tuple[Log, Expect]:
    """0.33.0: `fuse_allreduce_rms=false` was already set; DSA models ignore it."""
    passes = {"pass_config": {"fuse_allreduce_rms": False}}
    server = Server(fused=False, extra_args={"compilation_config": passes})
    return crash(server, [5]), confirmed(
        ["Worker_TP5"],
        facts={"allreduce.fused_rms": False, "allreduce.backend": "mnnvl"},
        not_a_fix=["(?i)fuse_allreduce_rms", "(?i)PDL"],
    )


@scenario("flagship/jit_cache_trap_033")
def jit_cache_trap() -> tuple[Log, Expect]:
    """0.33.0 with flashinfer-python 0.7.4, an older jit-cache and the version check off.

    The old compiled kernel is loaded, so 0.7.4 refutes nothing.
    """
    server = Server()
    log = Log(V0330)
    environment(
        log,
        {"flashinfer-jit-cache": "0.7.2.post1+cu130", "flashinfer-python": "0.7.4",
         "torch": "2.14.0+cu130", "transformers": "5.17.0"},
        {"CUDA_HOME": "/usr/local/cuda", "FLASHINFER_DISABLE_VERSION_CHECK": "1"},
    )  # fmt: skip
    crash(server, [5], log=log)
    return log, confirmed(
        ["Worker_TP5"],
        open_refuters=["(?i)xid"],
        remedies={"trtllm-backend": "yes"},
        facts={
            "flashinfer.version": "0.7.4",
            "flashinfer.jit_cache_version": "0.7.2.post1+cu130",
            "env.FLASHINFER_DISABLE_VERSION_CHECK": "1",
        },
    )
