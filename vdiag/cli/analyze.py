"""``vdiag analyze``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

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
from vdiag.cli.output import opened_text
from vdiag.cli.redaction import make_redactor, redaction_options, say
from vdiag.errors import ExitStatus

if TYPE_CHECKING:
    from pathlib import Path

    from vdiag.report.model import Report

_FOR_ISSUES = ("markdown", "github-comment")


@click.command("analyze")
@logs_argument
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["terminal", "markdown", "github-comment", "json"]),
    default="terminal",
    show_default=True,
    help="Form of the report: for people, for an issue, its short form, for programs.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the report to a file.")
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Replace secrets, prompts, names and addresses. By default on for Markdown and for "
    "--output, off for the terminal and for JSON on standard output.",
)
@redaction_options
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
    output: str | None,
    redact: bool | None,
    redaction_report: bool,
    redact_extra: tuple[str, ...],
    redact_models: bool,
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

    if redact is None:
        asked = bool(redact_extra) or redact_models
        redact = asked or output not in (None, "-") or format_ in _FOR_ISSUES
    redactor = make_redactor(redact_extra, models=redact_models) if redact else None
    engine = Engine.of(load(packs))
    sources = open_logs(ctx, logs, journals, since, until)
    report, errors = engine.report_all(sources, vdiag.__version__)
    failed = say_errors(report, errors)
    reports = chosen(report, run_choice)
    if run_choice == "all" and format_ == "json":
        reports = [report]  # it holds every run
    if report.inputs:
        if redactor is not None:
            from vdiag.redact import redact as redacted

            reports = [redacted(one, redactor=redactor) for one in reports]
        with opened_text(output) as stream:
            painted = wants_color(color) if output in (None, "-") else color == "always"
            for index, one in enumerate(reports):
                if index:
                    stream.write("\n")
                _write(one, format_, stream, color=painted)
        say(redactor, wanted=redaction_report)
    status = max(exit_status(one, fail_on_risk=fail_on == "risk") for one in reports)
    if failed:
        status = ExitStatus.USAGE
    ctx.exit(int(status))


def _write(report: Report, format_: str, stream: TextIO, *, color: bool) -> None:
    """Render a report."""
    if format_ == "json":
        from vdiag.report.json import render as render_json

        stream.write(render_json(report))
    elif format_ in _FOR_ISSUES:
        from vdiag.report.markdown import render as render_markdown

        stream.write(render_markdown(report, brief=format_ == "github-comment"))
    else:
        from vdiag.report.terminal import render

        render(report, width=width(), color=color, stream=stream)
