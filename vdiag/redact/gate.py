"""Which finders are worth asking about a line: most lines hold nothing private.

A gate may name a finder too many, never one too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from vdiag.redact.pattern import WINDOW, Finder, Pattern

_COSTLY = frozenset(
    {"email", "assigned", "assigned-quoted", "option-quoted", "secret-option", "vendor",
     "hub-complaint", "bracketed", "login", "shell-prompt"}
)  # fmt: skip
"""Patterns that hyperscan needs a tenth of a second or more to build."""


class Gate(Protocol):
    """Chooses finders by number."""

    def choose(self, text: str) -> Iterable[int]:
        """Return the numbers of the finders that may find something, in ascending order."""


class HintGate:
    """Looks for the literals that finders declare."""

    def __init__(self, finders: Sequence[Finder]) -> None:
        self._hints = [(number, finder.hints) for number, finder in enumerate(finders)]

    def choose(self, text: str) -> Iterable[int]:
        """Return the finders one of whose literals stands in the text."""
        low = text.lower()
        return [
            number
            for number, hints in self._hints
            if not hints or any(hint in low for hint in hints)
        ]


class ScanGate:
    """Looks for all finders' expressions at once; building it takes a second.

    Hyperscan's prefilter mode takes the expressions as they are and matches at least where
    they do. It reads bytes, so text outside ASCII goes to the gate below.
    """

    def __init__(self, finders: Sequence[Finder]) -> None:
        import hyperscan

        self._below = HintGate(finders)
        self._ungated: set[int] = set()
        flags = hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_SINGLEMATCH
        rows: list[tuple[bytes, int, int]] = []
        for number, finder in enumerate(finders):
            if isinstance(finder, Pattern) and _translatable(finder):
                case = hyperscan.HS_FLAG_CASELESS if finder.regex.flags & re.I else 0
                rows.append((_translated(finder.regex), number, flags | case))
            elif finder.hints:
                both = flags | hyperscan.HS_FLAG_CASELESS
                rows += [(re.escape(hint).encode(), number, both) for hint in finder.hints]
            else:
                self._ungated.add(number)
        expressions, ids, options = zip(*rows, strict=True)
        self._database = hyperscan.Database()
        self._database.compile(expressions=expressions, ids=ids, flags=options)

    def choose(self, text: str) -> Iterable[int]:
        """Return the finders whose expression may match."""
        if len(text) > WINDOW or not text.isascii():
            return self._below.choose(text)
        chosen = set(self._ungated)

        def met(number: int, _start: int, _end: int, _flags: int, _context: object) -> None:
            chosen.add(number)

        self._database.scan(text.encode(), match_event_handler=met)
        return sorted(chosen)


def _translated(regex: re.Pattern[str]) -> bytes:
    """Return the expression in PCRE's spelling."""
    text = regex.pattern.replace("(?P<", "(?<")
    return re.sub(r"\(\?P=(\w+)\)", r"\\k<\1>", text).encode()


def _translatable(finder: Pattern) -> bool:
    """Tell whether to look for the expression itself; else its literals must do.

    Long alternations take longer to build than they save.
    """
    regex = finder.regex
    if not regex.pattern.isascii() or regex.flags & (re.X | re.S):
        return False
    return not (finder.hints and finder.name in _COSTLY)


def fast_gate(finders: Sequence[Finder]) -> Gate:
    """Return the fastest gate that this machine has a wheel for."""
    try:
        import hyperscan
    except ImportError:
        return HintGate(finders)
    try:
        return ScanGate(finders)
    except hyperscan.HyperscanError:  # an expression of the user's own that it cannot read
        return HintGate(finders)
