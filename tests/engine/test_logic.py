"""Three-valued logic."""

import itertools

import pytest

from vdiag.engine.logic import Answer, both, either
from vdiag.report.model import Evidence

VALUES = ("true", "false", "unknown")


@pytest.mark.parametrize(("one", "two"), list(itertools.product(VALUES, VALUES)))
def test_conjunction_and_disjunction_follow_kleene(one, two):
    """False decides a conjunction, true a disjunction; unknown beats the rest."""
    conjunction = (
        "false" if "false" in (one, two) else ("unknown" if "unknown" in (one, two) else "true")
    )
    disjunction = (
        "true" if "true" in (one, two) else ("unknown" if "unknown" in (one, two) else "false")
    )

    assert both([Answer(one), Answer(two)]).truth == conjunction
    assert either([Answer(one), Answer(two)]).truth == disjunction


@pytest.mark.parametrize("value", VALUES)
def test_negation_keeps_unknown(value):
    """The opposite of unknown is unknown."""
    assert (
        Answer(value).negated().truth
        == {"true": "false", "false": "true", "unknown": "unknown"}[value]
    )


def test_an_inference_anywhere_makes_a_conjunction_inferred():
    """A conjunction is stated only where all of it is."""
    assert both([Answer("true"), Answer("true", "inferred")]).basis == "inferred"
    assert both([Answer("true"), Answer("true")]).basis == "stated"


def test_a_stated_reason_is_preferred_where_one_is_enough():
    """One false decides; the stated one is the better proof."""
    line = Evidence("log", 1, "a line")
    answer = both([Answer("false", "inferred"), Answer("false", "stated", [line])])

    assert (answer.basis, answer.evidence) == ("stated", [line])
