"""The parts of the terminal report, one function each, in the order they are shown.

Every part has a budget of lines, so that the whole stays one screen at 80 columns. What a
budget cuts is in ``vdiag explain``, in the Markdown report and in the JSON report.
"""

from __future__ import annotations

from vdiag.report import story
from vdiag.report.escape import flat, visible
from vdiag.report.layout import cells, cut, pad, squeeze
from vdiag.report.model import Condition, Evidence, Finding, FirstFailure, Remedy, Report, Run
from vdiag.report.page import LABEL, Page
from vdiag.report.wording import (
    CUT_STREAMS,
    applies,
    because,
    clock,
    life,
    place,
    plural,
    sentence,
    what_ran,
)

_STATE_ROWS = 6
_FAULT_ROWS = 3
_PROCESS = 24
_FAULTING = 8


def ran(page: Page, report: Report, run: Run) -> None:
    """Say what ran, when it was ready and when it died."""
    where = ""
    if len(report.inputs) > 1:
        where = f"{', '.join(run.inputs)}, run {run.id} of {len(report.runs)}: "
    elif len(report.runs) > 1:
        where = f"run {run.id} of {len(report.runs)}: "
    what = where + what_ran(run)
    read = story.read_as(report, run)
    if read and cells(f"{what}; read as {read}") <= page.prose:  # never a line more
        what = f"{what}; read as {read}"
    page.entry("Ran", what, lines=2)
    times = life(run)
    if times:
        page.entry("", times, lines=2)


def identity(page: Page, finding: Finding, summary: str) -> None:
    """Name the rule, and the processes that faulted in their order."""
    text = finding.id
    if len(finding.faulting) > 1 or any(name not in summary for name in finding.faulting):
        left = len(finding.faulting) - _FAULTING
        more = f" and {left} more" if left > 0 else ""
        text += f"; faulted: {', '.join(finding.faulting[:_FAULTING])}{more}"
    page.entry("", text, lines=2)


def symptom(page: Page, finding: Finding) -> None:
    """Say what the symptom proves, what it does not, and what to do next."""
    if finding.cause:
        page.entry("Proves", sentence(finding.cause), lines=3)
    if finding.does_not_prove:
        page.entry("Proves not", sentence(finding.does_not_prove), lines=3)
    if finding.next_step:
        page.entry("Next", sentence(finding.next_step), lines=4)


_LABELS = {
    "workaround": "Fix",
    "fix": "Fix",
    "mitigation": "Mitigate",
    "diagnostic": "Find out",
}


def _remedy(page: Page, remedy: Remedy) -> None:
    label = _LABELS[remedy.kind]
    page.entry(label, sentence(remedy.text), lines=page.budget(4, 2, 2))
    if remedy.command:
        page.command("", remedy.command)
    where = f" Set it in {because(remedy.where).removeprefix('in ')}." if remedy.where else ""
    page.entry("", applies(remedy) + where, lines=page.budget(4, 3, 2))
    if remedy.cost:
        page.entry("", f"Cost: {sentence(remedy.cost)}", lines=page.budget(3, 2, 1))
    if remedy.verify:
        page.entry("", f"Check: {sentence(remedy.verify)}", lines=page.budget(3, 2, 1))


def remedies(page: Page, finding: Finding) -> None:
    """Give the fix that applies, the root fix, the others with their reason, the non-fixes."""
    cures = story.cures(finding)
    if cures.first:
        _remedy(page, cures.first)
    if cures.root:
        page.entry(
            "Root fix",
            f"{sentence(cures.root.text)} {applies(cures.root)}",
            lines=page.budget(4, 3, 2),
        )
        if cures.root.command:
            page.command("", cures.root.command)
    elif finding.fixed_in and (cures.first is None or cures.first.kind != "fix"):
        page.entry("Root fix", f"fixed in {finding.fixed_in}", lines=1)
    able = [remedy for remedy in cures.others if remedy.applies == "yes"]
    for remedy in able[: page.budget(6, 4, 2, 1, 0)]:
        page.entry("Or", sentence(remedy.text), lines=page.budget(3, 2, 1))
    for remedy in cures.others:
        if remedy.applies != "yes":  # never dropped: people will have read of it elsewhere
            label = "Not here" if remedy.applies == "no" else "Perhaps"
            name = remedy.text.partition(". ")[0]
            page.entry(label, sentence(f"{name.rstrip('.')}: {because(remedy.why)}"), lines=3)
    for index, item in enumerate(finding.not_a_fix[: page.budget(6, 4, 2)]):
        text = item.text.rstrip(".")
        if item.tried:
            where = f", line {item.evidence[0].line}" if item.evidence else ""
            text += f" (already set{where})"
        lines = page.budget(4, 2, 2 if item.tried else 1)
        label = "Not a fix" if index == 0 else ""
        page.entry(label, sentence(f"{text}: {item.why}"), lines=lines)


def rows(page: Page, label: str, reasons: list[story.Reason], *, named: bool) -> None:
    """Print log lines, one a row: line number, process, text cut to the width.

    The numbers stand in the column of labels, so that the text gets the width.
    """
    evidence = [row.evidence for row in reasons if row.evidence is not None]
    digits = max([len(str(item.line)) for item in evidence], default=1)
    number = max(LABEL - 2 - cells(label), digits + 1)
    processes = [_process(item, named=named) for item in evidence]
    column = min(max(map(cells, processes), default=0), _PROCESS + (20 if named else 0))
    for index, row in enumerate(reasons):
        head = label if index == 0 else " " * cells(label)
        if row.evidence is None:
            left = f"{head}{'-':>{number}}  "
            room = page.width - cells(left)
            page.line(
                (left[: cells(head)], "bold"),
                (left[cells(head) :], "dim"),
                (squeeze(flat(row.remark), room), ""),
            )
            continue
        line = f"{row.evidence.line:>{number}}  "
        process = pad(cut(_process(row.evidence, named=named), column), column)
        process += "  " if column else ""
        room = page.width - cells(head) - cells(line) - cells(process)
        text, focused = _focused(row.evidence, room)
        text = visible(text)
        if row.remark:
            text = f"{flat(row.remark)}: {text}"
        text = cut(text, room) if focused else squeeze(text, room)
        page.line((head, "bold"), (line, "dim"), (process, "dim"), (text, ""))


def _focused(evidence: Evidence, room: int) -> tuple[str, bool]:
    """Cut the front off a long line whose point stands further on; tell whether it was cut."""
    text, focus = evidence.text.strip(), evidence.focus
    if focus is None or len(text) <= room:
        return text, False
    start = text.rfind(" ", 0, min(focus, len(text))) + 1
    return ("…" if start else "") + text[start : start + room], True


def _process(evidence: Evidence, *, named: bool) -> str:
    name = evidence.process or (f"pid {evidence.pid}" if evidence.pid is not None else "")
    if named:
        name = f"{evidence.input} {name}".strip()
    return flat(name)


def why(page: Page, run: Run, finding: Finding) -> None:
    """Show the lines that speak for the finding."""
    reasons = story.reasons(run, finding)
    own = {(item.input, item.line) for item in story.signature(finding)}
    faults = [r for r in reasons if r.evidence and (r.evidence.input, r.evidence.line) in own]
    state = [r for r in reasons if r not in faults]
    telling = sorted(state, key=lambda row: row.weight)[: page.budget(_STATE_ROWS, 5, 4)]
    kept = [r for r in reasons if r in telling or r in faults[:_FAULT_ROWS]]
    rows(page, "Why", kept, named=len(run.inputs) > 1)
    left = len(reasons) - len(kept)
    if left:
        page.line((" " * LABEL, ""), (f"and {plural(left, 'more line')}", "dim"))


def failure(page: Page, first: FirstFailure, run: Run) -> None:
    """Show the first failure that no rule explains."""
    page.entry(
        "Failure", f"{first.type}: {first.message}" if first.message else first.type, lines=3
    )
    parts = []
    if first.process:
        pid = f" (pid {first.pid})" if first.pid is not None else ""
        parts.append(f"first in {first.process}{pid}")
    if first.frame:
        parts.append(f"at {first.frame}")
    if first.phase:
        parts.append(f"in phase {first.phase}")
    parts.append(f"raised by {plural(first.count, 'process')}")
    if first.echoes:
        parts.append(plural(first.echoes, "echo"))
    page.entry("", ", ".join(parts), lines=page.budget(5, 4, 3))
    if first.evidence:
        rows(
            page,
            "Lines",
            [story.Reason(item) for item in first.evidence[:4]],
            named=len(run.inputs) > 1,
        )


def followed(page: Page, run: Run, finding: Finding | None) -> None:
    """Fold what came after: symptoms with counts, echoes, streams that were cut."""
    clauses = story.followed(run, finding)
    if clauses:
        page.entry("Followed", sentence(", ".join(clauses)), lines=page.budget(6, 4, 3, 3, 3))
    if story.cut_streams(run):
        page.entry("" if clauses else "Followed", CUT_STREAMS)


def _question(page: Page, label: str, condition: Condition) -> None:
    """One condition with the command that settles it, on one line where both fit."""
    text = flat(condition.text).rstrip(".")
    command = flat(condition.how_to_find_out or "")
    room = page.width - LABEL - cells(command) - 2
    if page.tight > 1 and room >= 30:
        text = cut(text, room)
    if command and cells(text) <= room:
        page.line((pad(label, LABEL), "bold"), (f"{text}: ", ""), (command, "code"))
    elif command:
        page.entry(label, f"{text}:", lines=1)
        page.command("", command)
    else:
        page.entry(label, text, lines=1)


def doubts(page: Page, finding: Finding) -> None:
    """Say what is open, what would refute the finding, and what is not proved."""
    for index, condition in enumerate(story.questions(finding)[: page.budget(6, 4, 3)]):
        _question(page, "Not known" if index == 0 else "", condition)
    for index, condition in enumerate(story.refuters(finding)[: page.budget(8, 5, 3)]):
        _question(page, "Refuted by" if index == 0 else "", condition)
    if finding.role not in ("symptom", "risk") and finding.does_not_prove:
        page.entry("Not proved", sentence(finding.does_not_prove), lines=page.budget(5, 3, 2, 2, 1))
    if finding.not_established:
        page.entry("Not shown", sentence(finding.not_established), lines=page.budget(4, 2, 1))


def others(page: Page, run: Run, finding: Finding | None, *, brief: bool) -> None:
    """List further roots, what was considered, advice, and texts that no rule knows."""
    unnamed = story.unnamed_failure(run, finding)
    if unnamed is not None:
        where = f" in {unnamed.process}" if unnamed.process else ""
        at = f" (line {unnamed.evidence[0].line})" if unnamed.evidence else ""
        text = f"{unnamed.type}: {unnamed.message}{where}{at}, which no rule explains"
        page.entry("Also", text, lines=2)
    for other in story.also(run, finding):
        page.entry("Also", f"{other.status}: {other.summary} ({other.id})", lines=page.budget(4, 2))
    for index, item in enumerate([] if brief else run.considered[: page.budget(8, 4, 2)]):
        status = item.status.replace("-", " ")
        text = f"{item.id}: {status}, {because(item.because)}"
        label = "Considered" if index == 0 else ""
        # Where the answer is not certain, why the closest other one fails is part of it.
        closest = index == 0 and (finding is None or finding.status == "probable")
        page.entry(label, sentence(text), lines=6 if closest else page.budget(4, 2, 1))
    for index, tip in enumerate(story.advice(run)[:3]):
        page.entry("Advice" if index == 0 else "", f"{tip.summary} ({tip.id})", lines=2)
    unexplained = [one for one in run.unexplained if not brief or one.level != "WARNING"]
    for index, unknown in enumerate(unexplained[:4]):
        text = f"{unknown.count}x {unknown.level} {unknown.template} (line {unknown.first.line})"
        label = "Unknown" if index == 0 else ""
        room = page.width - LABEL
        page.line((pad(label, LABEL), "bold"), (squeeze(flat(text), room), ""))


def collect(page: Page, run: Run) -> None:
    """Say what to collect next."""
    for index, text in enumerate(run.next_evidence[: page.budget(8, 5)]):
        page.entry("Collect" if index == 0 else "", text, lines=page.budget(5, 3))


def lasts(page: Page, report: Report, run: Run) -> None:
    """End with the last healthy line, the holes in the log, and the other runs."""
    dead = run.outcome not in ("running", "stopped")
    if run.last_healthy is not None and dead:
        last = run.last_healthy
        when = f", {clock(last.time, run.failed_at or run.ended)}" if last.time else ""
        text = f"{place(last, named=len(run.inputs) > 1)}{when}: {last.text.strip()}"
        page.line((pad("Healthy", LABEL), "bold"), (squeeze(flat(text), page.width - LABEL), ""))
    holes = story.gaps(report, run)
    if holes:
        first = holes[0]
        text = f"{plural(len(holes), 'place')} without lines, e.g. line {first.line}: {first.text}"
        how = f"; get them: `{first.how_to_get}`" if first.how_to_get else ""
        page.entry("Gaps", text + how, lines=2)
    for text in story.files(report, run):
        page.entry("Files", text, lines=page.budget(4, 3, 2))
    for text in story.problems(report)[:3]:
        page.entry("Input", text, lines=2)
    for label, text in story.others(report, run):
        page.entry(label, text, lines=page.budget(4, 2, 2, 1))
