"""How many planted private values redaction catches, and how many look-alikes it keeps."""

from __future__ import annotations

from tests.redact.look_alikes import LOOK_ALIKES, PREFIX
from tests.redact.planted import KINDS, POSITIONS, plant, survivors
from vdiag.redact import Redactor
from vdiag.redact.stream import LogRedactor

SEEDS = 5
TEXT = """\
Private values of every kind are made up and planted in every place of a log; `vdiag redact`
reads it, and no part of a value of seven characters or more (all of a shorter one) may be left.
Caught are values of which nothing is left. *Cut inside* means that the collector's cut goes
through the value. Look-alikes are texts that must stay as they are, alone and in a record.

The kinds and forms are those in `tests/redact/planted.py`. A form that is not among them may get
through: redaction knows names, shapes and places, not meanings. Read a report before you post it.
"""


def _caught() -> dict[tuple[str, str], int]:
    caught = {}
    for kind in KINDS:
        for place in POSITIONS:
            count = 0
            for seed in range(SEEDS):
                log, secrets = plant(kind, place, seed)
                made = b"".join(LogRedactor(Redactor()).feed([log.encode()])).decode()
                count += not survivors(made, secrets)
            caught[kind, place] = count
    return caught


def _table(head: tuple[str, str, str], rows: list[tuple[str, int, int]]) -> str:
    total = ("**all**", sum(row[1] for row in rows), sum(row[2] for row in rows))
    lines = [f"| {' | '.join(head)} |", "|---|--:|--:|"]
    return "\n".join([*lines, *(f"| {a} | {b} | {c} |" for a, b, c in [*rows, total])])


def redaction() -> str:
    """Return the tables: by kind, by place, and the look-alikes."""
    caught = _caught()
    kinds = [
        (kind, SEEDS * len(POSITIONS), sum(caught[kind, place] for place in POSITIONS))
        for kind in KINDS
    ]
    places = [
        (place, SEEDS * len(KINDS), sum(caught[kind, place] for kind in KINDS))
        for place in POSITIONS
    ]
    alike = []
    for kind, texts in LOOK_ALIKES.items():
        both = [*texts, *(PREFIX + text for text in texts)]
        alike.append((kind, len(both), sum(Redactor().text(text) == text for text in both)))
    return "\n\n".join(
        [
            TEXT.rstrip(),
            _table(("kind", "planted", "caught"), kinds),
            _table(("place", "planted", "caught"), places),
            _table(("look-alikes", "texts", "kept"), alike),
        ]
    )
