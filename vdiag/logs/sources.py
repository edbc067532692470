"""Inputs as chunks of whole lines, from one reused buffer.

Memory does not grow with the input: one buffer of 1 MiB is filled, cut at the last newline,
handed out, and its tail moved to the front. A line longer than the buffer is handed out up
to the buffer's end and the rest of it is skipped, counted in bytes; everything that a signal
matches stands near the start of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from vdiag.errors import InputError
from vdiag.logs.limits import Budget, Trouble
from vdiag.logs.places import Origin, reason
from vdiag.report.model import Part

if TYPE_CHECKING:
    import io

CHUNK = 1 << 20
HEAD = 1 << 16
"""Bytes that the first chunk holds at least, where the input has them."""


@dataclass(slots=True)
class Chunk:
    """Whole lines: ``data[:size]``, valid until the next chunk is read."""

    data: bytearray
    size: int
    offset: int
    """Of the first byte, in the decompressed input."""


@dataclass
class Source:
    """A named stream of text bytes: unpacked, in UTF-8, as :mod:`vdiag.logs.inputs` opens it."""

    name: str
    stream: BinaryIO | io.RawIOBase
    size: int = 0
    """Bytes of text read so far."""
    owned: bool = False
    """Opened here, so closed here."""
    compression: str | None = None
    """What it was packed with, the innermost first: ``gzip``, ``tar+gzip``."""
    encoding: str = "utf-8"
    problems: list[str] = field(default_factory=list)
    """What was wrong with it, complete once all chunks were read."""
    complete: bool = True
    """False where the reading ended before the log did."""
    parts: list[Part] = field(default_factory=list)
    """The files of a rotated log, complete once all chunks were read."""
    origin: Origin | None = None
    """The folder or the archive that it was found in."""
    total: int | None = None
    """Bytes of the file as it lies on the disk, where that is known."""
    budget: Budget = field(default_factory=Budget)
    trouble: Trouble = field(default_factory=Trouble)
    error: InputError | None = None
    """Why there is nothing to read."""
    watch: Callable[[Source], None] | None = None
    """Called after each read."""
    keeper: object = None
    """What would close the stream if it went away."""

    @classmethod
    def failed(cls, name: str, error: InputError, origin: Origin | None = None) -> Source:
        """Return a source that cannot be read: the error comes when its turn does."""
        import io

        return cls(name, io.BytesIO(), error=error, origin=origin)

    def close(self) -> None:
        """Close the stream, if it was opened here."""
        if self.owned:
            self.stream.close()

    def chunks(self) -> Iterator[Chunk]:
        """Yield chunks of whole lines; raises InputError where the input cannot be read."""
        if self.error is not None:
            raise self.error
        buffer = bytearray(CHUNK)
        view = memoryview(buffer)
        held = 0
        skipping = False
        while True:
            try:
                got = self._fill(view, held)
            except OSError as error:
                raise InputError(f"{self.name}: cannot read: {reason(error)}") from error
            self.size += got
            if self.watch is not None:
                self.watch(self)
            if not got:
                self._end()
            filled = held + got
            if not filled:
                return
            if got and self.size < HEAD and filled < len(buffer):
                held = filled  # the reader learns from the first chunk what wraps the lines
                continue
            base = self.size - filled
            start = 0
            if skipping:
                newline = buffer.find(b"\n", 0, filled)
                if newline < 0 and got:
                    held = 0
                    continue
                start = newline + 1 if newline >= 0 else filled
                skipping = False
                # The newline of the long line is handed out, so that line numbers stay true.
                start -= 1 if newline >= 0 else 0
            cut = buffer.rfind(b"\n", start, filled) + 1
            if not got:
                cut = filled
            elif not cut:
                if filled < len(buffer) and not start:
                    held = filled
                    continue
                cut = filled
                skipping = True
            if start:
                view[: cut - start] = bytes(view[start:cut])
            yield Chunk(buffer, cut - start, base + start)
            held = filled - cut
            if held:
                view[:held] = bytes(view[cut:filled])
            if not got and not held:
                return

    def _fill(self, view: memoryview, held: int) -> int:
        """Read once into the free part; 0 at the end of the input."""
        readinto = getattr(self.stream, "readinto", None)
        if readinto is not None:
            return int(readinto(view[held:]) or 0)
        data = self.stream.read(len(view) - held)
        view[held : held + len(data)] = data
        return len(data)

    def _end(self) -> None:
        """Take over what went wrong below."""
        cut = self.trouble.take()
        self.complete = self.complete and not cut
        self.problems += [*cut, *self.trouble.take_remarks()]
