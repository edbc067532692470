"""Make text from a log harmless to look at.

A log line may hold escape sequences that repaint a terminal, bidirectional overrides that
reorder what is read, or characters without width that hide something. All of them are shown
by their code instead, so that what is printed is what the line holds.
"""

from __future__ import annotations

import unicodedata

_FILLERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)
"""Letters and marks that are drawn as nothing, though Unicode calls them printable."""


def _code(char: str) -> str:
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def is_hidden(char: str) -> bool:
    """Tell whether a character steers the display or is drawn as nothing."""
    if char.isprintable():
        return char in _FILLERS
    return unicodedata.category(char) != "Zs"


def visible(text: str) -> str:
    r"""Return the text on one line, with every hidden character shown by its code.

    A tab becomes a space, a newline ``\n``, a carriage return ``\r``, an escape ``\x1b``.
    """
    if text.isprintable() and _FILLERS.isdisjoint(text):
        return text
    named = {"\t": " ", "\n": "\\n", "\r": "\\r"}
    return "".join((named.get(char) or _code(char)) if is_hidden(char) else char for char in text)


def flat(text: str) -> str:
    """Return prose as one line: runs of blanks and newlines become one space."""
    return visible(" ".join(text.split()))
