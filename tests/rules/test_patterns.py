"""The proofs about patterns: sound on patterns nobody wrote, sharp on patterns people write."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vdiag.rules.lint.backtracking import slowness
from vdiag.rules.lint.literals import text_without
from vdiag.rules.lint.syntax import Alphabet, Unparsed, parse

ATOMS = st.sampled_from(["a", "b", "ab", "abc", "c", ".", "[ab]", "[^a]", r"\w", r"\d", "é"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "*?"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)
TEXTS = st.text(st.sampled_from("abcé1 "), max_size=8)


def without(pattern, *literals):
    """Return a text that the pattern takes and that holds no literal."""
    alphabet = Alphabet([pattern, *literals])
    return text_without(parse(pattern, alphabet), literals, alphabet)


@settings(max_examples=300, deadline=None)
@given(PATTERNS, st.lists(st.sampled_from(["a", "ab", "bc", "abc", "é"]), min_size=1), TEXTS)
def test_the_proof_of_literals_is_sound_and_its_counterexample_true(pattern, literals, text):
    """What is proved holds for every text tried; what is not comes with a text that shows it."""
    found = without(pattern, *literals)

    if found is None:
        for match in re.finditer(pattern, text):
            assert any(literal in match.group() for literal in literals), match.group()
    else:
        assert re.fullmatch(pattern, found)
        assert not any(literal in found for literal in literals)


@pytest.mark.parametrize(
    ("pattern", "literals", "proved"),
    [
        (r"^foo: (?:bar|baz) of \d+", ["bar of ", "baz of "], True),
        (r"^foo: (?:bar|baz) of \d+", ["bar of "], False),
        (r"(?i)foo bar", ["foo bar"], False),
        (r"(?i:foo) bar", [" bar"], True),
        (r"(?:foo bar)?", ["foo bar"], False),
        (r"(?:foo bar){1,3}", ["foo bar"], True),
        (r"f{3}oo", ["fffoo"], True),
        (r"foo(?!.*bar)(?<=x)", ["foo"], True),
        (r"(?P<x>a|b)foo(?P=x)", ["afoo", "bfoo"], True),
        (r"[^\n]*foo\s", ["foo "], False),
        (r"[f]oo [b]ar", ["foo bar"], True),
    ],
)
def test_the_proof_of_literals_decides_as_a_reader_would(pattern, literals, proved):
    """Alternatives, repetitions, cases and look-arounds are understood."""
    assert (without(pattern, *literals) is None) is proved


QUICK = [
    r"^foo.*",
    r"foo bar",
    r"^\S+:\d+ x",
    r"^(?:[\w.]+ )*x",
    r"^\s*foo\s*$",
    r"^.{0,240}foo \S{1,100}x",
    r"^(?P<a>\S(?:.*\S)?)\s*$",
    r"^(?>.*)a.*b",
    r"^(?:, \w+=\d+)*$",
    r"^foo(?=.*bar)",
]
EXPONENTIAL = [
    r"^(?:a+)+$",
    r"^(?:a*)*b",
    r"^(?:\w+\s?)*x",
    r"^(?:\w*\d*)*!",
    r"^x(?:a|ab|b)*$",
    r"^(?:a?){20}b",
    r"^foo(?!(?:a|aa)+$)",
    r"^(?:.*,)*x",
]
POLYNOMIAL = [
    r"^.*foo.*bar",
    r"foo.*bar",
    r"^\d+\d+x",
    r"^\S.*?\s*$",
    r"^\w*-?\w*-?\w*:",
    r"^(?=.*a.*b)foo",
]


def judged(pattern):
    """Return what is said of a pattern's time: quick, exponential or polynomial."""
    alphabet = Alphabet([pattern])
    slow = slowness(parse(pattern, alphabet), alphabet)
    return "quick" if slow is None else "exponential" if slow.exponential else "polynomial"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        *((pattern, "quick") for pattern in QUICK),
        *((pattern, "exponential") for pattern in EXPONENTIAL),
        *((pattern, "polynomial") for pattern in POLYNOMIAL),
    ],
)
def test_the_time_of_a_pattern_is_told(pattern, expected):
    """Patterns that are known to be quick or slow are judged so."""
    assert judged(pattern) == expected


def test_only_regex_reads_it_is_an_answer():
    """A pattern that cannot be read is said to be, not guessed at."""
    with pytest.raises(Unparsed):
        parse(r"^\p{Lu}+ foo", Alphabet([]))
