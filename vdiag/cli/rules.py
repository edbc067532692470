"""``vdiag rules``: list, print, lint, test, begin and describe rules."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vdiag.cli.options import color_option, rules_option, wants_color, width
from vdiag.errors import ExitStatus, PackError

_format_option = click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    show_default=True,
)
_folder = click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))


@click.group("rules")
def command() -> None:
    """List, check and write the rules that vdiag knows.

    DIR is a folder with a rule pack; without one the built-in rules are meant.
    """


@command.command("list")
@_format_option
@rules_option
@color_option
def list_(format_: str, packs: tuple[Path, ...], color: str) -> None:
    """List every diagnosis and symptom: id, family, severity and title."""
    from vdiag.report import overview
    from vdiag.rules.cache import load

    pack = load(packs)
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


@command.command("literals")
@rules_option
def literals_(packs: tuple[Path, ...]) -> None:
    """Print the literals that the scan looks for, one a line, as `rg -F -f` takes them."""
    from vdiag.engine.compiled import CompiledPack
    from vdiag.rules.cache import load

    for literal in sorted(CompiledPack(load(packs)).literals):
        sys.stdout.buffer.write(literal + b"\n")


@command.command("lint")
@_folder
@_format_option
@click.pass_context
def lint_(ctx: click.Context, folder: Path | None, format_: str) -> None:
    """Check that rules say what they mean: names, patterns, conditions, samples, references.

    Prints everything that is wrong, one `file:line: message` a line. Exit status: 0 nothing is
    wrong, 1 something is, 2 DIR is no rule pack.
    """
    from dataclasses import asdict

    from vdiag.rules.lint import lint

    problems = lint(folder)
    if format_ == "json":
        import json

        click.echo(json.dumps([asdict(one) for one in problems], indent=2, ensure_ascii=False))
    else:
        from vdiag.report.escape import flat

        for one in problems:
            click.echo(flat(str(one)))
    ctx.exit(int(ExitStatus.PROBLEM if problems else ExitStatus.CLEAN))


@command.command("test")
@_folder
@_format_option
@color_option
@click.pass_context
def test_(ctx: click.Context, folder: Path | None, format_: str, color: str) -> None:
    """Run the samples: each rule finds its own, misses its near misses, and claims no other's.

    Exit status: 0 all is as expected, 1 something is not, 2 DIR is no rule pack or a broken one.
    """
    from vdiag.ruletest import show
    from vdiag.ruletest.run import run_tests

    results = run_tests(folder)
    if format_ == "json":
        sys.stdout.write(show.render_json(results))
    else:
        show.render(results, width=width(), color=wants_color(color), stream=sys.stdout)
    ctx.exit(int(ExitStatus.PROBLEM if results.failures else ExitStatus.CLEAN))


@command.command("new")
@click.argument("id")
@click.option("--family", default="local", show_default=True, help="The rule's family.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    help="The pack's folder, made where there is none. By default the pack in the current "
    "folder or in ./rules.",
)
def new_(id: str, family: str, folder: Path | None) -> None:
    """Write the skeleton of a rule: a signal, a diagnosis and its samples, with TODOs."""
    from vdiag.rules.scaffold import new_rule

    if folder is None:
        found = [path for path in (Path(), Path("rules")) if (path / "pack.yaml").is_file()]
        if not found:
            raise PackError("no rule pack in this folder; name one with --dir (it is made)")
        folder = found[0]
    for path in new_rule(folder, id, family):
        click.echo(f"wrote {path}")
    click.echo(f"next: answer the TODOs that `vdiag rules lint {folder}` lists")


@command.command("schema")
@click.argument(
    "kind",
    type=click.Choice(["pack", "signal", "fact", "release", "symptom", "diagnosis", "case"]),
)
def schema_(kind: str) -> None:
    """Print the JSON Schema of a kind of rule file, for editors that complete and check."""
    import json

    from vdiag.rules.schemas import json_schema

    click.echo(json.dumps(json_schema(kind), indent=2, ensure_ascii=False))
