"""The words of the envelope layer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Peeled:
    """A line with one envelope taken off, and what that envelope said."""

    text: str
    kind: str
    """``cri``, ``journald-json``, …: the names of ``inputs[].envelopes``."""
    time: str | None = None
    """The collector's stamp as ``MM-DD HH:MM:SS``, in the collector's own zone."""
    host: str | None = None
    """Machine, pod or container that wrote the line."""
    pid: int | None = None
    """Pid that the collector saw; the writer's own under journald on the host."""
    gap: str | None = None
    """``blob-data``, ``null-message`` or ``suppressed`` where the text itself is missing."""
    lost: int = 0
    """How many messages are missing."""
    stream: str | None = None
    """Where a record may be split over lines: what its parts have in common."""
    partial: bool = False
    """The record goes on in the next line of this stream."""
    hidden: bool = False
    """The line shows the text only as numbers."""
    server: str | None = None
    """A name that tells one server of several in one log from another: pod or service."""


HOW_TO_GET = {
    "blob-data": "journalctl -a -u UNIT (prints messages with unprintable bytes)",
    "null-message": "journalctl -a -u UNIT -o json (prints fields of any size)",
    "suppressed": "raise RateLimitBurst= in journald.conf, or log to a file; these lines are gone",
    "nul-hole": "append to the log (>>, or copytruncate only with an appending writer); these "
    "lines are gone",
    "cut-beginning": "attach the log from the server's start (journalctl -u UNIT -b, "
    "kubectl logs --previous)",
}
"""The command that gets what a gap hides, by the gap's kind."""
