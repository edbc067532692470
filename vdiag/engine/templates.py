"""Error and warning records that no rule knows, reduced to templates and counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vdiag.engine.lane import code_place
from vdiag.engine.observation import RunData
from vdiag.report.model import Unexplained

if TYPE_CHECKING:
    from vdiag.engine.failure import Failures
    from vdiag.logs.blocks import Block

_MAX_TEMPLATES = 20
_MAX_LENGTH = 200
_VARIABLE = (
    (re.compile(r"'[^']*'|\"[^\"]*\""), "'…'"),
    (re.compile(r"(?:/[\w.@+-]+){2,}/?"), "<path>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{12,}\b"), "<hex>"),
    (re.compile(r"\b(?:cmpl|chatcmpl|req|resp)-[\w-]+"), "<request>"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "<n>"),
)


def template(text: str) -> str:
    """Replace what varies in a message by placeholders."""
    for pattern, name in _VARIABLE:
        text = pattern.sub(name, text)
    line = " ".join(text.split())
    if len(line) <= _MAX_LENGTH:
        return line
    return line[: _MAX_LENGTH + 1].rpartition(" ")[0] + " …"  # no half of a secret


def unexplained(run: RunData, failures: Failures, explained: set[int]) -> list[Unexplained]:
    """Count the blocks that no signal knows, most severe first, in order of appearance."""
    settled = {
        failure.block.id
        for failure in failures.all
        if failure.block is not None and failure.kind not in ("own", "survived")
    }
    found: dict[tuple[str, str], Unexplained] = {}
    uncounted = dict(run.places)
    for block in run.blocks:
        uncounted[code_place(block)] -= 1
    for block in run.blocks:
        if block.signals or block.id in explained or block.id in settled:
            continue
        level = "ERROR" if block.raw else block.first.level
        if level not in ("WARNING", "ERROR", "CRITICAL"):
            continue
        text = _headline(block)
        if not text or (failures.clean_stop and _after_stop(run, block)):
            continue
        key = (level, template(text))
        # Blocks that were not kept count as the first one kept of their place.
        count = 1 + uncounted.pop(code_place(block), 0)
        known = found.get(key)
        if known is None:
            found[key] = Unexplained(key[1], level, count, run.block_sightings[block.id].evidence())
        else:
            known.count += count
    rank = {"CRITICAL": 0, "ERROR": 1, "WARNING": 2}
    ordered = sorted(found.values(), key=lambda one: (rank[one.level], one.first.line))
    return ordered[:_MAX_TEMPLATES]


def _headline(block: Block) -> str:
    if block.raw and block.last is not None:
        return f"{block.last.type}: {block.last.useful_text}"
    return block.first.text.strip()


def _after_stop(run: RunData, block: Block) -> bool:
    return run.stop is not None and block.place.seq > run.stop.seq
