"""Cleaning of log text: colour, control sequences, carriage returns."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|[@-Z\\^_])"
)

MAX_TEXT = 4096
"""Bytes of one stored line, as the report's contract has it."""


def strip_escapes(text: str) -> str:
    """Return the text without ANSI and OSC escape sequences."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def clip(text: str) -> str:
    """Cut a text so that it encodes to at most 4 KiB, on a character boundary."""
    if len(text) * 4 <= MAX_TEXT:
        return text
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT:
        return text
    return raw[:MAX_TEXT].decode("utf-8", "ignore")
