"""The report on a terminal: the answer first, its proof below, the verdict again last."""

from __future__ import annotations

from typing import TextIO

from vdiag.report import screen, story
from vdiag.report.escape import flat
from vdiag.report.layout import cells, cut, pad, wrap
from vdiag.report.model import Report, Run, Verdict
from vdiag.report.page import LABEL, Page
from vdiag.report.wording import VERDICT_WORDS, plural, tone, verdict_line

SCREEN = 40
"""Rows that the report tries to stay within."""
_TRY = (
    "hand vdiag the server's own output, e.g. `journalctl -u UNIT -o cat`, "
    "`kubectl logs --previous POD` or `docker logs NAME`"
)


def render(report: Report, *, width: int, color: bool, stream: TextIO) -> None:
    """Write the report for a person.

    Args:
        report: What to say.
        width: Cells of a line; prose is not set wider than 100.
        color: Paint it. Without colour rich is not imported.
        stream: Text stream; what it cannot encode is shown by its code.

    """
    for tight in range(5):
        page = Page(width, tight=tight)
        _fill(page, report)
        if page.height <= SCREEN:
            break
    page.write(stream, color=color)


def _fill(page: Page, report: Report) -> None:
    if report.verdict.status == "no-vllm":
        _nothing(page, report)
        return
    _inputs(page, report)
    run = story.shown(report)
    if run is None:
        _verdict(page, report.verdict)
    else:
        _run(page, report, run)


def _nothing(page: Page, report: Report) -> None:
    names = ", ".join(item.name for item in report.inputs) or "input"
    lines = sum(item.lines for item in report.inputs)
    text = f"{flat(names)}: nothing of vLLM's in {plural(lines, 'line')}; {_TRY}"
    for part in wrap(text, page.prose + LABEL):
        page.line((part, ""))
    for problem in story.problems(report):
        page.line((flat(problem), ""))


def _inputs(page: Page, report: Report) -> None:
    """One root cause a line where several inputs were read: verdict, count, names."""
    if len(report.verdicts) < 2:
        return
    groups = story.groups(report)
    folder = story.shared_folder([name for group in groups for name in group.names])
    heads = [flat(_head(group)) for group in groups]
    column = min(max(map(cells, heads)), page.width * 3 // 5)
    count = max(len(str(len(group.names))) for group in groups)
    room = page.width - column - count - 5
    budget = page.budget(30, 20, 12, 8, 5)
    for head, group in list(zip(heads, groups, strict=True))[:budget]:
        names = [name[len(folder) :] for name in group.names]
        page.line(
            (pad(cut(head, column), column), tone(group.verdict.status)),
            (f"  {len(names):>{count}}x  {cut(flat(story.listed(names, room)), room)}", ""),
        )
    if len(groups) > budget:
        page.line((f"and {plural(len(groups) - budget, 'other root cause')}", ""))
    page.blank()


def _head(group: story.Group) -> str:
    word = VERDICT_WORDS[group.verdict.status]
    return f"{word}: {group.cause}" if group.cause else word


def _verdict(page: Page, verdict: Verdict) -> None:
    word = VERDICT_WORDS[verdict.status]
    page.entry(
        "Verdict",
        verdict.summary,
        lead=(f"{word}:", tone(verdict.status)),
        lines=page.budget(6, 4, 3),
    )


def _run(page: Page, report: Report, run: Run) -> None:
    verdict = report.verdict
    finding = story.rooted(run, verdict)
    screen.ran(page, report, run)
    _verdict(page, verdict)
    if finding is not None:
        screen.identity(page, finding, verdict.summary)
        if finding.role == "symptom":
            screen.symptom(page, finding)
        page.blank()
        screen.remedies(page, finding)
        page.blank()
        screen.why(page, run, finding)
    elif run.first_failure is not None:
        page.blank()
        screen.failure(page, run.first_failure, run)
    screen.followed(page, run, finding)
    if finding is not None:
        screen.doubts(page, finding)
    screen.others(page, run, finding, brief=verdict.status == "clean")
    screen.collect(page, run)
    screen.lasts(page, report, run)
    if verdict.status != "clean":
        _last(page, verdict, run)


def _last(page: Page, verdict: Verdict, run: Run) -> None:
    """Repeat the verdict, because people look at the end of what was printed."""
    finding = story.rooted(run, verdict)
    text = verdict_line(verdict)
    failure = run.first_failure
    if finding is not None and finding.faulting:
        text += f", first on {finding.faulting[0]}"
    elif verdict.status == "unexplained" and failure is not None:
        text += f": {failure.type}: {failure.message}"
        if failure.process:
            text += f", first in {failure.process}"
    page.line((cut(flat(text), page.width), tone(verdict.status)))
