"""Text that is not UTF-8, known by its byte order mark, turned into UTF-8 on the way."""

from __future__ import annotations

import codecs
import io

from vdiag.logs.streams import Layer, Peeked

_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_UTF8_MARK = b"\xef\xbb\xbf"
_SAMPLE = 1 << 16
_MAX_NUL = 0.01
_MAX_CONTROL = 0.05
_PLAIN_CONTROLS = b"\b\t\n\v\f\r\x1b"


class Recoded(Layer):
    """A stream in another encoding, as UTF-8; what is invalid becomes U+FFFD."""

    def __init__(self, below: Peeked, encoding: str) -> None:
        super().__init__(below)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._rest = b""
        self._ended = False

    def _into(self, view: memoryview) -> int:
        while not self._rest and not self._ended:
            data = self._below.read(max(len(view) // 2, 64)) or b""
            self._ended = not data
            self._rest = self._decoder.decode(data, final=self._ended).encode()
        part = self._rest[: len(view)]
        self._rest = self._rest[len(part) :]
        view[: len(part)] = part
        return len(part)


def as_utf8(stream: Peeked) -> tuple[io.RawIOBase, str]:
    """Return the stream as UTF-8 without a byte order mark, and the encoding it is in."""
    first = stream.peek(4)
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return Recoded(stream, encoding), encoding
    if first.startswith(_UTF8_MARK):
        stream.exactly(len(_UTF8_MARK))
    return stream, "utf-8"


def looks_foreign(stream: Peeked) -> bool:
    """Tell whether a stream begins like data rather than text.

    A beginning that is nothing but NUL bytes may be the hole that a rotation by copying
    leaves in front of a log, so it is not called foreign.
    """
    first = stream.peek(_SAMPLE)
    if not first or any(first.startswith(mark) for mark, _ in _MARKS):
        return False
    nul = first.count(0)
    if nul == len(first):
        return False
    control = len(first) - len(first.translate(None, bytes(range(1, 32)) + b"\x7f"))
    plain = len(first) - len(first.translate(None, _PLAIN_CONTROLS))
    share = len(first)
    return nul > _MAX_NUL * share or control - plain > _MAX_CONTROL * share
