"""Findings as the report holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vdiag.engine.causality import Judged, Judgement, SeenSymptom
from vdiag.engine.conditions import Context, evaluate
from vdiag.engine.evaluate import condition_report
from vdiag.engine.observation import RunData
from vdiag.engine.remedies import best, not_a_fix, remedies
from vdiag.engine.words import Words, enumerate_names
from vdiag.report.model import Condition, Evidence, Finding, FindingStatus, Reference
from vdiag.rules.walk import walk

if TYPE_CHECKING:
    from vdiag.engine.facts import FactTable
    from vdiag.engine.runs import Course
    from vdiag.rules.schema import Condition as RuleCondition

_MAX_EVIDENCE = 16


def diagnosis_finding(
    one: Judged, run: RunData, facts: FactTable, course: Course, judgement: Judgement
) -> Finding:
    """Return a diagnosis over a run as a finding."""
    evaluated = one.evaluated
    rule, signature = evaluated.rule, evaluated.signature
    context = Context(run, facts, signature.evidence)
    wording = signature.alternative.wording if signature.alternative else None
    words = Words(
        facts,
        signature.evidence,
        {
            "faulting": enumerate_names(signature.processes) or "a process",
            "first_faulting": (signature.processes or ["a process"])[0],
            "phase": course.phase or "an unknown phase",
        },
        rule.numbers,
    )
    words.fix("wording", wording or rule.title)
    answers = evaluated.conditions
    status: FindingStatus = "probable"
    summary = words.fill(best(rule.summary, rule.summary_otherwise, words))
    if evaluated.status == "at-risk":
        # Nothing has failed: what is asked about the failure has no answer and no point.
        status, summary = "at-risk", _risk(one, context, words)
        answers = [
            (item, answer)
            for item, answer in answers
            if not _about_failure(item.when)
            and not (item.kind == "open" and answer.truth == "unknown" and item.when.event)
        ]
    elif evaluated.status == "confirmed":
        status = "confirmed"
    elif rule.summary_unsure and any(
        item.kind in ("state", "trigger") and answer.truth != "true" for item, answer in answers
    ):
        summary = words.fill(rule.summary_unsure)
    conditions = [condition_report(item, answer) for item, answer in answers]
    proof = _evidence([seen.at.evidence() for seen in signature.evidence], conditions)
    symptoms = [seen.symptom.id for seen in judgement.symptoms if seen.explained_by == rule.id]
    return Finding(
        id=rule.id,
        title=rule.title,
        family=rule.family,
        role=one.role,
        status=status,
        severity=evaluated.severity,
        summary=summary,
        cause=words.fill(rule.cause),
        does_not_prove=words.fill(rule.caveats.does_not_prove),
        conditions=conditions,
        evidence=proof,
        of_signature=min(len(signature.evidence), _MAX_EVIDENCE),
        count=signature.count,
        explains=symptoms if one.role == "root" else [],
        explained_by=one.explained_by,
        remedies=remedies(rule, context, words),
        affected=rule.affected,
        fixed_in=rule.fixed_in,
        references=[Reference(ref.ref, ref.note) for ref in rule.references],
        not_a_fix=not_a_fix(rule, context, words),
        not_established=rule.caveats.not_established,
        faulting=signature.processes,
        last=signature.last.at.evidence() if signature.last else None,
    )


def _risk(one: Judged, context: Context, words: Words) -> str:
    for risk in one.evaluated.rule.risk:
        if risk.when is None or evaluate(risk.when, context).truth == "true":
            return words.fill(risk.text)
    return one.evaluated.rule.title


def _about_failure(condition: RuleCondition) -> bool:
    return any(
        one.signature_phase or one.before_signature or one.after_signature
        for one in walk(condition)
    )


def _evidence(signature: list[Evidence], conditions: list[Condition]) -> list[Evidence]:
    """Order the proof: the signature's lines, then one line of each condition that holds."""
    out = signature[:_MAX_EVIDENCE]
    proving = [
        condition
        for condition in conditions
        if condition.truth == "true" and condition.kind != "exclusion"
    ]
    proving.sort(
        key=lambda condition: (
            not condition.specific,
            condition.subkind != "trigger",
            condition.kind == "support",
        )
    )
    seen = {(evidence.input, evidence.line) for evidence in out}
    for condition in proving:
        for evidence in condition.evidence[:1]:
            if (evidence.input, evidence.line) not in seen:
                seen.add((evidence.input, evidence.line))
                out.append(evidence)
    return out[:_MAX_EVIDENCE]


def symptom_finding(seen: SeenSymptom, run: RunData, facts: FactTable, course: Course) -> Finding:
    """Return a symptom of a run as a finding."""
    symptom, signature = seen.symptom, seen.signature
    words = Words(
        facts,
        signature.evidence,
        {
            "faulting": enumerate_names(signature.processes) or "a process",
            "first_faulting": (signature.processes or ["a process"])[0],
            "phase": course.phase or "an unknown phase",
        },
    )
    # Who reports a symptom is not who failed, unless it is a worker.
    workers = [
        process.label
        for one in signature.evidence
        if (process := one.at.process) is not None and process.role == "worker"
    ]
    step = words.fill(symptom.next_step)
    if symptom.next_command:
        step += f": {symptom.next_command}"
    return Finding(
        id=symptom.id,
        title=symptom.title,
        family="symptom",
        role="symptom",
        status="confirmed",
        severity=symptom.severity,
        summary=words.fill(symptom.summary),
        cause=words.fill(symptom.proves),
        does_not_prove=words.fill(symptom.does_not_prove),
        conditions=[],
        evidence=[one.at.evidence() for one in signature.evidence][:8],
        count=signature.count,
        explains=[],
        explained_by=seen.explained_by,
        remedies=[],
        affected=None,
        fixed_in=None,
        references=[],
        faulting=workers,
        last=signature.last.at.evidence() if signature.last else None,
        next_step=step,
        fatal=symptom.fatal,
    )
