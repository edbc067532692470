"""Compares a value with a test of a rule: the same for the engine and for the lint's proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vdiag.rules.versions import in_range, same_commit

if TYPE_CHECKING:
    from vdiag.rules.schema import Test


def compare(value: object, test: Test) -> bool | None:
    """Compare a value with a constant; None where it cannot be (a nightly, no number).

    Tests against other facts (``gt_fact`` and its like) are the engine's.
    """
    if test.known is not None:
        return test.known
    if test.equals is not None:
        return same(value, test.equals)
    if test.not_equals is not None:
        return not same(value, test.not_equals)
    if test.one_of is not None:
        return any(same(value, one) for one in test.one_of)
    if test.in_range is not None:
        return in_range(str(value), test.in_range)
    if test.same_commit is not None:
        return any(same_commit(str(value), one) for one in test.same_commit)
    if test.matches is not None:
        import regex

        return regex.search(test.matches, str(value), timeout=1.0) is not None
    return _bounds(value, test)


def _bounds(value: object, test: Test) -> bool | None:
    found = number(value)
    if found is None:
        return None
    results = []
    if test.gt is not None:
        results.append(found > test.gt)
    if test.ge is not None:
        results.append(found >= test.ge)
    if test.lt is not None:
        results.append(found < test.lt)
    if test.le is not None:
        results.append(found <= test.le)
    return all(results) if results else None


def number(value: object) -> float | None:
    """Return a value as a number; None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(str(value).replace(",", ""))
    except ValueError:
        return None


def same(value: object, other: object) -> bool:
    """Tell whether two values are equal as a rule means it: ``True`` is ``true``, 8 is ``8``."""
    if isinstance(value, bool) or isinstance(other, bool):
        return str(value).lower() == str(other).lower()
    if isinstance(value, int | float) and isinstance(other, int | float):
        return value == other
    return str(value) == str(other)
