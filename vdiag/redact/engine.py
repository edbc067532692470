"""Replace private text by stable tokens.

A token stands for one value wherever it is met, so that correlation survives: the same
address is ``<ip-1>`` in every line and in every input.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from vdiag.redact.gate import Gate, HintGate
from vdiag.redact.kinds import DEFAULT
from vdiag.redact.pattern import Finder
from vdiag.redact.views import Range, View, template_view, views, whole_escapes

_LEAST = {"secret": 8, "model": 6, "host": 5, "email": 6}
"""A value is looked for outside the place that named it if it is at least as long as this."""
_MOST_KNOWN = 200
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
"""What a template has ``<n>`` for."""
_KEPT = -1
CUT = "<cut>"
_HEAD = re.compile(r"[^\s'\"<>()\[\]{},;|]+")
_OWN = re.compile(r"<(?:[a-z][a-z0-9-]*-\d+|cut)>")
"""A token: of this or of an earlier redaction. It stays."""


class Coverage:
    """What is replaced in one text. Values that overlap become one."""

    def __init__(self, kept: Iterable[Range] = ()) -> None:
        self._places: list[tuple[int, int, int]] = [(*place, _KEPT) for place in kept]
        """Ranges that do not overlap, in order, with the number of the value they are of."""
        self._tokens: list[str] = []

    @classmethod
    def of(cls, text: str) -> Coverage:
        """Return the coverage of a text in which only tokens of an earlier redaction are."""
        return cls(match.span() for match in _OWN.finditer(text)) if "<" in text else cls()

    def _met(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Return the places that overlap a range, in order."""
        places = self._places
        index = max(bisect_left(places, (start, start, _KEPT)) - 1, 0)
        met = []
        while index < len(places) and places[index][0] < end:
            if places[index][1] > start:
                met.append(places[index])
            index += 1
        return met

    def _free(self, ranges: list[Range]) -> list[Range]:
        """Return what of the ranges nothing covers yet."""
        free: list[Range] = []
        for start, end in ranges:
            at = start
            for first, last, _ in self._met(start, end):
                if at < first:
                    free.append((at, first))
                at = max(at, last)
            if at < end:
                free.append((at, end))
        return free

    def token_at(self, ranges: list[Range]) -> str | None:
        """Return the token that replaces a place."""
        for start, end in ranges:
            for *_, number in self._met(start, end):
                if number != _KEPT:
                    return self._tokens[number]
        return None

    def covers(self, ranges: list[Range]) -> bool:
        """Tell whether all of a value is replaced already."""
        return not self._free(ranges)

    def add(self, token: str, ranges: list[Range]) -> None:
        """Replace a value; what of it is replaced already makes it a part of that value."""
        number = len(self._tokens)
        for start, end in ranges:
            number = min([number, *(n for *_, n in self._met(start, end) if n != _KEPT)])
        if number == len(self._tokens):
            self._tokens.append(token)
        for start, end in self._free(ranges):
            insort(self._places, (start, end, number))

    def drop(self, ranges: list[Range]) -> None:
        """Replace what may be half of a value."""
        if not self.covers(ranges):
            self.add(CUT, ranges)

    def pieces(self) -> list[tuple[int, int, str]]:
        """Return what to put where: of each value the token once, nothing for its rest."""
        pieces = []
        told: set[int] = set()
        for start, end, number in self._places:
            if number != _KEPT:
                pieces.append((start, end, "" if number in told else self._tokens[number]))
                told.add(number)
        return pieces


def spliced(text: str, pieces: list[tuple[int, int, str]]) -> str:
    """Return the text with the pieces put in."""
    parts, at = [], 0
    for start, end, token in pieces:
        parts += [text[at:start], token]
        at = end
    return "".join([*parts, text[at:]])


def _tail(text: str) -> int:
    """Return the length of the last word, in time that grows with it alone."""
    size = 256
    while True:
        match = _HEAD.match(text[-size:][::-1])
        if match is None:
            return 0
        if match.end() < size:
            return match.end()
        size *= 4


class Redactor:
    """Replaces what its finders find and remembers which token stands for which value.

    ``counts`` says how many different values of each kind were met, ``replaced`` how often.
    """

    def __init__(self, finders: Sequence[Finder] = DEFAULT) -> None:
        self.finders = list(finders)
        self.gate: Gate = HintGate(self.finders)
        """Chooses which finders to ask; :mod:`vdiag.redact.gate` has a faster one."""
        self._tokens: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._replaced: dict[str, int] = {}
        self._known: dict[str, str] = {}
        self._anywhere: re.Pattern[str] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Return how many different values of each kind were replaced."""
        return dict(sorted(self._counts.items()))

    @property
    def replaced(self) -> dict[str, int]:
        """Return how many places of each kind were replaced."""
        return dict(sorted(self._replaced.items()))

    def forget_places(self) -> None:
        """Count places from here on; the values stay known."""
        self._replaced.clear()

    def token(self, kind: str, value: str, canonical: str | None = None) -> str:
        """Return the token for a value, a new one at first sight."""
        key = (kind, canonical or value)
        if key not in self._tokens:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._tokens[key] = f"<{kind}-{self._counts[kind]}>"
            if self._worth_knowing(kind, value):
                self._known[value] = self._tokens[key]
                self._anywhere = None
        return self._tokens[key]

    def _worth_knowing(self, kind: str, value: str) -> bool:
        if len(self._known) >= _MOST_KNOWN or len(value) < _LEAST.get(kind, 1 << 30):
            return False
        if kind == "model":
            return "/" in value
        if kind == "host":
            return bool(re.search(r"[\d.-]", value))
        return "\n" not in value and not (value.isalpha() and value.islower())

    def cover(
        self,
        text: str,
        readings: list[View],
        *,
        cut: bool = False,
        into: Coverage | None = None,
    ) -> Coverage:
        """Find everything private in a text, in all its readings.

        ``cut``: the text goes on elsewhere, so what stands at its end may be half of a value.
        ``into`` holds what was found before.
        """
        covered = Coverage.of(text) if into is None else into
        asked = [(view, number) for view in readings for number in self.gate.choose(view.text)]
        for view, number in sorted(asked, key=lambda pair: pair[1]):
            finder = self.finders[number]
            for start, end, canonical in finder.find(view):
                self._add(covered, finder.kind, view, (start, end), canonical)
        self._again(covered, readings)
        if cut:
            view = readings[-1]
            size = _tail(view.text)
            word = view.text[len(view.text) - size :]
            if word and not (word.isalpha() and size <= 12):
                covered.drop(view.origin(len(view.text) - size, len(view.text)))
        return covered

    def behead(self, covered: Coverage, view: View) -> None:
        """Take away what may be the second half of a value whose first half is elsewhere."""
        if head := _HEAD.match(view.text):
            covered.drop(view.origin(*head.span()))

    def _add(self, covered: Coverage, kind: str, view: View, place: Range, canonical: str) -> None:
        start, end = place
        value = view.text[start:end]
        if view.is_json:
            start, end = whole_escapes(view.text, start, min(end, view.string_end(start, end)))
            value = view.text[start:end]
        ranges = view.origin(start, end) if end > start else []
        if not ranges or covered.covers(ranges):
            return
        covered.add(self.token(kind, value, canonical), ranges)
        self._replaced[kind] = self._replaced.get(kind, 0) + 1

    def _again(self, covered: Coverage, readings: list[View]) -> None:
        """Replace values that were named elsewhere and stand here without a name."""
        if not self._known:
            return
        known = self._known
        readings = [view for view in readings if any(value in view.text for value in known)]
        if not readings:
            return
        if self._anywhere is None:
            longest = sorted(self._known, key=len, reverse=True)
            self._anywhere = re.compile(
                rf"(?<![\w/])(?:{'|'.join(map(re.escape, longest))})(?![\w-])"
            )
        for view in readings:
            for match in self._anywhere.finditer(view.text):
                ranges = view.origin(*match.span())
                if not covered.covers(ranges):
                    token = self._known[match.group()]
                    covered.add(token, ranges)
                    kind = token[1:-1].rpartition("-")[0]
                    self._replaced[kind] = self._replaced.get(kind, 0) + 1

    def pieces(self, text: str, *, cut: bool = False) -> list[tuple[int, int, str]]:
        """Return what to put where in a text."""
        return self.cover(text, views(text), cut=cut).pieces()

    def text(self, text: str, *, cut: bool = False) -> str:
        """Return the text with everything private in it replaced."""
        return spliced(text, self.pieces(text, cut=cut))

    def template(self, text: str) -> str:
        """Return a template, in which digits are ``<n>``, without what is private in it."""
        for value, token in self._known.items():
            masked = _DIGITS.sub("<n>", value)
            if masked in text:
                text = text.replace(masked, token)
        covered = self.cover(text, [template_view(text)])
        return spliced(text, covered.pieces())
