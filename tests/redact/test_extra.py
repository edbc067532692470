"""Patterns of the user's own."""

import pytest

from vdiag.errors import InputError
from vdiag.redact import Redactor
from vdiag.redact.extra import load
from vdiag.redact.tally import tally


def test_own_patterns(tmp_path) -> None:
    """A pattern names its token; comments and blank lines are skipped."""
    path = tmp_path / "own.txt"
    path.write_text("# ours\n\nproject: PRJ-\\d{4}\nsite: site (?P<secret>\\w+)\n")
    made = Redactor(load(str(path))).text("PRJ-1234 and PRJ-9999 at site berlin, PRJ-1234")

    assert made == "<project-1> and <project-2> at site <site-1>, <project-1>"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("PRJ-\\d+", "is no pattern"),
        ("project: (", "not a regular expression"),
        ("project: a*", "matches the empty text"),
        ("Project: a", "is no pattern"),
    ],
)
def test_a_broken_pattern_is_named(tmp_path, line: str, said: str) -> None:
    """The error says the file, the line, what is wrong and what to write."""
    path = tmp_path / "own.txt"
    path.write_text(f"# one\n{line}\n")

    with pytest.raises(InputError, match=said) as error:
        load(str(path))
    assert str(error.value).startswith(f"{path}:2: ")


def test_a_missing_file(tmp_path) -> None:
    """A file that is not there is one line."""
    with pytest.raises(InputError, match="no such file"):
        load(str(tmp_path / "nowhere"))


def test_tally_counts_and_tells_nothing() -> None:
    """The tally has kinds and counts, and no value."""
    redactor = Redactor()
    redactor.text("10.1.2.3 10.1.2.4 10.1.2.3 password=Zk3vQ9xTt7")
    rows = [line.split()[:3] for line in tally(redactor).splitlines()]

    assert rows == [["kind", "values", "places"], ["secret", "1", "1"], ["ip", "2", "3"]]
    assert "10.1" not in tally(redactor)
    assert "Zk3" not in tally(redactor)
