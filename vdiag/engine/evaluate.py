"""Applies one diagnosis to one run: its signature, its conditions, its status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vdiag.engine.conditions import Context, evaluate, seen_where
from vdiag.engine.failure import Failures, order_of
from vdiag.engine.logic import Answer
from vdiag.engine.observation import Observation, RunData, names_own_process
from vdiag.report.model import Condition, Severity, Truth
from vdiag.rules.walk import event_names

if TYPE_CHECKING:
    from vdiag.engine.facts import FactTable
    from vdiag.rules.schema import Alternative, Diagnosis, RuleCondition

_OF_OTHERS = {"death", "start-failed", "front-end"}

Status = Literal["confirmed", "probable", "at-risk", "open", "ruled-out"]


@dataclass
class Signature:
    """What of a rule's signature a run shows."""

    evidence: list[Observation] = field(default_factory=list)
    """The first sighting in each process, in order."""
    count: int = 0
    alternative: Alternative | None = None
    """The form that was seen first."""
    last: Observation | None = None

    @property
    def processes(self) -> list[str]:
        """The processes it was seen in, in order; workers alone where there are any.

        An engine or a front end that tells of another's end did not fail itself.
        """
        seen = [
            one.at.process
            for one in self.evidence
            if one.at.process
            and not one.relayed
            and (one.at.process.role == "worker" or not _OF_OTHERS & {*one.signal.tells})
        ]
        workers = [process for process in seen if process.role == "worker"]
        return list(dict.fromkeys(process.label for process in (workers or seen)))


@dataclass
class Evaluated:
    """A diagnosis over a run."""

    rule: Diagnosis
    status: Status
    signature: Signature
    conditions: list[tuple[RuleCondition, Answer]]
    deciding: list[tuple[RuleCondition, Answer]]
    """The conditions that ruled it out, or that leave it open."""

    @property
    def severity(self) -> Severity:
        """The severity of the form that was seen, else the rule's."""
        form = self.signature.alternative
        return (form.severity if form else None) or self.rule.severity

    @property
    def specific(self) -> int:
        """How many specific preconditions are true."""
        return sum(item.specific and answer.truth == "true" for item, answer in self.conditions)


def apply(rule: Diagnosis, run: RunData, facts: FactTable, failures: Failures) -> Evaluated | None:
    """Evaluate a diagnosis; None where it has nothing to say about the run."""
    deadly = rule.severity in ("start", "run", "hang")
    signature = find_signature(rule.signature, run, facts, failures, deadly=deadly)
    matched = bool(signature.evidence)
    if not matched and not rule.risk:
        return None
    context = Context(run, facts, signature.evidence)
    answers = [(item, evaluate(item.when, context)) for item in rule.conditions]
    status, deciding = _status(rule, signature, answers)
    if status is None:
        return None
    return Evaluated(rule, status, signature, answers, deciding)


def find_signature(
    alternatives: list[Alternative],
    run: RunData,
    facts: FactTable,
    failures: Failures,
    *,
    deadly: bool = False,
) -> Signature:
    """Collect the evidence of a signature: first-hand reports, else relayed ones.

    What a run survived is no evidence of a ``deadly`` cause where something else ended it.
    """
    muted = _muted(failures, survived=deadly and bool(failures.own or failures.deaths))
    own: list[tuple[Observation, Alternative]] = []
    passed_on: list[tuple[Observation, Alternative]] = []
    count = 0
    context = Context(run, facts)
    for alternative in alternatives:
        if not all(evaluate(one, context).truth == "true" for one in alternative.all_facts):
            continue
        names = event_names(alternative.event)
        for seen in run.observations(*names):
            if not _accepted(seen, alternative, context):
                continue
            if seen.block is not None and seen.block.id in muted:
                continue
            (passed_on if seen.relayed else own).append((seen, alternative))
        if alternative.where or alternative.phase or alternative.roles or alternative.same_run:
            continue
        count = max(count, run.count(*names))
    found = own or passed_on
    found.sort(key=lambda pair: order_of(pair[0].at, _role(pair[0])))
    first_by_process: dict[int, tuple[Observation, Alternative]] = {}
    for seen, alternative in found:
        state = seen.at.process
        first_by_process.setdefault(state.order if state else -1, (seen, alternative))
    ordered = list(first_by_process.values())
    if len(ordered) > 1 and any(seen.at.process for seen, _ in ordered):
        # A line without a process is somebody's repetition of a line with one.
        ordered = [pair for pair in ordered if pair[0].at.process] or ordered
    blocks = {seen.block.id if seen.block else -seen.at.seq for seen, _ in found}
    return Signature(
        evidence=[seen for seen, _ in ordered],
        count=max(len(blocks), count if found else 0),
        alternative=ordered[0][1] if ordered else None,
        last=max((seen for seen, _ in found), key=lambda seen: seen.at.seq, default=None),
    )


def _muted(failures: Failures, *, survived: bool) -> set[int]:
    """Blocks whose lines are evidence of nothing: noise, and what follows a requested stop."""
    mute = ("noise", "stopped", "survived") if survived else ("noise", "stopped")
    return {
        failure.block.id
        for failure in failures.all
        if failure.block is not None and failure.kind in mute
    }


def _accepted(seen: Observation, alternative: Alternative, context: Context) -> bool:
    if alternative.phase and seen.at.phase is not None and seen.at.phase not in alternative.phase:
        return False
    role = _role(seen)
    if alternative.roles and role not in alternative.roles and role != "unknown":
        return False
    if alternative.same_run and not names_own_process(seen, context.run):
        return False
    return seen_where(seen, alternative.where, context)


def _role(seen: Observation) -> str:
    return seen.at.process.role if seen.at.process else "unknown"


def _status(
    rule: Diagnosis, signature: Signature, answers: list[tuple[RuleCondition, Answer]]
) -> tuple[Status | None, list[tuple[RuleCondition, Answer]]]:
    matched = bool(signature.evidence)
    refuting = [(item, answer) for item, answer in answers if _refutes(item, answer)]
    state = [(item, answer) for item, answer in answers if item.kind == "state"]
    if not matched:
        # What triggers it may still come: only an exclusion takes the risk away.
        holds = state and all(answer.truth == "true" for _, answer in state)
        excluded = any(item.kind in ("must_clear", "open") for item, _ in refuting)
        return ("at-risk" if holds and not excluded else None), []
    if refuting:
        return "ruled-out", refuting
    trigger = [(item, answer) for item, answer in answers if item.kind == "trigger"]
    must_clear = [(item, answer) for item, answer in answers if item.kind == "must_clear"]
    capped = rule.ceiling or (signature.alternative.ceiling if signature.alternative else None)
    missing = (
        [pair for pair in state if pair[1].truth != "true" or pair[1].basis != "stated"]
        + [pair for pair in trigger if pair[1].truth != "true"]
        + [pair for pair in must_clear if pair[1].truth != "false"]
    )
    if not missing and not capped:
        return "confirmed", []
    specific = [item for item, _ in state if item.specific]
    if any(item.specific and answer.truth == "true" for item, answer in state):
        return "probable", missing
    if capped and not specific:
        return "probable", missing
    if not specific and not state and not trigger:
        return "probable", missing
    return "open", [pair for pair in missing if pair[1].truth == "unknown"] or missing


def _refutes(item: RuleCondition, answer: Answer) -> bool:
    if item.kind == "state":
        return answer.truth == "false"
    if item.kind == "trigger":
        return answer.truth == "false" and answer.basis == "stated" and bool(answer.evidence)
    if item.kind in ("must_clear", "open"):
        return answer.truth == "true"
    return False


def condition_report(item: RuleCondition, answer: Answer) -> Condition:
    """Return a condition as the report holds it."""
    kind: Literal["precondition", "exclusion", "support"] = "support"
    subkind: str | None = None
    if item.kind in ("state", "trigger"):
        kind, subkind = "precondition", item.kind
    elif item.kind in ("must_clear", "open"):
        kind, subkind = "exclusion", item.kind
    notes: dict[Truth, str | None] = {
        "true": item.if_true,
        "false": item.if_false,
        "unknown": item.if_unknown,
    }
    unsettled = answer.truth == "unknown" or (
        item.kind == "open" and answer.truth == "false" and answer.basis == "inferred"
    )
    return Condition(
        kind=kind,
        text=item.text,
        truth=answer.truth,
        basis=None if answer.truth == "unknown" else answer.basis,
        evidence=answer.evidence,
        how_to_find_out=item.find_out if unsettled else None,
        subkind=subkind,
        specific=item.specific,
        note="; ".join(filter(None, (notes[answer.truth], answer.note))) or None,
    )
