"""Blocks: consecutive lines that are one message, read as a whole.

A *logged* block is one record of one process (one ``file:line``, one level), traceback
included; every line carries the prefix. A *raw* block runs from an unprefixed ``Traceback``
to the end of its exception. Tracebacks of several processes interleave line by line, so
each owner has its own open block.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field

from vdiag.logs.record import Frame, Piece, Raised
from vdiag.logs.text import clip

TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s+File "(?P<path>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.*))?')
_EXCEPTION = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*|[A-Z_]\w*)(?:: ?(?P<text>.*))?$", re.S
)
"""A class, dotted or capitalised, and its message."""
_LEVEL_WORD = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")
_HEADLESS = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit))(?:: (?P<text>.*))?$",
    re.S,
)
"""The last line of a traceback whose beginning is not in the log."""
_GROUP = re.compile(r"^(?:  )*[|+](?: |-+ \d+ -+|-+$)?")
_RANK = re.compile(r"^\[rank\d+\]: ?")
_DIRECT = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"
_QUIET = ("DEBUG", "INFO")
"""Levels whose records are told by one line; no block is made of them."""
_MAX_MORE = 16
_MAX_RAW_LINES = 600
_MAX_FRAMES = 32
"""Frames kept of a traceback: the deepest ones."""


@dataclass(slots=True)
class Place:
    """A physical line: what evidence needs."""

    input: str
    line: int
    seq: int
    """Order of the line among all lines of the run's input."""


@dataclass(slots=True)
class Block:
    """One message, with the exceptions its tracebacks end in."""

    id: int
    first: Piece
    place: Place
    raw: bool
    raised: list[Raised] = field(default_factory=list)
    exception_place: Place | None = None
    """The line of the last exception."""
    signals: set[str] = field(default_factory=set)
    """Signals seen on its first line or on an exception line."""
    head_signals: set[str] = field(default_factory=set)
    exception_signals: set[str] = field(default_factory=set)
    """Signals on the last exception's lines."""
    line_signals: set[str] = field(default_factory=set)
    """Signals on the last exception's first line alone."""
    owner: str | None = None
    """Process name that a line just before a raw traceback gives (``Process EngineCore:``)."""
    lines: int = 0

    @property
    def last(self) -> Raised | None:
        """The exception the block ends in."""
        return self.raised[-1] if self.raised else None

    @property
    def key(self) -> tuple[str, str]:
        """Type and text of the last exception, else level and text of the first line."""
        if self.last is not None:
            return self.last.type.rpartition(".")[2], self.last.useful_text.strip()
        return self.first.level, self.first.text.strip()


class _Reader:
    """State machine over the lines of one block."""

    __slots__ = ("block", "group", "in_frames", "in_message", "pending")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.group = False
        self.in_frames = False
        self.in_message = False
        self.pending: list[Frame] = []

    def feed(self, text: str, place: Place) -> str:
        """Take one line; return ``head``, ``frame``, ``exception``, ``more`` or ``blank``."""
        block = self.block
        block.lines += 1
        line = _RANK.sub("", text)
        if "Exception Group " + TRACEBACK in line:
            self.group = True
        if self.group:  # only there: code of a frame may begin with ``|`` too
            line = _GROUP.sub("", line, count=1)
        bare = line.strip()
        if bare.endswith(TRACEBACK):
            self.in_frames, self.in_message, self.pending = True, False, []
            return "frame"
        if self.in_frames:
            return self._in_frames(line, bare, place)
        if bare in (_DIRECT, _DURING):
            if block.raised:
                block.raised[-1].cause = "direct cause" if bare == _DIRECT else "during"
            self.in_message = False
            return "frame"
        if not bare:
            return "blank"
        if not block.raised and not block.raw:
            headless = _HEADLESS.match(line)
            if headless:
                return self._raise(headless["type"], headless["text"] or "", place)
        if self.in_message and block.raised:
            more = block.raised[-1].more
            if len(more) < _MAX_MORE:
                more.append(clip(line.rstrip()))
            return "more"
        return "head"

    def _in_frames(self, line: str, bare: str, place: Place) -> str:
        frame = _FRAME.match(line)
        if frame:
            del self.pending[:-_MAX_FRAMES]
            self.pending.append(
                Frame(frame["path"], int(frame["line"]), (frame["function"] or "<module>").strip())
            )
            return "frame"
        if not bare or line[:1] in " \t":
            return "frame"
        match = _EXCEPTION.match(bare)
        if match is None or _LEVEL_WORD.match(bare):
            # The traceback was cut off; this line is somebody else's.
            self.in_frames = False
            return "head"
        return self._raise(match["type"], match["text"] or "", place)

    def _raise(self, kind: str, text: str, place: Place) -> str:
        block = self.block
        self.in_frames, self.in_message = False, True
        if not self._repeated(kind, text):
            block.raised.append(Raised(kind, clip(text), [], self.pending))
            block.exception_place = place
            block.exception_signals = set()
            block.line_signals = set()
        self.pending = []
        return "exception"

    def _repeated(self, kind: str, text: str) -> bool:
        """Whether this traceback was printed in the same block before."""
        return any(
            seen.type == kind and seen.text == clip(text) and not seen.cause
            for seen in self.block.raised
        )


class Assembler:
    """Puts the lines of one input together into blocks."""

    def __init__(self) -> None:
        self._open: dict[Hashable, _Reader] = {}
        self._last_id = 0
        self._ended: set[Hashable] = set()
        self._kept_cr: set[Hashable] = set()
        """Owners whose records kept their carriage returns: collectors drop them of some."""
        self._crlf = False
        """Every line of the log ends in CR LF, so that a CR says nothing."""
        self.following = False
        """A raw traceback is open: every line is needed, hit or not."""

    def feed(self, piece: Piece, place: Place) -> tuple[Block | None, str]:
        """Take one piece; return (its block, the line's part in it).

        A piece that belongs to no block (an unprefixed line outside a traceback) gives
        (None, ``""``).
        """
        if piece.is_raw:
            return self._raw(piece, place)
        self._close_raw(piece)
        owner = ("owner", piece.host, piece.pid, piece.process if piece.pid is None else None)
        if piece.level in _QUIET:
            self._drop(owner)
            return None, ""
        key: Hashable = (
            "log",
            piece.host,
            piece.pid,
            piece.process,
            piece.file,
            piece.lineno,
            piece.level,
            piece.record,
        )
        reader = self._open.get(key)
        current = self._open.get(owner)
        if reader is not None and (current is not reader or key in self._ended):
            reader = None
        if reader is not None and not reader.in_frames and self._is_new(reader, piece, owner):
            reader = None
        if reader is None:
            reader = _Reader(self._block(piece, place, raw=False))
            self._drop(owner)
            self._open[key] = reader
            self._open[owner] = reader
            self._ended.discard(key)
        part = reader.feed(piece.text, place)
        if reader.block.lines > 1 and part == "head":
            part = "more"
        if self._crlf:
            pass
        elif not piece.more and not piece.record:
            # Where the log kept its carriage returns, a line without one ends the record.
            if owner in self._kept_cr:
                self._ended.add(key)
        else:
            self._kept_cr.add(owner)
        return reader.block, part

    def _is_new(self, reader: _Reader, piece: Piece, owner: Hashable) -> bool:
        """Whether a line begins another record of the same place, carriage returns lost."""
        block = reader.block
        if piece.record or (owner in self._kept_cr and not self._crlf):
            return False
        if block.first.text == piece.text and piece.text.strip():
            return True
        return not block.raised and not piece.text.startswith((TRACEBACK, " ", "\t"))

    def _drop(self, owner: Hashable) -> None:
        old = self._open.pop(owner, None)
        if old is not None:
            for key in [key for key, reader in self._open.items() if reader is old]:
                del self._open[key]

    def _raw(self, piece: Piece, place: Place) -> tuple[Block | None, str]:
        if piece.more and "%|" not in piece.text:
            self._crlf = True
        key: Hashable = ("raw", piece.host, piece.pid)
        reader = self._open.get(key)
        bare = piece.text.strip()
        if TRACEBACK in bare and not (reader and self._continues(reader)):
            reader = _Reader(self._block(piece, place, raw=True))
            self._open[key] = reader
            self.following = True
            return reader.block, reader.feed(piece.text, place)
        if reader is None:
            return None, ""
        if reader.in_message and self._leaves(reader, piece.text, bare):
            self._close(key)
            return None, ""
        part = reader.feed(piece.text, place)
        if part == "head":
            self._close(key)
            return None, ""
        if reader.block.lines > _MAX_RAW_LINES:
            self._close(key)
        return reader.block, part

    @staticmethod
    def _continues(reader: _Reader) -> bool:
        """Whether a traceback that follows is part of the same message."""
        raised = reader.block.raised
        return reader.group or bool(raised and raised[-1].cause)

    @staticmethod
    def _leaves(reader: _Reader, text: str, bare: str) -> bool:
        """Whether a line after an exception is no part of its message."""
        if bare in (_DIRECT, _DURING, ""):
            return False
        message = reader.block.raised[-1]
        if len(message.more) >= _MAX_MORE:
            return True
        if _RANK.match(text) or text[:1] in " \t":
            return False
        # Unindented: the torch and CUDA tails, or a second line of prose. Other programs'
        # output begins with a known head.
        return bool(
            re.match(r"(?:INFO|WARNING|ERROR|DEBUG): |\[[WIEF]\d{4} |[\d/.-]+[ :T]|\{", bare)
            or "%|" in bare
        )

    def _close_raw(self, piece: Piece) -> None:
        """Close the raw tracebacks whose exception was already read: a record ends them."""
        if not self.following:
            return
        for key in [key for key in self._open if isinstance(key, tuple) and key[0] == "raw"]:
            reader = self._open[key]
            same = isinstance(key, tuple) and key[2] == piece.pid
            if reader.in_message and not self._continues(reader) and (same or key[2] is None):
                self._close(key)

    def end_raw(self) -> None:
        """Close the raw tracebacks: what follows is another excerpt."""
        for key in [key for key in self._open if isinstance(key, tuple) and key[0] == "raw"]:
            self._close(key)

    def _close(self, key: Hashable) -> None:
        self._open.pop(key, None)
        self.following = any(isinstance(other, tuple) and other[0] == "raw" for other in self._open)

    def _block(self, piece: Piece, place: Place, *, raw: bool) -> Block:
        self._last_id += 1
        return Block(self._last_id, piece, place, raw)
