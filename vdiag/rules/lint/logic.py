"""Proves that conditions contradict each other, so that what needs them never happens.

A condition is brought to disjunctive form; each conjunction is tried on candidate values of
every fact in it: the constants of its tests, values around them, and one value like none of
them. That decides equality, order and version ranges; what it cannot decide (other facts,
patterns over free text) counts as possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from vdiag.rules.compare import compare
from vdiag.rules.lint.values import constants, fact_values

if TYPE_CHECKING:
    from vdiag.rules.lint.subject import Subject
    from vdiag.rules.schema import Condition, Scalar, Test

Literal_ = tuple["Condition", bool]
"""A condition without parts, and whether it must be true or false."""

_MAX_FORMS = 256
_OTHER = "no such value"
_PHASES = frozenset(("startup", "loading", "kv-sizing", "capture", "warmup", "serving", "shutdown"))
_KINDS = frozenset(("server", "offline", "bench"))


class Logic:
    """Decides what conditions of one pack can hold together."""

    def __init__(self, subject: Subject, phases: frozenset[str] | None = None) -> None:
        self._subject = subject
        self._phases = phases or _PHASES
        """The phases in which the signature can have been seen."""

    def possible(self, *given: tuple[Condition, bool]) -> bool:
        """Tell whether all can hold at once: (condition, whether it must be true or false)."""
        forms = [_forms(condition, truth) for condition, truth in given]
        if any(form is None for form in forms):
            return True
        total = 1
        for form in forms:
            total *= len(form or [])
            if total > _MAX_FORMS:
                return True
        return any(
            self._together([one for part in parts for one in part])
            for parts in product(*(form or [] for form in forms))
        )

    def _together(self, literals: list[Literal_]) -> bool:
        tests: dict[str, list[tuple[Test, bool]]] = defaultdict(list)
        phases, kinds = self._phases, _KINDS
        events: dict[str, bool] = {}
        for condition, truth in literals:
            if condition.fact is not None and condition.test is not None:
                tests[condition.fact].append((condition.test, truth))
            elif condition.signature_phase is not None:
                some = frozenset(condition.signature_phase)
                phases = phases & some if truth else phases - some
            elif condition.run_kind is not None:
                of = frozenset(condition.run_kind)
                kinds = kinds & of if truth else kinds - of
            elif events.setdefault(repr(condition), truth) != truth:
                return False
        return bool(phases and kinds) and all(
            self.fact_possible(name, wanted) for name, wanted in tests.items()
        )

    def fact_possible(self, name: str, wanted: list[tuple[Test, bool]]) -> bool:
        """Tell whether some value of a fact passes these tests and fails those."""
        unknown = [(test, truth) for test, truth in wanted if test.known is not None]
        if any(test.known is not truth for test, truth in unknown):
            return len(unknown) == len(wanted) and len({t.known is u for t, u in unknown}) == 1
        wanted = [
            (test, truth)
            for test, truth in wanted
            if test.known is None and not (test.gt_fact or test.le_fact or test.equals_fact)
        ]
        return self._some_value(name, wanted)

    def _some_value(self, name: str, wanted: list[tuple[Test, bool]]) -> bool:
        fact = self._subject.pack.facts.get(name)
        values = fact_values(self._subject, fact) if fact is not None else None
        if values is None and fact is not None and fact.type == "bool":
            values = frozenset((True, False))
        if values is None:
            if any(test.matches is not None for test, _ in wanted):
                wanted = [(test, truth) for test, truth in wanted if test.matches is None]
            values = frozenset(_candidates(test for test, _ in wanted))
        return any(all(compare(value, test) is truth for test, truth in wanted) for value in values)


def passes(test: Test, values: frozenset[object]) -> bool:
    """Tell whether any of the values passes a test."""
    if test.gt_fact or test.le_fact or test.equals_fact:
        return True
    return any(compare(value, test) is True for value in values)


def _forms(condition: Condition, truth: bool) -> list[list[Literal_]] | None:
    """Return the condition as alternatives of conjunctions; None where there are too many."""
    if condition.negate is not None:
        return _forms(condition.negate, not truth)
    if condition.all is not None or condition.any is not None:
        parts = [_forms(one, truth) for one in (condition.all or condition.any or [])]
        if any(part is None for part in parts):
            return None
        known = [part or [] for part in parts]
        if (condition.all is not None) is truth:
            total = 1
            for part in known:
                total *= len(part)
            if total > _MAX_FORMS:
                return None
            return [[one for part in some for one in part] for some in product(*known)]
        return [form for part in known for form in part]
    return [[(condition, truth)]]


def _candidates(tests: Iterable[Test]) -> list[object]:
    named: list[Scalar] = []
    versions: list[str] = []
    commits: list[str] = []
    for test in tests:
        named += [one for one in (test.equals, test.not_equals) if one is not None]
        named += test.one_of or []
        named += [one for one in (test.gt, test.ge, test.lt, test.le) if one is not None]
        commits += test.same_commit or []
        if test.in_range is not None:
            for part in SpecifierSet(test.in_range):
                versions += _around(part.version.removesuffix(".*"))
    # Numbers come as text where the fact is one.
    return [*constants(named), *versions, *commits, _OTHER, True, False, 0.5, "0.0.1", "99999.0.0"]


def _around(text: str) -> list[str]:
    """Return a version, and versions just before and after it."""
    release = [*Version(text).release, 0, 0][:3]
    out = [text]
    for place in range(3):
        after = [*release[: place + 1], 0, 0, 0][:3]
        after[place] += 1
        out.append(".".join(map(str, after)))
        if release[place]:
            before = [*release[: place + 1], 999, 999, 999][:3]
            before[place] -= 1
            out.append(".".join(map(str, before)))
    base = ".".join(map(str, release))
    return [*out, f"{base}.post1"]
