"""The door for all input: what a user names becomes sources, one after the other.

Files, folders, patterns, standard input, the journal and streams of a program all come this
way; what they hold is known by its content, never by its name. Sources are opened when their
turn comes and must be read before the next one is asked for. What cannot be read is a source
too: it raises its error when it is read, so that the others are still read.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from vdiag.errors import InputError
from vdiag.logs import archives, encodings
from vdiag.logs.codecs import PEEK, peel
from vdiag.logs.contents import Argument, end_of, said
from vdiag.logs.limits import LIMITS, Budget, Limits, Trouble
from vdiag.logs.places import Family, Origin, Place, reason, refuse_special, resolve
from vdiag.logs.sources import Source
from vdiag.logs.streams import Peeked
from vdiag.report.model import Part

if TYPE_CHECKING:
    from vdiag.logs.joined import Text

_STAMP_SAMPLE = 1 << 16


@dataclass(slots=True)
class Journal:
    """A unit whose journal is to be read."""

    unit: str
    since: str | None = None
    until: str | None = None


def open_inputs(names: Sequence[str | Journal], limits: Limits = LIMITS) -> Iterator[Source]:
    """Open what a user named, in that order; the files of a rotated log are one source.

    Args:
        names: Files, folders, patterns, ``-`` for standard input, units of the journal.
        limits: How much each of them may unpack to.

    """
    items: list[Place | Origin | Journal | Source | None] = []
    for name in names:
        if isinstance(name, Journal):
            items.append(name)
        elif name == "-":
            items.append(None)
        else:
            try:
                items += resolve(name, limits)
            except InputError as error:
                items.append(Source.failed(name, error))
    families = _families(items)
    for item in items:
        if isinstance(item, Source):
            yield item
        elif isinstance(item, Origin):
            yield from end_of(item)
        elif isinstance(item, Journal):
            yield _journal(item)
        elif item is None:
            yield from _standard_input(limits)
        elif id(item) in families:
            yield from _family(families.pop(id(item)), limits)


def open_stream(name: str, stream: BinaryIO, limits: Limits = LIMITS) -> Iterator[Source]:
    """Open a stream that a program hands over; it is not closed here."""
    yield from Argument(name, None, limits).sources(stream, owned=False)


def open_path(name: str) -> Source:
    """Open a file that is one log, packed or not; raises InputError in one line."""
    sources = open_inputs([name])
    source = next(sources, None)
    if source is None:
        raise InputError(f"{name}: holds no log")
    if source.error is not None:
        raise source.error
    source.keeper = sources
    return source


def _families(items: Sequence[object]) -> dict[int, Family]:
    """Return each family under the identity of the place whose turn is its own."""
    places = [item for item in items if isinstance(item, Place)]
    if len(places) < 2:
        return {id(place): Family([place], []) for place in places}
    from vdiag.logs.rotated import grouped

    families = grouped(places)
    at = {id(place): index for index, place in enumerate(places)}
    return {
        id(min(family.places + family.copies, key=lambda place: at[id(place)])): family
        for family in families
    }


def _journal(journal: Journal) -> Source:
    from vdiag.logs.journal import open_journal

    try:
        return open_journal(journal.unit, since=journal.since, until=journal.until)
    except InputError as error:
        return Source.failed(f"journal:{journal.unit}", error)


def _standard_input(limits: Limits) -> Iterator[Source]:
    if sys.stdin is None:
        error = InputError("<stdin>: is closed; give a log file, or pipe one in")
        yield Source.failed("<stdin>", error)
    else:
        yield from open_stream("<stdin>", sys.stdin.buffer, limits)


def _family(family: Family, limits: Limits) -> Iterator[Source]:
    if len(family.places) > 1:
        yield _joined(family, limits)
        return
    place = family.places[0]
    try:
        stream, size = _opened(place)
    except InputError as error:
        if place.origin is not None:
            place.origin.unreadable.append(str(error))
        else:
            yield Source.failed(place.path, error)
        return
    yield from Argument(place.path, place.origin, limits, size).sources(stream, owned=True)


def _opened(place: Place) -> tuple[BinaryIO, int | None]:
    """Open a regular file, or a descriptor that the shell handed over; return its size too."""
    try:
        if place.descriptor is not None:
            return os.fdopen(os.dup(place.descriptor), "rb", buffering=0), None
        # Without waiting: what was a file a moment ago may be a pipe now.
        number = os.open(place.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        stream = os.fdopen(number, "rb", buffering=0)
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            stream.close()
            refuse_special(place.path, status.st_mode)
            raise InputError(f"{place.path}: is no regular file; give a log file")
        os.set_blocking(number, True)
    except FileNotFoundError:
        raise InputError(f"{place.path}: no such file; give a log file") from None
    except OSError as error:
        raise InputError(f"{place.path}: cannot open: {reason(error)}") from error
    return stream, status.st_size


def _joined(family: Family, limits: Limits) -> Source:
    """Return the files of a rotated log as one source, oldest first."""
    from vdiag.logs.joined import Joined
    from vdiag.logs.rotated import by_stamps, first_stamp, missing_numbers

    budget, trouble = Budget(limits), Trouble()
    by_name = {place.path: place for place in family.places}
    begun = [_beginning(place, limits) for place in family.places]
    names = list(by_name)
    order = by_stamps([first_stamp(one.text) for one in begun])
    if order != sorted(order):
        trouble.remarks.append("joined by their first time stamps, which contradict their names")
    trouble.remarks += [
        f"{place.path}: left out, it repeats a part that lies there unpacked"
        for place in family.copies
    ]
    trouble.remarks += [
        f"its part {number} is missing" for number in missing_numbers(family.places)
    ]
    parts: list[Part] = []
    return Source(
        f"{names[-1]} (+{len(names) - 1} rotated)",
        Joined(
            [names[index] for index in order],
            lambda name: _text_of(by_name[name], budget),
            parts,
            trouble,
        ),
        owned=True,
        compression=", ".join(sorted({one.compression for one in begun if one.compression}))
        or None,
        encoding=next((one.encoding for one in begun if one.encoding != "utf-8"), "utf-8"),
        parts=parts,
        origin=family.places[-1].origin,
        total=sum(one.size for one in begun),
        budget=budget,
        trouble=trouble,
    )


@dataclass(slots=True)
class _Beginning:
    """The first bytes of a part, read to find its time."""

    text: bytes = b""
    compression: str | None = None
    encoding: str = "utf-8"
    size: int = 0


def _beginning(place: Place, limits: Limits) -> _Beginning:
    try:
        size = Path(place.path).stat().st_size
        text = _text_of(place, Budget(limits))
    except (InputError, OSError):  # said when the part's turn comes
        return _Beginning()
    with text.stream as stream:
        first = Peeked(stream).peek(_STAMP_SAMPLE)
    return _Beginning(first, text.compression, text.encoding, size)


def _text_of(place: Place, budget: Budget) -> Text:
    """Open a file that must be one log; raises InputError where it is not."""
    from vdiag.logs.joined import Text

    stream, _ = _opened(place)
    trouble = Trouble()
    try:
        unpacked, codecs = peel(Peeked(stream, budget), budget, trouble)
        kind = archives.kind_of(unpacked.peek(PEEK))
        if kind is not None:
            raise InputError(f"is a {kind} archive; unpack it")
        utf8, encoding = encodings.as_utf8(unpacked)
    except (InputError, OSError) as error:
        stream.close()
        raise InputError(f"{place.path}: {said(error)}") from error
    return Text(utf8, "+".join(codecs) or None, encoding, trouble)
