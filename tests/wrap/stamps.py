"""A time stamp in front of each line, as ts(1), a shell loop or a logging library puts it."""

from __future__ import annotations

from datetime import timedelta

from .lines import joined, lines

TS = "%b %d %H:%M:%S "
"""The default of ts(1), from moreutils."""
ISO = "%Y-%m-%dT%H:%M:%S "
BRACKETS = "[%Y-%m-%d %H:%M:%S] "
PYTHON = "%Y-%m-%d %H:%M:%S,{ms} "
"""Python's logging: `%(asctime)s`."""
RFC3339 = "%Y-%m-%dT%H:%M:%S.{us}+00:00 "
RFC3339_EAST = "%Y-%m-%dT%H:%M:%S.{us}+08:00 "
MILLIS_Z = "%Y-%m-%dT%H:%M:%S.{ms}Z "


def stamped(log: bytes, *, form: str = TS, hours: int = 0) -> bytes:
    """Put a time before each line; `hours` is that clock minus the server's."""
    out = []
    for one in lines(log, shift=timedelta(hours=hours)):
        text = f"{one.when:{form}}"
        micros = f"{one.when.microsecond:06d}"
        out.append(text.replace("{ms}", micros[:3]).replace("{us}", micros).encode() + one.data)
    return joined(out)
