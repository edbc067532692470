"""The facts of a run as a table: asked for, resolved to, and the line that says so."""

from __future__ import annotations

from typing import TextIO

from vdiag.report import story
from vdiag.report.escape import flat, visible
from vdiag.report.layout import cells, cut, pad, squeeze
from vdiag.report.model import Fact, Report, Run
from vdiag.report.page import Page, Span
from vdiag.report.wording import place, value, what_ran

_HEAD = ("fact", "asked for", "resolved to", "basis", "from")
_LEAST = 10
Row = tuple[str, str, str, str, str, str]
_TEXT = 24
"""Cells that the line's own text needs to be worth showing."""


def render(report: Report, *, width: int, color: bool, stream: TextIO) -> None:
    """Write the facts of the run that the report is about.

    ``from`` is the line (``input:line`` where a run has several inputs), or for a derived fact
    the reasoning. Where the width allows, the line's own text follows. A value that another
    line contradicts has the others below.
    """
    page = Page(width)
    chosen = story.shown(report)
    if chosen is None or not chosen.facts:
        where = f"run {chosen.id}" if chosen is not None else "the input"
        page.line((f"no facts in {where}", ""))
    else:
        _table(page, chosen)
    page.write(stream, color=color)


def _rows(run: Run) -> list[Row]:
    rows: list[Row] = []
    for name, fact in run.facts.items():
        rows.append(
            (
                flat(name),
                flat(value(fact.asked)),
                flat(value(fact.value)),
                fact.basis,
                *_source(fact, named=len(run.inputs) > 1),
            )
        )
        for other in fact.conflicts:
            first = other.evidence[0] if other.evidence else None
            where = place(first, named=len(run.inputs) > 1) if first else "-"
            text = visible(first.text.strip()) if first else ""
            rows.append(("  but also", "", flat(value(other.value)), "stated", flat(where), text))
    return rows


def _source(fact: Fact, *, named: bool) -> tuple[str, str]:
    if not fact.evidence:
        return "-", flat(fact.reason or "")
    first = fact.evidence[0]
    text = visible(first.text.strip())
    if fact.reason:
        text = f"{flat(fact.reason)}: {text}"
    elif first.focus:
        text = visible(first.text[first.focus :].strip())
    return flat(place(first, named=named)), text


def _columns(rows: list[Row], width: int) -> list[int]:
    """Return the widths of the first five columns; the widest give way first."""
    sizes = [max(cells(row[index]) for row in rows) for index in range(5)]
    sizes = [max(size, cells(head)) for size, head in zip(sizes, _HEAD, strict=True)]
    while sum(sizes) + 2 * len(sizes) > width and max(sizes) > _LEAST:
        sizes[sizes.index(max(sizes))] -= 1
    return sizes


def _table(page: Page, run: Run) -> None:
    page.line((flat(what_ran(run)), "bold"))
    page.blank()
    rows = _rows(run)
    sizes = _columns(rows, page.width)
    left = page.width - sum(sizes) - 2 * len(sizes)
    page.line(*((pad(head, size + 2), "dim") for head, size in zip(_HEAD, sizes, strict=True)))
    for row in rows:
        conflict = row[0].startswith("  ")
        spans: list[Span] = [
            (pad(squeeze(text, size) if index else cut(text, size), size + 2), "")
            for index, (text, size) in enumerate(zip(row[:5], sizes, strict=True))
        ]
        spans[2] = (spans[2][0], "warn" if conflict else "bold")
        spans[4] = (spans[4][0], "dim")
        if row[5] and left >= _TEXT:
            spans.append((squeeze(row[5], left), "dim"))
        page.line(*spans)
