"""The files of a rotated log as one stream, whose lines are numbered through."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vdiag.errors import InputError
from vdiag.logs.limits import Trouble
from vdiag.report.model import Part

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


@dataclass(slots=True)
class Text:
    """A file opened as text."""

    stream: io.RawIOBase
    compression: str | None
    encoding: str
    trouble: Trouble


class Joined(io.RawIOBase):
    """Gives one file after the other; a newline is put between two where one is missing.

    ``parts`` gets an entry for each file that was read, ``trouble`` what went wrong in them.
    A file that cannot be read is left out and noted.
    """

    def __init__(
        self, names: list[str], opened: Callable[[str], Text], parts: list[Part], trouble: Trouble
    ) -> None:
        super().__init__()
        self._waiting = list(names)
        self._open = opened
        self._parts = parts
        self._trouble = trouble
        self._text: Text | None = None
        self._newlines = 0
        self._at_start = True

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer as far as one step goes; 0 at the end."""
        view = memoryview(buffer).cast("B")
        while len(view):
            if self._text is None and not self._next():
                return 0
            if self._text is None:
                continue
            if not self._at_start and not self._parts[-1].lines:
                view[0] = 10
                self._newlines += 1
                self._at_start = True
                self._parts[-1].first_line += 1
                self._parts[-1].lines = 0
                return 1
            got = self._read(self._text, view)
            if got:
                return got
        return 0

    def _read(self, text: Text, view: memoryview) -> int:
        part = self._parts[-1]
        try:
            got = int(text.stream.readinto(view) or 0)
        except OSError as error:
            text.trouble.note(f"cannot read: {(error.strerror or str(error)).lower()}")
            got = 0
        if got:
            self._newlines += bytes(view[:got]).count(b"\n")
            self._at_start = view[got - 1] == 10
            part.lines = self._newlines - part.first_line + 1 + (not self._at_start)
            return got
        for problem in text.trouble.take():
            self._trouble.note(f"{part.name}: {problem}")
        self._trouble.remarks += [f"{part.name}: {one}" for one in text.trouble.take_remarks()]
        text.stream.close()
        self._text = None
        return 0

    def _next(self) -> bool:
        """Open the next file; False where there is none left."""
        if not self._waiting:
            return False
        name = self._waiting.pop(0)
        try:
            self._text = self._open(name)
        except InputError as error:
            self._trouble.note(str(error))
            return True
        self._parts.append(Part(name, self._newlines + 1, 0, self._text.compression))
        return True

    def close(self) -> None:
        """Close the file that is open."""
        if self._text is not None:
            self._text.stream.close()
            self._text = None
        super().close()
