"""What a collector put around a line, as far as redaction must know it.

CRI and Docker's json-file cut long lines into several records; a secret at the cut stands
half in one record and half in the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vdiag.redact.views import Range

_CRI = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP])(?::\S*)? ")
_DOCKER = re.compile(r'\s*\{"log":"((?:[^"\\]|\\.)*)"(?:,"stream":"(\w+)")?')
_ARRAY = re.compile(r"\[(\d{1,3}(?:, ?\d{1,3}){7,})\]")


@dataclass(frozen=True, slots=True)
class Frame:
    """One record of a collector."""

    stream: str
    payload: Range
    """Where in the line the message stands."""
    partial: bool
    """The message goes on in the next record of the same stream."""
    escaped: bool = False
    """The message is the inside of a JSON string."""


def frame(line: str) -> Frame | None:
    """Return the collector's record that a line is, or None where it is none that cuts lines."""
    if line[:1].isdigit() and (match := _CRI.match(line)):
        return Frame(match[1], (match.end(), len(line)), match[2] == "P")
    if line.lstrip()[:8] == '{"log":"' and (match := _DOCKER.match(line)):
        whole = match[1].endswith("\\n")
        return Frame(match[2] or "stdout", match.span(1), not whole, escaped=True)
    return None


def arrays(line: str) -> list[tuple[Range, str]]:
    """Return the byte arrays in a line, decoded.

    ``journalctl -o json`` writes a message with unprintable bytes (a coloured one) so.
    """
    found = []
    for match in _ARRAY.finditer(line):
        numbers = [int(number) for number in match[1].split(",")]
        if max(numbers) < 256:
            found.append((match.span(1), bytes(numbers).decode("utf-8", "surrogateescape")))
    return found


def array(text: str) -> str:
    """Return a text as the inside of a byte array."""
    return ",".join(str(byte) for byte in text.encode("utf-8", "surrogateescape"))
