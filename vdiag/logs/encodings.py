"""Text that is not UTF-8, known by its byte order mark, turned into UTF-8 on the way."""

from __future__ import annotations

import codecs
import io
import re

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
_CONTROLS = bytes(set(range(1, 32)) - set(b"\b\t\n\v\f\r\x1b")) + b"\x7f"
_HOLE = re.compile(rb"\0{16,}")


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

    Runs of NUL bytes are passed over: a crash, or a rotation by copying, leaves such holes in
    logs. Single NUL bytes and other control characters are what data has and text has not.
    """
    first = stream.peek(_SAMPLE)
    if any(first.startswith(mark) for mark, _ in _MARKS):
        return False
    text = _HOLE.sub(b"", first)
    control = len(text) - len(text.translate(None, _CONTROLS))
    return (
        text.count(0, 0, 8) > 0
        or text.count(0) > _MAX_NUL * len(text)
        or control > _MAX_CONTROL * len(text)
    )
