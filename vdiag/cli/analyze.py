"""``vdiag analyze``."""

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

    from vdiag.report.model import Report


@click.command("analyze")
@logs_argument
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["terminal", "markdown", "json"]),
    default="terminal",
    show_default=True,
    help="Form of the report: for people, for an issue, for programs.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["problem", "risk"]),
    default="problem",
    show_default=True,
    help="Exit status 1 for a problem only, or also where the server is at risk.",
)
@run_option
@rules_option
@journal_options
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    format_: str,
    fail_on: str,
    run_choice: str | int | None,
    packs: tuple[Path, ...],
    color: str,
    journals: tuple[str, ...],
    since: str | None,
    until: str | None,
) -> None:
    """Diagnose logs of vLLM servers: root cause, proof, and the fix that applies.

    LOG is a file, a folder, a pattern, or - for standard input, which is also read where no
    LOG is named. Files and pipes may be packed (gzip, bzip2, xz, zstd, tar, zip) and in UTF-16;
    the files of a rotated log are read as one.

    Exit status: 0 nothing is wrong, 1 a problem was found, 2 wrong usage, an input that cannot
    be read to its end, or nothing of vLLM's in the input.
    """
    import vdiag
    from vdiag.engine.diagnose import Engine
    from vdiag.report.status import exit_status
    from vdiag.rules.cache import load

    engine = Engine.of(load(packs))
    sources = open_logs(ctx, logs, journals, since, until)
    report, errors = engine.report_all(sources, vdiag.__version__)
    failed = say_errors(report, errors)
    reports = chosen(report, run_choice)
    if run_choice == "all" and format_ == "json":
        reports = [report]  # it holds every run
    if report.inputs:
        for index, one in enumerate(reports):
            if index:
                click.echo()
            _write(one, format_, color)
    status = max(exit_status(one, fail_on_risk=fail_on == "risk") for one in reports)
    if failed:
        status = ExitStatus.USAGE
    ctx.exit(int(status))


def _write(report: Report, format_: str, color: str) -> None:
    """Render a report on standard output."""
    if format_ == "json":
        from vdiag.report.json import render as render_json

        sys.stdout.write(render_json(report))
    elif format_ == "markdown":
        from vdiag.redact import redact
        from vdiag.report.markdown import render as render_markdown

        sys.stdout.write(render_markdown(redact(report)))
    else:
        from vdiag.report.terminal import render

        render(report, width=width(), color=wants_color(color), stream=sys.stdout)
