"""Checks that every name a pack mentions exists, and that its patterns compile."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

import regex
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from vdiag.rules.problem import Problem
from vdiag.rules.schema import Alternative, Condition, Diagnosis, FactSpec, Signal
from vdiag.rules.walk import conditions_of, event_names, operands, walk

if TYPE_CHECKING:
    from vdiag.rules.packs import Pack


def name_problems(pack: Pack, broken: Set[str] = frozenset()) -> Iterator[Problem]:
    """Yield a problem for every name that does not exist and every pattern that fails.

    ``broken`` are names whose definition is refused already; of them nothing more is said.
    """
    return _Names(pack, broken).problems()


class _Names:
    """Resolves the names of one pack."""

    def __init__(self, pack: Pack, broken: Set[str]) -> None:
        self._pack = pack
        self._broken = broken
        self._rules = set(pack.symptoms) | set(pack.diagnoses)

    def problems(self) -> Iterator[Problem]:
        pack = self._pack
        for signal in pack.signals.values():
            yield from self._signal(signal)
        for fact in pack.facts.values():
            yield from self._fact(fact)
        for symptom in pack.symptoms.values():
            yield from self._alternatives(symptom.signature, f"symptom {symptom.id}")
        for rule in pack.diagnoses.values():
            thing = f"diagnosis {rule.id}"
            yield from self._alternatives(rule.signature, thing)
            for condition in conditions_of(rule):
                yield from self._condition(condition, thing)
            yield from self._numbers(rule, thing)
            for id in (*rule.explains, *rule.yields_to):
                if id not in self._rules and id not in self._broken:
                    hint = _meant(id, self._rules)
                    yield self._at(
                        thing, f"names {id!r}, which is neither diagnosis nor symptom{hint}"
                    )

    def _at(self, thing: str, message: str, code: str = "name") -> Problem:
        file, _, line = self._pack.places[thing].rpartition(":")
        return Problem(file, int(line), code, message)

    def _signal(self, signal: Signal) -> Iterator[Problem]:
        thing = f"signal {signal.id}"
        groups: set[str] = set()
        for pattern in (*signal.patterns, *signal.relayed):
            try:
                groups |= set(regex.compile(pattern).groupindex)
            except regex.error as error:
                yield self._at(thing, f"{thing}: bad pattern: {error}", "pattern")
                return
        for name in signal.types:
            if name not in groups:
                yield self._at(thing, f"{thing}: no capture named {name!r}{_meant(name, groups)}")
        if not signal.literals:
            yield self._at(thing, f"{thing}: declares no literal, so it is never seen", "literal")
        for literal in signal.literals:
            if not literal.isascii() or any(char in literal for char in '"\\\t\r\n'):
                yield self._at(
                    thing,
                    f"{thing}: literal {literal!r} must be ASCII without quotes, backslashes and "
                    "control characters",
                    "literal",
                )
        if signal.printed:
            yield from self._range(signal.printed.versions, thing)

    def _fact(self, fact: FactSpec) -> Iterator[Problem]:
        thing = f"fact {fact.name}"
        for source in (*fact.asked, *fact.sources):
            yield from self._event(source.signal, thing)
        for derivation in fact.derive:
            for condition in walk(derivation.when):
                yield from self._condition(condition, thing)
            for name in (*(derivation.product or ()), *filter(None, [derivation.from_fact])):
                if name not in self._pack.facts and name not in self._broken:
                    hint = _meant(name, self._pack.facts)
                    yield self._at(thing, f"{thing}: unknown fact {name!r}{hint}")

    def _alternatives(self, signature: list[Alternative], thing: str) -> Iterator[Problem]:
        for alternative in signature:
            for name in event_names(alternative.event):
                yield from self._event(name, thing)

    def _condition(self, condition: Condition, thing: str) -> Iterator[Problem]:
        for name in event_names(condition.event):
            yield from self._event(name, thing)
        test = condition.test
        names = [condition.fact]
        if test is not None:
            names += [test.gt_fact, test.le_fact, test.equals_fact]
            if test.in_range is not None:
                yield from self._range(test.in_range, thing)
            if test.matches is not None:
                try:
                    regex.compile(test.matches)
                except regex.error as error:
                    yield self._at(thing, f"bad pattern {test.matches!r}: {error}", "pattern")
        facts = self._pack.facts
        for fact in names:
            if fact is None or fact in facts or fact in self._broken or fact.startswith("env."):
                continue
            yield self._at(thing, f"unknown fact {fact!r}{_meant(fact, facts)}")

    def _numbers(self, rule: Diagnosis, thing: str) -> Iterator[Problem]:
        """Check that every operand is a capture of the signature, a fact or an earlier figure."""
        numbers = rule.numbers
        if not numbers:
            return
        known = {
            group
            for alternative in rule.signature
            for name in event_names(alternative.event)
            if name in self._pack.signals
            for pattern in (*self._pack.signals[name].patterns, *self._pack.signals[name].relayed)
            for group in regex.compile(pattern).groupindex
        }
        for number in numbers:
            for operand in operands(number):
                named = isinstance(operand, str)
                if named and operand not in known and operand not in self._pack.facts:
                    yield self._at(
                        thing,
                        f"number {number.name!r}: {operand!r} is no capture of the signature, no "
                        "fact and no earlier number",
                    )
            known.add(number.name)

    def _event(self, name: str, thing: str) -> Iterator[Problem]:
        if name not in self._pack.signals and name not in self._broken:
            yield self._at(thing, f"unknown signal {name!r}{_meant(name, self._pack.signals)}")

    def _range(self, text: str, thing: str) -> Iterator[Problem]:
        try:
            SpecifierSet(text)
        except InvalidSpecifier:
            yield self._at(thing, f"bad version range {text!r}", "range")


def _meant(name: str, known: Iterable[str]) -> str:
    """Return a hint at the name that was probably meant."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
