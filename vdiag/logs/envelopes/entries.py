"""journald's formats in which a message stands among the fields of its entry.

``-o export`` and ``-o verbose`` give an entry as one field a line, so that time, host and pid
stand in other lines than the message. Such a stream is rewritten before it is scanned: every
line of a message gets its entry's prefix, as ``-o short-iso-precise`` has it, and every other
line becomes an empty one, so that line numbers stay those of the input.

The formats: systemd's "Journal Export Formats" and journalctl(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from vdiag.logs.sources import Chunk

_SNIFF = 1 << 16
_EXPORT = re.compile(rb"(?m)^__CURSOR=")
_HEADER = re.compile(
    rb"[A-Z][a-z]{2} (?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d(?:\.\d+)?) [A-Z+\-\d:]{1,8} "
    rb"\[s=[0-9a-f]+;i=[0-9a-f]+;"
)
_VERBOSE = re.compile(rb"(?m)^" + _HEADER.pattern)
_FIELD = re.compile(rb"    (?P<name>[A-Z_][A-Z0-9_]*)=(?P<value>.*)", re.S)
_BINARY_NAME = re.compile(rb"[A-Z_][A-Z0-9_]*")
_MAX_ENTRY = 1 << 25
"""Bytes of an entry that is not complete; a longer one is passed through as it is."""


def rewrite(chunks: Iterable[Chunk]) -> tuple[str | None, Iterator[Chunk]]:
    """Return (envelope, chunks); the chunks are rewritten where the first one shows an entry.

    The number of newlines stays the same.
    """
    source = iter(chunks)
    first = next(source, None)
    if first is None:
        return None, iter(())
    head = bytes(first.data[: min(first.size, _SNIFF)])
    if _EXPORT.search(head):
        return "journald-export", _rewritten(first, source, _Export())
    if _VERBOSE.search(head):
        return "journald-verbose", _rewritten(first, source, _Verbose())
    return None, _joined(first, source)


def _joined(first: Chunk, rest: Iterator[Chunk]) -> Iterator[Chunk]:
    yield first
    yield from rest


def _rewritten(first: Chunk, rest: Iterator[Chunk], reader: _Export | _Verbose) -> Iterator[Chunk]:
    for chunk in _joined(first, rest):
        data = bytearray(reader.feed(bytes(chunk.data[: chunk.size])))
        if data:
            yield Chunk(data, len(data), chunk.offset)
    data = bytearray(reader.finish())
    if data:
        yield Chunk(data, len(data), 0)


@dataclass
class _Entry:
    """One entry: its fields that matter, and its lines with the message's ones in place."""

    stamp: str = ""
    host: str = "-"
    ident: str = "-"
    pid: str = ""
    lines: list[bytes | None] = field(default_factory=list)
    """None stands for a line that is dropped, bytes for a line of the message."""

    def take(self, name: bytes, value: bytes) -> None:
        """Take a field other than the message."""
        if name == b"__REALTIME_TIMESTAMP" and value.isdigit():
            moment = datetime.fromtimestamp(int(value) / 1e6, UTC)
            self.stamp = moment.strftime("%Y-%m-%dT%H:%M:%S.%f+0000")
        elif name == b"_HOSTNAME":
            self.host = _word(value)
        elif name == b"SYSLOG_IDENTIFIER":
            self.ident = _word(value)
        elif name == b"_PID" and value.isdigit():
            self.pid = value.decode()

    def written(self) -> bytes:
        """Return the entry's lines, the message's with a prefix."""
        pid = self.pid or ("" if self.ident == "kernel" else "0")
        ident = f"{self.ident}[{pid}]" if pid else self.ident
        prefix = f"{self.stamp or '1970-01-01T00:00:00.0+0000'} {self.host} {ident}: ".encode()
        return b"".join(b"\n" if line is None else prefix + line + b"\n" for line in self.lines)


def _word(value: bytes) -> str:
    """Return a field as one word, as the prefix needs it."""
    return re.sub(r"[\s:\[\]]+", "_", value.decode("utf-8", "replace")) or "-"


class _Export:
    """Reads ``-o export``."""

    def __init__(self) -> None:
        self._held = b""
        self._entry = _Entry()

    def feed(self, data: bytes) -> bytes:
        """Take whole lines; return those that are decided."""
        data = self._held + data
        out: list[bytes] = []
        at = 0
        while True:
            end = data.find(b"\n", at)
            if end < 0:
                break
            line = data[at:end]
            if not line:
                self._entry.lines.append(None)
                out.append(self._entry.written())
                self._entry = _Entry()
                at = end + 1
                continue
            name, equals, value = line.partition(b"=")
            if equals:
                self._plain(name, value)
                at = end + 1
                continue
            after = self._binary(data, end, line)
            if after is None:
                if len(data) - at < _MAX_ENTRY:
                    break
                after = end + 1
                self._entry.lines.append(line)
            at = after
        self._held = data[at:]
        return b"".join(out)

    def finish(self) -> bytes:
        """Return what is left at the end of the input."""
        held = self._held.split(b"\n") if self._held else []
        for line in held[:-1]:
            self._entry.lines.append(line)
        out = self._entry.written()
        if held and held[-1]:
            out += held[-1]
        return out

    def _plain(self, name: bytes, value: bytes) -> None:
        if name == b"MESSAGE":
            self._entry.lines.append(value)
        else:
            self._entry.take(name, value)
            self._entry.lines.append(None)

    def _binary(self, data: bytes, end: int, name: bytes) -> int | None:
        r"""Take ``NAME\n``, eight bytes of length, the value, ``\n``; None if incomplete."""
        if not _BINARY_NAME.fullmatch(name):  # no field: a line of something else
            self._entry.lines.append(name)
            return end + 1
        start = end + 9
        if len(data) < start:
            return None
        size = int.from_bytes(data[end + 1 : start], "little")
        if size > _MAX_ENTRY:
            self._entry.lines.append(None)
            return end + 1
        if len(data) < start + size + 1:
            return None
        value = data[start : start + size]
        lines = self._entry.lines
        lines.append(None)
        lines.extend([None] * data.count(b"\n", end + 1, start))
        if name == b"MESSAGE":
            lines.extend(value.split(b"\n"))
        else:
            lines.extend([None] * (value.count(b"\n") + 1))
            self._entry.take(name, value)
        return start + size + 1


class _Verbose:
    """Reads ``-o verbose``: a header line, then the fields, indented."""

    def __init__(self) -> None:
        self._entry = _Entry()
        self._in_message = False

    def feed(self, data: bytes) -> bytes:
        """Take whole lines; return those of complete entries."""
        out: list[bytes] = []
        for line in data.removesuffix(b"\n").split(b"\n"):
            header = _HEADER.match(line)
            if header:
                out.append(self._entry.written())
                self._entry = _Entry()
                self._entry.stamp = f"{header['day'].decode()}T{header['time'].decode()}+0000"
                self._entry.lines.append(None)
                self._in_message = False
                continue
            named = _FIELD.match(line)
            if named:
                self._in_message = named["name"] == b"MESSAGE"
                if not self._in_message:
                    self._entry.take(named["name"], named["value"])
                self._entry.lines.append(named["value"] if self._in_message else None)
            elif self._in_message and line.startswith(b"            "):
                self._entry.lines.append(line[12:])  # aligned under the first line's text
            else:
                self._in_message = False
                self._entry.lines.append(line if line.strip() and not line[:1].isspace() else None)
        return b"".join(out)

    def finish(self) -> bytes:
        """Return what is left at the end of the input."""
        return self._entry.written()
