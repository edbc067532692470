"""Write what comes from outside the server: environment blocks, kernel lines, bench clients."""

from __future__ import annotations

from .writer import Log

_UNKNOWN = "pid='<unknown>', name=<unknown>"
_BENCH = (
    "Namespace(subparser='bench', bench_type='serve', dispatch_function=<function "
    "BenchmarkServingSubcommand.cmd at 0x7f6abc663600>, trust_remote_code=False, seed=42, "
    "num_prompts={n}, dataset_name='random', custom_output_len=256, random_input_len={inp}, "
    "random_output_len={out}, random_range_ratio='0.0', backend='openai', base_url=None, "
    "host='127.0.0.1', port=8000, endpoint='/v1/completions', max_concurrency=16, "
    "model='/models/GLM-5.3-NVFP4', input_len=None, output_len=None, request_rate=inf, "
    "ignore_eos={eos}, request_id_prefix='bench-5f61-', temperature=None)"
)


def environment(
    log: Log, packages: dict[str, str], variables: dict[str, str] | None = None
) -> None:
    """Write an excerpt of `vllm collect-env`."""
    version = log.release.version
    log.native(
        "==============================\n        System Info\n==============================\n"
        "OS                           : Ubuntu 24.04.3 LTS (x86_64)\n"
        "\n==============================\n       PyTorch Info\n==============================\n"
        f"PyTorch version              : {packages.get('torch', log.release.torch)}\n"
        "CUDA used to build PyTorch   : 13.0\n"
        "GPU models and configuration : \n"
        + "\n".join(f"GPU {n}: NVIDIA B200" for n in range(8))
        + "\nNvidia driver version        : 595.91.07\n"
        "\n==============================\nVersions of relevant libraries\n"
        "==============================\n"
        + "\n".join(f"[pip3] {name}=={number}" for name, number in packages.items())
        + "\n\n==============================\n         vLLM Info\n"
        "==============================\n"
        f"vLLM Version                 : {version} (git sha: {log.release.commit[1:]})\n"
        "\n==============================\n     Environment Variables\n"
        "==============================\n"
        + "\n".join(f"{k}={v}" for k, v in (variables or {"CUDA_HOME": "/usr/local/cuda"}).items())
        + "\n"
    )


def xid(log: Log, number: int, text: str, pid: int | None, name: str = "VLLM::Worker_TP") -> None:
    """Write one kernel line as merged journals show it (`kernel: NVRM: Xid …`)."""
    who = f"pid={pid}, name={name}" if pid else _UNKNOWN
    log.native(f"kernel: NVRM: Xid (PCI:0000:5d:00): {number}, {who}, {text}")


def dmesg(log: Log, number: int, text: str, pid: int | None, stamp: str) -> None:
    """Write one line of a pasted `dmesg -T`; `stamp` is its clock time."""
    who = f"pid={pid}, name=VLLM::Worker_TP" if pid else _UNKNOWN
    log.native(f"[Tue Dec  1 {stamp} 2026] NVRM: Xid (PCI:0000:5d:00): {number}, {who}, {text}")


def bench(
    n: int, inp: int, out: int, generated: int, *, eos: bool, failed: int = 0, errors: str = ""
) -> str:
    """Return what `vllm bench serve` prints; `eos` is its ignore_eos."""
    good = n - failed
    rows = {
        "Successful requests:": f"{good}",
        "Failed requests:": f"{failed}",
        "Maximum request concurrency:": "16",
        "Benchmark duration (s):": "41.87",
        "Total input tokens:": f"{good * inp}",
        "Total generated tokens:": f"{generated}",
        "Request throughput (req/s):": f"{good / 41.87:.2f}",
        "Output token throughput (tok/s):": f"{generated / 41.87:.2f}",
        "Peak output token throughput (tok/s):": "1232.00",
        "Peak concurrent requests:": "16.00",
        "Total token throughput (tok/s):": f"{(generated + good * inp) / 41.87:.2f}",
    }
    bar = f"\r  0%|          | 0/{n} [00:00<?, ?it/s]\r100%|██████████| {n}/{n} [00:41<00:00]"
    table = [f"{label:<40} {value:<10}" for label, value in rows.items()]
    return "\n".join([
        _BENCH.format(n=n, inp=inp, out=out, eos=eos),
        f"INFO 12-01 10:04:02 [utils.py:90] Sampling input_len from [{inp}, {inp}] and "
        f"output_len from [{out}, {out}]",
        "Starting initial single prompt test run...",
        "Skipping endpoint ready check.",
        "Starting main benchmark run...",
        "Traffic request rate: inf",
        "Burstiness factor: 1.0 (Poisson process)",
        "Maximum request concurrency: 16",
        bar,
        *([errors] if errors else []),
        "============ Serving Benchmark Result ============",
        *table,
        "---------------Time to First Token----------------",
        f"{'Mean TTFT (ms):':<40} {'9122.40':<10}",
        f"{'Median TTFT (ms):':<40} {'9301.77':<10}",
        f"{'P99 TTFT (ms):':<40} {'16980.01':<10}",
        "-----Time per Output Token (excl. 1st token)------",
        f"{'Mean TPOT (ms):':<40} {'12.88':<10}",
        "==================================================",
        "",
    ])  # fmt: skip
