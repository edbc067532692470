"""Compressed streams, known by their first bytes, unpacked step by step.

Every decoder has the interface of :class:`bz2.BZ2Decompressor`; no module of a format is
imported before that format is met.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Protocol

from vdiag.errors import InputError
from vdiag.logs.limits import UnpackError
from vdiag.logs.streams import Layer, Peeked

if TYPE_CHECKING:
    from collections.abc import Callable

    from vdiag.logs.limits import Budget, Trouble

_FEED = 1 << 15
_STEP = 1 << 16
"""Bytes unpacked in a step: what damaged data can cost at most."""
_MAX_MEMORY = 256 << 20
"""Of an xz decoder; ``xz -9`` needs 65 MiB."""
PEEK = 512
"""Bytes that tell a format."""

_FOREIGN = (
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"\x1f\x9d", "compress (.Z)", "zcat"),
    (b"\x1f\xa0", "compress (.Z)", "zcat"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"),
    (b"Rar!\x1a\x07", "rar", "unrar p -inul"),
    (b"LZIP", "lzip", "lzip -dc"),
    (b"\x89LZO\x00\r\n\x1a\n", "lzop", "lzop -dc"),
)


class Decoder(Protocol):
    """What unpacks one frame."""

    @property
    def eof(self) -> bool:
        """Whether the frame's end was reached."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether more packed bytes are needed for more output."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What was given behind the frame's end."""
        ...

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Unpack at most so many bytes."""
        ...


class Inflate:
    """zlib's decoder in the form of the others, which gives all that stands before an error."""

    def __init__(self, wbits: int) -> None:
        self._zlib = zlib.decompressobj(wbits)
        self._broken: zlib.error | None = None
        self._full = False

    @property
    def eof(self) -> bool:
        """Whether the frame's end was reached."""
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        """Whether more packed bytes are needed for more output."""
        return not (self._broken or self._full or self._zlib.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        """What was given behind the frame's end."""
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Unpack at most so many bytes; raises zlib.error after the last good one."""
        if self._broken is not None:
            raise self._broken
        data = self._zlib.unconsumed_tail + data
        before = self._zlib.copy()
        try:
            out = self._zlib.decompress(data, max_length)
        except zlib.error as error:
            self._broken = error
            return _salvage(before, data, max_length)
        self._full = len(out) == max_length
        return out


def _salvage(decoder: Any, data: bytes, room: int) -> bytes:  # noqa: ANN401  # zlib's is private
    """Unpack what stands before an error: byte by byte, as a failing call gives nothing."""
    out = bytearray()
    try:
        for byte in data:
            out += decoder.decompress(bytes([byte]), room)
    except zlib.error:
        pass
    return bytes(out[:room])


def _gzip() -> Decoder:
    return Inflate(31)


def _deflate() -> Decoder:
    return Inflate(-15)


def _bzip2() -> Decoder:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> Decoder:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_MEMORY)


def _zstd() -> Decoder:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            raise UnpackError(
                "zstd data, which needs the package backports.zstd on this Python; install it, or "
                "unpack it first: zstd -dc … | vdiag analyze -"
            ) from None
    decoder: Decoder = zstd.ZstdDecompressor()
    return decoder


_DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": _gzip,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstd": _zstd,
    "deflate": _deflate,
}


def codec_of(first: bytes) -> str | None:
    """Return the codec that begins like this, None where it is none of them."""
    if first[:2] == b"\x1f\x8b" and first[2:3] in (b"\x08", b""):
        return "gzip"
    # An empty bzip2 file has the mark of a stream's end in place of a block's.
    if first[:3] == b"BZh" and first[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if first[:6] == b"\xfd7zXZ\x00":
        return "xz"
    skippable = first[1:4] == b"\x2a\x4d\x18" and first[0] & 0xF0 == 0x50  # pzstd begins so
    if first[:4] == b"\x28\xb5\x2f\xfd" or skippable:
        return "zstd"
    return None


def foreign_packing(first: bytes) -> tuple[str, str] | None:
    """Return the name of a packing that is not read here and the command that unpacks it."""
    for magic, name, command in _FOREIGN:
        if first.startswith(magic):
            return name, command
    return None


class Unpacked(Layer):
    """What a compressed stream unpacks to, all its frames one after the other."""

    def __init__(
        self, below: Peeked, codec: str, budget: Budget, trouble: Trouble, *, single: bool = False
    ) -> None:
        super().__init__(below)
        self._raw = below
        self._codec = codec
        self._budget = budget
        self._trouble = trouble
        self._single = single
        self._made: Decoder | None = None
        self._count = 0
        self._ended = False

    @property
    def _decoder(self) -> Decoder:
        if self._made is None:
            self._made = _DECODERS[self._codec]()
        return self._made

    def _into(self, view: memoryview) -> int:
        if self._ended:
            return 0
        try:
            data = self._next(min(len(view), _STEP))
        except EOFError:
            if not self._trouble.open:  # else what lies below was cut, and has said so
                self._trouble.note(
                    f"truncated {self._codec}: ends after {self._count} unpacked bytes"
                )
            data = b""
        except UnpackError as error:
            self._trouble.note(str(error))
            data = b""
        self._ended = not data
        view[: len(data)] = data
        return len(data)

    def _next(self, room: int) -> bytes:
        """Return the next bytes, none at the end.

        Raises:
            EOFError: The packed data ends before its end mark.
            UnpackError: It cannot be unpacked any further.

        """
        while True:
            decoder = self._decoder
            if decoder.eof:
                if not self._another(decoder.unused_data):
                    return b""
                continue
            data = b""
            if decoder.needs_input:
                data = self._raw.read(_FEED) or b""
                if not data:
                    raise EOFError
            try:
                out = decoder.decompress(data, room)
            except Exception as error:  # each codec has its own class of errors
                if "memory" in str(error).lower():  # a window or dictionary above the bound
                    raise UnpackError(
                        f"{self._codec} data that takes more memory than vdiag gives it; unpack it "
                        "yourself and pipe it in: … | vdiag analyze -"
                    ) from error
                raise UnpackError(
                    f"damaged {self._codec} after {self._count} unpacked bytes: "
                    f"{str(error).lower() or type(error).__name__}"
                ) from error
            if out:
                self._count += len(out)
                self._budget.take(len(out))
                return out

    def _another(self, rest: bytes) -> bool:
        """Begin with the next frame, if there is one behind zeros that fill up a block."""
        self._raw.unread(rest)
        if self._single:
            return False
        while (first := self._raw.peek(PEEK)) and not first.strip(b"\0"):
            self._raw.exactly(len(first))
        if not first:
            return False
        padding = len(first) - len(first.lstrip(b"\0"))
        self._raw.exactly(padding)
        if codec_of(self._raw.peek(PEEK)) == self._codec:
            self._made = None
            return True
        self._trouble.remarks.append(
            f"something else follows the {self._codec} data, after {self._count} unpacked bytes; "
            "it was not read"
        )
        return False


def peel(stream: Peeked, budget: Budget, trouble: Trouble) -> tuple[Peeked, list[str]]:
    """Unpack a stream that is compressed, once or twice.

    Returns:
        The stream of what was packed, and the codecs, the inner one first.

    Raises:
        InputError: It is compressed three times; the text has no name in front.

    """
    codecs: list[str] = []
    while codec := codec_of(stream.peek(PEEK)):
        if len(codecs) == 2:
            raise InputError(
                f"is compressed more than twice ({'+'.join([codec, *codecs])}); unpack it "
                "yourself and pipe it in: … | vdiag analyze -"
            )
        codecs.insert(0, codec)
        stream = Peeked(Unpacked(stream, codec, budget, trouble))
    return stream, codecs
