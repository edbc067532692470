"""Finds the lines that hold a literal: the only lines that are ever decoded.

Hyperscan scans a chunk for all literals at once; its callback only notes (end, literal).
Without its wheel a search per literal does the same, slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from vdiag.logs.sources import Chunk

_AROUND = 512
"""Bytes kept of each end of the line before a hit."""

Hit = tuple[int, int]
"""End offset of a literal in the chunk, and the literal's number."""


class Matcher(Protocol):
    """Finds every occurrence of a fixed set of literals."""

    name: str

    def scan(self, data: bytearray, size: int) -> list[Hit]:
        """Return the hits in ``data[:size]``, ordered by end offset, then number."""
        ...


class HyperscanMatcher:
    """All literals at once, vectorised."""

    name = "hyperscan"

    def __init__(self, literals: list[bytes]) -> None:
        from vdiag.engine.database import load

        self._database = load(literals)
        self._hits: list[Hit] = []

    def _note(self, id: int, start: int, end: int, flags: int, context: object) -> None:
        self._hits.append((end, id))

    def scan(self, data: bytearray, size: int) -> list[Hit]:
        """Return the hits in ``data[:size]``, ordered by end offset, then number."""
        hits: list[Hit] = []
        self._hits = hits
        view: Any = memoryview(data)[:size]  # the binding takes any buffer; its stub, only str
        self._database.scan(view, match_event_handler=self._note)
        hits.sort()
        return hits


class FindMatcher:
    """One ``bytes.find`` a literal; the fallback without hyperscan's wheel."""

    name = "find"

    def __init__(self, literals: list[bytes]) -> None:
        self._literals = literals

    def scan(self, data: bytearray, size: int) -> list[Hit]:
        """Return the hits in ``data[:size]``, ordered by end offset, then number."""
        hits: list[Hit] = []
        for number, literal in enumerate(self._literals):
            length = len(literal)
            at = data.find(literal, 0, size)
            while at >= 0:
                hits.append((at + length, number))
                at = data.find(literal, at + 1, size)
        hits.sort()
        return hits


def make_matcher(literals: list[bytes], *, fallback: bool = False) -> Matcher:
    """Return the best matcher that this machine has a wheel for."""
    if not fallback:
        try:
            return HyperscanMatcher(literals)
        except ImportError:
            pass
    return FindMatcher(literals)


class Lines:
    """Walks the lines of a chunk that hold a hit, or every line while a caller follows.

    ``follow`` is read before each step: set it while a raw traceback is open, and the next
    lines come hit or not, across chunks.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.follow = False
        self.number = 0
        """Newlines counted so far, over all chunks."""
        self.hits = 0
        self._tail = self._tail_end = b""
        self._data, self._start = bytearray(), 0

    def literals_in(self, text: bytes) -> list[int]:
        """Return the literals in a text that stands in no chunk as it is."""
        return [number for _, number in self._matcher.scan(bytearray(text), len(text))]

    def of(self, chunk: Chunk) -> Iterator[tuple[int, bytes, list[int]]]:
        """Yield (line number from 1, the line without its newline, literals in it)."""
        data, size = chunk.data, chunk.size
        hits = self._matcher.scan(data, size)
        self.hits += len(hits)
        at = 0  # start of the next line that may be given
        counted = 0  # newlines before this offset are in self.number
        index, total = 0, len(hits)
        while at < size:
            if self.follow:
                start = at
            elif index < total:
                start = max(data.rfind(b"\n", at, hits[index][0] - 1) + 1, at)
            else:
                break
            end = data.find(b"\n", start, size)
            if end < 0:
                end = size
            literals: list[int] = []
            while index < total and hits[index][0] <= end:
                literals.append(hits[index][1])
                index += 1
            self.number += data.count(b"\n", counted, start)
            counted = start
            self._data, self._start = data, start
            yield self.number + 1, bytes(data[start:end]), literals
            at = end + 1
        self.number += data.count(b"\n", counted, size)
        last = data.rfind(b"\n", 0, max(size - 1, 0)) + 1
        self._tail = bytes(data[last : min(size, last + _AROUND)]).rstrip(b"\n")
        self._tail_end = bytes(data[max(last, size - _AROUND) : size]).rstrip(b"\n")

    def previous(self) -> tuple[bytes, bytes]:
        """Return beginning and end of the line before the one just given."""
        if self._start == 0:
            return self._tail, self._tail_end
        end = self._start - 1
        begin = self._data.rfind(b"\n", 0, end) + 1
        first = bytes(self._data[begin : min(end, begin + _AROUND)])
        return first, bytes(self._data[max(begin, end - _AROUND) : end])
