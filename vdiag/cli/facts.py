"""``vdiag facts``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from vdiag.cli.options import (
    chosen,
    color_option,
    journal_options,
    logs_argument,
    open_logs,
    rules_option,
    run_option,
    say_errors,
    wants_color,
    width,
)
from vdiag.errors import ExitStatus

if TYPE_CHECKING:
    from pathlib import Path


@click.command("facts")
@logs_argument
@run_option
@rules_option
@journal_options
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    run_choice: str | int | None,
    packs: tuple[Path, ...],
    color: str,
    journals: tuple[str, ...],
    since: str | None,
    until: str | None,
) -> None:
    """Print the effective configuration: asked for, resolved to, and the line that says so."""
    import vdiag
    from vdiag.engine.diagnose import Engine
    from vdiag.report import facts
    from vdiag.rules.cache import load

    engine = Engine.of(load(packs))
    sources = open_logs(ctx, logs, journals, since, until)
    report, errors = engine.report_all(sources, vdiag.__version__)
    failed = say_errors(report, errors)
    if report.inputs:
        for index, one in enumerate(chosen(report, run_choice)):
            if index:
                click.echo()
            facts.render(one, width=width(), color=wants_color(color), stream=sys.stdout)
    ctx.exit(int(ExitStatus.USAGE if failed or not report.runs else ExitStatus.CLEAN))
