"""The Markdown report for an issue."""

from pathlib import Path

import pytest

from tests.report import fixtures
from vdiag.redact import redact
from vdiag.report import markdown
from vdiag.report.gfm import cell, code, fence, prose

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["flagship", "unexplained", "two_runs", "no_vllm", "clean"])
def test_golden(name: str) -> None:
    """Each kind of report makes exactly the Markdown of its golden file."""
    expected = (GOLDEN / f"{name}.md").read_text(encoding="utf-8")

    assert expected == markdown.render(redact(getattr(fixtures, name)()))


def test_first_line() -> None:
    """The first line says what was replaced and that the rest was not."""
    first = markdown.render(redact(fixtures.flagship())).splitlines()[0]

    assert "API keys, tokens and IP addresses are replaced" in first
    assert "not yet redacted" in first


def test_first_line_unredacted() -> None:
    """A report that was not redacted does not claim to be."""
    first = markdown.render(fixtures.flagship()).splitlines()[0]

    assert first == "**Nothing in this report is redacted. Check all of it before posting.**"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask (@me)", "ask (`@me`)"),
        ("see #12, now", "see `#12`, now"),
        ("set `a_b` here", "set `a_b` here"),
        ("a_b<c>", "`a_b<c>`"),
        ("# head", "`#` head"),
        ("1. item", "`1`. item"),
        ("at 10:04:41 it died", "at 10:04:41 it died"),
        ("x`y", "`` x`y ``"),
    ],
)
def test_prose(text: str, expected: str) -> None:
    """Words that mean something to GitHub become code, other words stay."""
    assert prose(text) == expected


def test_code_holds_backticks() -> None:
    """A code span is longer than the backticks in it."""
    assert code("a ` b") == "`` a ` b ``"
    assert code("a `` b") == "` a `` b `"


def test_cell_escapes_pipes() -> None:
    """A pipe does not end a table cell, nor does one behind a backslash."""
    assert cell("a|b") == "a\\|b"
    assert cell("a\\|b") == "a\\x7cb"


def test_fence_is_longer() -> None:
    """A fence is longer than any run of backticks in its lines."""
    assert fence(["a", "`````"]) == "``````text\na\n`````\n``````"
