"""Reports as the engine would make them, built by hand for the renderers' tests."""

from __future__ import annotations

from dataclasses import replace

from vdiag.report.model import (
    Condition,
    Conflict,
    Considered,
    CoverageMap,
    Evidence,
    Fact,
    Finding,
    FirstFailure,
    Gap,
    Input,
    NotAFix,
    Process,
    Redaction,
    Reference,
    Remedy,
    Report,
    RulePack,
    Rules,
    Run,
    Stats,
    Tool,
    Unexplained,
    Verdict,
)

LOG = "server.log"
FLAGSHIP = "fi-mnnvl-hisparse-spill-crash"
LAUNCH_FAILURE = "torch.AcceleratorError: CUDA error: unspecified launch failure"
STATS = (
    "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 1180.2 tokens/s,"
    " Running: 16 reqs, Waiting: 0 reqs, GPU KV cache usage: 99.6%, Prefix cache hit rate: 0.0%"
)


def line(
    number: int,
    text: str,
    process: str | None = None,
    pid: int | None = None,
    time: str | None = None,
    name: str = LOG,
) -> Evidence:
    """Make a line of evidence."""
    return Evidence(name, number, text, process, pid, time)


BANNER = line(
    3, "vLLM server version 0.33.0, serving model RedHatAI/GLM-5.3-NVFP4", "APIServer", 590
)
ARGS = line(
    5,
    "non-default args: {'model_tag': 'RedHatAI/GLM-5.3-NVFP4', 'tensor_parallel_size': 8, "
    "'kv_transfer_config': KVTransferConfig(kv_connector='HiSparseConnector')}",
    "APIServer",
    590,
    "12-01 10:00:00",
)
GROUP = line(
    41,
    "DP group leader: node_rank=0, node_rank_within_dp=0, master_addr=127.0.0.1, "
    "mq_connect_ip=127.0.0.1 (local), world_size=8, local_world_size=8",
    "EngineCore",
    597,
)
BACKEND = line(
    118,
    "Initialized FlashInfer Allreduce norm fusion workspace with backend=mnnvl",
    "Worker_TP0",
    600,
    "12-01 10:02:11",
)
HISPARSE = line(
    131,
    "Enabled experimental HiSparse HMA hot cache: top_k=2048, device_buffer_size=4096 "
    "(2048 LRU rows), max_num_seqs=16.",
    "Worker_TP0",
    600,
    "12-01 10:02:30",
)
GRAPHS = line(170, "Graph capturing finished in 21 secs, took 1.92 GiB", "Worker_TP0", 600)
MISSES = line(
    412,
    "KV Transfer metrics: HiSparse hot-buffer hits=81233, HiSparse hot-buffer misses=5120, "
    "host-to-device bytes=3355443200",
    "APIServer",
    590,
    "12-01 10:04:38",
)
HEALTHY = line(411, STATS, "APIServer", 590, "12-01 10:04:38")


def fault(rank: int, number: int) -> Evidence:
    """Make the CUDA error of one rank."""
    return line(number, LAUNCH_FAILURE, f"Worker_TP{rank}", 600 + rank, "12-01 10:04:41")


def condition(
    text: str,
    evidence: Evidence | None = None,
    *,
    kind: str = "precondition",
    truth: str = "true",
    basis: str | None = "stated",
    **more: object,
) -> Condition:
    """Make a condition, true by a line unless told otherwise."""
    return Condition(
        kind=kind,  # type: ignore[arg-type]
        text=text,
        truth=truth,  # type: ignore[arg-type]
        basis=basis,  # type: ignore[arg-type]
        evidence=[evidence] if evidence else [],
        **more,  # type: ignore[arg-type]
    )


def symptom(
    id: str, title: str, evidence: Evidence, *, count: int = 1, last: Evidence | None = None
) -> Finding:
    """Make a symptom that the flagship explains."""
    return Finding(
        id=id,
        title=title,
        family="symptom",
        role="symptom",
        status="confirmed",
        severity="run",
        summary=f"{title}.",
        cause="",
        does_not_prove="why it happened",
        conditions=[],
        evidence=[evidence],
        count=count,
        explains=[],
        explained_by=FLAGSHIP,
        remedies=[],
        affected=None,
        fixed_in=None,
        references=[],
        last=last,
    )


def flagship_finding() -> Finding:
    """Make the flagship, confirmed, with two faulting ranks out of eight."""
    return Finding(
        id=FLAGSHIP,
        title="FlashInfer MNNVL fused all-reduce crashes while HiSparse reads KV from host",
        family="collective",
        role="root",
        status="confirmed",
        severity="run",
        summary=(
            "FlashInfer's MNNVL fused all-reduce + RMSNorm kernel died with unspecified launch "
            "failure, first on Worker_TP5, while HiSparse read KV from host memory."
        ),
        cause=(
            "Every thread arrives at the cluster barrier but only one warp waits; the RMSNorm "
            "reduction then writes into the shared memory of a CTA that is not there."
        ),
        does_not_prove=(
            "Which kernel faulted: a CUDA error names a later call. Only a core dump names the "
            "kernel."
        ),
        conditions=[
            condition("the fused all-reduce uses mnnvl", BACKEND, subkind="state", specific=True),
            condition("HiSparse is on", HISPARSE, subkind="state", specific=True),
            condition("tensor parallel size above 1", ARGS, subkind="state"),
            condition("CUDA graphs are in use", GRAPHS, subkind="state"),
            condition("HiSparse read KV from host memory", MISSES, subkind="trigger"),
            condition(
                "the crash came during graph capture",
                kind="exclusion",
                truth="false",
                subkind="must_clear",
            ),
            condition(
                "a hardware Xid before the fault",
                kind="exclusion",
                truth="unknown",
                basis=None,
                subkind="open",
                how_to_find_out="dmesg -T | grep -E 'NVRM|Xid'",
            ),
            condition(
                "FlashInfer without the defect (0.7.2.post1 is what vLLM 0.33.0 pins)",
                kind="exclusion",
                truth="false",
                basis="inferred",
                subkind="open",
                how_to_find_out="pip list | grep -i flashinfer",
            ),
        ],
        evidence=[fault(5, 431), fault(2, 455)],
        count=2,
        explains=["sym-async-output", "sym-rpc-timeout", "sym-engine-fatal", "sym-engine-dead"],
        explained_by=None,
        remedies=[
            Remedy(
                text="Let FlashInfer use its trtllm all-reduce backend",
                command="export VLLM_FLASHINFER_ALLREDUCE_BACKEND=trtllm",
                applies="yes",
                why="the TP group stands on one node",
                cost="3-5 % of decode throughput on NVSwitch H200 and B200 (vLLM's own comment)",
                verify="the next start prints `workspace with backend=trtllm`",
                kind="workaround",
                where="the unit or container that starts vLLM, not in a second shell",
                id="trtllm-backend",
            ),
            Remedy(
                text="Rebuild the image with flashinfer-python 0.7.4 or newer",
                command=None,
                applies="yes",
                why="vLLM 0.33.0 pins 0.7.2.post1, which has the defect",
                cost="pip reports the pin as broken; flashinfer-jit-cache must match or be absent",
                verify="the autotune-cache line names 0.7.4",
                kind="fix",
            ),
            Remedy(
                text="Avoid the spill: a larger KV pool, less concurrency or shorter context",
                command=None,
                applies="yes",
                why="HiSparse read from host in this run",
                kind="mitigation",
            ),
        ],
        affected="vLLM 0.25.1 to 0.33.0 with flashinfer-python 0.6.13 to 0.7.2.post1",
        fixed_in="flashinfer-python>=0.7.4",
        references=[
            Reference("flashinfer-ai/flashinfer#3385", "introduced the barrier split"),
            Reference("vllm-project/vllm#47219", "made mnnvl the single-node default"),
        ],
        not_a_fix=[
            NotAFix(
                "fuse_allreduce_rms=false",
                "DSA models call the fused operation by hand and never read it",
                tried=True,
                evidence=[ARGS],
            ),
            NotAFix(
                "Switching PDL off",
                "vLLM has no switch for it; a source patch ran clean in the field report only",
            ),
        ],
        not_established="Why HiSparse of all things exposes the race.",
        faulting=["Worker_TP5", "Worker_TP2"],
    )


def processes() -> list[Process]:
    """Make an API server, an engine and eight workers."""
    workers = [
        Process(f"Worker_TP{rank}", 600 + rank, None, "worker", {"tp": rank}, "serving", None)
        for rank in range(8)
    ]
    return [
        Process("APIServer", 590, None, "api", {}, "serving", HEALTHY),
        Process("EngineCore", 597, None, "engine", {}, "serving", None),
        *workers,
    ]


def facts() -> dict[str, Fact]:
    """Make the facts of the flagship's server."""
    return {
        "vllm.version": Fact("0.33.0", "stated", [BANNER], title="vLLM", group="versions"),
        "flashinfer.version": Fact(
            "0.7.2.post1",
            "inferred",
            [],
            reason="vLLM 0.33.0 pins it",
            title="FlashInfer",
            group="versions",
        ),
        "model.name": Fact(
            "RedHatAI/GLM-5.3-NVFP4", "stated", [BANNER], title="Model", group="model"
        ),
        "parallel.tp": Fact(8, "stated", [ARGS], asked=8, asked_evidence=[ARGS], group="topology"),
        "parallel.multi_node": Fact(False, "stated", [GROUP], group="topology"),
        "allreduce.backend": Fact("mnnvl", "stated", [BACKEND], asked="auto", group="all-reduce"),
        "hisparse.enabled": Fact(True, "stated", [HISPARSE], group="hisparse"),
        "hisparse.spilled": Fact(True, "stated", [MISSES], group="hisparse"),
        "kv_cache.max_concurrency": Fact(3.94, "stated", [GRAPHS], group="kv-cache"),
        "cuda_graphs.mode": Fact(
            "FULL_AND_PIECEWISE",
            "stated",
            [ARGS],
            conflicts=[Conflict("PIECEWISE", [GRAPHS])],
            group="engine",
        ),
        "gpu.name": Fact("NVIDIA B200", "stated", [GRAPHS], group="gpu"),
    }


def flagship_run() -> Run:
    """Make the crashed run of the flagship."""
    return Run(
        id=1,
        kind="server",
        inputs=[LOG],
        outcome="crashed",
        phase="serving",
        started="12-01 10:00:00",
        ready="12-01 10:04:10",
        ended="12-01 10:09:42",
        coverage=CoverageMap("seen", "seen", "seen"),
        processes=processes(),
        facts=facts(),
        first_failure=FirstFailure(
            "torch.AcceleratorError",
            "CUDA error: unspecified launch failure",
            "Worker_TP5",
            605,
            "vllm/v1/worker/gpu/async_utils.py:get_output",
            "serving",
            2,
            [fault(5, 431)],
            echoes=6,
        ),
        findings=[
            flagship_finding(),
            symptom(
                "sym-async-output",
                "error while fetching the model's output",
                line(419, "Error getting async model runner output", "Worker_TP5", 605),
                count=8,
                last=line(598, "Error getting async model runner output", "Worker_TP7", 607),
            ),
            symptom(
                "sym-rpc-timeout",
                "call to the workers timed out",
                line(640, "TimeoutError: RPC call to sample_tokens timed out.", "EngineCore", 597),
            ),
            symptom(
                "sym-engine-dead",
                "front end lost the engine",
                line(702, "AsyncLLM output_handler failed.", "APIServer", 590),
                count=17,
                last=line(2210, "EngineDeadError: EngineCore encountered an issue.", "APIServer"),
            ),
        ],
        considered=[
            Considered(
                "gpu-xid",
                "open",
                "no kernel log in the input",
                [
                    condition(
                        "the host's kernel log shows a hardware Xid",
                        truth="unknown",
                        basis=None,
                        how_to_find_out="dmesg -T | grep -E 'NVRM|Xid'",
                    )
                ],
            ),
            Considered(
                "fi-mnnvl-no-full-multicast-capture-crash",
                "ruled-out",
                "graph capture had finished (line 170)",
                [],
            ),
        ],
        unexplained=[],
        failed_at="12-01 10:04:41",
        seconds_to_failure=31,
        seconds_to_notice=301,
        last_healthy=HEALTHY,
    )


def report(runs: list[Run], verdict: Verdict, **more: object) -> Report:
    """Put runs and a verdict into a report on one input."""
    for run in runs:
        if run.verdict is None:
            run.verdict = replace(verdict, run=run.id)
    values: dict[str, object] = {
        "inputs": [Input(LOG, 412_009, 2_241, envelopes=["journald-short"])],
        "verdicts": [replace(verdict, input=LOG)],
    }
    values.update(more)
    return Report(
        vdiag=Tool("0.1.0", Rules([RulePack("builtin", "2026.12.1", "3f1c9ad0b7e2")], 9)),
        verdict=verdict,
        runs=runs,
        redaction=Redaction(),
        stats=Stats(212, "hyperscan"),
        **values,  # type: ignore[arg-type]
    )


def flagship() -> Report:
    """Make the report on the flagship: eight workers, two of them faulting."""
    run = flagship_run()
    return report([run], Verdict("confirmed", FLAGSHIP, 1, run.findings[0].summary))


def two_runs() -> Report:
    """Make a crash, a failed restart that is its aftermath, and a clean one with trtllm."""
    crash = flagship_run()
    backend = replace(
        BACKEND,
        line=3_118,
        text="Initialized FlashInfer Allreduce norm fusion workspace with backend=trtllm",
    )
    failed = replace(
        flagship_run(),
        id=2,
        outcome="failed-to-start",
        started="12-01 10:10:02",
        ready=None,
        findings=[],
        aftermath_of=1,
        verdict=Verdict("confirmed", "gpu-free-memory-below-utilization", 2, "Too little memory."),
    )
    clean = replace(
        flagship_run(),
        id=3,
        outcome="running",
        started="12-01 10:31:00",
        ready="12-01 10:35:02",
        facts={**facts(), "allreduce.backend": Fact("trtllm", "stated", [backend])},
        first_failure=None,
        findings=[],
        considered=[],
        verdict=Verdict("clean", None, 3, "The server came up and served."),
    )
    summary = crash.findings[0].summary
    return report([crash, failed, clean], Verdict("confirmed", FLAGSHIP, 1, summary))


def multi_node() -> Report:
    """Make the flagship with its TP group over two nodes, where trtllm does not apply."""
    made = flagship()
    run = made.runs[0]
    run.facts["parallel.multi_node"] = Fact(True, "stated", [GROUP])
    first = run.findings[0].remedies[0]
    first.applies = "no"
    first.why = "the TP group spans nodes, where vLLM raises ValueError"
    return made


def unexplained() -> Report:
    """Make a crash that no rule explains."""
    error = line(88, "RuntimeError: injected failure in worker", "Worker_TP1", 601)
    run = replace(
        flagship_run(),
        findings=[
            replace(
                symptom(
                    "sym-worker-exception",
                    "a worker's call raised",
                    line(80, "WorkerProc hit an exception.", "Worker_TP1", 601),
                ),
                explained_by=None,
            )
        ],
        first_failure=FirstFailure(
            "RuntimeError",
            "injected failure in worker",
            "Worker_TP1",
            601,
            "vllm/v1/worker/gpu_worker.py:execute_model",
            "serving",
            1,
            [error],
            echoes=7,
        ),
        considered=[],
        unexplained=[Unexplained("injected failure in worker <N>", "ERROR", 2, error)],
        next_evidence=[
            "the kernel's messages on the host: `dmesg -T | grep -E 'NVRM|Xid|oom-kill'`",
            "the log from the banner on: `journalctl -u vllm -b --no-pager -a`",
        ],
        seconds_to_notice=None,
    )
    return report(
        [run],
        Verdict("unexplained", None, 1, "RuntimeError in Worker_TP1, which no rule explains."),
    )


def symptom_only() -> Report:
    """Make a time-out without any error behind it."""
    finding = replace(
        symptom(
            "sym-rpc-timeout",
            "call to the workers timed out",
            line(640, "TimeoutError: RPC call to sample_tokens timed out.", "EngineCore", 597),
        ),
        explained_by=None,
        summary="The output rank answered nothing for 300 s; why is not in this log.",
        cause="The rank that answers sent nothing for 300 s",
        does_not_prove="A network fault or a slow model: the cause lies 300 s earlier or more",
        next_step="Look at every rank's log 300 s earlier, and dump the stacks of a hung rank",
    )
    run = replace(
        flagship_run(),
        findings=[finding],
        first_failure=None,
        considered=[],
        next_evidence=["stacks of every worker while it hangs: `py-spy dump --pid PID`"],
    )
    return report([run], Verdict("symptom-only", "sym-rpc-timeout", 1, finding.summary))


def at_risk() -> Report:
    """Make a start-up that has every state precondition of the flagship."""
    finding = replace(
        flagship_finding(),
        role="risk",
        status="at-risk",
        evidence=[],
        count=0,
        faulting=[],
        summary=(
            "The server chose mnnvl with HiSparse on; the pool holds 3.94 requests of full "
            "length and 16 may run, so a spill is possible."
        ),
    )
    run = replace(
        flagship_run(),
        outcome="running",
        findings=[finding],
        first_failure=None,
        failed_at=None,
        seconds_to_failure=None,
        seconds_to_notice=None,
        considered=[],
    )
    return report([run], Verdict("at-risk", FLAGSHIP, 1, finding.summary))


def clean() -> Report:
    """Make a healthy run."""
    run = replace(
        flagship_run(),
        outcome="stopped",
        findings=[],
        first_failure=None,
        failed_at=None,
        seconds_to_failure=None,
        seconds_to_notice=None,
        considered=[],
    )
    return report([run], Verdict("clean", None, 1, "The server came up, served and was stopped."))


def no_vllm() -> Report:
    """Make the report on an input that holds nothing of vLLM's."""
    return report([], Verdict("no-vllm", None, None, "Nothing of vLLM's is in the input."))


def several_inputs() -> Report:
    """Make a report on two nodes' logs: one crashed, one clean."""
    made = flagship()
    other = replace(
        clean().runs[0], id=2, inputs=["node-1.log"], verdict=Verdict("clean", None, 2, "Fine.")
    )
    made.runs.append(other)
    made.inputs.append(Input("node-1.log", 2_000, 30, gaps=[]))
    made.verdicts.append(Verdict("clean", None, 2, "Fine.", "node-1.log"))
    made.inputs[0].gaps.append(
        Gap(390, "blob-data", "[5.1K blob data]", 3, "journalctl -u vllm -a --no-pager")
    )
    return made


def hostile(text: str) -> Report:
    """Put one text into every place of a report that the log reaches."""
    made = unexplained()
    run = made.runs[0]
    run.findings.insert(0, flagship_finding())
    finding = run.findings[0]
    bad = line(7, text, text, 1)
    finding.summary = finding.cause = finding.does_not_prove = text
    finding.evidence = [bad, replace(bad, line=8, text=LAUNCH_FAILURE + text)]
    finding.faulting = [text]
    finding.conditions[0] = condition(text, bad, basis="inferred", note=text)
    finding.conditions[6].how_to_find_out = text
    finding.remedies[0] = replace(finding.remedies[0], text=text, why=text, verify=text)
    finding.remedies[1] = replace(finding.remedies[1], applies="no", why=text)
    finding.not_a_fix[0] = NotAFix(text, text, tried=True, evidence=[bad])
    finding.references[0] = Reference(text, text)
    run.findings[1].title = text
    run.findings[1].evidence = [bad]
    assert run.first_failure is not None
    run.first_failure.type = run.first_failure.message = run.first_failure.frame = text
    run.first_failure.process = text
    run.first_failure.evidence = [bad]
    run.considered = [Considered(FLAGSHIP, "open", text, [condition(text, bad)], title=text)]
    run.unexplained = [Unexplained(text, "ERROR", 1, bad)]
    run.facts["model.name"] = Fact(text, "inferred", [bad], [Conflict(text, [bad])], reason=text)
    run.facts[f"env.{text}"] = Fact(text, "stated", [bad], asked=text)
    run.last_healthy = bad
    run.next_evidence = [text]
    made.inputs[0].problems.append(text)
    made.inputs[0].gaps.append(Gap(3, "suppressed", text, 1, text))
    made.verdict.summary = text
    made.runs.append(
        replace(flagship_run(), id=2, started=text, verdict=Verdict("clean", text, 2, text))
    )
    return made
