"""GitHub-flavoured Markdown that no text from a log can break out of.

Outside fences everything doubtful becomes a code span: there GitHub makes no mention, link,
emoji or HTML. Inside fences the fence is longer than any run of backticks in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vdiag.report.escape import flat, visible
from vdiag.report.layout import ELLIPSIS

_BACKTICKS = re.compile(r"`+")
_CODE = re.compile(r"`([^`]+)`")
_EDGES = re.compile(r"^([(\"',;:!?]*)(.*?)([)\"',.;:!?]*)$", re.DOTALL)
_DOUBT = re.compile(
    r"""[@<>\[\]`*_~|\\$&{}^]    # mentions, HTML, links, emphasis, tables, math, entities
    | \#\w                       # issue numbers
    | ://|\bwww\.|\b(?:mailto|xmpp):
    | \bGH-\d
    | :(?!\d\d:)[\w+-]+:         # emoji, not a time of day
    | \b[0-9a-fA-F]{7,40}\b      # commits
    """,
    re.VERBOSE,
)
_BLOCK = re.compile(r"^(?:[-+=#>]+|\d+[.)])$|^(?:[-=]{2,}|#+|>)")
LIMIT = 400
"""Characters of a log line that a report shows."""


def short(text: str, limit: int = LIMIT) -> str:
    """Return at most ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def code(text: str) -> str:
    """Return a code span that holds the text as it is."""
    text = flat(text)
    if not text:
        return ""
    runs = [len(run) for run in _BACKTICKS.findall(text)]
    if not runs:
        return f"`{text}`"
    ticks = "`" * next(size for size in range(1, len(text) + 2) if size not in runs)
    return f"{ticks} {text} {ticks}"


def _word(word: str, *, first: bool) -> str:
    if not _DOUBT.search(word) and not (first and _BLOCK.search(word)):
        return word
    match = _EDGES.match(word)
    if match is None or not match.group(2):
        return code(word)
    before, core, after = match.groups()
    return f"{before}{code(core)}{after}"


def prose(text: str, limit: int = 2000) -> str:
    """Return prose in which only code spans are marked up.

    What the rules' authors put in backticks stays code; any other word that could mean
    something to GitHub becomes code.
    """
    text = short(flat(text), limit)
    parts: list[str] = []
    for index, part in enumerate(_CODE.split(text)):
        if index % 2:
            parts.append(code(part))
            continue
        words = part.split(" ")
        parts.append(
            " ".join(
                _word(word, first=not parts and place == 0) for place, word in enumerate(words)
            )
        )
    joined = ""
    for part in parts:  # two code spans that touch would join their ticks
        gap = " " if joined.endswith("`") and part.startswith("`") else ""
        joined += gap + part
    return joined


def cell(text: str) -> str:
    """Return text for a table cell: its pipes do not end it."""
    return text.replace("\\|", "\\x7c").replace("|", "\\|")


def fence(lines: Iterable[str], language: str = "text") -> str:
    """Return a fenced block that none of its lines can close."""
    shown = [visible(line) for line in lines]
    longest = max((len(run) for line in shown for run in _BACKTICKS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}{language}", *shown, ticks])


def details(summary: str, body: list[str]) -> list[str]:
    """Return a folded part; ``summary`` is our own text, without anything from a log."""
    return [f"<details><summary>{summary}</summary>", *body, "</details>"]
