"""Rotated logs: the files that are one log, by their names, and the order they were written in.

Names prove a rotation in the forms of logrotate (``server.log.1``, ``server.log-20261201``,
``server-20261201.log`` beside ``server.log``), of Python's handlers (``server.log.2026-12-01``)
and of the kubelet (``0.log.20261201-100000.gz``). Numbers alone prove nothing where they may
be ranks: ``worker.0`` and ``worker.1`` stay two logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from vdiag.logs import clock
from vdiag.logs.places import Family, Place

_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst|zstd)$", re.I)
_DATE = (
    r"(?P<date>(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])"
    r"(?:-\d{10}|[-_T.]?\d\d(?:[-:]?\d\d(?:[-:]?\d\d)?)?)?)"
)
_BEHIND = re.compile(r"(?P<base>.+?)(?:\.(?P<number>\d{1,3})|[.\-_]" + _DATE + r")")
_WITHIN = re.compile(r"(?P<stem>.+?)[.\-_]" + _DATE + r"(?P<ending>\.(?:log|txt|out|err))")
_IS_LOG = re.compile(r"\.(?:log|txt|out|err)$")
_COLOUR = re.compile(rb"\x1b\[[\d;]*m")
_STAMP = re.compile(
    rb"(?:^(?:\W|[A-Z][a-z]{2} )?(?P<year>\d{4})-"
    rb"|(?:^|[\s)])(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) )"
    rb"(?P<date>\d\d-\d\d)[ T](?P<time>\d\d:\d\d:\d\d)"
)
_SYSLOG = re.compile(rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d")
_STAMP_LINES = 400


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a rotated set, and what its name says of its age."""

    place: Place
    base: str
    number: int | None = None
    date: str = ""
    """Digits only."""
    within: bool = False
    """The date stands before the ending, so that only ``base`` beside it proves a rotation."""

    @property
    def age(self) -> tuple[int, int, str]:
        """Return a key that sorts the oldest first; the file still written to is last."""
        if self.number is not None:
            return 0, -self.number, ""
        return (1, 0, self.date) if self.date else (2, 0, "")


def part_of(place: Place) -> Part:
    """Read a file's name; where it names no rotation, the file is its own base."""
    path = PurePath(place.path)
    name = _PACKED.sub("", path.name)
    behind = _BEHIND.fullmatch(name)
    if behind:
        base, number = behind["base"], behind["number"]
        date = re.sub(r"\D", "", behind["date"] or "")
        return Part(place, str(path.with_name(base)), int(number) if number else None, date)
    within = _WITHIN.fullmatch(name)
    if within:
        base = within["stem"] + within["ending"]
        date = re.sub(r"\D", "", within["date"])
        return Part(place, str(path.with_name(base)), None, date, within=True)
    return Part(place, place.path)


def grouped(places: Iterable[Place]) -> list[Family]:
    """Group the files that are one log; each family stands where its first file was."""
    parts = [part_of(place) for place in places]
    named: dict[str, list[Part]] = {}
    for part in parts:
        if part.place.descriptor is None:
            named.setdefault(part.base, []).append(part)
    families: list[Family] = []
    done: set[str] = set()
    for part in parts:
        alike = named.get(part.base, [])
        surely = _surely_one(alike)
        one_log = _once(surely)
        if part.place.descriptor is not None or len(one_log) < 2 or part not in surely:
            families.append(Family([part.place], []))
        elif part.base not in done:
            done.add(part.base)
            copies = [one.place for one in surely if one not in one_log]
            ordered = sorted(one_log, key=lambda one: one.age)
            families.append(Family([one.place for one in ordered], copies))
    return families


def _surely_one(alike: list[Part]) -> list[Part]:
    """Return those of the files with one base that are surely one log."""
    if any(part.number is None and not part.date for part in alike):
        return alike
    if not alike or not _IS_LOG.search(alike[0].base):
        return []
    rest = [part for part in alike if not part.within]
    numbers = sorted({part.number for part in rest if part.number is not None})
    if numbers and numbers != list(range(1, len(numbers) + 1)):
        return []
    return rest


def _once(family: list[Part]) -> list[Part]:
    """Drop a file named twice, and the packed copy of a part that lies there unpacked too."""
    ordered = sorted(family, key=lambda part: bool(_PACKED.search(part.place.path)))
    kept: dict[tuple[int, int, str], Part] = {}
    for part in ordered:
        kept.setdefault(part.age, part)
    return [part for part in family if kept[part.age] is part]


def missing_numbers(places: Iterable[Place]) -> list[int]:
    """Return the numbers that a set leaves out between its first and its last."""
    numbers = {part.number for part in map(part_of, places) if part.number is not None}
    return [number for number in range(1, max(numbers, default=0)) if number not in numbers]


def first_stamp(text: bytes) -> str | None:
    """Return the first time that a log's beginning states, with the year where it has one."""
    for line in text.split(b"\n")[:_STAMP_LINES]:
        line = _COLOUR.sub(b"", line[:300])
        match = _STAMP.search(line)
        if match:
            year = f"{match['year'].decode()}-" if match["year"] else ""
            return f"{year}{match['date'].decode()} {match['time'].decode()}"
        syslog = _SYSLOG.match(line)
        stamp = clock.normalise(syslog.group().decode()) if syslog else None
        if stamp:
            return stamp
    return None


def by_stamps(stamps: list[str | None]) -> list[int]:
    """Return the order of parts by their first times, where those contradict their names.

    Parts without a time keep their places. Times without a year are taken to lie within half
    a year of their neighbours'.
    """
    order = list(range(len(stamps)))
    slots = [index for index in order if stamps[index] is not None]
    years = all("-" in (stamps[index] or "")[4:5] for index in slots)
    scale = clock.Clock()
    times: dict[int, tuple[str, int]] = {}
    for index in slots:
        stamp = stamps[index] or ""
        seconds = scale.seconds(stamp[5:] if stamp[4:5] == "-" else stamp)
        if seconds is None:
            return order
        times[index] = (stamp, 0) if years else ("", seconds)
    for slot, index in zip(slots, sorted(slots, key=lambda index: times[index]), strict=True):
        order[slot] = index
    return order
