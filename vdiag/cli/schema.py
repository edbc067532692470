"""``vdiag schema``."""

from __future__ import annotations

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of what ``vdiag analyze -f json`` prints."""
    import json

    from vdiag.report.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
