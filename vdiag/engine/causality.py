"""Which finding is the cause, what it explains, and what is left open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vdiag.engine.evaluate import Evaluated, Signature, find_signature
from vdiag.engine.failure import Failures, order_of, served_between
from vdiag.engine.observation import RunData, Sighting
from vdiag.engine.runs import Course
from vdiag.report.model import Outcome, Role

if TYPE_CHECKING:
    from vdiag.engine.facts import FactTable
    from vdiag.rules.packs import Pack
    from vdiag.rules.schema import Symptom

_CONSEQUENCE_SECONDS = 900
"""A failure in an earlier second, at most so long before, may be a later one's cause."""


@dataclass
class Judged:
    """A finding with its place in the causality of the run."""

    evaluated: Evaluated
    role: Role
    explained_by: str | None = None


@dataclass
class SeenSymptom:
    """A symptom of the run."""

    symptom: Symptom
    signature: Signature
    explained_by: str | None = None


@dataclass
class Judgement:
    """The causality of one run."""

    findings: list[Judged] = field(default_factory=list)
    symptoms: list[SeenSymptom] = field(default_factory=list)
    considered: list[tuple[Evaluated, str]] = field(default_factory=list)
    """(diagnosis, why it is no finding)."""
    yielded: list[Evaluated] = field(default_factory=list)
    """Diagnoses that hold, and that another explains more closely."""
    root: Judged | None = None


def judge(
    run: RunData,
    evaluated: list[Evaluated],
    failures: Failures,
    course: Course,
    facts: FactTable,
    pack: Pack,
) -> Judgement:
    """Order the findings of a run into causes, risks, advice and symptoms."""
    out = Judgement()
    findings = [one for one in evaluated if one.status in ("confirmed", "probable")]
    no_phase = course.outcome == "crashed" and course.phase is None and not run.served
    if no_phase and any(one.rule.severity == "start" for one in findings):
        course.outcome = "failed-to-start"  # what only a start says tells that it was one
    held = _yielding(findings, out)
    judged = [Judged(one, _role(one, run, course.outcome, failures)) for one in held]
    judged += [Judged(one, "risk") for one in evaluated if one.status == "at-risk"]
    yielded = [one for one, _ in out.considered]
    for one in evaluated:
        if one.status in ("ruled-out", "open") and one not in yielded:
            out.considered.append((one, _because(one)))
    judged = _drop_consequences(judged, failures, out)
    roots = sorted((one for one in judged if one.role == "root"), key=_root_order)
    roots = _only_severest(roots)
    for finding in judged:
        if finding.role == "root" and finding not in roots:
            finding.role = "advice"
    if roots:
        out.root = roots[0]
        explains = set(roots[0].evaluated.rule.explains)
        for other in roots[1:]:
            if other.evaluated.rule.id in explains:
                other.explained_by = roots[0].evaluated.rule.id
                other.role = "symptom"
        for other in judged:
            if other.evaluated.rule.mechanism:  # what explains the exception explains it
                other.explained_by = roots[0].evaluated.rule.id
                other.role = "symptom"
    out.findings = roots + [one for one in judged if one not in roots]
    out.considered.sort(key=lambda pair: (-pair[0].specific, pair[0].rule.id))
    out.symptoms = _symptoms(run, facts, failures, pack, out.root)
    return out


def _yielding(findings: list[Evaluated], out: Judgement) -> list[Evaluated]:
    """Set aside the general where something more specific holds over the same evidence."""
    ids = {one.rule.id for one in findings}
    kept = []
    for one in findings:
        better = [id for id in one.rule.yields_to if id in ids]
        if better:
            out.considered.append((one, f"explained more closely by {better[0]}"))
            out.yielded.append(one)
            one.status = "ruled-out"
        else:
            kept.append(one)
    return kept


def _role(one: Evaluated, run: RunData, outcome: Outcome, failures: Failures) -> Role:
    """Tell whether a finding can be the cause of how the run ended."""
    severity = one.severity
    if one.rule.mechanism or severity == "perf":
        return "advice"
    if outcome == "unknown" and _survivable(one, failures):
        return "advice"
    if severity == "start":
        # Outcome unknown: the log ends before serving, perhaps while the server still waits. Of a
        # tail nobody knows that it served; a failure that only a start has tells it did not.
        tail = outcome == "crashed" and one.signature.evidence[0].at.phase is None
        return "root" if outcome in ("failed-to-start", "unknown") or tail else "advice"
    if severity in ("run", "hang") and _served_on(one, run, failures):
        return "advice"
    if severity in ("run", "hang"):
        # A server that still runs, and answered nothing since the exception, did not survive it.
        last = outcome == "running" and _is_first(one, failures)
        return "root" if last or outcome not in ("running", "stopped") else "advice"
    if severity == "req":
        return "root" if _refused_last(one, run, outcome) else "advice"
    return "root"


def _served_on(one: Evaluated, run: RunData, failures: Failures) -> bool:
    """Whether tokens came again between the last sighting of a cause and the failure.

    What tells that a worker or the engine failed is never survived, and the machine's account
    (an Xid) stands for itself.
    """
    seen = [*one.signature.evidence]
    if one.signature.last is not None:
        seen.append(one.signature.last)
    fatal = {failure.block.id for failure in failures.all if failure.fatal and failure.block}
    if any(
        each.signal.tells or each.signal.beside or (each.block and each.block.id in fatal)
        for each in seen
    ):
        return False
    last = max((each.at for each in seen), key=lambda at: at.seq)
    return served_between(run, last, failures.begin)


def _survivable(one: Evaluated, failures: Failures) -> bool:
    """Whether servers go on after all that a diagnosis rests on (a cache that was not saved)."""
    blocks = {
        failure.block.id for failure in failures.all if failure.kind == "survived" and failure.block
    }
    return all(seen.block and seen.block.id in blocks for seen in one.signature.evidence)


def _is_first(one: Evaluated, failures: Failures) -> bool:
    """Whether the first failure of its own is what a diagnosis rests on."""
    block = failures.first.block if failures.first is not None else None
    return block is not None and any(seen.block is block for seen in one.signature.evidence)


def _refused_last(one: Evaluated, run: RunData, outcome: Outcome) -> bool:
    """Whether refused requests are all that went wrong.

    They were logged as an error, by a server that did not fail. What the API server or the
    engine refuses is its client's mistake: it counts only where nothing was answered since. What
    a worker could not do (reach its peer, move a block) no client can mend, whoever else is served.
    """
    if outcome in ("crashed", "failed-to-start", "hung"):
        return False
    logged = [
        seen
        for seen in one.signature.evidence
        if seen.block is not None and seen.block.first.level != "WARNING"
    ]
    if any(seen.at.process and seen.at.process.role == "worker" for seen in logged):
        return True
    last, healthy = one.signature.last, run.last_healthy()
    answered = last is not None and healthy is not None and healthy.seq > last.at.seq
    return bool(logged) and not answered


def _drop_consequences(judged: list[Judged], failures: Failures, out: Judgement) -> list[Judged]:
    """Take back a cause where an unexplained exception stands clearly before it.

    The first failing process wins over the loudest: what a worker or the engine raised in an
    earlier second, and no diagnosis explains, may have caused what came after.
    """
    judged = _drop_after_death(judged, failures, out)
    first = failures.first
    if first is None or first.role not in ("worker", "engine"):
        return judged
    explained = {
        seen.block.id
        for one in [*(one.evaluated for one in judged), *out.yielded]
        for seen in one.signature.evidence
        if seen.block is not None
    }
    told = {one.key for one in failures.all if one.block is not None and one.block.id in explained}
    if first.block is None or first.key in told:
        return judged  # an echo's clock may be the collector's, and early
    if any(_begins(one) <= first.order for one in judged if one.role == "root"):
        return judged
    reason = f"{first.process or 'another process'} raised {first.type} before it"
    judged = _drop_behind_end(judged, failures, reason, out)
    return _take_back(judged, first.at, reason, out)


def _drop_behind_end(
    judged: list[Judged], failures: Failures, reason: str, out: Judgement
) -> list[Judged]:
    """Set aside what stands, without process and stamp, behind the engine's own end."""
    end = next((seen.at for seen in failures.deaths if "engine-end" in seen.signal.tells), None)
    kept = []
    for one in judged:
        seen = one.evaluated.signature.evidence[0] if one.role == "root" else None
        bare = seen is not None and seen.at.process is None and not seen.signal.beside
        if end is not None and seen is not None and bare and seen.at.seq > end.seq:
            one.evaluated.status = "open"
            out.considered.append((one.evaluated, f"{reason}; this may be its consequence"))
        else:
            kept.append(one)
    return kept


def _drop_after_death(judged: list[Judged], failures: Failures, out: Judgement) -> list[Judged]:
    """Take back a cause where a process was gone without a word in an earlier second.

    The machine's own account of a kill (the kernel's, Ray's) is printed after it.
    """
    death = next((seen for seen in failures.deaths if "death" in seen.signal.tells), None)
    if death is None:
        return judged
    of_machine = [
        one
        for one in judged
        if one.role == "root" and one.evaluated.signature.evidence[0].signal.beside
    ]
    others = [one for one in judged if one not in of_machine]
    return of_machine + _take_back(others, death.at, "a worker process died before it", out)


def _take_back(
    judged: list[Judged], earlier: Sighting, reason: str, out: Judgement
) -> list[Judged]:
    """Set aside the causes that begin in a later second than a line."""
    kept = []
    for one in judged:
        if one.role == "root" and _clearly_after(one, earlier):
            one.evaluated.status = "open"
            out.considered.append((one.evaluated, f"{reason}; this may be its consequence"))
        else:
            kept.append(one)
    return kept


def _begins(one: Judged) -> tuple[float, int, int]:
    seen = one.evaluated.signature.evidence[0]
    return order_of(seen.at, seen.at.process.role if seen.at.process else "unknown")


def _clearly_after(one: Judged, earlier: Sighting) -> bool:
    seen = one.evaluated.signature.evidence[0].at
    if seen.seconds is None or earlier.seconds is None:
        return False
    return 0 < seen.seconds - earlier.seconds <= _CONSEQUENCE_SECONDS


def _root_order(one: Judged) -> tuple[tuple[float, int, int], int, str]:
    return _begins(one), -one.evaluated.specific, one.evaluated.rule.id


def _only_severest(roots: list[Judged]) -> list[Judged]:
    """Causes of wrong output or refused requests count only where nothing died."""
    deadly = [one for one in roots if one.evaluated.severity in ("start", "run", "hang")]
    return deadly or roots


def _because(one: Evaluated) -> str:
    if one.status == "ruled-out":
        parts = []
        for item, answer in one.deciding:
            said = item.if_false if answer.truth == "false" else item.if_true
            parts.append(said or answer.note or item.text)
        return "; ".join(dict.fromkeys(parts))
    asked = [item.text for item, _ in one.deciding]
    return "not in this log: " + "; ".join(asked) if asked else "too little is known"


def _symptoms(
    run: RunData, facts: FactTable, failures: Failures, pack: Pack, root: Judged | None
) -> list[SeenSymptom]:
    """Collect the symptoms, folded under the root that explains them."""
    if failures.clean_stop:
        return []
    out = []
    for symptom in pack.symptoms.values():
        signature = find_signature(symptom.signature, run, facts, failures)
        if not signature.evidence:
            continue
        if symptom.severity == "req" and _answered_after(run, signature, failures):
            continue
        explained = (
            root.evaluated.rule.id
            if root is not None and symptom.id in root.evaluated.rule.explains
            else None
        )
        out.append(SeenSymptom(symptom, signature, explained))
    _fold_partners(out, failures)
    out.sort(key=lambda seen: (seen.signature.evidence[0].at.seq, seen.symptom.id))
    return out


def _answered_after(run: RunData, signature: Signature, failures: Failures) -> bool:
    """Whether the server answered again after single requests had failed."""
    last, healthy = signature.last, run.last_healthy()
    return (
        not failures.deaths
        and last is not None
        and healthy is not None
        and healthy.seq > last.at.seq
    )


def _fold_partners(symptoms: list[SeenSymptom], failures: Failures) -> None:
    """Fold a rank's lost partner under the death that it lost it by."""
    death = next(
        (
            seen
            for seen in symptoms
            if any("death" in one.signal.tells for one in seen.signature.evidence)
        ),
        None,
    )
    if death is None:
        return
    partners = {
        failure.block.id
        for failure in failures.all
        if failure.block is not None and failure.peer and failure.kind == "echo"
    }
    for seen in symptoms:
        blocks = [one.block.id if one.block else 0 for one in seen.signature.evidence]
        if seen is not death and seen.explained_by is None and set(blocks) <= partners:
            seen.explained_by = death.symptom.id


def nearest_symptom(symptoms: list[SeenSymptom]) -> SeenSymptom | None:
    """Return the fatal symptom nearest to the cause, then the earliest."""
    fatal = [
        seen
        for seen in symptoms
        if seen.symptom.fatal and seen.symptom.order > 0 and seen.explained_by is None
    ]
    return min(
        fatal,
        key=lambda seen: (seen.symptom.order, seen.signature.evidence[0].at.seq),
        default=None,
    )
