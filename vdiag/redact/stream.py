"""Redact a whole log of any size, line by line, with its line numbers kept.

Two things need more than one line: a private key, whose lines are replaced one by one, and a
line that a collector cut in two, whose parts are joined for the search and replaced where
they stand.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from vdiag.redact.engine import Coverage, Redactor, spliced
from vdiag.redact.frames import Frame, array, arrays, frame
from vdiag.redact.gate import fast_gate
from vdiag.redact.secrets import PrivateKey
from vdiag.redact.views import Range, View, joined, views

_HELD = 5_000
"""Lines that wait for the rest of a cut line."""
_GROUP = 1 << 20
"""Characters of a cut line that are searched together."""
_KEY_LINES = 400
_FAST_FROM = 1 << 20
"""Characters after which it pays to build the faster gate."""
_BODY = re.compile(
    r"(?:(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{16,}"
    r"|(?:^|(?<=[\]:\"'FP>|] )|(?<=[\t\"']))[A-Za-z0-9+/=]{2,})(?=[ \t\r]*$)",
    re.M,
)


@dataclass(slots=True)
class _Key:
    """A private key that is being printed on a stream."""

    token: str
    lines: int = 0


@dataclass(slots=True)
class _Line:
    """A line that waits to be written; without pieces it waits for the rest of its message."""

    text: str
    end: str = ""
    """Its newline, or nothing."""
    pieces: list[tuple[int, int, str]] | None = None


@dataclass(slots=True)
class _Group:
    """The records of one message that a collector cut."""

    lines: list[_Line] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    size: int = 0
    torn: bool = False
    """Its beginning was searched with the group before it."""


class LogRedactor:
    """Redacts the lines of one log."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._queue: deque[_Line] = deque()
        self._groups: dict[str, _Group] = {}
        self._keys: dict[str, _Key] = {}
        self._read = 0
        self._fast = False

    def feed(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the log redacted: as many newlines as it has, in the same places.

        ``chunks`` hold whole lines. One that ends without a newline though another follows
        ends in a line whose rest was lost, so what stands there may be half of a value.
        """
        for text, end, cut in _lines(chunks):
            self._read += len(text)
            if self._read >= _FAST_FROM and not self._fast:
                self.redactor.gate = fast_gate(self.redactor.finders)
                self._fast = True
            self._take(_without_arrays(self.redactor, text), end, cut=cut)
            yield from self._ready()
        for stream in list(self._groups):
            self._settle(stream)
        yield from self._ready()

    def _ready(self) -> Iterator[bytes]:
        if len(self._queue) > _HELD:
            for stream in list(self._groups):
                self._settle(stream, torn=True)
        while self._queue and self._queue[0].pieces is not None:
            line = self._queue.popleft()
            text = spliced(line.text, line.pieces or []) + line.end
            yield text.encode("utf-8", "surrogateescape")

    def _take(self, text: str, end: str, *, cut: bool) -> None:
        line = _Line(text, end)
        self._queue.append(line)
        found = frame(text)
        stream = found.stream if found else ""
        group = self._groups.get(stream)
        if found is None or (group is None and not found.partial):
            readings = views(text)
            line.pieces = self._covered(text, readings, stream, cut=cut).pieces()
            return
        if group is None:
            group = self._groups[stream] = _Group()
        group.lines.append(line)
        group.frames.append(found)
        group.size += len(text)
        if not found.partial:
            self._settle(stream)
        elif group.size > _GROUP:
            self._settle(stream, torn=True)

    def _settle(self, stream: str, *, torn: bool = False) -> None:
        """Search the parts of a message together and give each line its pieces.

        ``torn``: more of the message follows, so nothing may stand at the end that could be
        the first half of a value, nor at the beginning of what follows.
        """
        group = self._groups.pop(stream)
        text = "\n".join(line.text for line in group.lines)
        parts: list[Range] = []
        offset = 0
        for line, one in zip(group.lines, group.frames, strict=True):
            parts.append((one.payload[0] + offset, one.payload[1] + offset))
            offset += len(line.text) + 1
        escaped = any(one.escaped for one in group.frames)
        readings = joined(text, parts, escaped=escaped)
        covered = self._covered(text, readings, stream, cut=torn)
        if group.torn:
            self.redactor.behead(covered, readings[-1])
        if escaped:  # what else the collector says
            offset = 0
            for line in group.lines:
                whole = joined(text, [(offset, offset + len(line.text))])[-1]
                self.redactor.cover(text, [whole], into=covered)
                offset += len(line.text) + 1
        pieces = covered.pieces()
        offset = 0
        for line in group.lines:
            end = offset + len(line.text)
            line.pieces = [
                (start - offset, stop - offset, token)
                for start, stop, token in pieces
                if offset <= start and stop <= end
            ]
            offset = end + 1
        if torn:
            self._groups[stream] = _Group(torn=True)

    def _covered(self, text: str, readings: list[View], stream: str, *, cut: bool) -> Coverage:
        """Find what is private in a line, and the part of a private key that it holds."""
        covered = Coverage.of(text)
        key = self._keys.get(stream)
        if key is not None:
            self._key(covered, readings, stream, key)
        self.redactor.cover(text, readings, cut=cut, into=covered)
        if "PRIVATE KEY" in text:
            self._begins(covered, readings, stream)
        return covered

    def _begins(self, covered: Coverage, readings: list[View], stream: str) -> None:
        """Note a private key whose end is not in its line."""
        for view in readings:
            *_, last = [None, *PrivateKey.begin.finditer(view.text)]
            if last is None or PrivateKey.end.search(view.text, last.end()):
                continue
            token = covered.token_at(view.origin(*last.span()))
            self._keys[stream] = _Key(token or self.redactor.token("secret", last.group()))
            return

    def _key(self, covered: Coverage, readings: list[View], stream: str, key: _Key) -> None:
        key.lines += 1
        for view in readings:
            end = PrivateKey.end.search(view.text)
            if end:
                start = (
                    max(view.text.rfind(" ", 0, end.start()), view.text.rfind('"', 0, end.start()))
                    + 1
                )
                begin = start if start <= end.start() - 4 else end.start()
                covered.add(key.token, view.origin(begin, end.end()))
                self._keys.pop(stream, None)
                continue
            for match in _BODY.finditer(view.text):
                covered.add(key.token, view.origin(*match.span()))
        if key.lines > _KEY_LINES:
            self._keys.pop(stream, None)


def _without_arrays(redactor: Redactor, text: str) -> str:
    """Return a line whose byte arrays are redacted."""
    if "[" not in text or not text.lstrip().startswith("{"):
        return text
    pieces = []
    for (start, end), decoded in arrays(text):
        made = redactor.text(decoded)
        if made != decoded:
            pieces.append((start, end, array(made)))
    return spliced(text, pieces)


def _lines(chunks: Iterable[bytes]) -> Iterator[tuple[str, str, bool]]:
    """Yield (line, its newline or nothing, whether its end was lost)."""
    before: bytes | None = None
    for chunk in chunks:
        if before is not None:
            yield from _split(before, more=True)
        before = chunk
    if before is not None:
        yield from _split(before, more=False)


def _split(data: bytes, *, more: bool) -> Iterator[tuple[str, str, bool]]:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    last = lines.pop()
    for line in lines:
        yield line, "\n", False
    if last:
        yield last, "", more
