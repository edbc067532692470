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
_FILES = (b"0", b"\0", b"7", b"S")
_WITHOUT_DATA = {b"1": "link", b"2": "link", b"3": "device", b"4": "device", b"6": "pipe", b"5": ""}


def members(stream: Peeked, trouble: Trouble) -> Iterator[Member]:
    """Yield the members; raises UnpackError where the archive cannot be read any further.

    Of a sparse member the holes are left out: they hold no lines.
    """
    fields: dict[str, str] = {}
    while (header := _header(stream)) is not None:
        kind, size = header[156:157], _number(header[124:136])
        if kind == b"L":
            fields["path"] = decoded(_extension(stream, size, _MAX_NAME).rstrip(b"\0"))
        elif kind == b"x":
            fields.update(_pax(_extension(stream, size, _MAX_EXTENSION)))
        elif kind in (b"K", b"g"):
            _skip(stream, size + -size % _BLOCK)
        else:
            yield from _member(stream, header, size, fields, trouble)
            if trouble.noted and not stream.peek(1):
                return
            fields = {}


def _member(
    stream: Peeked, header: bytes, size: int, fields: dict[str, str], trouble: Trouble
) -> Iterator[Member]:
    """Yield one member, and leave the stream behind its data."""
    kind = header[156:157]
    member = Member(fields.get("GNU.sparse.name") or fields.get("path") or _name(header))
    if kind in _WITHOUT_DATA:
        member.passed_over = _WITHOUT_DATA[kind]
        yield member
        return
    digits = fields.get("size", "")
    if digits.isdecimal() and len(digits) < 20:
        size = int(digits)
    padding = -size % _BLOCK
    if kind == b"S":
        _skip_map_behind(stream, header)
    elif fields.get("GNU.sparse.major") == "1":
        size -= _skip_map_in_front(stream, size)
    if kind not in _FILES or member.name.endswith("/"):
        member.passed_over = "" if kind in _FILES else "unknown member"
        yield member
        _skip(stream, size + padding)
        return
    member.stream = Slice(stream, size, "tar", trouble)
    yield member
    member.stream.drain()
    _skip(stream, padding)


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
    _skip(stream, -size % _BLOCK)
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


def _skip_map_behind(stream: Layer, header: bytes) -> None:
    """Pass over the blocks that go on with the map of an old GNU sparse member."""
    more = header[482]
    while more:
        block = stream.exactly(_BLOCK)
        more = block[504] if len(block) == _BLOCK else 0


def _skip_map_in_front(stream: Layer, size: int) -> int:
    """Pass over the map that a sparse member's data begins with; return its length.

    The map is a count and two numbers for each piece of data, a line each, filled up to a
    whole block.
    """
    taken = lines = 0
    wanted = 1
    while lines < wanted and taken + _BLOCK <= size:
        block = stream.exactly(_BLOCK)
        if not taken:
            digits = block.partition(b"\n")[0]
            wanted = 1 + 2 * int(digits[:9]) if digits.isdigit() else 0
        taken += _BLOCK
        lines += block.count(b"\n")
    return taken


def _skip(stream: Layer, left: int) -> None:
    scrap = bytearray(1 << 16)
    while left > 0:
        got = stream.readinto(memoryview(scrap)[: min(left, len(scrap))])
        if not got:
            return
        left -= got
