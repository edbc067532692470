"""The list of all rules, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from vdiag.report.escape import flat
from vdiag.report.json import dumps, plain
from vdiag.report.layout import cells, cut, pad
from vdiag.report.page import Page

_HEAD = ("id", "family", "severity", "at most", "title")


@dataclass(frozen=True, slots=True)
class RuleRow:
    """What the list says of one rule; ``ceiling`` is the highest status it can reach."""

    id: str
    title: str
    family: str
    severity: str
    ceiling: str = "confirmed"


def render_table(rows: Sequence[RuleRow], *, width: int, color: bool, stream: TextIO) -> None:
    """Write one rule a line, in the order given; titles are cut to the width."""
    page = Page(width)
    texts = [(row.id, row.family, row.severity, row.ceiling) for row in rows]
    sizes = [max(map(cells, column)) for column in zip(_HEAD[:4], *texts, strict=True)]
    title = max(page.width - sum(sizes) - 2 * len(sizes), 0)
    page.line(
        *((pad(head, size + 2), "dim") for head, size in zip(_HEAD, [*sizes, 0], strict=True))
    )
    for row, columns in zip(rows, texts, strict=True):
        first, *rest = (
            pad(flat(text), size + 2) for text, size in zip(columns, sizes, strict=True)
        )
        page.line((first, "bold"), ("".join(rest), ""), (cut(flat(row.title), title), ""))
    page.write(stream, color=color)


def render_json(rows: Sequence[RuleRow]) -> str:
    """Return the rows as a JSON list of objects, in the order given."""
    return dumps([plain(row) for row in rows])
