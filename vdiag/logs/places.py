"""What a user names on the command line: files, folders, patterns, pipes handed over by a shell.

Nothing is opened here but to look at folders. Whatever is no regular file is refused, so that
no pipe without a writer and no device is ever waited for.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from vdiag.errors import InputError
from vdiag.logs.limits import LIMITS, Limits

_HANDED_OVER = re.compile(r"/dev/(?:stdin|fd/(?P<fd>\d+))|/proc/self/fd/(?P<proc>\d+)")
_KINDS = (
    (stat.S_ISFIFO, "is a named pipe; use: cat {0} | vdiag analyze -"),
    (stat.S_ISSOCK, "is a socket, not a log; give a file, or pipe the log in"),
    (stat.S_ISCHR, "is a device, not a log; give a file, or pipe the log in"),
    (stat.S_ISBLK, "is a device, not a log; give a file, or pipe the log in"),
)


@dataclass
class Origin:
    """A folder or an archive that inputs are found in, and what was left out of it."""

    name: str
    kind: str
    """``folder`` or ``archive``."""
    kept: int = 0
    """Inputs that were logs of vLLM's."""
    failed: int = 0
    """Files that an error was reported for."""
    unreadable: list[str] = field(default_factory=list)
    """What was said of each file that could not be opened."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Files that were no inputs, counted by the reason."""

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count a file that is no input."""
        self.left_out[reason] = self.left_out.get(reason, 0) + count

    def note(self) -> str:
        """Return what was left out, in one line."""
        total = sum(self.left_out.values())
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
        return f"{self.name}: left out {total} file{'s' * (total != 1)} ({reasons})"

    def refusal(self) -> str:
        """Return why nothing is left, in one line."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
        found = f"({reasons})" if reasons else "(it is empty)"
        return f"{self.name}: no vLLM log in this {self.kind} {found}; name the server's log files"


@dataclass(frozen=True, slots=True)
class Place:
    """A regular file, or a descriptor that the shell handed over."""

    path: str
    """As it is named in the report."""
    origin: Origin | None = None
    descriptor: int | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """The files that are one log, oldest first; one file alone is a family too."""

    places: list[Place]
    copies: list[Place]
    """Files that only repeat a part of it."""


def resolve(name: str, limits: Limits = LIMITS) -> list[Place | Origin]:
    """Return the files that a name stands for; behind a folder's files stands the folder.

    Raises:
        InputError: There is no such file, it is no regular file, or it cannot be looked at.

    """
    if not name:
        raise InputError("an empty file name; give a log file, or - for standard input")
    handed = _HANDED_OVER.fullmatch(name)
    if handed:
        return [Place(name, descriptor=int(handed["fd"] or handed["proc"] or 0))]
    try:
        mode = Path(name).stat().st_mode
    except FileNotFoundError:
        return _matching(name, limits)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: cannot open: {reason(error)}") from error
    if stat.S_ISDIR(mode):
        origin = Origin(name, "folder")
        return [*_in_folder(name, origin, limits), origin]
    refuse_special(name, mode)
    return [Place(name)]


def refuse_special(name: str, mode: int) -> None:
    """Raise InputError for a pipe, a socket or a device."""
    for is_kind, text in _KINDS:
        if is_kind(mode):
            raise InputError(f"{name}: {text.format(name)}")


def _matching(name: str, limits: Limits) -> list[Place | Origin]:
    """Expand a pattern that the shell left alone."""
    import glob

    if not glob.has_magic(name):
        raise InputError(f"{name}: no such file; give a log file, or - for standard input")
    places: list[Place | Origin] = []
    problem: InputError | None = None
    for match in sorted(glob.glob(name, recursive=True), key=natural):  # noqa: PTH207  # names stay as given
        try:
            places += resolve(match, limits)
        except InputError as error:
            problem = problem or error
    if not places:
        raise problem or InputError(f"{name}: no file matches this pattern; give a log file")
    return places


def _in_folder(folder: str, origin: Origin, limits: Limits) -> list[Place]:
    """Return the regular files below a folder in natural order, each one once.

    Files come before links to them and folders before links to them, so that what is found
    twice keeps its own name; a folder is never entered twice.
    """
    places: list[Place] = []
    links: list[Place] = []
    seen: set[tuple[int, int]] = set()
    entered: set[tuple[int, int]] = set()
    waiting = [folder]
    linked: list[str] = []
    while waiting or linked:
        here = waiting.pop() if waiting else linked.pop(0)
        try:
            status = Path(here).stat()
            if (status.st_dev, status.st_ino) in entered:
                continue
            entered.add((status.st_dev, status.st_ino))
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: natural(entry.name))
        except OSError as error:
            if here == folder:
                raise InputError(f"{folder}: cannot open: {reason(error)}") from error
            origin.leave_out("folders that cannot be opened")
            continue
        below: list[str] = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_dir():
                    (linked if entry.is_symlink() else below).append(entry.path)
                elif not entry.is_file():
                    origin.leave_out("not regular")
                elif entry.is_symlink():
                    links.append(Place(entry.path, origin))
                else:
                    status = entry.stat()
                    seen.add((status.st_dev, status.st_ino))
                    places.append(Place(entry.path, origin))
            except OSError:
                origin.leave_out("not regular")
            if len(places) + len(links) > limits.members:
                raise InputError(
                    f"{folder}: holds more than {limits.members:,} files; name the log files in it"
                )
        waiting += reversed(below)
    for place in links:
        try:
            status = Path(place.path).stat()
        except OSError:  # gone since
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            places.append(place)
    return sorted(places, key=lambda place: natural(place.path))


def natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts ``rank2`` before ``rank10`` and a folder's files together."""
    key: list[tuple[int, int, str]] = []
    for part in name.split("/"):
        for piece in re.findall(r"\d+|\D+", part):
            digits = piece.isascii() and piece.isdigit()
            key.append((1, int(piece[:300]), "") if digits else (2, 0, piece))
        key.append((0, 0, ""))
    return [*key, (3, 0, name)]


def reason(error: Exception) -> str:
    """Return what the system says of an error, in lower case."""
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error)).lower()
