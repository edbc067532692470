"""Options that several commands share, and the inputs they open."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from vdiag.errors import InputError
    from vdiag.logs.sources import Source
    from vdiag.report.model import Report

_Command = TypeVar("_Command", bound=Callable[..., Any])

_PIPED_WIDTH = 100


def logs_argument(function: _Command) -> _Command:
    """Add the ``[LOG]...`` argument."""
    return click.argument("logs", nargs=-1, metavar="[LOG]...")(function)


def color_option(function: _Command) -> _Command:
    """Add ``--color``."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colour the terminal report; auto honours NO_COLOR and pipes.",
    )(function)


def _run_choice(
    _ctx: click.Context, _param: click.Parameter, given: str | None
) -> str | int | None:
    """Return ``last``, ``all``, or the number as an int."""
    if given is None or given in ("last", "all"):
        return given
    if given.isdecimal() and int(given) > 0:
        return int(given)
    raise click.BadParameter(f"{given!r} is neither last, all nor the number of a run")


def run_option(function: _Command) -> _Command:
    """Add ``--run``."""
    return click.option(
        "--run",
        "run_choice",
        metavar="last|all|N",
        callback=_run_choice,
        help="The run to report on; by default the incident: the last one that failed by itself.",
    )(function)


def chosen(report: Report, choice: str | int | None) -> list[Report]:
    """Return the report about the run chosen, or one report a run for ``all``.

    Raises click.UsageError where there is no such run.
    """
    if choice is None or not report.runs:
        return [report]
    from vdiag.report.status import about

    if choice == "all":
        return [about(report, run) for run in report.runs]
    run = report.runs[-1] if choice == "last" else report.run(int(choice))
    if run is None:
        raise click.UsageError(
            f"there is no run {choice}; the input holds {len(report.runs)} run(s)"
        )
    return [about(report, run)]


def rules_option(function: _Command) -> _Command:
    """Add ``--rules DIR``, which may be given several times."""
    return click.option(
        "--rules",
        "packs",
        multiple=True,
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="A folder with a rule pack that adds to the built-in one; may be repeated.",
    )(function)


def wants_color(choice: str) -> bool:
    """Tell whether to colour standard output."""
    if choice != "auto":
        return choice == "always"
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def width() -> int:
    """Return the columns to write for: the terminal's, ``COLUMNS``, or 100 in a pipe."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return max(40, shutil.get_terminal_size().columns)
    return _PIPED_WIDTH


def journal_options(function: _Command) -> _Command:
    """Add ``--journal``, ``--since`` and ``--until``."""
    for option in (
        click.option("--until", metavar="TIME", help="End of the --journal to read."),
        click.option(
            "--since", metavar="TIME", help="Begin of the --journal to read, e.g. -2h or today."
        ),
        click.option(
            "--journal",
            "journals",
            multiple=True,
            metavar="UNIT",
            help="Read the journal of a systemd unit; may be given several times.",
        ),
    ):
        function = option(function)
    return function


def open_logs(
    ctx: click.Context,
    logs: tuple[str, ...],
    journals: tuple[str, ...] = (),
    since: str | None = None,
    until: str | None = None,
) -> Iterator[Source]:
    """Open the inputs one by one; standard input where none is named.

    Prints the help and leaves where there is neither an argument nor a pipe.
    """
    from vdiag.logs.inputs import Journal, open_inputs

    if (since or until) and not journals:
        raise click.UsageError("--since and --until go with --journal UNIT")
    if not logs and not journals:
        if sys.stdin is None or sys.stdin.isatty():
            click.echo(ctx.get_help())
            ctx.exit(0)
        logs = ("-",)
    sources = open_inputs([*logs, *(Journal(unit, since, until) for unit in journals)])
    if sys.stderr is None or not sys.stderr.isatty():
        return sources
    from vdiag.cli.progress import watched

    return watched(sources)


def say_errors(report: Report, errors: list[InputError]) -> bool:
    """Say on standard error what could not be read, each in one line; tell whether that is so."""
    from vdiag.report.escape import visible

    for error in errors:
        click.echo(f"vdiag: {visible(str(error))}", err=True)
    for item in report.inputs:
        if not item.complete:
            text = f"{item.name}: {'; '.join(item.problems)}; the report is of what was read"
            click.echo(f"vdiag: {visible(text)}", err=True)
    for note in report.notes:
        click.echo(f"vdiag: note: {visible(note)}", err=True)
    return bool(errors) or not all(item.complete for item in report.inputs)
