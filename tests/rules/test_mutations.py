"""Whatever is taken from a rule, some sample notices."""

import json

import pytest

from tests.rules.mutants import CAPTURES, UNKILLED, Laboratory, all_captures, unkilled_signals
from vdiag.rules.pack import load

PACK = load()
GOLDEN = json.loads(CAPTURES.read_text(encoding="utf-8"))
KNOWN = UNKILLED.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def unkilled():
    """Every mutant of every rule and signal that no sample notices."""
    return [*Laboratory().unkilled(), *unkilled_signals(PACK, GOLDEN)]


def test_captures_are_as_they_were():
    """What a sample's line states changes only on purpose: `python -m tests.rules.mutants`."""
    assert all_captures(PACK) == GOLDEN


def test_a_mutant_is_noticed(unkilled):
    """Dropping a condition, an event or a literal, or widening a capture, fails some sample."""
    assert sorted(set(unkilled) - set(KNOWN)) == []


def test_the_list_of_unnoticed_mutants_only_shrinks(unkilled):
    """A mutant that is noticed by now leaves the list: `python -m tests.rules.mutants`."""
    assert sorted(set(KNOWN) - set(unkilled)) == []
