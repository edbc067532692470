"""``vdiag redact``."""

from __future__ import annotations

import click

from vdiag.cli.options import open_logs
from vdiag.cli.output import opened, same_file
from vdiag.cli.redaction import make_redactor, redaction_options, say
from vdiag.errors import ExitStatus, InputError
from vdiag.report.escape import visible


@click.command("redact")
@click.argument("log", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
@redaction_options
@click.pass_context
def command(
    ctx: click.Context,
    log: str | None,
    output: str | None,
    redaction_report: bool,
    redact_extra: tuple[str, ...],
    redact_models: bool,
) -> None:
    """Write a copy of a log without secrets, prompts, names and addresses.

    LOG is a file of any size, or - for standard input, which is also read where no LOG is
    named. Every line stays in its place, so that line numbers of a report still fit; each
    value is replaced by the same token throughout.
    """
    from vdiag.redact.stream import LogRedactor

    if log is not None and same_file(log, output):
        raise click.UsageError(f"{output} is the log itself; name another file")
    redactor = make_redactor(redact_extra, models=redact_models)
    troubles: list[str] = []
    with opened(output) as stream:
        for count, source in enumerate(open_logs(ctx, (log,) if log is not None else ())):
            if count:
                raise InputError(f"{log}: holds several logs; redact them one by one")
            chunks = (bytes(chunk.data[: chunk.size]) for chunk in source.chunks())
            try:
                for line in LogRedactor(redactor).feed(chunks):
                    stream.write(line)
            finally:
                source.close()
            if not source.complete:
                troubles.append(f"{source.name}: {'; '.join(source.problems)}")
    say(redactor, wanted=redaction_report)
    for trouble in troubles:
        click.echo(f"vdiag: {visible(trouble)}; the copy is of what was read", err=True)
    if troubles:
        ctx.exit(int(ExitStatus.USAGE))
