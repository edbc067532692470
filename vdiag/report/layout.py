"""Measure, cut and wrap text in terminal cells."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_ATOM = re.compile(r"[^\s`]*`[^`]+`[^\s`]*|\S+")
_MODULE = re.compile(r"^(?:\w+\.)+(?=\w+(?:Error|Exception|Interrupt)\b)")
_SENTENCE = re.compile(r"(?<=[.;!?。;]) +")


def _cell(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str) -> int:
    """Return the number of terminal cells that a text takes."""
    return len(text) if text.isascii() else sum(_cell(char) for char in text)


def _head(text: str, width: int) -> str:
    """Return the longest beginning that fits."""
    if text.isascii():
        return text[: max(width, 0)]
    used = 0
    for index, char in enumerate(text):
        used += _cell(char)
        if used > width:
            return text[:index]
    return text


def _tail(text: str, width: int) -> str:
    """Return the longest end that fits."""
    return _head(text[::-1], width)[::-1]


def cut(text: str, width: int) -> str:
    """Return the text, its end replaced by an ellipsis where it is wider than ``width``."""
    if cells(text) <= width:
        return text
    return _head(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def squeeze(text: str, width: int) -> str:
    """Return the text, its middle left out where it is wider than ``width``.

    The end of a log line often holds its point (``… with backend=mnnvl``). The module path
    of an exception goes first: its type and message say more.
    """
    if cells(text) <= width:
        return text
    shorter = _MODULE.sub(ELLIPSIS, text)
    if cells(shorter) <= width:
        return shorter
    if width < 24:
        return cut(text, width)
    tail = (width - 1) // 2
    return _head(text, width - 1 - tail).rstrip() + ELLIPSIS + _tail(text, tail).lstrip()


def pad(text: str, width: int) -> str:
    """Return the text filled up with spaces to ``width`` cells."""
    return text + " " * max(0, width - cells(text))


def _atoms(text: str, width: int) -> list[str]:
    """Split into words; what stands in backticks stays together where it fits a line."""
    atoms: list[str] = []
    for match in _ATOM.finditer(text):
        atom = match.group()
        atoms.extend([atom] if cells(atom) <= width else atom.split())
    return atoms


def wrap(text: str, width: int) -> list[str]:
    """Return the text in lines of at most ``width`` cells.

    Words wider than a line are broken; text in wide characters is broken anywhere.
    """
    width = max(width, 8)
    lines: list[str] = []
    line = ""
    for atom in _atoms(text, width):
        rest = atom
        while True:
            joined = f"{line} {rest}" if line else rest
            if cells(joined) <= width:
                line = joined
                break
            room = width - cells(line) - 1 if line else width
            breakable = cells(rest) > width or any(_cell(char) == 2 for char in rest)
            if breakable and room >= 4:
                part = _head(rest, room)
                lines.append(f"{line} {part}" if line else part)
                rest = rest[len(part) :]
            else:
                lines.append(line)
            line = ""
    return [*lines, line] if line else lines


def clip(text: str, width: int, lines: int | None) -> list[str]:
    """Wrap, and keep at most ``lines`` lines: whole sentences where one fits at all."""
    wrapped = wrap(text, width)
    if lines is None or len(wrapped) <= lines:
        return wrapped
    kept = ""
    for sentence in _SENTENCE.split(text):
        longer = f"{kept} {sentence}" if kept else sentence
        if len(wrap(f"{longer} {ELLIPSIS}", width)) > lines:
            break
        kept = longer
    if kept:
        return wrap(f"{kept} {ELLIPSIS}", width)
    last = _head(wrapped[lines - 1], width - 2).rstrip(" ,;:")
    return [*wrapped[: lines - 1], f"{last} {ELLIPSIS}"]
