"""``vdiag rules``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vdiag.cli.options import color_option, rules_option, wants_color, width


@click.group("rules")
def command() -> None:
    """List the diagnoses and symptoms that vdiag knows."""


@command.command("list")
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    show_default=True,
)
@rules_option
@color_option
def list_(format_: str, packs: tuple[Path, ...], color: str) -> None:
    """List every diagnosis and symptom: id, family, severity and title."""
    from vdiag.report import overview
    from vdiag.rules.pack import load_with

    pack = load_with(packs)
    rows = [
        overview.RuleRow(
            rule.id, rule.title, rule.family, rule.severity, rule.ceiling or "confirmed"
        )
        for rule in pack.diagnoses.values()
    ]
    rows += [
        overview.RuleRow(symptom.id, symptom.title, "symptom", symptom.severity)
        for symptom in pack.symptoms.values()
    ]
    if format_ == "json":
        sys.stdout.write(overview.render_json(rows))
    else:
        overview.render_table(rows, width=width(), color=wants_color(color), stream=sys.stdout)
