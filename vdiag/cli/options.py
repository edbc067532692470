"""Options that several commands share, and the inputs they open."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vdiag.errors import InputError

if TYPE_CHECKING:
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


def open_logs(ctx: click.Context, logs: tuple[str, ...]) -> tuple[list[Source], bool]:
    """Open the inputs; standard input where none is named.

    Prints the help and leaves where there is neither an argument nor a pipe. An input that
    cannot be opened is said in one line on standard error, and the others are still read:
    the second value tells whether that happened.
    """
    from vdiag.logs.sources import open_path

    if not logs:
        if sys.stdin is None or sys.stdin.isatty():
            click.echo(ctx.get_help())
            ctx.exit(0)
        logs = ("-",)
    sources, failed = [], False
    for name in logs:
        try:
            sources.append(open_path(name))
        except InputError as error:
            click.echo(f"vdiag: {error}", err=True)
            failed = True
    return sources, failed
