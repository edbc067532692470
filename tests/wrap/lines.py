"""The lines of a log as a collector receives them: bytes, a time of arrival and a sender."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_STAMP = re.compile(rb"(?<!\d)(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?!\d)")
_PID = re.compile(rb'\(\w[^()]*? pid=(\d+)|"process": ?(\d+)')
_NAME = re.compile(rb"\((\w+) pid=")
_ENDED = re.compile(rb"Process (\w+):")
"""What multiprocessing prints before the last traceback of a process."""
_RECORD = re.compile(rb"(?:\x1b\[[\d;]*m)*\(?\w[^()]* pid=\d+\)|\{|INFO: |(?:INFO|WARNING|ERROR) ")
YEAR = 2026


@dataclass(frozen=True)
class Line:
    r"""One physical line without its `\n`; of a raw print `pid` is a likely one."""

    when: datetime
    pid: int
    data: bytes

    @property
    def record(self) -> bool:
        """Say whether a record begins here, so that no other message is cut by text before it."""
        return bool(_RECORD.match(self.data))

    @property
    def stream(self) -> str:
        """Return where the server wrote it: records to stdout, raw prints to stderr."""
        return "stdout" if self.record else "stderr"


def lines(log: bytes, *, seed: int = 0, shift: timedelta = timedelta()) -> list[Line]:
    """Split a log; the time is that of the last record, and it never runs backwards.

    `shift` is the collector's clock minus the server's, as between two time zones.
    """
    rng = random.Random(seed)  # noqa: S311
    now = datetime(YEAR, 12, 1, 9, 59, 58)
    server = owner = 0
    named: dict[bytes, int] = {}
    out = []
    for data in log.removesuffix(b"\n").split(b"\n"):
        if found := _STAMP.search(data[:300]):
            month, day, hour, minute, second = map(int, found.groups())
            try:
                stated = datetime(YEAR, month, day, hour, minute, second)
            except ValueError:
                stated = now
            now = max(now, stated)
        now += timedelta(microseconds=rng.randint(20, 900))
        sender = _PID.search(data[:300])
        pid = int(sender[1] or sender[2]) if sender else 0
        if pid:
            server, owner = server or pid, 0
            if name := _NAME.search(data[:300]):
                named[name[1]] = pid
        elif ended := _ENDED.match(data):
            owner = named.get(ended[1], 0)
        out.append(Line(now + shift, pid or owner or server or 1, data))
    return out


def fault(log: bytes) -> int:
    """Return where the first error record begins, or else a record in the middle, or the end."""
    begins = [0]
    for data in log.splitlines(keepends=True):
        begins.append(begins[-1] + len(data))
    records = [at for at in begins[:-1] if _RECORD.match(log, at)]
    errors = [at for at in records if b" ERROR " in log[at : at + 100].split(b"\n")[0]]
    middle = [at for at in records if at >= len(log) // 2]
    return next(iter(errors + middle), len(log))


def nanos(line: Line) -> str:
    """Return nine digits of a second, as Go's clock gives them."""
    return f"{line.when.microsecond:06d}{line.when.microsecond * 7 % 1000:03d}"


def rfc3339(line: Line, zone: str = "Z") -> str:
    """Return RFC 3339 with all nine digits (Go's `RFC3339NanoFixed`)."""
    return f"{line.when:%Y-%m-%dT%H:%M:%S}.{nanos(line)}{zone}"


def rfc3339_trimmed(line: Line, zone: str = "Z") -> str:
    """Return RFC 3339 as Go's `RFC3339Nano` prints it: no trailing zeros."""
    digits = nanos(line).rstrip("0")
    return f"{line.when:%Y-%m-%dT%H:%M:%S}{'.' + digits if digits else ''}{zone}"


def joined(parts: list[bytes]) -> bytes:
    r"""Return the parts, each ended by `\n`."""
    return b"".join(part + b"\n" for part in parts)


def before_each(log: bytes, prefix: str) -> bytes:
    """Put the same text before each line."""
    return joined([prefix.encode() + one.data for one in lines(log)])
