r"""Patterns of the user's own, from a file.

One pattern a line, ``kind: regular expression``; blank lines and those that begin with ``#``
are skipped. The kind names the token (``project: PRJ-\d{4}`` makes ``<project-1>``). Where the
expression has a group named ``secret``, only that is replaced.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from vdiag.errors import InputError
from vdiag.redact.pattern import Finder, Pattern

_LINE = re.compile(r"(?P<kind>[a-z][a-z0-9-]{0,30}):[ \t]+(?P<regex>\S.*)$")
_FORM = "write `kind: regular expression`, the kind in small letters"


def load(path: str) -> list[Finder]:
    """Read patterns; raises InputError with the file, the line and what to write instead."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no UTF-8 text"
        raise InputError(f"{path}: cannot read the patterns: {reason.lower()}") from error
    found: list[Finder] = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            found.append(_pattern(f"{path}:{number}", line.strip()))
    return found


def _pattern(where: str, line: str) -> Finder:
    match = _LINE.match(line)
    if match is None:
        raise InputError(f"{where}: {line[:60]!r} is no pattern; {_FORM}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            regex = re.compile(match["regex"])
    except (re.error, Warning) as error:
        raise InputError(f"{where}: not a regular expression: {error}; {_FORM}") from error
    if regex.search(""):
        raise InputError(f"{where}: the expression matches the empty text; make it match something")
    return Pattern(match["kind"], "extra", regex)
