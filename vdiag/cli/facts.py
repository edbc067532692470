"""``vdiag facts``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from vdiag.cli.options import (
    chosen,
    color_option,
    logs_argument,
    open_logs,
    rules_option,
    run_option,
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
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    run_choice: str | int | None,
    packs: tuple[Path, ...],
    color: str,
) -> None:
    """Print the effective configuration: asked for, resolved to, and the line that says so."""
    import vdiag
    from vdiag.engine.diagnose import Engine
    from vdiag.report import facts
    from vdiag.rules.pack import load_with

    engine = Engine.of(load_with(packs))
    sources, failed = open_logs(ctx, logs)
    report, errors = engine.report_all(sources, vdiag.__version__)
    for error in errors:
        click.echo(f"vdiag: {error}", err=True)
    if report.inputs:
        for index, one in enumerate(chosen(report, run_choice)):
            if index:
                click.echo()
            facts.render(one, width=width(), color=wants_color(color), stream=sys.stdout)
    ctx.exit(int(ExitStatus.USAGE if failed or errors or not report.runs else ExitStatus.CLEAN))
