r"""The record grammar: what vLLM 0.8 to 0.33 put in front of a message.

Text records read ``LEVEL MM-DD HH:MM:SS [file.py:12] message``, with ``(Worker_TP0 pid=7) ``
in front (by a hook on the streams up to 0.30, in the record itself from 0.31), any
``VLLM_LOGGING_PREFIX`` before or after that, and colour round each part. Lines of a record
but the last end in ``\\r\\n``. JSON records (0.32 and later) hold the traceback in
``exc_info``. A progress bar, or a library that ends without a newline, glues the next
record on to its own line.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

from vdiag.logs import clock
from vdiag.logs.record import RAW, Piece
from vdiag.logs.text import strip_escapes

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

_LEVEL = r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)"
_HEAD = re.compile(
    _LEVEL + r" (?P<time>\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d+)? "
    r"(?:\[(?P<file>[^\]\s:]+):(?P<lineno>\d+)\]|(?P<oldfile>[\w./-]+\.py):(?P<oldlineno>\d+)\])"
    r"(?: (?P<text>.*)|$)",
    re.S,
)
_PROCESS = re.compile(
    r"\((?P<name>[A-Za-z][\w.:\-]*(?: [\w=.:\-]+){0,4}(?:\([^()]*\))?) pid=(?P<pid>\d+)"
    r"(?:, ip=(?P<ip>[^()\s]+))?\) ?"
)
_OTHER = re.compile(
    # FlashInfer's and some libraries' own format, from logging.basicConfig.
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d+)? - "
    r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) - (?P<file>[\w./-]+):(?P<lineno>\d+) - "
    r"(?P<text>.*)",
    re.S,
)
_REPEATED = re.compile(
    r" ?\[repeated (?P<n>\d+)x across cluster\](?: \(Ray deduplicates logs by default.*)?$", re.S
)
_REPEATED_ENDS = ("x across cluster]", "for more options.)")
_PREFIX_GAP = 64
"""Longest ``VLLM_LOGGING_PREFIX`` accepted between the process and the level."""

_record_ids = itertools.count(1)


def read(
    line: str, *, time: str | None = None, host: str | None = None, envelope_pid: int | None = None
) -> list[Piece]:
    r"""Read one physical line, without its ``\\n`` and its envelope.

    ``time``, ``host`` and ``envelope_pid`` come from the envelope; a record's own time wins.
    """
    more = line.endswith("\r")
    text = strip_escapes(line)
    stripped = text.strip()
    pieces: list[Piece] = []
    if stripped.endswith("}") and '"message"' in stripped and '"levelname"' in stripped:
        pieces = list(_json(stripped))
    if not pieces:
        for segment in text.split("\r"):
            if segment.strip() or not pieces:
                pieces.extend(_text(segment))
        if len(pieces) > 1 and not pieces[0].text:
            del pieces[0]
    pieces[-1].more = more
    if pieces[-1].text.endswith(_REPEATED_ENDS):
        _repeated(pieces[-1])
    for piece in pieces:
        piece.time = piece.time or time
        piece.host = piece.host or host
        piece.envelope_pid = envelope_pid
    return pieces


def _repeated(piece: Piece) -> None:
    """Take Ray's note of further, unprinted copies off a text, and count them."""
    match = _REPEATED.search(piece.text)
    if match:
        piece.text, piece.copies = piece.text[: match.start()], int(match["n"]) + 1


def _text(line: str) -> Iterator[Piece]:
    head = _HEAD.search(line)
    if not head:
        yield _raw(line)
        return
    before = line[: head.start()]
    named = list(_PROCESS.finditer(before))
    process = named[-1] if named else None
    ip = next((one["ip"] for one in named if one["ip"]), None)  # Ray's, before vLLM's own
    left = before
    if process and len(before) - process.end() <= _PREFIX_GAP:
        left = before[: named[0].start()] if len(named) == 2 else before[: process.start()]
    elif process:
        process = None
    if _is_output(left):
        yield _raw(left)
    file = head["file"] or head["oldfile"]
    lineno = head["lineno"] or head["oldlineno"]
    yield Piece(
        text=(head["text"] or "").rstrip("\r"),
        level=head["level"],
        time=head["time"],
        process=process["name"] if process else None,
        pid=int(process["pid"]) if process else None,
        host=ip if process else None,
        file=file,
        lineno=int(lineno),
        vllm=True,
    )


def _is_output(text: str) -> bool:
    """Whether text left of a record is output of its own, and no prefix or envelope."""
    bare = text.strip()
    return bool(bare) and (len(bare) > _PREFIX_GAP or "%|" in bare or "://" in bare)


def _raw(line: str) -> Piece:
    line = line.rstrip("\r")
    process = _PROCESS.match(line)
    ip = process["ip"] if process else None
    text = line[process.end() :] if process else line
    inner = _PROCESS.match(text) if process else None
    if inner:  # vLLM's own prefix behind Ray's
        process, text = inner, text[inner.end() :]
    other = _OTHER.match(text)
    level, time, file, lineno = RAW, None, None, None
    if text.startswith("["):
        time = clock.normalise(text[:40])
    if other:
        level, time = other["level"], clock.normalise(other["time"])
        file, lineno, text = other["file"], int(other["lineno"]), other["text"]
    return Piece(
        text=text,
        level=level,
        time=time,
        process=process["name"] if process else None,
        pid=int(process["pid"]) if process else None,
        host=ip,
        file=file,
        lineno=lineno,
        vllm=bool(process),
    )


def _json(text: str) -> Iterator[Piece]:
    start = text.find("{")
    try:
        record = json.loads(text[start:])
    except (ValueError, RecursionError):
        return
    if not isinstance(record, dict):
        return
    level = str(record.get("levelname", ""))
    if level not in LEVELS:
        return
    hook = _PROCESS.match(text[:start])
    name = record.get("vllm_process_name") or (hook["name"] if hook else None)
    name = name or record.get("processName")
    pid = record.get("process")
    if not isinstance(pid, int) or isinstance(pid, bool):
        pid = int(hook["pid"]) if hook else None
    number = next(_record_ids)
    body = strip_escapes(str(record.get("message", "")))
    lines = body.split("\n")
    for key in ("exc_info", "stack_info"):
        if isinstance(record.get(key), str):
            lines += record[key].split("\n")
    for line in lines:
        yield Piece(
            text=line.rstrip("\r"),
            level=level,
            time=clock.normalise(str(record.get("asctime", ""))),
            process=str(name) if name else None,
            pid=pid,
            file=str(record.get("name", "")) or None,
            lineno=None,
            record=number,
            vllm=True,
        )
