"""The way from an input to its report."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from vdiag.engine import causality, evaluate, failure, runs, templates
from vdiag.engine.compiled import CompiledPack
from vdiag.engine.conditions import Context
from vdiag.engine.facts import FactTable
from vdiag.engine.findings import diagnosis_finding, symptom_finding
from vdiag.engine.lane import Observed
from vdiag.engine.observation import RunData, Sighting
from vdiag.engine.observe import observe
from vdiag.engine.scan import Matcher, make_matcher
from vdiag.engine.verdict import aftermath, fatal_order, next_evidence, of_input, of_run, worst
from vdiag.errors import InputError
from vdiag.report.model import (
    Considered,
    Evidence,
    FirstFailure,
    Gap,
    Input,
    Process,
    Redaction,
    Report,
    RulePack,
    Rules,
    Run,
    Stats,
    Tool,
    Verdict,
)
from vdiag.rules.cache import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vdiag.logs.places import Origin
    from vdiag.logs.sources import Source
    from vdiag.rules.packs import Pack

_MAX_NUL_SHARE = 0.01
_BINARY_SAMPLE = 65536


@dataclass
class Engine:
    """A pack, compiled, with a matcher for its literals."""

    pack: Pack
    compiled: CompiledPack
    matcher: Matcher

    @classmethod
    def of(cls, pack: Pack, *, fallback: bool = False) -> Engine:
        """Compile a pack; ``fallback`` takes the matcher that needs no wheel."""
        compiled = CompiledPack(pack)
        return cls(pack, compiled, make_matcher(compiled.literals, fallback=fallback))

    def report(self, sources: Iterable[Source], version: str) -> Report:
        """Analyse inputs and report on all of them; raises InputError at the first bad one."""
        report, errors = self.report_all(sources, version)
        if errors:
            raise errors[0]
        return report

    def report_all(
        self, sources: Iterable[Source], version: str
    ) -> tuple[Report, list[InputError]]:
        """Analyse inputs one by one; those that cannot be read are returned as errors."""
        inputs: list[Input] = []
        verdicts: list[Verdict] = []
        all_runs: list[Run] = []
        errors: list[InputError] = []
        origins: dict[int, Origin] = {}
        hits = 0
        for source in sources:
            if source.origin is not None:
                origins[id(source.origin)] = source.origin
            try:
                observed = observe(source, self.compiled, self.matcher)
                kept = self._kept(observed)
                if not self._worth(source, observed, kept):
                    continue
            except InputError as error:
                errors.append(error)
                continue
            finally:
                source.close()
            own = self.runs_of(observed, len(all_runs))
            verdicts.append(of_input(observed.input, own))
            all_runs += own
            inputs.append(self._input(observed, source))
            hits += observed.hits
        pack = self.pack
        report = Report(
            vdiag=Tool(version, Rules([RulePack(*ref) for ref in pack.packs], pack.count)),
            inputs=inputs,
            verdict=worst(verdicts, all_runs),
            verdicts=verdicts,
            runs=all_runs,
            redaction=Redaction(),
            stats=Stats(hits, self.matcher.name),
            notes=[origin.note() for origin in origins.values() if origin.kept and origin.left_out],
        )
        return report, errors

    def runs_of(self, observed: Observed, before: int = 0) -> list[Run]:
        """Judge what one input showed; its runs are numbered after ``before`` others.

        What was observed is left as it is, so that it can be judged by other rules too.
        """
        runs_ = [
            self._run(run, before + index)
            for index, run in enumerate(self._kept(observed), start=1)
        ]
        aftermath(runs_, self.pack)
        order = fatal_order(self.pack)
        for run in runs_:
            run.verdict = of_run(run, order)
        return runs_

    @classmethod
    def _worth(cls, source: Source, observed: Observed, kept: list[RunData]) -> bool:
        """Whether an input goes into the report; raises InputError where it is none.

        What a folder or an archive holds beside logs is only counted.
        """
        origin = source.origin
        if not kept and not source.complete:
            if origin is not None:
                origin.failed += 1
            raise InputError(f"{source.name}: {'; '.join(source.problems)}")
        if origin is None:
            cls._refuse_binary(observed)
        elif not kept:
            origin.leave_out("without anything of vLLM's")
        else:
            origin.kept += 1
        return origin is None or bool(kept)

    @staticmethod
    def _kept(observed: Observed) -> list[RunData]:
        """Return the runs that hold something of vLLM's."""
        return [
            run
            for run in observed.runs
            if run.seen_vllm or run.bench or run.banner or run.blocks or run.buckets
        ]

    @staticmethod
    def _refuse_binary(observed: Observed) -> None:
        sample = min(observed.bytes, _BINARY_SAMPLE)
        if sample and not observed.runs and observed.nul_bytes / sample > _MAX_NUL_SHARE:
            raise InputError(
                f"{observed.input}: is binary data, not a log; give the server's text log"
            )

    @staticmethod
    def _input(observed: Observed, source: Source) -> Input:
        gaps = list(observed.gaps)
        first = observed.runs[0] if observed.runs else None
        if (
            first is not None
            and first.seen_vllm
            and first.banner is None
            and first.kind == "server"
            and first.first is not None
        ):
            at = first.first
            gaps.insert(
                0,
                Gap(
                    at.line,
                    "cut-beginning",
                    "the server's start is not in this input",
                    1,
                    _HOW_TO_GET_START,
                ),
            )
        return Input(
            name=observed.input,
            bytes=observed.bytes,
            lines=observed.lines,
            compression=source.compression,
            encoding=source.encoding,
            envelopes=observed.envelopes,
            gaps=gaps,
            problems=source.problems,
            complete=source.complete,
            parts=source.parts,
        )

    def _run(self, data: RunData, number: int) -> Run:
        pack = self.pack
        failures = failure.find_failures(data, pack)
        course = runs.course(data, failures)
        facts = FactTable(data, pack)
        evaluated = [
            one
            for rule in pack.diagnoses.values()
            if (one := evaluate.apply(rule, data, facts, failures)) is not None
        ]
        course = runs.known_end(course, data, failures, evaluated)
        judgement = causality.judge(data, evaluated, failures, course, facts, pack)
        if course.outcome == "running" and _hangs(data, judgement):
            course = replace(course, outcome="hung")
        findings = [
            diagnosis_finding(one, data, facts, course, judgement) for one in judgement.findings
        ]
        findings += [symptom_finding(seen, data, facts, course) for seen in judgement.symptoms]
        considered = [
            Considered(
                id=one.rule.id,
                status="ruled-out" if one.status == "ruled-out" else "open",
                because=because,
                conditions=[evaluate.condition_report(*pair) for pair in one.conditions],
                title=one.rule.title,
            )
            for one, because in judgement.considered
        ]
        explained = {
            seen.block.id
            for one in judgement.findings
            for seen in one.evaluated.signature.evidence
            if seen.block is not None
        }
        run = Run(
            id=number,
            kind=_kind(data),
            inputs=[data.input],
            outcome=course.outcome,
            phase=course.phase,
            started=_started(data),
            ready=data.ready.time or _stamp_near(data) if data.ready else None,
            ended=data.last.time if data.last and course.outcome != "running" else None,
            coverage=course.coverage,
            processes=[
                Process(
                    state.label,
                    state.pid,
                    state.host,
                    state.role,
                    state.ranks,
                    state.phase,
                    _evidence(data, state.order),
                )
                for state in data.processes
            ],
            facts=facts.report(),
            first_failure=_first_failure(failures, judgement),
            findings=findings,
            considered=considered,
            unexplained=templates.unexplained(data, failures, explained),
            quoted=data.quoted,
        )
        _times(run, data, course)
        stalled = _stalled(data) if course.outcome in ("running", "hung") else None
        run.stalled = stalled.evidence() if stalled is not None else None
        run.next_evidence = next_evidence(run, judgement, Context(data, facts))
        return run


def _first_failure(
    failures: failure.Failures, judgement: causality.Judgement
) -> FirstFailure | None:
    """Return the first failure; with the root, where its evidence is in the same message."""
    first, root = failure.first_failure(failures), judgement.root
    block = failures.first.block if failures.first is not None else None
    if first is not None and root is not None and block is not None:
        evaluated = root.evaluated
        if any(seen.block is block for seen in evaluated.signature.evidence):
            first.explained_by = evaluated.rule.id
    return first


_local = threading.local()


def builtin_engine() -> Engine:
    """Return the engine of the built-in rules, made once a thread: a matcher is one thread's."""
    if not hasattr(_local, "engine"):
        _local.engine = Engine.of(load())
    engine: Engine = _local.engine
    return engine


_HOW_TO_GET_START = (
    "attach the log from the server's start: journalctl -u UNIT -b, kubectl logs --previous, "
    "or the file before rotation"
)


def _evidence(data: RunData, order: int) -> Evidence | None:
    at = data.last_by_process.get(order)
    return at.evidence() if at else None


def _kind(data: RunData) -> Literal["server", "offline", "bench"]:
    """Tell what ran: an engine without an API server is offline use."""
    if data.kind == "bench":
        return "bench"
    return "offline" if data.kind == "offline" else "server"


def _started(data: RunData) -> str | None:
    """Return when the run began, where the log shows its beginning."""
    if data.banner is not None:
        return data.banner.time
    if data.kind == "server":
        return None
    return data.first.time if data.first else None


def _stamp_near(data: RunData) -> str | None:
    """Time of the last stamped line before the ready line, which uvicorn prints bare."""
    ready = data.ready
    if ready is None:
        return None
    stamped = [
        observation.at
        for bucket in data.buckets.values()
        for observation in bucket.kept()
        if observation.at.time and observation.at.seq <= ready.seq
    ]
    return max(stamped, key=lambda at: at.seq).time if stamped else None


def _hangs(data: RunData, judgement: causality.Judgement) -> bool:
    """Whether the log ends in waits, behind statistics with running requests and no tokens.

    One wait may be a long compilation or prefill.
    """
    stalled = _stalled(data)
    waits = {
        observation.signal.id
        for seen in judgement.symptoms
        if seen.symptom.severity == "hang"
        for observation in seen.signature.evidence
    }
    return stalled is not None and (
        sum(one.at.seq > stalled.seq for one in data.observations(*waits)) > 1
    )


def _stalled(data: RunData) -> Sighting | None:
    """Return the last statistics, where they show requests that get no tokens."""
    seen = [
        observation.at
        for bucket in data.buckets.values()
        for observation in bucket.kept()
        if observation.signal.stalled
    ]
    last = max(seen, key=lambda at: at.seq, default=None)
    healthy = data.last_healthy(generating=True)
    if last is None or (healthy is not None and healthy.seq > last.seq):
        return None
    return last


def _times(run: Run, data: RunData, course: runs.Course) -> None:
    failed = course.failed_at
    if course.last_healthy is not None:
        run.last_healthy = course.last_healthy.evidence()
    if failed is None:
        return
    run.failed_at = failed.time
    begin = data.ready or data.banner or (data.first if data.banner else None)
    if begin is not None and begin.seconds is not None and failed.seconds is not None:
        run.seconds_to_failure = max(0, failed.seconds - begin.seconds)
    noticed = course.noticed_at
    if noticed is not None and noticed.seconds is not None and failed.seconds is not None:
        run.seconds_to_notice = max(0, noticed.seconds - failed.seconds)
