"""journald: the text formats of ``journalctl -o``, and its JSON.

The text formats drop carriage returns and blank lines, and print ``[4.2K blob data]`` for a
message with unprintable bytes: that is a gap, the text is not in the log. ``-o json`` gives
such a message as a list of bytes, and null for one that is too large. The formats are those
of journalctl(1) and of systemd's "Journal JSON Format".
"""

from __future__ import annotations

import re

from vdiag.logs import clock
from vdiag.logs.envelopes.words import Peeled

_IDENT = r"(?P<host>[^\s:\[\]]+) (?P<ident>[^\s\[\]:]+)(?:\[(?P<pid>\d+)\])?:(?: (?P<text>.*)|$)"
_SHORT = re.compile(r"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?:\.\d+)? " + _IDENT, re.S)
_ISO = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?P<precise>[.,]\d+)?"
    r"(?:[+-]\d\d:?\d\d|Z) " + _IDENT,
    re.S,
)
_FULL = re.compile(
    r"[A-Z][a-z]{2} (?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? [A-Z+\-\d:]{1,8} " + _IDENT,
    re.S,
)
_BLOB = re.compile(r"\[[\d.]+[BKMG]? blob data\]\s*$")
_SUPPRESSED = re.compile(r"Suppressed (?P<n>\d+) messages from ")
_WITHOUT_PID = ("kernel", "systemd", "systemd-journald", "audit")
"""Identifiers that journald prints without a pid; any other text may only look like one."""


def peel(line: str) -> Peeled | None:
    """Take a text format's prefix off; None where there is none."""
    first = line[:1]
    if first.isdigit():
        match, kind = _ISO.match(line), "journald-short-iso"
        if match and match["precise"]:
            kind = "journald-short-iso-precise"
    elif first.isalpha() and first.isupper():
        match, kind = _SHORT.match(line), "journald-short"
        if not match:
            match, kind = _FULL.match(line), "journald-short-full"
    else:
        return None
    if not match or (match["pid"] is None and match["ident"] not in _WITHOUT_PID):
        return None
    if kind == "journald-short-full" and match["ident"].endswith((".service", ".scope")):
        kind = "journald-with-unit"
    text = match["text"] or ""
    peeled = Peeled(
        text=text,
        kind=kind,
        time=clock.normalise(match["stamp"]),
        host=match["host"],
        pid=int(match["pid"]) if match["pid"] else None,
    )
    _gap(peeled, match["ident"])
    return peeled


def from_json(record: dict[str, object]) -> Peeled:
    """Take the message out of one object of ``journalctl -o json``."""
    message = record.get("MESSAGE")
    peeled = Peeled(
        text="",
        kind="journald-json",
        time=clock.from_epoch(record.get("__REALTIME_TIMESTAMP"), per_second=1_000_000),
        host=_text(record.get("_HOSTNAME")),
        pid=_int(record.get("_PID")),
    )
    if message is None:
        peeled.gap, peeled.lost, peeled.text = "null-message", 1, "null"
        return peeled
    if isinstance(message, list):
        peeled.hidden = True
        numbers = [byte for byte in message if isinstance(byte, int) and 0 <= byte < 256]
        peeled.text = (
            bytes(numbers).decode("utf-8", "replace")
            if len(numbers) == len(message)
            else "\n".join(str(part) for part in message)  # the field was given several times
        )
    else:
        peeled.text = str(message)
    _gap(peeled, _text(record.get("SYSLOG_IDENTIFIER")) or "")
    return peeled


def _gap(peeled: Peeled, ident: str) -> None:
    if _BLOB.match(peeled.text):
        peeled.gap, peeled.lost = "blob-data", 1
    elif ident == "systemd-journald":
        suppressed = _SUPPRESSED.match(peeled.text)
        if suppressed:
            peeled.gap, peeled.lost = "suppressed", int(suppressed["n"])


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _int(value: object) -> int | None:
    try:
        return int(value) if isinstance(value, str | int) else None
    except ValueError:
        return None
