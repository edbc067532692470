"""Reads zip archives as streams, by the headers in front of each member.

The directory at the end of a zip needs a seekable file and, before anything is read, as much
memory as it claims; the headers in front need neither, cannot make members overlap, and the
same code reads a file, a pipe and a zip inside another archive. The format is that of
PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.9 and 4.5.3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from vdiag.logs.archives import Member, decoded
from vdiag.logs.codecs import Unpacked
from vdiag.logs.limits import Budget, Trouble, UnpackError
from vdiag.logs.streams import Peeked, Slice

_FIXED = struct.Struct("<HHHHHIIIHH")
_CODECS = {8: "deflate", 12: "bzip2", 93: "zstd", 95: "xz"}
_END = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x08")
_DESCRIPTOR = b"PK\x07\x08"
_ENCRYPTED, _SIZES_FOLLOW, _UTF8, _MASKED = 0x1, 0x8, 0x800, 0x2000
_UNKNOWN = 0xFFFFFFFF


def members(stream: Peeked, budget: Budget, trouble: Trouble) -> Iterator[Member]:
    """Yield the members; raises UnpackError where the archive cannot be read any further."""
    if stream.peek(4) == _DESCRIPTOR:  # the mark of an archive that was meant to be split
        stream.exactly(4)
    while True:
        mark = stream.exactly(4)
        if mark in _END:
            return
        if len(mark) < 4:
            raise UnpackError("truncated zip: its directory is missing")
        if mark != b"PK\x03\x04":
            raise UnpackError("damaged zip: no member begins where one should")
        fixed = stream.exactly(_FIXED.size)
        if len(fixed) < _FIXED.size:
            raise UnpackError("truncated zip: ends inside a header")
        _, flags, method, _, _, _, packed, size, name_size, extra_size = _FIXED.unpack(fixed)
        raw_name, extra = stream.exactly(name_size), stream.exactly(extra_size)
        long, packed = _packed_size(extra, packed, size)
        name = decoded(raw_name, "latin-1" if flags & _UTF8 else "cp437")
        yield from _member(stream, name, flags, method, packed, budget, trouble)
        if trouble.noted and not stream.peek(1):
            return
        if flags & _SIZES_FOLLOW:
            _skip_descriptor(stream, long=long)


def _member(
    stream: Peeked,
    name: str,
    flags: int,
    method: int,
    packed: int,
    budget: Budget,
    trouble: Trouble,
) -> Iterator[Member]:
    """Yield one member, and leave the stream behind its data."""
    sized = packed > 0 or not flags & _SIZES_FOLLOW
    codec = _CODECS.get(method)
    member = Member(name)
    if flags & (_ENCRYPTED | _MASKED):
        member.passed_over = "encrypted"
    elif name.endswith(("/", "\\")) and not packed:
        member.passed_over = ""
    elif method and codec is None:
        member.passed_over = f"packed by zip's method {method}"
    if sized:
        data = Slice(stream, packed, "zip", trouble)
        if member.passed_over is None:
            member.stream = data
            if codec is not None:
                member.stream = Unpacked(Peeked(data), codec, budget, trouble, single=True)
        yield member
        if member.stream is not None:
            member.stream.drain()
        data.drain()
    elif codec is not None and member.passed_over is None:
        member.stream = Unpacked(stream, codec, budget, trouble, single=True)
        yield member
        member.stream.drain()
    elif member.passed_over == "":
        yield member
    else:
        member.passed_over = member.passed_over or "of unknown size"
        yield member
        raise UnpackError(
            f"{name} does not say where it ends; unzip the archive and read its files"
        )


def _packed_size(extra: bytes, packed: int, size: int) -> tuple[bool, int]:
    """Return whether the sizes are of 8 bytes, and the packed one."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        field = extra[4 : 4 + length]
        if kind == 1:
            at = 8 if size == _UNKNOWN else 0
            if packed == _UNKNOWN and len(field) >= at + 8:
                packed = struct.unpack_from("<Q", field, at)[0]
            return True, packed
        extra = extra[4 + length :]
    return False, packed


def _skip_descriptor(stream: Peeked, *, long: bool) -> None:
    """Pass over checksum and sizes behind a member.

    Its mark is optional, and writers do not agree on when the sizes have 8 bytes: what
    follows is always another mark, and tells.
    """
    ahead = stream.peek(26)
    marked = 4 if ahead[:4] == _DESCRIPTOR else 0
    sizes = (16, 8) if long else (8, 16)
    ends = [marked + 4 + size for size in sizes]
    stream.exactly(next((end for end in ends if ahead[end : end + 2] == b"PK"), ends[0]))
