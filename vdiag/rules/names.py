"""Checks that every name a pack mentions exists, and that its patterns compile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import regex
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from vdiag.errors import PackError
from vdiag.rules.schema import Alternative, Condition, Diagnosis, FactSpec, Signal

if TYPE_CHECKING:
    from vdiag.rules.pack import Pack


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


def check_names(pack: Pack) -> None:
    """Raise PackError at the first name that does not exist or pattern that fails."""
    for signal in pack.signals.values():
        _check_signal(pack, signal)
    for fact in pack.facts.values():
        _check_fact(pack, fact)
    for symptom in pack.symptoms.values():
        place = pack.places[f"symptom {symptom.id}"]
        _check_alternatives(pack, symptom.signature, place)
    known = set(pack.symptoms) | set(pack.diagnoses)
    for rule in pack.diagnoses.values():
        place = pack.places[f"diagnosis {rule.id}"]
        _check_alternatives(pack, rule.signature, place)
        for condition in conditions_of(rule):
            _check_condition(pack, condition, place)
        _check_numbers(pack, rule, place)
        for id in (*rule.explains, *rule.yields_to):
            if id not in known:
                raise PackError(f"{place}: names {id!r}, which is neither diagnosis nor symptom")


def _check_signal(pack: Pack, signal: Signal) -> None:
    place = pack.places[f"signal {signal.id}"]
    groups: set[str] = set()
    for pattern in (*signal.patterns, *signal.relayed):
        try:
            groups |= set(regex.compile(pattern).groupindex)
        except regex.error as error:
            raise PackError(f"{place}: signal {signal.id}: bad pattern: {error}") from error
    for name in signal.types:
        if name not in groups:
            raise PackError(f"{place}: signal {signal.id}: no capture named {name!r}")
    if not signal.literals:
        raise PackError(f"{place}: signal {signal.id}: declares no literal, so it is never seen")
    for literal in signal.literals:
        if not literal.isascii() or any(char in literal for char in '"\\\t\r\n'):
            raise PackError(
                f"{place}: signal {signal.id}: literal {literal!r} must be ASCII without "
                "quotes, backslashes and control characters"
            )
    if signal.printed:
        _check_range(signal.printed.versions, place)


def _check_fact(pack: Pack, fact: FactSpec) -> None:
    place = pack.places[f"fact {fact.name}"]
    for source in (*fact.asked, *fact.sources):
        _check_event(pack, source.signal, place)
    for derivation in fact.derive:
        for condition in walk(derivation.when):
            _check_condition(pack, condition, place)
        for name in (*(derivation.product or ()), *filter(None, [derivation.from_fact])):
            if name not in pack.facts:
                raise PackError(f"{place}: fact {fact.name}: unknown fact {name!r}")


def _check_alternatives(pack: Pack, signature: list[Alternative], place: str) -> None:
    for alternative in signature:
        for name in event_names(alternative.event):
            _check_event(pack, name, place)


def _check_condition(pack: Pack, condition: Condition, place: str) -> None:
    for name in event_names(condition.event):
        _check_event(pack, name, place)
    test = condition.test
    names = [condition.fact]
    if test is not None:
        names += [test.gt_fact, test.le_fact, test.equals_fact]
        if test.in_range is not None:
            _check_range(test.in_range, place)
        if test.matches is not None:
            try:
                regex.compile(test.matches)
            except regex.error as error:
                raise PackError(f"{place}: bad pattern {test.matches!r}: {error}") from error
    for fact in names:
        if fact is not None and fact not in pack.facts and not fact.startswith("env."):
            raise PackError(f"{place}: unknown fact {fact!r}")


def _check_numbers(pack: Pack, rule: Diagnosis, place: str) -> None:
    """Check that every operand is a capture of the signature, a fact or an earlier figure."""
    if not rule.numbers:
        return
    known = {
        group
        for alternative in rule.signature
        for name in event_names(alternative.event)
        for pattern in (*pack.signals[name].patterns, *pack.signals[name].relayed)
        for group in regex.compile(pattern).groupindex
    }
    for number in rule.numbers:
        for operand in number.operands:
            if isinstance(operand, str) and operand not in known and operand not in pack.facts:
                raise PackError(
                    f"{place}: number {number.name!r}: {operand!r} is no capture of the "
                    "signature, no fact and no earlier number"
                )
        known.add(number.name)


def _check_event(pack: Pack, name: str, place: str) -> None:
    if name not in pack.signals:
        raise PackError(f"{place}: unknown signal {name!r}")


def _check_range(text: str, place: str) -> None:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise PackError(f"{place}: bad version range {text!r}") from error
