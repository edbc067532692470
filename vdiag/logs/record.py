"""The words of the log layer: a line's place, and what the record grammar reads from it."""

from __future__ import annotations

from dataclasses import dataclass, field

RAW = "raw"
"""Level of a line that has none: uvicorn's banner, tqdm, an unlogged traceback."""


@dataclass(slots=True)
class Piece:
    """What one physical line, or a part of it, says.

    A line gives several pieces where a progress bar or a library that ends without a newline
    glued a record on, and where a JSON record holds several lines.
    """

    text: str
    """Without envelope, prefix, colour and carriage return."""
    level: str = RAW
    time: str | None = None
    """``MM-DD HH:MM:SS``, as vLLM prints it."""
    process: str | None = None
    pid: int | None = None
    host: str | None = None
    file: str | None = None
    """File or logger that made the record."""
    lineno: int | None = None
    more: bool = False
    """The record goes on in the next line: vLLM ends such lines with ``\\r\\n``."""
    record: int = 0
    """Equal for the pieces of one JSON record, 0 for text."""
    vllm: bool = False
    """It carries a vLLM prefix or is a JSON record of vLLM's."""
    copies: int = 1
    """How many processes printed it: Ray prints one copy and counts the others."""
    machine: str | None = None
    """The machine whose journal the line stands in."""
    envelope_pid: int | None = None
    """Pid that the collector saw; the writer's own under journald."""

    @property
    def is_raw(self) -> bool:
        """Whether it is no record: no level, no location."""
        return self.level == RAW


@dataclass(slots=True)
class Frame:
    """One frame of a Python traceback."""

    path: str
    line: int
    function: str

    def __str__(self) -> str:
        """Return ``path:function``, with the path cut to start at its package."""
        return f"{short_path(self.path)}:{self.function}"


@dataclass(slots=True)
class Raised:
    """An exception as a traceback prints it."""

    type: str
    text: str
    more: list[str] = field(default_factory=list)
    """Further lines of a multi-line message."""
    frames: list[Frame] = field(default_factory=list)
    cause: str = ""
    """How the next exception came of it: ``direct cause``, ``during`` or empty."""

    @property
    def useful_text(self) -> str:
        """The message; of a pydantic validation error, with what is wrong behind its count."""
        for line in self.more:
            inner = line.strip()
            if inner.startswith(("Value error, ", "Assertion failed, ")):
                return f"{self.text}: {inner.partition(', ')[2].partition(' [type=')[0]}"
        if self.text or not self.more:
            return self.text
        return self.more[0].strip()

    @property
    def frame(self) -> Frame | None:
        """The deepest frame in vLLM's own code, else the deepest of all."""
        for frame in reversed(self.frames):
            if "/vllm/" in frame.path or frame.path.startswith("vllm/"):
                return frame
        return self.frames[-1] if self.frames else None


def short_path(path: str) -> str:
    """Cut a path so that it starts at its package: ``vllm/v1/engine/core.py``."""
    for mark in ("/site-packages/", "/dist-packages/"):
        _, found, after = path.rpartition(mark)
        if found:
            return after
    _before, found, after = path.rpartition("/vllm/")
    if found:
        return "vllm/" + after
    return path
