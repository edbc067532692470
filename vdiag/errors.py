"""What can go wrong, in one line each, and the exit statuses."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Every status the command line ends with."""

    CLEAN = 0
    PROBLEM = 1
    USAGE = 2


class VdiagError(Exception):
    """Something the user can act on: the text says what, where and what next."""

    status = ExitStatus.USAGE


class InputError(VdiagError):
    """An input could not be read or is no text."""


class PackError(VdiagError):
    """A rule pack is broken; nothing is analysed with half a pack."""
