"""The ``vdiag`` command: commands are imported when they are run, errors are one line."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

import vdiag
from vdiag.errors import ExitStatus, VdiagError

_COMMANDS = {
    "analyze": "Diagnose logs: root cause, proof, and the fix that applies.",
    "facts": "Print the server's effective configuration and the line that says so.",
    "redact": "Write a copy of a log without secrets, prompts, names and addresses.",
    "explain": "Print a diagnosis or a symptom in full.",
    "rules": "List, check and write the rules that vdiag knows.",
    "schema": "Print the JSON Schema of the report.",
}
"""Commands and their one-line help; their modules are imported only when they are run."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their use."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"vdiag.cli.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)  # noqa: S101  # each module defines one
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say what to type where a command does not exist (a log given without ``analyze``)."""
        name = args[0]
        if name not in _COMMANDS and (name == "-" or Path(name).exists()):
            raise click.UsageError(f"{name!r} is no command; did you mean: vdiag analyze {name}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


_EXAMPLES = """\b
Examples:
  vdiag analyze server.log
  vdiag analyze bundle.tar.gz logs/
  vdiag analyze --journal vllm --since -2h
  kubectl logs --previous POD | vdiag analyze -
  vdiag analyze server.log -f markdown | gh issue comment 123 -F -
"""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EXAMPLES,
)
@click.version_option(vdiag.__version__, prog_name="vdiag", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an internal error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Hand it the log of a broken vLLM server and it names the root cause."""
    ctx.obj = {"debug": debug}


def run() -> NoReturn:
    """Run the command line and leave with its exit status; no traceback reaches the user."""
    debug = "--debug" in sys.argv[1:]
    if debug:  # accepted anywhere on the line
        sys.argv = [sys.argv[0], *(arg for arg in sys.argv[1:] if arg != "--debug")]
    if sys.stdout is None:
        click.echo("vdiag: standard output is closed; there is nowhere to report to", err=True)
        sys.exit(int(ExitStatus.USAGE))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # an ASCII locale must not stop a report
            reconfigure(errors="backslashreplace")
    try:
        status = main.main(standalone_mode=False, prog_name="vdiag")
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        status = stop.exit_code
    except click.ClickException as error:
        error.show()
        status = ExitStatus.USAGE
    except (click.Abort, KeyboardInterrupt):
        status = 130
    except VdiagError as error:
        if debug:
            raise
        click.echo(f"vdiag: {error}", err=True)
        status = error.status
    except BrokenPipeError:
        # The reader went away (``| head``): not an error of ours, and nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except OSError as error:
        if debug:
            raise
        click.echo(f"vdiag: cannot write the report: {(error.strerror or '').lower()}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitStatus.USAGE
    except Exception as error:  # the last line of defence, by design
        if debug:
            raise
        click.echo(
            f"vdiag: internal error: {type(error).__name__}: {error}; run again with --debug "
            "and report it with the traceback",
            err=True,
        )
        status = ExitStatus.USAGE
    sys.exit(int(status or 0))
