"""What a collector put around each line. Here: journald's text formats.

journald drops carriage returns and blank lines, and prints ``[4.2K blob data]`` for a
message with unprintable bytes: that is a gap, the text is not in the log.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vdiag.logs import clock

_IDENT = r"(?P<host>[^\s:]+) (?P<ident>[^\s\[\]:]+)(?:\[(?P<pid>\d+)\])?: ?(?P<text>.*)"
_SHORT = re.compile(r"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?:\.\d+)? " + _IDENT, re.S)
_ISO = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:[+-]\d\d:?\d\d|Z) " + _IDENT, re.S
)
_FULL = re.compile(
    r"[A-Z][a-z]{2} (?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? [A-Z+\-\d:]{1,8} " + _IDENT,
    re.S,
)
_BLOB = re.compile(r"\[[\d.]+[BKMG]? blob data\]\s*$")
_SUPPRESSED = re.compile(r"Suppressed (?P<n>\d+) messages from ")


@dataclass(slots=True)
class Unwrapped:
    """A line without its envelope, and what the envelope said."""

    text: str
    kind: str
    time: str | None
    host: str
    ident: str
    pid: int | None
    gap: str | None = None
    """``blob-data`` or ``suppressed`` where the text itself is missing."""
    lost: int = 0
    """How many messages are missing."""


def unwrap(line: str) -> Unwrapped | None:
    """Return the line without its journald prefix, or None where it has none."""
    first = line[:1]
    if first.isdigit():
        match, kind = _ISO.match(line), "journald-short-iso"
    elif first.isalpha() and first.isupper():
        match, kind = _SHORT.match(line), "journald-short"
        if not match:
            match, kind = _FULL.match(line), "journald-short-full"
    else:
        return None
    if not match:
        return None
    text = match["text"]
    gap, lost = None, 0
    if _BLOB.match(text):
        gap, lost = "blob-data", 1
    elif match["ident"] == "systemd-journald":
        suppressed = _SUPPRESSED.match(text)
        if suppressed:
            gap, lost = "suppressed", int(suppressed["n"])
    return Unwrapped(
        text=text,
        kind=kind,
        time=clock.normalise(match["stamp"]),
        host=match["host"],
        ident=match["ident"],
        pid=int(match["pid"]) if match["pid"] else None,
        gap=gap,
        lost=lost,
    )


HOW_TO_GET = {
    "blob-data": "journalctl -a -u UNIT (prints messages with unprintable bytes)",
    "suppressed": "raise RateLimitBurst= in journald.conf, or log to a file; these lines are gone",
    "cut-beginning": "attach the log from the server's start (journalctl -u UNIT -b, "
    "kubectl logs --previous)",
}
"""The command that gets what a gap hides, by the gap's kind."""
