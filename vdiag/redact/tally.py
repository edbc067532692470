"""What a redaction did, in kinds and counts; never a value."""

from __future__ import annotations

from vdiag.redact.engine import Redactor
from vdiag.redact.kinds import KINDS


def tally(redactor: Redactor) -> str:
    """Return one line a kind: how many different values, in how many places."""
    counts, replaced = redactor.counts, redactor.replaced
    if not counts:
        return "redacted: nothing found\n"
    order = [*KINDS, *(kind for kind in counts if kind not in KINDS)]
    rows = [("kind", "values", "places", "")]
    rows += [
        (
            kind,
            str(counts[kind]),
            str(replaced.get(kind, 0)),
            KINDS.get(kind, "of your own patterns"),
        )
        for kind in order
        if kind in counts
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join(
        f"{kind:<{widths[0]}}  {values:>{widths[1]}}  {places:>{widths[2]}}  {what}".rstrip() + "\n"
        for kind, values, places, what in rows
    )
