"""Walks over the conditions of a rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vdiag.rules.schema import Condition, Diagnosis, Number


def event_names(event: list[str] | str | None) -> list[str]:
    """Return the signals an ``event`` key names, as a list."""
    if event is None:
        return []
    return [event] if isinstance(event, str) else event


def walk(condition: Condition) -> Iterator[Condition]:
    """Yield a condition and all inside it."""
    yield condition
    for inner in (*(condition.all or ()), *(condition.any or ())):
        yield from walk(inner)
    if condition.negate is not None:
        yield from walk(condition.negate)


def conditions_of(rule: Diagnosis) -> Iterator[Condition]:
    """Yield every condition that a diagnosis holds, wherever it stands."""
    for item in rule.conditions:
        yield from walk(item.when)
    for alternative in rule.signature:
        for condition in alternative.all_facts:
            yield from walk(condition)
    for remedy in rule.fix:
        for reason in (*remedy.when, *remedy.never_when):
            yield from walk(reason.when)
    for advice in rule.not_a_fix:
        for maybe in (advice.tried_when, advice.only_when):
            if maybe is not None:
                yield from walk(maybe)
    for risk in rule.risk:
        if risk.when is not None:
            yield from walk(risk.when)
    verification = rule.verification
    for step in (*verification.must_appear, *verification.must_not_appear, *verification.exercised):
        yield from walk(step.when)


def operands(number: Number) -> list[str | float]:
    """Return the operands of a number, in order."""
    return number.divide or number.multiply or number.subtract or []
