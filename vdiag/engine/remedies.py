"""Whether a remedy applies to this run, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from vdiag.engine.conditions import Context, evaluate
from vdiag.report.model import NotAFix, Remedy

if TYPE_CHECKING:
    from vdiag.engine.words import Words
    from vdiag.rules.schema import Diagnosis, Reason, RemedySpec


def remedies(rule: Diagnosis, context: Context, words: Words) -> list[Remedy]:
    """Return every remedy of a rule; one that does not apply is kept, with its reason."""
    return [_remedy(spec, context, words) for spec in rule.fix]


def _remedy(spec: RemedySpec, context: Context, words: Words) -> Remedy:
    wanted = [(reason, evaluate(reason.when, context).truth) for reason in spec.when]
    barred = [(reason, evaluate(reason.when, context).truth) for reason in spec.never_when]
    against = [r for r, truth in wanted if truth == "false"]
    against_bars = [r for r, truth in barred if truth == "true"]
    open_ = [r for r, truth in (*wanted, *barred) if truth == "unknown"]
    applies: Literal["yes", "no", "unknown"]
    if against_bars or against:
        applies = "no"
        parts = [r.text for r in against_bars] or [f"it is not so that {r.text}" for r in against]
        why = "; ".join(parts)
    elif open_:
        applies = "unknown"
        why = "; ".join(_need(reason) for reason in open_)
    else:
        applies = "yes"
        why = "; ".join(r.text for r, _ in wanted) or spec.always or "it has no preconditions"
    command = best(spec.command, spec.command_otherwise, words) if spec.command else None
    return Remedy(
        text=words.fill(best(spec.text, spec.text_otherwise, words)),
        command=words.fill_command(command) if command else None,
        applies=applies,
        why=words.fill(why),
        cost=spec.cost,
        verify=words.fill(spec.verify) if spec.verify else None,
        kind=spec.kind,
        where=spec.where,
        id=spec.id,
    )


def best(text: str, otherwise: str | None, words: Words) -> str:
    """Return the form with the log's figures, or the one without where a figure is missing."""
    return otherwise if otherwise is not None and words.lacks(text) else text


def _need(reason: Reason) -> str:
    need = f"need to know: {reason.text}"
    return f"{need} ({reason.find_out})" if reason.find_out else need


def not_a_fix(rule: Diagnosis, context: Context, words: Words) -> list[NotAFix]:
    """Return the advice that does not help here, and whether it was tried already."""
    out = []
    for spec in rule.not_a_fix:
        if spec.only_when is not None and evaluate(spec.only_when, context).truth == "false":
            continue
        tried = evaluate(spec.tried_when, context) if spec.tried_when is not None else None
        was = tried is not None and tried.truth == "true"
        out.append(
            NotAFix(
                words.fill(spec.text),
                words.fill(spec.why),
                was,
                tried.evidence if was and tried is not None else [],
            )
        )
    return out
