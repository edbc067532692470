"""Shows the results of a pack's test: a table with what failed below it, or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from vdiag.report.escape import flat
from vdiag.report.layout import cells, pad
from vdiag.report.page import Page, Style

if TYPE_CHECKING:
    from vdiag.ruletest.run import Results

_HEAD = ("rule", "hits", "near misses", "elsewhere")


def render(results: Results, *, width: int, color: bool, stream: TextIO) -> None:
    """Write a rule a line, ``passed/all``; then one line for everything that failed."""
    rows = [
        (
            one.rule,
            f"{one.hits - one.hits_failed}/{one.hits}",
            f"{one.near_misses - one.near_misses_failed}/{one.near_misses}",
            str(one.elsewhere),
            one.passed,
        )
        for one in results.rules.values()
    ]
    columns = [_HEAD, *(row[:4] for row in rows)]
    sizes = [max(cells(line[at]) for line in columns) + 2 for at in range(4)]
    page = Page(width)
    page.line(*((pad(head, size), "dim") for head, size in zip(_HEAD, sizes, strict=True)))
    for row in rows:
        style: Style = "" if row[4] else "bold"
        page.line(
            *((pad(flat(str(text)), size), style) for text, size in zip(row, sizes, strict=False))
        )
    page.write(stream, color=color)
    for failure in results.failures:
        stream.write(
            flat(f"{failure.rule}: {failure.kind}: {failure.sample}: {failure.message}") + "\n"
        )
    said = f"{len(results.failures)} failed" if results.failures else "all as expected"
    stream.write(f"{results.samples} samples, {len(results.rules)} rules: {said}\n")


def render_json(results: Results) -> str:
    """Return the results as one JSON object."""
    data = {
        "pack": results.pack,
        "passed": not results.failures,
        "samples": results.samples,
        "rules": [asdict(one) | {"passed": one.passed} for one in results.rules.values()],
        "failures": [asdict(one) for one in results.failures],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
