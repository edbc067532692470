r"""Ways to read one text: as it stands, without colour, and as the JSON strings in it decode.

A secret in a log is often not written in one piece: colour codes stand in it, a JSON record
escapes it (``\u0026sig=``), a collector cut the line in two. Each of these readings is a view:
a text in which patterns can be looked for, and for each of its characters the place it came
from, so that what is found can be replaced where it really stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

HIDDEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Characters that are drawn as nothing, as the inside of a character class."""
_GLUE = re.compile(
    r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033)"
    r"(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*?(?:\x07|\x1b\\|\\u0007)|[@-Z^_])"
    rf"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f{HIDDEN}]+"
)
_MAY_HIDE = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f{HIDDEN}]|\\u001b|\\x1b|\\033", re.I)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_HALF = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 3
"""A JSON record inside a collector's JSON record, and one more."""
MASK = "0" * 10
"""Stands for the ``<n>`` of a template: the digits that were there are not known."""

Range = tuple[int, int]


@dataclass(slots=True)
class View:
    """A reading of a text, made of segments that come from ranges of the text."""

    text: str
    is_json: bool = False
    """The text is a JSON record: what ends a string there ends it for good."""
    starts: list[int] = field(default_factory=list)
    """Where in ``text`` each segment starts; empty: the view is the text itself."""
    origins: list[Range] = field(default_factory=list)
    """The range of the original text that each segment stands for."""

    def string_end(self, start: int, end: int) -> int:
        """Return where the JSON string around ``start`` ends, ``end`` where there is none."""
        for match in _STRING.finditer(self.text):
            if match.start(1) > start:
                break
            if start < match.end():
                return match.end(1)
        return end

    def segments(self, start: int, end: int) -> Iterator[tuple[str, Range]]:
        """Yield the pieces of a part of the view, each with the range that it stands for."""
        if not self.starts:
            yield self.text[start:end], (start, end)
            return
        index = max(bisect_right(self.starts, start) - 1, 0)
        while index < len(self.starts) and self.starts[index] < end:
            at = self.starts[index]
            after = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
            first, last = self.origins[index]
            begin, stop = max(start, at), min(end, after)
            if last - first == after - at:  # as it stands: a part of it can be told
                first, last = first + begin - at, first + stop - at
            yield self.text[begin:stop], (first, last)
            index += 1

    def origin(self, start: int, end: int) -> list[Range]:
        """Return the ranges of the original text that a part of the view stands for."""
        found: list[Range] = []
        for _, (first, last) in self.segments(start, end):
            if found and found[-1][1] == first:
                found[-1] = (found[-1][0], last)
            else:
                found.append((first, last))
        return found


class _Builder:
    """Collects segments of a view over another view."""

    def __init__(self, below: View) -> None:
        self._below = below
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._origins: list[Range] = []
        self._size = 0

    def keep(self, start: int, end: int) -> None:
        """Add a part of the view below as it stands."""
        for text, origin in self._below.segments(start, end):
            self._add(text, origin)

    def swap(self, start: int, end: int, text: str) -> None:
        """Add a text that stands for a part of the view below."""
        ranges = self._below.origin(start, end)
        if ranges:
            self._add(text, (ranges[0][0], ranges[-1][1]))

    def _add(self, text: str, origin: Range) -> None:
        if text:
            self._starts.append(self._size)
            self._origins.append(origin)
            self._parts.append(text)
            self._size += len(text)

    def view(self) -> View:
        """Return what was collected."""
        text = "".join(self._parts)
        return View(text, _is_json(text), self._starts, self._origins)


def _is_json(text: str) -> bool:
    return text.lstrip()[:2] in ('{"', "[{")


def views(text: str) -> list[View]:
    """Return every reading of a text, the most decoded ones first."""
    return _readings(View(text, _is_json(text)), 0)


def joined(text: str, parts: list[Range], *, escaped: bool = False) -> list[View]:
    """Return every reading of what parts of a text make when they are joined in order.

    ``escaped``: the parts are the insides of JSON strings.
    """
    whole = View(text)
    made = _Builder(whole)
    for start, end in parts:
        if escaped:
            _decode(made, whole, start, end)
        else:
            made.keep(start, end)
    return _readings(made.view(), 0)


def whole_escapes(text: str, start: int, end: int) -> Range:
    """Return the part of a JSON text that holds no half of an escape, or it is JSON no more."""
    before = _HALF.search(text, max(0, start - 6), start)
    if before and (escape := _ESCAPE.match(text, before.start(1))):
        start = max(start, escape.end())
    behind = _HALF.search(text, max(start, end - 6), end)
    if behind:
        end = behind.start(1)
    return start, max(start, end)


def template_view(text: str) -> View:
    """Return a template's text with its ``<n>`` as digits, so that shapes are still seen."""
    return _substituted(View(text), re.compile(r"<n>|<hex>"), MASK)


def _substituted(view: View, pattern: re.Pattern[str], text: str) -> View:
    made = _Builder(view)
    at = 0
    for match in pattern.finditer(view.text):
        made.keep(at, match.start())
        made.swap(match.start(), match.end(), text)
        at = match.end()
    made.keep(at, len(view.text))
    return made.view()


def _readings(view: View, depth: int) -> list[View]:
    found: list[View] = []
    if depth < _DEEPEST and view.is_json and "\\" in view.text:
        for inner in _strings(view):
            found += _readings(inner, depth + 1)
    if _MAY_HIDE.search(view.text):
        view = _substituted(view, _GLUE, "")
    return [*found, view]


def _strings(view: View) -> Iterator[View]:
    """Yield the strings of a JSON record that hold an escape, decoded."""
    for match in _STRING.finditer(view.text):
        start, end = match.span(1)
        if view.text.find("\\", start, end) < 0:
            continue
        made = _Builder(view)
        _decode(made, view, start, end)
        yield made.view()


def _decode(made: _Builder, view: View, start: int, end: int) -> None:
    """Add a part of a view, which is the inside of a JSON string, as it decodes."""
    at = start
    for escape in _ESCAPE.finditer(view.text, start, end):
        made.keep(at, escape.start())
        code, char = escape.groups()
        text = chr(int(code, 16)) if code else _SIMPLE.get(char, char)
        made.swap(escape.start(), escape.end(), text)
        at = escape.end()
    made.keep(at, end)
