"""The report as Markdown for an issue: verdict, facts, proof, what to do, how it was made."""

from __future__ import annotations

from dataclasses import dataclass

from vdiag.report import story
from vdiag.report.gfm import cell, code, details, fence, prose, short
from vdiag.report.model import Condition, Evidence, Finding, Redaction, Remedy, Report, Run
from vdiag.report.wording import (
    CUT_STREAMS,
    VERDICT_WORDS,
    applies,
    life,
    place,
    plural,
    sentence,
    value,
    what_ran,
)

LIMIT = 65_000
"""Characters of the whole; GitHub refuses a body above 65,536."""
SHORT = 8_000
"""Characters of the short form."""
_NAME = 120
"""Characters of an input's name."""
_INPUTS = 50
_FEW = 5
_FACTS = 60
_GROUPS = 50
_NAMES = 8
_TICK: dict[str, str] = {"true": "true", "false": "false", "unknown": "not known"}


@dataclass(slots=True)
class Section:
    """A part of the report. The least important parts are cut first, from their end."""

    importance: int
    head: list[str]
    items: list[str]
    foot: list[str]
    name: str = ""
    """What the note about a cut calls it."""
    rows: bool = False
    """The items are rows of one table, whose head is the last of ``head``."""

    @property
    def blocks(self) -> list[str]:
        """Return the paragraphs of the part, none where no item is left."""
        if not self.items:
            return []
        if self.rows:
            return [*self.head[:-1], "\n".join([self.head[-1], *self.items]), *self.foot]
        return [*self.head, *self.items, *self.foot]


def render(report: Report, *, brief: bool = False) -> str:
    """Return the report for a GitHub issue, at most 65,000 characters, 8,000 in short form.

    The report should have gone through :func:`vdiag.redact.redact`; the second paragraph says
    whether it has.
    """
    sections = [
        _verdict(report, _FEW if brief else _INPUTS),
        Section(100, [], [_redacted(report.redaction)], []),
    ]
    run = story.shown(report)
    if run is not None:
        finding = story.rooted(run, report.verdict)
        parts = _brief if brief else _run
        sections += parts(report, run, finding)
    sections.append(_made(report, brief=brief))
    return _fit([section for section in sections if section.items], SHORT if brief else LIMIT)


def _redacted(redaction: Redaction) -> str:
    if not redaction.applied:
        return "**Nothing in this report is redacted. Check all of it before posting.**"
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(redaction.counts.items()))
    return (
        f"Redacted ({counted or 'nothing found'}): secrets, prompts, addresses, and the names of "
        "people, hosts and private models. Read it before posting all the same."
    )


def _verdict(report: Report, most: int) -> Section:
    verdict = report.verdict
    root = f" ({code(verdict.root)})" if verdict.root else ""
    word = VERDICT_WORDS[verdict.status]
    lines = [f"**Verdict: {word}**{root}. {prose(sentence(verdict.summary), 1500)}"]
    if len(report.verdicts) > 1:
        lines.append(_inputs(report, most))
    return Section(99, [], lines, [])


def _inputs(report: Report, most: int) -> str:
    """Return a table of the root causes and the inputs that have them."""
    groups = story.groups(report)
    folder = story.shared_folder([name for group in groups for name in group.names])
    rows = ["| verdict | root cause | inputs | names |", "|---|---|---|---|"]
    for group in groups[: min(_GROUPS, most)]:
        names = [name[len(folder) :] for name in group.names]
        shown = ", ".join(code(short(name, 120)) for name in names[:_NAMES])
        rest = f", {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        columns = (
            VERDICT_WORDS[group.verdict.status],
            code(short(group.cause, 120)) if group.cause else "-",
            str(len(names)),
            shown + rest,
        )
        rows.append("| " + " | ".join(cell(column) for column in columns) + " |")
    return "\n".join(rows)


def _run(report: Report, run: Run, finding: Finding | None) -> list[Section]:
    named = len(report.inputs) > 1
    sections = [
        Section(95, [], [prose(f"{what_ran(run)}.")], []),
        Section(94, [], [prose(f"{life(run)}.")] if life(run) else [], []),
    ]
    if finding is not None:
        sections += [_remedies(finding), _not_a_fix(finding), _why(run, finding, named=named)]
    sections.append(_failure(run, named=named))
    if finding is not None:
        sections += [_open(finding), _caveats(finding)]
    return [
        *sections,
        _list("Collect next", 70, run.next_evidence),
        _facts(run, named=named),
        _last(run, named=named),
        _others(report, run, finding),
        _symptoms(run, finding, named=named),
        _considered(run),
        _unknown(run, named=named),
        _list("Gaps in the log", 45, _holes(report, run)),
    ]


def _brief(report: Report, run: Run, finding: Finding | None) -> list[Section]:
    """Return the parts of the short form: what ran, what to do, and the lines that prove it."""
    named = len(report.inputs) > 1
    sections = [Section(95, [], [prose(f"{what_ran(run)}.")], [])]
    if life(run):
        sections.append(Section(94, [], [prose(f"{life(run)}.")], []))
    if finding is None:
        sections.append(_failure(run, named=named))
    else:
        cures = story.cures(finding)
        able = [_task(remedy) for remedy in (cures.first, cures.root) if remedy]
        sections += [
            Section(90, _title("What to do"), able, [], "What to do"),
            _why(run, finding, named=named, most=8),
            _folded(70, "Would refute it, or is not known", _open(finding).items[:6]),
        ]
    facts = _facts(run, named=named, most=12)
    if facts.items:
        facts.head = [details("Facts", [])[0], facts.head[-1]]
        facts.foot = ["</details>"]
    return [*sections, _list("Collect next", 75, run.next_evidence[:4]), facts]


def _title(text: str) -> list[str]:
    return [f"### {text}"]


def _list(title: str, importance: int, texts: list[str]) -> Section:
    return Section(importance, _title(title), [f"- {prose(text)}" for text in texts], [], title)


def _task(remedy: Remedy) -> str:
    if remedy.applies == "no":  # listed, but nothing to tick and nothing to paste
        return f"- {prose(sentence(remedy.text))} {prose(applies(remedy))}"
    lines = [f"- [ ] {prose(sentence(remedy.text))} {prose(applies(remedy))}"]
    for label, text in (
        ("Set it in", remedy.where),
        ("Cost", remedy.cost),
        ("Check", remedy.verify),
    ):
        if text:
            lines.append(f"  {label}: {prose(sentence(text))}")
    if remedy.command:
        block = fence(remedy.command.strip().splitlines(), "sh")
        lines += ["", *(f"  {line}" for line in block.splitlines())]
    return "\n".join(lines)


def _remedies(finding: Finding) -> Section:
    cures = story.cures(finding)
    ordered = [remedy for remedy in (cures.first, cures.root, *cures.others) if remedy]
    tasks = [_task(remedy) for remedy in ordered]
    if finding.fixed_in:
        tasks.append(f"- Fixed in: {code(finding.fixed_in)}")
    return Section(90, _title("What to do"), tasks, [], "What to do")


def _not_a_fix(finding: Finding) -> Section:
    items = [
        f"- {prose(item.text)}{' (already set)' if item.tried else ''}: {prose(sentence(item.why))}"
        for item in finding.not_a_fix
    ]
    return Section(65, _title("Not a fix"), items, [], "Not a fix")


def _shown(evidence: Evidence, remark: str = "", *, named: bool) -> str:
    where = f"{short(evidence.input, _NAME)}:{evidence.line}" if named else str(evidence.line)
    process = f"  {evidence.process}" if evidence.process else ""
    said = f"  [{remark}]" if remark else ""
    return short(f"{where}{process}{said}  {evidence.text.strip()}", 500)


def _why(run: Run, finding: Finding, *, named: bool, most: int = 40) -> Section:
    lines = [
        _shown(row.evidence, row.remark, named=named) if row.evidence else short(f"-  {row.remark}")
        for row in story.reasons(run, finding)[:most]
    ]
    cause = [prose(sentence(finding.cause))] if finding.cause else []
    return Section(85, _title("Why"), [*cause, *([fence(lines)] if lines else [])], [], "Why")


def _failure(run: Run, *, named: bool) -> Section:
    first = run.first_failure
    if first is None:
        return Section(80, [], [], [])
    title = "First failure"
    where = ", ".join(
        part
        for part in (
            f"in {first.process}" if first.process else "",
            f"at {first.frame}" if first.frame else "",
            f"phase {first.phase}" if first.phase else "",
            f"raised by {plural(first.count, 'process')}",
            plural(first.echoes, "echo") if first.echoes else "",
        )
        if part
    )
    lines = [short(f"{first.type}: {first.message}", 1000)]
    lines += [_shown(item, named=named) for item in first.evidence[:10]]
    return Section(80, _title(title), [prose(f"{where}."), fence(lines)], [], title)


def _condition(condition: Condition) -> str:
    text = f"- {prose(condition.text)}: {_TICK[condition.truth]}"
    if condition.basis == "inferred":
        text += ", inferred"
    if condition.note:
        text += f" ({prose(condition.note)})"
    if condition.how_to_find_out:
        text += f". Find out: {code(short(condition.how_to_find_out))}"
    return text


def _open(finding: Finding) -> Section:
    asked = [*story.questions(finding), *story.refuters(finding)]
    items = [_condition(condition) for condition in asked]
    title = "Would refute it, or is not known from this log"
    return Section(75, _title(title), items, [], title)


def _caveats(finding: Finding) -> Section:
    items = []
    if finding.does_not_prove:
        items.append(f"- Not proved: {prose(sentence(finding.does_not_prove))}")
    if finding.not_established:
        items.append(f"- Not established: {prose(sentence(finding.not_established))}")
    if finding.next_step:
        items.append(f"- Next: {prose(sentence(finding.next_step))}")
    title = "What this does not prove"
    return Section(74, _title(title), items, [], title)


def _facts(run: Run, *, named: bool, most: int = _FACTS) -> Section:
    rows = []
    for name, fact in list(run.facts.items())[:most]:
        where = place(fact.evidence[0], named=named) if fact.evidence else fact.reason or "-"
        rest = "".join(f"; also {value(item.value)}" for item in fact.conflicts[:3])
        columns = (
            code(short(name, _NAME)),
            code(short(value(fact.value) + rest, 120)),
            fact.basis,
            prose(where),
        )
        rows.append("| " + " | ".join(cell(column) for column in columns) + " |")
    head = "| fact | value | basis | from |\n|---|---|---|---|"
    return Section(60, [*_title("Facts"), head], rows, [], "Facts", rows=True)


def _last(run: Run, *, named: bool) -> Section:
    items = []
    if run.last_healthy is not None and run.outcome not in ("running", "stopped"):
        items.append(fence([_shown(run.last_healthy, named=named)]))
    return Section(55, _title("Last healthy line"), items, [], "Last healthy line")


def _others(report: Report, run: Run, finding: Finding | None) -> Section:
    items = [
        f"- Also {other.status}: {prose(sentence(other.summary))} ({code(other.id)})"
        for other in story.also(run, finding)
    ]
    items += [f"- Advice: {prose(tip.summary)} ({code(tip.id)})" for tip in story.advice(run)]
    items += [f"- {label}: {prose(text)}" for label, text in story.others(report, run)]
    return Section(58, _title("Besides"), items, [], "Besides")


def _symptoms(run: Run, finding: Finding | None, *, named: bool) -> Section:
    items = [f"- {prose(clause)}" for clause in story.followed(run, finding)]
    if story.cut_streams(run):
        items.append(f"- {CUT_STREAMS}")
    lines = [
        _shown(item.evidence[0], named=named)
        for item in story.followers(run, finding)
        if item.evidence
    ]
    if lines:
        items.append(fence(lines[:30]))
    return _folded(50, "What followed", items)


def _considered(run: Run) -> Section:
    items = []
    for item in run.considered:
        said = f"{item.status.replace('-', ' ')}, {prose(sentence(item.because))}"
        below = [f"  {_condition(condition)}" for condition in item.conditions[:12]]
        items.append("\n".join([f"- {code(item.id)}: {said}", *below]))
    return _folded(40, "What was considered", items)


def _unknown(run: Run, *, named: bool) -> Section:
    items = [
        f"- {item.count}x {code(item.level)} {code(short(item.template))} "
        f"({prose(place(item.first, named=named))})"
        for item in run.unexplained[:50]
    ]
    return _folded(30, "Errors and warnings that no rule knows", items)


def _folded(importance: int, summary: str, items: list[str]) -> Section:
    head, foot = details(summary, [])
    return Section(importance, [head], items, [foot], summary)


def _holes(report: Report, run: Run) -> list[str]:
    holes = [
        f"line {gap.line}: {gap.kind} {short(gap.text, 120)}"
        + (f", get it: {gap.how_to_get}" if gap.how_to_get else "")
        for gap in story.gaps(report, run)[:10]
    ]
    return [*holes, *story.problems(report)[:10]]


def _made(report: Report, *, brief: bool) -> Section:
    packs = ", ".join(
        f"{pack.name} {pack.version} ({pack.digest[:12]})" for pack in report.vdiag.rules.packs
    )
    tool = (
        f"vdiag {prose(report.vdiag.version)}, rules: {prose(packs)}, "
        f"{report.vdiag.rules.count} rules"
    )
    if brief:
        lines = sum(item.lines for item in report.inputs)
        read = f"{plural(lines, 'line')} of {plural(len(report.inputs), 'input')}"
        made = f"Made by `vdiag analyze --format github-comment` from {read}; {tool}."
        return Section(98, [], [made], [])
    items = [
        f"- {tool}, matcher {prose(report.stats.matcher)}",
        *(
            f"- read {code(short(item.name, _NAME))}: {item.bytes} bytes, "
            f"{plural(item.lines, 'line')}"
            + (f", {item.compression}" if item.compression else "")
            + (f", {item.encoding}" if item.encoding != "utf-8" else "")
            + (f", {prose(', '.join(item.envelopes))}" if item.envelopes else "")
            + "".join(f"; {prose(text)}" for text in story.files_of(item))
            for item in report.inputs[:_INPUTS]
        ),
        *(f"- {prose(note)}" for note in report.notes),
        "- made by `vdiag analyze --format markdown`",
    ]
    return Section(98, _title("How this was made"), items, [])


def _size(sections: list[Section]) -> int:
    return sum(len(block) + 2 for section in sections for block in section.blocks)


def _fit(sections: list[Section], limit: int) -> str:
    """Join the parts; where they are too long, cut the least important ones and say so."""
    room = limit - 600
    size = _size(sections)
    cut: dict[str, int] = {}
    for section in sorted(sections, key=lambda section: section.importance):
        while section.items and size > room and section.importance < 98:
            before = _size([section])
            section.items.pop()
            size += _size([section]) - before
            cut[section.name] = cut.get(section.name, 0) + 1
    blocks = [block for section in sections for block in section.blocks]
    if cut:
        left = "; ".join(f"{plural(n, 'entry')} of {name or 'what ran'}" for name, n in cut.items())
        blocks.append(f"Cut to {limit:,} characters. Left out: {left}. The JSON report has all.")
    return "\n\n".join(blocks) + "\n"
