"""How a run went: coverage, outcome, phases and the times that matter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vdiag.engine.failure import Failure, Failures
from vdiag.engine.observation import PHASES, Observation, RunData, Sighting
from vdiag.report.model import Coverage, CoverageMap, Outcome

if TYPE_CHECKING:
    from vdiag.engine.evaluate import Evaluated
    from vdiag.rules.schema import Signal


@dataclass
class Course:
    """The course of a run."""

    outcome: Outcome
    phase: str | None
    """The phase in which it failed, else the last one."""
    coverage: CoverageMap
    failed_at: Sighting | None
    noticed_at: Sighting | None
    """The engine's own fatal line."""
    last_healthy: Sighting | None


def course(run: RunData, failures: Failures) -> Course:
    """Tell how a run went."""
    failed_at = _failed_at(run, failures)
    outcome = _outcome(run, failures, failed_at)
    phase = run.phase_at(failed_at.seq) if failed_at is not None else None
    if phase is None and run.marks:
        phase = run.marks[-1][1]
    noticed = _telling(failures, "engine-end") or _telling(failures, "front-end")
    return Course(
        outcome,
        phase,
        _coverage(run, outcome),
        failed_at,
        noticed[0].at if noticed and failed_at is not None else None,
        run.last_healthy(before=failed_at.seq if failed_at is not None else None),
    )


def known_end(
    course: Course, run: RunData, failures: Failures, evaluated: list[Evaluated]
) -> Course:
    """Correct how a tail seems to have ended, where a rule knows what its text ends.

    Some texts only end starts; others only refuse requests.
    """
    first = failures.first
    if course.outcome != "crashed" or run.served or first is None or failures.deaths:
        return course
    if run.phase_at(first.at.seq) is not None:
        return course
    for one in evaluated:
        if one.status not in ("confirmed", "probable"):
            continue
        if not any(_is_of(seen, first) for seen in one.signature.evidence):
            continue
        if one.severity == "start" and (first.role in ("worker", "engine") or _uncaught(failures)):
            return replace(course, outcome="failed-to-start")
        if one.severity == "req" and first.role == "api" and len(failures.own) == 1:
            return replace(course, outcome="unknown", failed_at=None, noticed_at=None)
    return course


def _uncaught(failures: Failures) -> bool:
    """Whether something ended a process: a traceback that nobody logged, or a fatal line."""
    return any(one.block is None or one.block.raw for one in failures.all)


def _is_of(seen: Observation, failure: Failure) -> bool:
    return seen.at.seq == failure.at.seq or (seen.block is not None and seen.block is failure.block)


def _telling(failures: Failures, word: str) -> list[Observation]:
    return [death for death in failures.deaths if word in death.signal.tells]


def survived(run: RunData, failures: Failures) -> bool:
    """Whether the server went on after its failures: they were of single requests.

    They are all records of an API server that was serving, and nothing says that the engine or
    the server died. (Those after which it answered requests are no failures of its own at all.)
    """
    if failures.deaths or not failures.own:
        return False
    return all(
        failure.role in ("api", "main")
        and failure.block is not None
        and failure.at.process is not None
        and run.phase_at(failure.at.seq) == "serving"
        for failure in failures.own
    )


def _failed_at(run: RunData, failures: Failures) -> Sighting | None:
    if failures.clean_stop:
        return None
    candidates = [failures.first.at] if failures.first and not survived(run, failures) else []
    candidates += [death.at for death in failures.deaths[:1]]
    candidates.sort(key=lambda at: (at.seconds if at.seconds is not None else -1, at.seq))
    return candidates[0] if candidates else None


def _outcome(run: RunData, failures: Failures, failed_at: Sighting | None) -> Outcome:
    if run.kind == "bench":
        return "stopped" if run.end is not None else "unknown"
    if failed_at is None:
        if run.stop is not None:
            return "stopped"
        return "running" if run.served else "unknown"
    phase = run.phase_at(failed_at.seq)
    ready_before = run.ready is not None and run.ready.seq < failed_at.seq
    told = {word for death in failures.deaths for word in death.signal.tells}
    served = ready_before or phase in ("serving", "shutdown")
    if not served and phase is None:
        # A tail: records around it are of a server that ran; a bare traceback is a start's.
        served = "start-failed" not in told and ("serving-failed" in told or run.seen_vllm)
    if not served:
        return "failed-to-start"
    if not failures.own and "death" not in told and "hang" in told:
        return "hung"
    return "crashed"


def _coverage(run: RunData, outcome: Outcome) -> CoverageMap:
    entered = {phase for _, phase, _, _ in run.marks}
    if run.kind == "bench":
        return CoverageMap(
            "seen" if run.bench else "partial", "missing", "seen" if run.end else "partial"
        )
    gap_in_startup = any(
        PHASES.index(run.phase_at(seq) or "startup") < PHASES.index("serving")
        for seq, _ in run.gaps
    )
    startup: Coverage = "missing"
    if run.banner is not None or run.kind == "offline":
        startup = "partial" if gap_in_startup else "seen"
    elif entered & set(PHASES[:5]):
        startup = "partial"
    serving: Coverage = "missing"
    if run.ready is not None:
        serving = "seen"
    elif "serving" in entered:
        serving = "partial"
    end: Coverage = "missing"
    if outcome in ("crashed", "hung", "failed-to-start", "stopped"):
        end = "seen"
    return CoverageMap(startup, serving, end)


def provably_absent(run: RunData, signal: Signal, version_in_range: bool | None) -> bool:
    """Whether an unseen line proves its "no".

    Its signal declares where it is printed; the release is known and prints it; a process of
    that role printed a record of that level or lower in that phase; the phase was left again;
    and no gap lies inside it.
    """
    printed = signal.printed
    if printed is None or run.has(signal.id) or version_in_range is not True:
        return False
    start, end = _span(run, printed.phase)
    if start is None or end is None:
        return False
    if any(start <= seq <= end for seq, _ in run.gaps):
        return False
    quiet_enough = {
        "DEBUG": ("DEBUG",),
        "INFO": ("DEBUG", "INFO"),
        "WARNING": ("DEBUG", "INFO", "WARNING"),
    }.get(printed.level, ("DEBUG", "INFO", "WARNING", "ERROR"))
    return any(
        level in quiet_enough
        for process in run.processes
        if process.role == printed.role
        for level in process.levels.get(printed.phase, ())
    )


def _span(run: RunData, phase: str) -> tuple[int | None, int | None]:
    """First and last line of a phase; None where it was not entered, or not left again."""
    starts = [seq for seq, name, _, _ in run.marks if name == phase]
    if not starts:
        return None, None
    if run.banner is None and run.kind != "offline" and run.marks[0][1] == phase:
        return None, None  # a cut beginning may lie inside it
    ends = [
        seq
        for seq, name, _, _ in run.marks
        if seq > starts[-1] and PHASES.index(name) > PHASES.index(phase)
    ]
    return starts[0], (ends[0] if ends else None)
