"""Times as vLLM prints them, and as collectors do, put on one scale.

vLLM's stamps have neither year nor milliseconds; they are local time. Only differences
between stamps of one log are used.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

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


def from_epoch(value: object, *, per_second: int = 0) -> str | None:
    """Bring seconds since 1970 (a number, or digits) into ``MM-DD HH:MM:SS``, in UTC.

    ``per_second`` is the number of units in a second, by default guessed from the size. None
    where the value is no time of this century.
    """
    if not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if not per_second:
        per_second = next(
            (unit for unit in (1, 1_000, 1_000_000, 1_000_000_000) if number < 1e10 * unit), 0
        )
    if not per_second or not 1e9 < number / per_second < 1e10:
        return None
    return datetime.fromtimestamp(number / per_second, UTC).strftime("%m-%d %H:%M:%S")


def shift(stamp: str, seconds: int) -> str:
    """Move ``MM-DD HH:MM:SS`` by a number of seconds."""
    moment = datetime.strptime("2024-" + stamp, "%Y-%m-%d %H:%M:%S") + timedelta(seconds=seconds)
    return moment.strftime("%m-%d %H:%M:%S")


def zone_between(stamp: str, other: str) -> int | None:
    """Return how far ``other`` is behind ``stamp``, in whole quarters of an hour as seconds.

    Time zones differ by quarters of an hour; None where the two are further apart than zones.
    """
    try:
        first, second = (
            datetime.strptime("2024-" + one, "%Y-%m-%d %H:%M:%S") for one in (stamp, other)
        )
    except ValueError:
        return None
    quarters = round((first - second).total_seconds() / 900)
    return quarters * 900 if abs(quarters) <= 14 * 4 else None


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
