"""What tar and zip have in common: members, read in the order they lie in, never unpacked to disk.

A member's name is only a name: nothing is opened or written by it. Links, devices and
hidden files are passed over; a name with ``..`` in it is refused (``docs/decisions/0006``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vdiag.logs.limits import Budget, Trouble
    from vdiag.logs.streams import Layer, Peeked


@dataclass(slots=True)
class Member:
    """A member of an archive: a stream to read, or why it is passed over."""

    name: str
    stream: Layer | None = None
    passed_over: str | None = None
    """``link``, ``device``, ``encrypted``, …"""


def kind_of(first: bytes) -> str | None:
    """Return ``tar`` or ``zip`` where the first 512 bytes are those of one."""
    if first[:4] in (b"PK\x03\x04", b"PK\x05\x06") or first[:8] == b"PK\x07\x08PK\x03\x04":
        return "zip"
    return "tar" if len(first) == 512 and first[0] and is_tar_header(first) else None


def is_tar_header(block: bytes) -> bool:
    """Whether a block of 512 bytes is a tar header: its checksum is right."""
    try:
        stated = int(block[148:156].strip(b"\0 ") or b"-1", 8)
    except ValueError:
        return False
    return stated == sum(block) - sum(block[148:156]) + 8 * 32


def members_of(kind: str, stream: Peeked, budget: Budget, trouble: Trouble) -> Iterator[Member]:
    """Yield the members; each one's stream must be read before the next one is asked for.

    Raises:
        UnpackError: The archive ends too early, or cannot be read any further.

    """
    if kind == "zip":
        from vdiag.logs.zip import members as zip_members

        return zip_members(stream, budget, trouble)
    from vdiag.logs.tar import members as tar_members

    return tar_members(stream, trouble)


def tidy(name: str) -> str:
    """Return a member's name without what only says where to unpack it."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts)


def leads_out(name: str) -> bool:
    """Whether a name has a step up in it."""
    return ".." in name.split("/")


def is_hidden(name: str) -> bool:
    """Whether a file or a folder above it is hidden, or is what macOS adds to an archive."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def decoded(raw: bytes, fallback: str = "latin-1") -> str:
    """Return a member's name as text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode(fallback, "replace")
