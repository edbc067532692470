"""Reads tar archives as streams: ustar, GNU and pax, of which only the names and sizes matter.

:mod:`tarfile` holds whole extension headers in memory, however large they claim to be; a
log reader needs a few fields of a 512-byte header. The format is that of POSIX.1-2001
(``pax``, section "ustar Interchange Format") and of GNU tar's manual ("Basic Tar Format").
"""

from __future__ import annotations

from collections.abc import Iterator

from vdiag.logs.archives import Member, decoded, is_tar_header
from vdiag.logs.limits import Trouble, UnpackError
from vdiag.logs.streams import Layer, Peeked, Slice

_BLOCK = 512
_MAX_NAME = 1 << 16
_MAX_EXTENSION = 1 << 20
_FILES = (b"0", b"\0", b"7")
_WITHOUT_DATA = {b"1": "link", b"2": "link", b"3": "device", b"4": "device", b"6": "pipe", b"5": ""}


def members(stream: Peeked, trouble: Trouble) -> Iterator[Member]:
    """Yield the members; raises UnpackError where the archive cannot be read any further."""
    name = size = None
    sparse = False
    while True:
        header = _header(stream)
        if header is None:
            return
        kind, stated = header[156:157], _number(header[124:136])
        if kind == b"L":
            name = decoded(_extension(stream, stated, _MAX_NAME).rstrip(b"\0"))
            continue
        if kind == b"x":
            fields = _pax(_extension(stream, stated, _MAX_EXTENSION))
            name = fields.get("path", name)
            digits = fields.get("size", "")
            size = int(digits) if digits.isdecimal() and len(digits) < 20 else None
            sparse = any(key.startswith("GNU.sparse.") for key in fields)
            name = fields.get("GNU.sparse.name", name)
            continue
        if kind in (b"K", b"g"):
            _skip(stream, stated)
            continue
        member = Member(name or _name(header))
        data = 0 if kind in _WITHOUT_DATA else stated if size is None else size
        if kind in _FILES and not sparse and not member.name.endswith("/"):
            member.stream = Slice(stream, data, "tar", trouble)
            yield member
            member.stream.drain()
            if trouble.noted and not stream.peek(1):
                return
            _skip(stream, -data % _BLOCK, padded=False)
        else:
            if kind == b"S":
                _skip_sparse_map(stream, header)
            reason = "sparse file" if sparse or kind == b"S" else "unknown member"
            member.passed_over = "" if kind in _FILES else _WITHOUT_DATA.get(kind, reason)
            if sparse or kind == b"S":
                member.passed_over = reason
            yield member
            _skip(stream, data)
        name = size = None
        sparse = False


def _header(stream: Peeked) -> bytes | None:
    """Return the next header, None at the end of the archive."""
    header = stream.exactly(_BLOCK)
    if not header:
        raise UnpackError("truncated tar: its end mark is missing")
    if not header.strip(b"\0"):
        return None
    if len(header) < _BLOCK:
        raise UnpackError("truncated tar: ends inside a header")
    if not is_tar_header(header):
        raise UnpackError("damaged tar: a header's checksum is wrong")
    return header


def _number(field: bytes) -> int:
    """Return a size: octal digits, or a binary number where the first bit is set."""
    if field[0] & 0x80:
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if field[0] & 0x40 or value >= 1 << 63:
            raise UnpackError("damaged tar: a member's size is absurd")
        return value
    try:
        return int(field.strip(b"\0 ") or b"0", 8)
    except ValueError:
        raise UnpackError("damaged tar: a member's size is no number") from None


def _name(header: bytes) -> str:
    name = header[:100].split(b"\0")[0]
    if header[257:263] == b"ustar\0":
        prefix = header[345:500].split(b"\0")[0]
        name = prefix + b"/" + name if prefix else name
    return decoded(name)


def _extension(stream: Layer, size: int, limit: int) -> bytes:
    if size > limit:
        raise UnpackError(f"damaged tar: an extended header claims {size} bytes")
    data = stream.exactly(size)
    if len(data) < size:
        raise UnpackError("truncated tar: ends inside a header")
    _skip(stream, -size % _BLOCK, padded=False)
    return data


def _pax(data: bytes) -> dict[str, str]:
    r"""Read records of the form ``"<length> <key>=<value>\n"``."""
    fields: dict[str, str] = {}
    while data:
        digits, _, _ = data.partition(b" ")
        if not digits.isdigit() or not 0 < int(digits[:10]) <= len(data):
            break
        length = int(digits)
        key, _, value = data[len(digits) + 1 : length].removesuffix(b"\n").partition(b"=")
        fields[decoded(key)] = decoded(value)
        data = data[length:]
    return fields


def _skip_sparse_map(stream: Layer, header: bytes) -> None:
    """Pass over the blocks that go on with the map of an old GNU sparse member."""
    more = header[482]
    while more:
        block = stream.exactly(_BLOCK)
        more = block[504] if len(block) == _BLOCK else 0


def _skip(stream: Layer, size: int, *, padded: bool = True) -> None:
    left = size + (-size % _BLOCK if padded else 0)
    scrap = bytearray(1 << 16)
    while left > 0:
        got = stream.readinto(memoryview(scrap)[: min(left, len(scrap))])
        if not got:
            return
        left -= got
