"""Times as vLLM prints them, and as collectors do, put on one scale.

vLLM's stamps have neither year nor milliseconds; they are local time. Only differences
between stamps of one log are used.
"""

from __future__ import annotations

import re
from datetime import datetime

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
        start=1,
    )
}
_STAMP = re.compile(r"(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")
_ISO = re.compile(r"\d{4}-(\d\d-\d\d)[T ](\d\d:\d\d:\d\d)")
_CTIME = re.compile(
    r"\[?[A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) +(?P<day>\d+) (?P<time>\d\d:\d\d:\d\d) \d{4}\]?"
)
_SYSLOG = re.compile(r"([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d)")


def normalise(stamp: str) -> str | None:
    """Bring an ISO or syslog stamp into vLLM's ``MM-DD HH:MM:SS``; None if it is neither."""
    iso = _ISO.search(stamp)
    if iso:
        return f"{iso.group(1)} {iso.group(2)}"
    ctime = _CTIME.match(stamp)
    if ctime and ctime["month"] in _MONTHS:  # dmesg -T
        return f"{_MONTHS[ctime['month']]:02d}-{int(ctime['day']):02d} {ctime['time']}"
    syslog = _SYSLOG.match(stamp)
    if syslog and syslog.group(1) in _MONTHS:
        return f"{_MONTHS[syslog.group(1)]:02d}-{int(syslog.group(2)):02d} {syslog.group(3)}"
    return stamp if _STAMP.fullmatch(stamp) else None


class Clock:
    """Turns stamps without a year into seconds that grow over New Year.

    The year is counted from the first stamp seen: a month that falls by more than half a
    year begins the next one.
    """

    def __init__(self) -> None:
        self._year = 2024  # a leap year, so that 02-29 is a date
        self._month: int | None = None
        self._cache: tuple[str, int] = ("", 0)

    def seconds(self, stamp: str | None) -> int | None:
        """Return seconds on this log's scale, or None without a usable stamp."""
        if stamp is None:
            return None
        if stamp == self._cache[0]:
            return self._cache[1]
        match = _STAMP.match(stamp)
        if not match:
            return None
        month, day, hour, minute, second = (int(part) for part in match.groups())
        if self._month is not None:
            if self._month - month > 6:
                self._year += 1
            elif month - self._month > 6:
                self._year -= 1
        self._month = month
        try:
            value = int(
                (
                    datetime(self._year, month, day, hour, minute, second) - datetime(2024, 1, 1)
                ).total_seconds()
            )
        except ValueError:
            return None
        self._cache = (stamp, value)
        return value
