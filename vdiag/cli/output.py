"""Where a command writes: standard output, or a file that is whole or not there."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from vdiag.errors import InputError


@contextmanager
def opened(path: str | None) -> Iterator[BinaryIO]:
    """Open standard output (None or ``-``) or a file for bytes.

    The file appears under its name only when all is written; a failure leaves what was there.
    What is no regular file (a pipe, a device) is written to as it is. Raises InputError
    where it cannot be written.
    """
    if path in (None, "-"):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path or "")
    try:
        if target.exists() and not target.is_file():
            if target.is_dir():
                raise InputError(f"{path}: is a folder; name a file to write to")
            with target.open("wb") as stream:
                yield stream
            return
        yield from _whole(target.resolve())
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise InputError(
            f"{path}: cannot write: {(error.strerror or str(error)).lower()}"
        ) from error


@contextmanager
def opened_text(path: str | None) -> Iterator[TextIO]:
    """Open standard output or a file for text; the file is UTF-8."""
    if path in (None, "-"):
        yield sys.stdout
        return
    with opened(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="\n")
        yield text
        text.flush()
        text.detach()


def _whole(target: Path) -> Iterator[BinaryIO]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(_mode(target))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Return the mode of the file that is replaced, else the one a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def same_file(one: str, other: str | None) -> bool:
    """Tell whether an output would overwrite an input."""
    if other is None or "-" in (one, other):
        return False
    try:
        return Path(one).samefile(other)
    except OSError:
        return False
