"""``vdiag explain``."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

import click

from vdiag.cli.options import color_option, rules_option, wants_color, width

if TYPE_CHECKING:
    from pathlib import Path

    from vdiag.rules.schema import Diagnosis, Symptom


@click.command("explain")
@click.argument("id")
@rules_option
@color_option
def command(id: str, packs: tuple[Path, ...], color: str) -> None:
    """Print a diagnosis or a symptom in full: conclusion, fix, caveats, cause, steps.

    ID is one that a report names; ``vdiag rules list`` lists them all.
    """
    from vdiag.report.explain import render
    from vdiag.rules.cache import load

    pack = load(packs)
    known: dict[str, Diagnosis | Symptom] = {**pack.diagnoses, **pack.symptoms}
    if id not in known:
        close = difflib.get_close_matches(id, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "vdiag rules list shows all ids"
        raise click.UsageError(f"no diagnosis or symptom is called {id!r}; {hint}")
    render(known[id], width=width(), color=wants_color(color), stream=sys.stdout)
