"""Inputs as chunks of whole lines, from one reused buffer.

Memory does not grow with the input: one buffer of 1 MiB is filled, cut at the last newline,
handed out, and its tail moved to the front. A line longer than the buffer is handed out up
to the buffer's end and the rest of it is skipped, counted in bytes; everything that a signal
matches stands near the start of a line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vdiag.errors import InputError

CHUNK = 1 << 20

_MAGIC = (
    (b"\x1f\x8b", "gzip", "gzip -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\xfd7zXZ\x00", "xz", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
)


@dataclass(slots=True)
class Chunk:
    """Whole lines: ``data[:size]``, valid until the next chunk is read."""

    data: bytearray
    size: int
    offset: int
    """Of the first byte, in the decompressed input."""


@dataclass
class Source:
    """A named stream of bytes."""

    name: str
    stream: BinaryIO
    size: int = 0
    """Bytes read so far."""
    owned: bool = False
    """Opened here, so closed here."""

    def close(self) -> None:
        """Close the stream, if it was opened here."""
        if self.owned:
            self.stream.close()

    def chunks(self) -> Iterator[Chunk]:
        """Yield chunks of whole lines; raises InputError where the input is no text."""
        buffer = bytearray(CHUNK)
        view = memoryview(buffer)
        held = 0
        skipping = False
        while True:
            try:
                got = self._fill(view, held)
            except OSError as error:
                raise InputError(f"{self.name}: cannot read: {_reason(error)}") from error
            if self.size == 0:
                self._refuse_foreign(bytes(view[:8]))
            self.size += got
            filled = held + got
            if not filled:
                return
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

    def _refuse_foreign(self, first: bytes) -> None:
        for magic, name, command in _MAGIC:
            if first.startswith(magic):
                raise InputError(
                    f"{self.name}: is {name} data, not text; unpack it first: "
                    f"{command} {self.name} | vdiag analyze -"
                )
        if first.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError(
                f"{self.name}: is UTF-16 text; convert it first: "
                f"iconv -f UTF-16 -t UTF-8 {self.name} | vdiag analyze -"
            )


def open_path(name: str) -> Source:
    """Open a file, or standard input for ``-``; raises InputError in one line."""
    if not name:
        raise InputError("an empty file name; give a log file, or - for standard input")
    if name == "-":
        if sys.stdin is None:
            raise InputError("<stdin>: is closed; give a log file, or pipe one in")
        return Source("<stdin>", sys.stdin.buffer)
    path = Path(name)
    try:
        if path.is_dir():
            raise InputError(f"{name}: is a folder; name the log files in it: {name.rstrip('/')}/*")
        return Source(name, path.open("rb", buffering=0), owned=True)
    except FileNotFoundError:
        raise InputError(
            f"{name}: no such file; give a log file, or - for standard input"
        ) from None
    except OSError as error:
        raise InputError(f"{name}: cannot open: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
