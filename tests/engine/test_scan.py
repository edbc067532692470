"""The scan: the same lines from either matcher, whatever the chunking."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vdiag.engine.scan import FindMatcher, HyperscanMatcher, Lines, make_matcher
from vdiag.logs import sources
from vdiag.logs.sources import Source

LITERALS = [b"needle", b"need", b"CUDA error", b"le\xc3\xa9"]


def given_lines(data, matcher):
    """Return (number, line, literals) of every line that holds a literal."""
    lines = Lines(matcher)
    return [item for chunk in Source("x", io.BytesIO(data)).chunks() for item in lines.of(chunk)]


def expected_lines(data):
    """Say it slowly: look at every line."""
    out = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        ends = sorted(
            (at + len(literal), place)
            for place, literal in enumerate(LITERALS)
            for at in range(len(line))
            if line.startswith(literal, at)
        )
        if ends:
            out.append((number, line, [place for _, place in ends]))
    return out


@given(
    st.lists(
        st.sampled_from([b"needle", b"x", b"CUDA error: y needneed", b"", b"\r", b"le\xc3\xa9"]),
        max_size=30,
    ),
    st.booleans(),
)
def test_both_matchers_give_the_lines_that_hold_a_literal(parts, newline):
    """Line numbers, texts and literals are those of a plain look at every line."""
    data = b"\n".join(parts) + (b"\n" if newline else b"")

    expected = expected_lines(data)

    assert given_lines(data, HyperscanMatcher(LITERALS)) == expected
    assert given_lines(data, FindMatcher(LITERALS)) == expected


@pytest.mark.parametrize("size", [32, 64, 1000])
def test_chunk_borders_change_nothing(size, monkeypatch):
    """A small buffer gives the same lines as a large one."""
    monkeypatch.setattr(sources, "CHUNK", size)
    data = b"".join(b"%d needle\nplain %d\n" % (n, n) for n in range(100))

    assert given_lines(data, make_matcher(LITERALS)) == expected_lines(data)


def test_following_gives_every_line_until_it_ends():
    """While a caller follows, lines come hit or not."""
    data = b"a\nneedle\nb\nc\nd\nneedle\ne\n"
    lines = Lines(make_matcher(LITERALS))
    seen = []
    for chunk in Source("x", io.BytesIO(data)).chunks():
        for number, line, _ in lines.of(chunk):
            seen.append((number, line))
            lines.follow = 2 <= number < 4

    assert seen == [(2, b"needle"), (3, b"b"), (4, b"c"), (6, b"needle")]


def test_the_line_before_is_known():
    """A raw traceback is named by the line before it, which holds no literal."""
    lines = Lines(make_matcher(LITERALS))
    before = []
    for chunk in Source("x", io.BytesIO(b"Process EngineCore:\nneedle\n")).chunks():
        before += [lines.previous()[0] for _ in lines.of(chunk)]

    assert before == [b"Process EngineCore:"]


def test_without_a_wheel_the_fallback_is_taken(monkeypatch):
    """A machine without hyperscan's wheel still diagnoses."""
    monkeypatch.setitem(__import__("sys").modules, "hyperscan", None)

    assert make_matcher(LITERALS).name == "find"
