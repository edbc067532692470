"""What finds private text: a kind of token, and where in a text its values stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from vdiag.redact.views import View

Match = tuple[int, int, str]
"""Where a value starts and ends, and its canonical form: equal ones get the same token."""

WINDOW = 16_384
"""Characters that a pattern looks at together; longer texts are searched in windows."""
OVERLAP = 4_096


class Finder(Protocol):
    """Finds the values of one kind."""

    @property
    def kind(self) -> str:
        """Name the token: ``secret`` becomes ``<secret-1>``."""

    @property
    def hints(self) -> tuple[str, ...]:
        """Lower-case literals: a text that holds none of them holds no value. Empty: any may."""

    def find(self, view: View) -> Iterator[Match]:
        """Yield every value in the text."""


def windows(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the parts to search: from, to, and from where on the next part sees it whole.

    A pattern may take time that grows with the square of a line of nothing but its own
    beginning; over windows of one size it takes time that grows with the line.
    """
    if len(text) <= WINDOW:
        yield 0, len(text), len(text)
        return
    start = 0
    while True:
        end = min(start + WINDOW, len(text))
        if end == len(text):
            yield start, end, end
            return
        following = end - OVERLAP
        yield start, end, following
        start = following


_CONTEXT = frozenset({"name", "quote", "spaced", "sep"})
"""Groups that help to find a value and are none."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression; where it has named groups (``secret``), only they are values."""

    kind: str
    name: str
    regex: re.Pattern[str]
    keep: Callable[[re.Match[str], str], bool] = lambda _match, _value: False
    """Tells that a match (and the value in it) is nothing private after all."""
    canonical: Callable[[str], str] = str
    hints: tuple[str, ...] = ()
    whole: bool = False
    """Takes time in proportion to the text, so it may look at all of it at once."""

    def find(self, view: View) -> Iterator[Match]:
        """Yield every value in the text."""
        named = [name for name in self.regex.groupindex if name not in _CONTEXT]
        groups: list[str | int] = [*named] or [0]
        text = view.text
        parts = [(0, len(text), len(text))] if self.whole else windows(text)
        for start, end, following in parts:
            for match in self.regex.finditer(text, start, end):
                if match.start() >= following and following != end:
                    break
                for group in groups:
                    value = match.group(group)
                    if value and not self.keep(match, value):
                        yield match.start(group), match.end(group), self.canonical(value)


QUOTED = (
    r"(?P<quote>\\{0,8}['\"])"
    r"(?P<secret>(?:(?!(?P=quote)).|(?<=\\)(?P=quote))+)(?:(?<!\\)(?P=quote)|$)"
)
r"""A quoted value with its quotes, or one that the end of the text cuts off.

A quote behind a backslash does not end it: ``'it\'s'`` is one value.
"""
ASSIGNED = r"\\{0,8}['\"]?[ \t]*[=:][ \t]*\\{0,8}['\"]?"
"""What stands between a name and its value in an assignment, a repr, or JSON."""
PLACEHOLDER = re.compile(
    r"""(?:none|null|nil|undefined|true|false|empty|unset|\*+|x{3,}|\.{3}|…|<.*>?|\[.*\]
    |\$\{?\w+\}?|\$\(.*\)?|%\w+%?|\{.*\}?|your[-_ ].*|redacted|\[?redacted\]?|changeme
    |secretstr.*|\\+)$""",
    re.IGNORECASE | re.VERBOSE,
)
"""What stands where a value would stand and is none."""
