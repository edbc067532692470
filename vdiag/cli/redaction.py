"""Options that say what is redacted, for every command that writes what a log said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from vdiag.redact import Redactor

_Command = TypeVar("_Command", bound=Callable[..., Any])


def redaction_options(function: _Command) -> _Command:
    """Add ``--redaction-report``, ``--redact-extra`` and ``--redact-models``."""
    for option in (
        click.option(
            "--redact-models",
            is_flag=True,
            help="Replace public model ids (org/name) too, not only private paths.",
        ),
        click.option(
            "--redact-extra",
            metavar="FILE",
            multiple=True,
            help="Replace more: lines of `kind: regular expression`.",
        ),
        click.option(
            "--redaction-report",
            is_flag=True,
            help="Say on standard error what was replaced: kinds and counts, never values.",
        ),
    ):
        function = option(function)
    return function


def make_redactor(extra: tuple[str, ...], *, models: bool) -> Redactor:
    """Make what replaces; raises InputError where a file of patterns is broken."""
    from vdiag.redact.engine import Redactor
    from vdiag.redact.extra import load
    from vdiag.redact.kinds import DEFAULT, WITH_MODELS

    own = [finder for path in extra for finder in load(path)]
    return Redactor([*own, *(WITH_MODELS if models else DEFAULT)])


def say(redactor: Redactor | None, *, wanted: bool) -> None:
    """Print the redaction report on standard error, if it is wanted."""
    if not wanted:
        return
    from vdiag.redact.tally import tally

    click.echo(
        tally(redactor) if redactor else "redacted: nothing, redaction is off\n", err=True, nl=False
    )
