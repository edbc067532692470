"""The verdict of a run, of an input and of the whole report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vdiag.engine.causality import Judgement, nearest_symptom
from vdiag.engine.conditions import Context
from vdiag.logs import clock
from vdiag.report.model import Finding, Run, Verdict, VerdictStatus

if TYPE_CHECKING:
    from vdiag.rules.packs import Pack

PRECEDENCE: tuple[VerdictStatus, ...] = (
    "confirmed",
    "probable",
    "unexplained",
    "symptom-only",
    "at-risk",
    "clean",
    "no-vllm",
)
FAILED = ("crashed", "failed-to-start", "hung")
_AFTERMATH_SECONDS = 1800
_MAX_MESSAGE = 240

NO_VLLM = "nothing of vLLM's is in this input"


def of_run(run: Run, order: dict[str, int]) -> Verdict:
    """Return the verdict of one run; ``order`` is that of :func:`fatal_order`."""
    root = next((one for one in run.findings if one.role == "root"), None)
    if root is not None and root.status in ("confirmed", "probable"):
        return Verdict(root.status, root.id, run.id, root.summary)
    first = run.first_failure
    symptoms = [one for one in run.findings if one.role == "symptom"]
    if first is not None:
        where = f" in {first.process}" if first.process else ""
        during = f" during {first.phase}" if first.phase else ""
        return Verdict(
            "unexplained",
            None,
            run.id,
            f"no rule explains this failure; the first exception is {first.type}"
            f"{': ' + _one_line(first.message) if first.message else ''}{where}{during}",
        )
    nearest = _nearest(symptoms, order)
    if nearest is None and run.outcome == "hung":
        nearest = next((one for one in symptoms if one.severity == "hang"), None)
    if nearest is not None:
        return Verdict(
            "symptom-only", nearest.id, run.id, f"{nearest.summary}; the cause is not in this log"
        )
    if run.outcome == "unknown" and run.kind != "bench" and run.coverage.startup == "missing":
        return Verdict(
            "symptom-only",
            None,
            run.id,
            "this part of a log shows neither a start, nor serving, nor a failure",
        )
    if run.outcome == "unknown" and run.kind != "bench":
        phase = f" in {run.phase}" if run.phase else ""
        return Verdict(
            "symptom-only",
            None,
            run.id,
            f"the log ends{phase}, before serving, with no error and no stop request",
        )
    risk = next((one for one in run.findings if one.role == "risk"), None)
    if risk is not None:
        return Verdict("at-risk", risk.id, run.id, risk.summary)
    return Verdict("clean", None, run.id, _clean(run))


def _clean(run: Run) -> str:
    if run.kind == "bench":
        return "the bench client's output shows nothing wrong"
    unknown = sum(one.count for one in run.unexplained if one.level != "WARNING")
    rest = "nothing is wrong in this log"
    if unknown:
        records = "1 error record" if unknown == 1 else f"{unknown} error records"
        rest = f"nothing failed, but no rule knows {records}"
    if run.stalled is not None:
        rest = "nothing failed, but its last statistics show running requests and no tokens"
    if run.outcome == "stopped":
        return f"the server was stopped on request; {rest}"
    return f"the server reached serving; {rest}"


def _one_line(text: str) -> str:
    """Cut a message at a word: half a secret would no longer look like one."""
    line = " ".join(text.split())
    if len(line) <= _MAX_MESSAGE:
        return line
    return line[: _MAX_MESSAGE + 1].rpartition(" ")[0] + " …"


def _nearest(symptoms: list[Finding], order: dict[str, int]) -> Finding | None:
    ranked = [one for one in symptoms if one.id in order and one.explained_by is None]
    return min(ranked, key=lambda one: (order[one.id], one.evidence[0].line), default=None)


def fatal_order(pack: Pack) -> dict[str, int]:
    """Return the place of each fatal symptom in the order of a typical death."""
    return {
        symptom.id: symptom.order
        for symptom in pack.symptoms.values()
        if symptom.fatal and symptom.order > 0
    }


def aftermath(own: list[Run], pack: Pack) -> None:
    """Mark failed starts that only follow from an earlier crash (leftover processes)."""
    crashed: Run | None = None
    for run in own:
        if run.outcome in ("crashed", "hung"):
            crashed = run
            continue
        root = next((one for one in run.findings if one.role == "root"), None)
        rule = pack.diagnoses.get(root.id) if root is not None else None
        if (
            crashed is not None
            and root is not None
            and rule is not None
            and rule.aftermath
            and run.outcome == "failed-to-start"
            and _soon(crashed, run)
        ):
            run.aftermath_of = crashed.id
            crash_root = next((one for one in crashed.findings if one.role == "root"), None)
            root.explained_by = crash_root.id if crash_root is not None else None
        elif run.outcome != "unknown":
            crashed = None


def _soon(crashed: Run, run: Run) -> bool:
    scale = clock.Clock()
    before = scale.seconds(crashed.ended or crashed.failed_at)
    after = scale.seconds(run.started)
    return before is None or after is None or 0 <= after - before <= _AFTERMATH_SECONDS


def of_input(name: str, own: list[Run]) -> Verdict:
    """Return the verdict of an input: that of the run which is the incident."""
    shown = shown_run(own)
    if shown is None or shown.verdict is None:
        return Verdict("no-vllm", None, None, NO_VLLM, name)
    return replace(shown.verdict, input=name, same_in=_same(shown, own))


def _same(shown: Run, own: list[Run]) -> list[int]:
    """Return the runs that failed as this one did, in order."""
    key = shown.failure_key
    return [run.id for run in own if run.failure_key == key]


def shown_run(own: list[Run]) -> Run | None:
    """Return the last run that failed and is no aftermath, else the one with most to say.

    What a page quotes of somebody else's log is not its incident. Of two nodes that failed
    together, the one whose log has the cause is shown.
    """
    own = [run for run in own if not run.quoted]
    if not own:
        return None
    failed = [run for run in own if run.outcome in FAILED and run.aftermath_of is None]
    if failed:
        last = failed[-1]
        if _explained(last):
            return last
        others = [run for run in failed[:-1] if _explained(run) and _together(run, last)]
        return others[-1] if others else last
    return min(reversed(own), key=_rank)


def _explained(run: Run) -> bool:
    return run.verdict is not None and run.verdict.status in ("confirmed", "probable")


def _together(run: Run, last: Run) -> bool:
    """Whether a run failed while another one lived: of one server, two lives never overlap."""
    scale = clock.Clock()
    start, failed, end = (
        scale.seconds(stamp) for stamp in (last.started, run.failed_at, last.failed_at)
    )
    if start is None or failed is None or end is None:
        return False
    return start <= failed <= end


def _rank(run: Run) -> int:
    return PRECEDENCE.index(run.verdict.status) if run.verdict else len(PRECEDENCE)


def worst(verdicts: list[Verdict], all_runs: list[Run]) -> Verdict:
    """Return the overall verdict: the gravest of all inputs, the first among equals.

    A bench client's numbers are never graver than the server that failed under it.
    """
    if not verdicts:
        return Verdict("no-vllm", None, None, NO_VLLM)
    outcomes = {run.id: run.outcome for run in all_runs}

    def rank(verdict: Verdict) -> tuple[bool, int]:
        failed = verdict.run is not None and outcomes[verdict.run] in FAILED
        return not failed, PRECEDENCE.index(verdict.status)

    best = min(verdicts, key=rank)
    return replace(best, input=None)


def next_evidence(run: Run, judgement: Judgement, context: Context) -> list[str]:
    """List what to collect next, where the verdict leaves the cause open.

    A symptom that is the verdict's root carries its own next step.
    """
    out: list[str] = []
    root = judgement.root
    if run.stalled is not None:
        out.append(
            "if it stays without tokens, the Python stacks of every worker and the engine: "
            "`py-spy dump --pid PID`"
        )
    if root is not None and root.evaluated.status == "confirmed":
        return out
    commands: set[str] = set()
    if root is None and run.first_failure is not None:
        nearest = nearest_symptom(judgement.symptoms)
        if nearest is not None:
            step = nearest.symptom.next_step
            if nearest.symptom.next_command:
                step += f": `{nearest.symptom.next_command}`"
            out.append(step)
    for considered in run.considered:
        if considered.status != "open":
            continue
        for condition in considered.conditions:
            command = condition.how_to_find_out
            if condition.truth == "unknown" and command and command not in commands:
                commands.add(command)
                out.append(f"whether {condition.text}: `{command}`")
    return out[:8]
