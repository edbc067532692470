"""Describe one vLLM release as far as its log lines go.

Line numbers come from the released wheels (0.33.0 in full, 0.25.1 and 0.32.0 from real logs, the
`[flashinfer_all_reduce.py:N]` and async-output numbers for every release); numbers that no page
gives fall back to those of the nearest release read. No pattern should depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

#: site key -> (path below the vllm package, line in 0.33.0)
SITES: dict[str, tuple[str, int]] = {
    "logo": ("entrypoints/serve/utils/api_utils.py", 347),
    "args": ("entrypoints/serve/utils/api_utils.py", 288),
    "ulimit": ("utils/system_utils.py", 278),
    "arch": ("config/model.py", 744),
    "maxlen": ("config/model.py", 2170),
    "chunked": ("config/scheduler.py", 310),
    "vllmcfg": ("config/vllm.py", 1772),
    "async": ("config/vllm.py", 1719),
    "hsconn": ("config/vllm.py", 1921),
    "kernel": ("config/kernel.py", 471),
    "fusions": ("config/compilation.py", 317),
    "engine": ("v1/engine/core.py", 139),
    "init": ("v1/engine/core.py", 412),
    "fatal": ("v1/engine/core.py", 1586),
    "trigger": ("v1/engine/core.py", 1528),
    "corestop": ("v1/engine/core.py", 1690),
    "busy": ("v1/engine/core.py", 1541),
    "leader": ("v1/executor/multiproc_executor.py", 167),
    "died": ("v1/executor/multiproc_executor.py", 380),
    "execwait": ("v1/executor/multiproc_executor.py", 561),
    "parentgone": ("v1/executor/multiproc_executor.py", 941),
    "startfail": ("v1/executor/multiproc_executor.py", 1057),
    "asyncout": ("v1/executor/multiproc_executor.py", 1105),
    "workerexc": ("v1/executor/multiproc_executor.py", 1189),
    "group": ("distributed/parallel_state.py", 1929),
    "rankmap": ("distributed/parallel_state.py", 2385),
    "nccl": ("distributed/device_communicators/pynccl.py", 148),
    "dispatch": ("distributed/device_communicators/cuda_communicator.py", 353),
    "arinit": ("distributed/device_communicators/flashinfer_all_reduce.py", 235),
    "arauto": ("distributed/device_communicators/flashinfer_all_reduce.py", 176),
    "arfallback": ("distributed/device_communicators/flashinfer_all_reduce.py", 227),
    "arnomc": ("distributed/device_communicators/flashinfer_all_reduce.py", 101),
    "arquant": ("distributed/device_communicators/flashinfer_all_reduce.py", 312),
    "symm": ("distributed/device_communicators/symm_mem.py", 118),
    "customar": ("distributed/device_communicators/custom_all_reduce.py", 268),
    "shm": ("distributed/device_communicators/shm_broadcast.py", 112),
    "connector": ("distributed/kv_transfer/kv_connector/factory.py", 62),
    "steady": ("distributed/kv_transfer/kv_connector/v1/hisparse/connector.py", 252),
    "kvmetrics": ("distributed/kv_transfer/kv_connector/v1/metrics.py", 117),
    "runner": ("v1/worker/gpu_worker.py", 513),
    "kvbytes": ("v1/worker/gpu_worker.py", 664),
    "kvavail": ("v1/worker/gpu_worker.py", 772),
    "freemem": ("v1/worker/gpu_worker.py", 1045),
    "scratch": ("v1/worker/gpu/model_runner.py", 399),
    "loaded": ("v1/worker/gpu/model_runner.py", 428),
    "captured": ("v1/worker/gpu/model_runner.py", 1163),
    "profgraph": ("v1/worker/gpu_model_runner.py", 6304),
    "weights": ("model_executor/model_loader/default_loader.py", 506),
    "fs": ("model_executor/model_loader/weight_utils.py", 1144),
    "attn": ("platforms/cuda.py", 508),
    "unkenv": ("platforms/interface.py", 1465),
    "fa": ("v1/attention/backends/fa_utils.py", 121),
    "moe": ("model_executor/layers/fused_moe/fused_moe.py", 1201),
    "hslayout": ("v1/hisparse/layout.py", 363),
    "hsruntime": ("v1/hisparse/runtime.py", 1349),
    "hsteardown": ("v1/hisparse/runtime.py", 433),
    "hsunpin": ("v1/hisparse/runtime.py", 459),
    "capacity": ("v1/core/kv_cache_utils.py", 1147),
    "cachedir": ("compilation/backends.py", 1131),
    "compiled": ("compilation/monitor.py", 53),
    "autotune": ("model_executor/warmup/kernel_warmup.py", 181),
    "jit": ("utils/jit_monitor.py", 84),
    "jitwarn": ("utils/jit_monitor.py", 140),
    "tasks": ("entrypoints/launchers/api_server/entry.py", 135),
    "serving": ("entrypoints/launchers/api_server/entry.py", 139),
    "routes": ("entrypoints/launchers/launcher.py", 188),
    "route": ("entrypoints/launchers/launcher.py", 197),
    "banner": ("entrypoints/launchers/launcher.py", 367),
    "portuser": ("entrypoints/launchers/launcher.py", 298),
    "apistop": ("entrypoints/launchers/launcher.py", 256),
    "stats": ("v1/metrics/loggers.py", 338),
    "spec": ("v1/spec_decode/metrics.py", 124),
    "request": ("entrypoints/serve/utils/request_logger.py", 63),
    "dumpin": ("logging_utils/dump_input.py", 72),
    "dumpout": ("logging_utils/dump_input.py", 79),
    "dumpstats": ("logging_utils/dump_input.py", 81),
    "outhandler": ("v1/engine/async_llm.py", 921),
    "stream": ("entrypoints/openai/completion/serving.py", 507),
    "mpclient": ("v1/engine/core_client.py", 842),
    "mpdead": ("v1/engine/core_client.py", 839),
    "procmgr": ("v1/engine/utils.py", 648),
    "killsub": ("utils/system_utils.py", 225),
    "chat": ("entrypoints/openai/chat_completion/serving.py", 212),
    "advice": ("v1/worker/gpu/warmup.py", 77),
    "dpcoord": ("v1/engine/utils.py", 1279),
}


@dataclass(frozen=True)
class Release:
    """What one release prints, and where."""

    version: str
    commit: str
    flashinfer: str
    torch: str
    hook: bool
    """stdout/stderr write hook: raw lines of Python carry `(name pid=N) ` (up to 0.30)."""
    overrides: dict[str, int] = field(default_factory=dict)
    auto_line: bool = False
    """`Auto-selected flashinfer allreduce backend` at INFO (0.19.1 to 0.26)."""
    async_line: bool = True
    """`Error getting async model runner output` exists (from 0.25)."""
    one_line_capacity: bool = True
    steady: bool = True
    """`HiSparse steady-state …` and the host usage metric (from 0.32)."""
    etp: bool = True
    """The rank map names ETP ranks."""
    fused_default: bool = True

    def at(self, site: str) -> tuple[str, int]:
        """Return the path and line number that this release logs `site` from."""
        path, line = SITES[site]
        return path, self.overrides.get(site, line)


_V0251 = {
    "logo": 339, "args": 273, "ulimit": 299, "arch": 619, "maxlen": 1776, "chunked": 252,
    "async": 1042, "kernel": 292, "engine": 114, "init": 337, "fatal": 1233, "trigger": 1214,
    "corestop": 1333, "busy": 1227, "leader": 140, "execwait": 426, "parentgone": 790,
    "asyncout": 945, "workerexc": 1031, "group": 1607, "rankmap": 1942, "runner": 360,
    "kvbytes": 459, "scratch": 281, "loaded": 302, "captured": 722, "attn": 416, "capacity": 2146,
    "cachedir": 1089, "autotune": 170, "jit": 73, "jitwarn": 129, "tasks": 612, "serving": 616,
    "routes": 37, "route": 46, "apistop": 100, "stats": 273, "outhandler": 704, "stream": 494,
    "mpclient": 655, "procmgr": 626, "arinit": 168, "arauto": 112, "arfallback": 159,
    "arquant": 231, "fusions": 266, "died": 288,
}  # fmt: skip
_V0320 = {
    "args": 286, "ulimit": 255, "arch": 733, "maxlen": 2152, "chunked": 307, "kernel": 467,
    "vllmcfg": 1703, "engine": 133, "init": 402, "fatal": 1512, "trigger": 1454, "leader": 153,
    "died": 315, "execwait": 479, "parentgone": 843, "startfail": 953, "asyncout": 1000,
    "workerexc": 1063, "group": 1906, "rankmap": 2350, "capacity": 2327, "tasks": 136,
    "serving": 140, "routes": 186, "route": 195, "apistop": 254, "stats": 335, "outhandler": 906,
    "stream": 500, "mpclient": 770, "arinit": 236, "arquant": 313,
}  # fmt: skip

V0330 = Release("0.33.0", "g4ba787ec9", "0.7.2.post1", "2.14.0", hook=False)
V0320 = replace(
    V0330, version="0.32.0", commit="g5df63a720", flashinfer="0.7.0.post1", torch="2.13.0",
    overrides=_V0320,
)  # fmt: skip
V0310 = replace(
    V0320, version="0.31.0", commit="gdb9527a46", steady=False,
    overrides={**_V0320, "arinit": 224, "arquant": 301, "asyncout": 995},
)  # fmt: skip
V0300 = replace(
    V0310, version="0.30.0", commit="gced6857af", flashinfer="0.6.18.post1", hook=True,
    overrides={**_V0320, "arinit": 216, "arquant": 290, "asyncout": 991, "died": 311},
)  # fmt: skip
V0260 = replace(
    V0300, version="0.26.0", commit="gffd46bfab", flashinfer="0.6.14", torch="2.11.0",
    auto_line=True, one_line_capacity=False, etp=False,
    overrides={**_V0251, "arinit": 170, "asyncout": 948},
)  # fmt: skip
V0251 = replace(
    V0260, version="0.25.1", commit="g752a3a504", flashinfer="0.6.13", overrides=_V0251,
)  # fmt: skip
V0240 = replace(
    V0251, version="0.24.0", commit="gee0da84ab", flashinfer="0.6.12", async_line=False,
    overrides={**_V0251, "arinit": 152, "arauto": 101, "workerexc": 986},
)  # fmt: skip


def nightly(version: str) -> Release:
    """Return a main-branch build that logs like 0.33 under the name `version`."""
    return replace(V0330, version=version, commit=version.rpartition("+")[2])
