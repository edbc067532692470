"""Choose from a report what a reader needs first, in the order the reader needs it.

The renderers for people share these choices; each lays them out in its own way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from vdiag.report.model import (
    Condition,
    Evidence,
    Fact,
    Finding,
    FirstFailure,
    Gap,
    Input,
    Remedy,
    Report,
    Run,
    Verdict,
)
from vdiag.report.wording import OUTCOMES, VERDICT_WORDS, clock, plural, value, verdict_line

_KINDS = ("workaround", "fix", "mitigation", "diagnostic")
_SIZES = ("kv_cache.", "driver.xid", "vllm.commit")
_FIRST = ("allreduce.", "vllm.", "flashinfer.", "hisparse.", "engine.", "cuda_graphs.")


@dataclass(frozen=True, slots=True)
class Reason:
    """A line that speaks for a finding; ``remark`` says what was inferred from it."""

    evidence: Evidence | None
    remark: str = ""
    weight: int = 0
    """How little it says: 0 the failure itself and what few servers have, 3 mere support."""


@dataclass(frozen=True, slots=True)
class Cures:
    """The remedies of a finding, in the order they are shown."""

    first: Remedy | None
    root: Remedy | None
    others: list[Remedy]


def shown(report: Report) -> Run | None:
    """Return the run that the verdict speaks of, else the last one."""
    run = report.run(report.verdict.run)
    return run or (report.runs[-1] if report.runs else None)


def rooted(run: Run | None, verdict: Verdict) -> Finding | None:
    """Return the finding that the verdict names."""
    if run is None or verdict.root is None:
        return None
    return next((finding for finding in run.findings if finding.id == verdict.root), None)


def followers(run: Run, root: Finding | None) -> list[Finding]:
    """Return the symptoms and what else the root explains, in order of the first line."""
    return [
        finding
        for finding in run.findings
        if finding is not root and (finding.role == "symptom" or finding.explained_by is not None)
    ]


def also(run: Run, root: Finding | None) -> list[Finding]:
    """Return the other roots and risks that nothing explains."""
    return [
        finding
        for finding in run.findings
        if finding is not root and finding.role in ("root", "risk") and not finding.explained_by
    ]


def unnamed_failure(run: Run, root: Finding | None) -> FirstFailure | None:
    """Return the first failure where the verdict's root does not stand on it."""
    first = run.first_failure
    if root is None or root.role != "root" or first is None or not first.evidence:
        return None
    if first.explained_by == root.id:
        return None
    held = {(item.input, item.line) for item in root.evidence}
    if any((item.input, item.line) in held for item in first.evidence):
        return None
    return first


def advice(run: Run) -> list[Finding]:
    """Return the findings that leave a verdict clean."""
    return [finding for finding in run.findings if finding.role == "advice"]


def cures(finding: Finding) -> Cures:
    """Sort the remedies: the one to do now, the root fix, the rest with what applies first."""
    rank = {"yes": 0, "unknown": 1}
    able = [remedy for remedy in finding.remedies if remedy.applies in rank]
    first = min(able, key=lambda r: (rank[r.applies], _KINDS.index(r.kind)), default=None)
    root = next(
        (r for r in finding.remedies if r.kind == "fix" and r is not first and r.applies != "no"),
        None,
    )
    rest = [r for r in finding.remedies if r is not first and r is not root]
    return Cures(first, root, sorted(rest, key=lambda r: ("yes", "no", "unknown").index(r.applies)))


def _fresh(items: Iterable[Reason]) -> list[Reason]:
    seen: set[tuple[str, int]] = set()
    kept = []
    for item in items:
        if item.evidence is not None:
            key = (item.evidence.input, item.evidence.line)
            if key in seen:
                continue
            seen.add(key)
        kept.append(item)
    return kept


def signature(finding: Finding) -> list[Evidence]:
    """Return the lines of the finding itself, the first of each process."""
    first: dict[tuple[str | None, int | None], Evidence] = {}
    for evidence in finding.evidence[: finding.of_signature]:
        first.setdefault((evidence.process, evidence.pid), evidence)
    return list(first.values())


def reasons(run: Run, finding: Finding) -> list[Reason]:
    """Return one line for each condition that holds and those of the signature, in order.

    A condition that was inferred says so; one that has no line at all stands first.
    """
    held = [
        condition
        for condition in finding.conditions
        if condition.truth == "true" and condition.kind in ("precondition", "support")
    ]
    rows = []
    for condition in held:
        remark = ""
        if condition.basis == "inferred" or not condition.evidence:
            remark = f"inferred: {condition.text}"
            if not condition.evidence and condition.note:
                remark += f" ({condition.note})"
        rows.append(
            Reason(
                condition.evidence[0] if condition.evidence else None, remark, _telling(condition)
            )
        )
    rows = [Reason(evidence) for evidence in signature(finding)] + sorted(
        rows, key=lambda row: row.weight
    )
    order = {name: index for index, name in enumerate(run.inputs)}

    def position(row: Reason) -> tuple[int, int]:
        if row.evidence is None:
            return (-1, 0)
        return (order.get(row.evidence.input, len(order)), row.evidence.line)

    return sorted(_fresh(rows), key=position)


def _telling(condition: Condition) -> int:
    if condition.specific:
        return 0
    return 3 if condition.kind == "support" else 1 if condition.subkind == "trigger" else 2


def refuters(finding: Finding) -> list[Condition]:
    """Return what would refute the finding and is not settled by a line of this log."""
    return [
        condition
        for condition in finding.conditions
        if condition.kind == "exclusion"
        and (
            condition.truth == "unknown"
            or (condition.truth == "false" and condition.basis == "inferred")
        )
    ]


def questions(finding: Finding) -> list[Condition]:
    """Return the preconditions that the log does not settle."""
    return [c for c in finding.conditions if c.kind == "precondition" and c.truth == "unknown"]


def _weight(name: str) -> tuple[int, str]:
    for index, prefix in enumerate(_FIRST):
        if name.startswith(prefix):
            return index, name
    return len(_FIRST), name


def changes(before: Run, after: Run) -> list[tuple[str, Fact, Fact]]:
    """Return the facts that both runs know and that differ, sizes and findings left out."""
    return [
        (name, before.facts[name], after.facts[name])
        for name in sorted(before.facts, key=_weight)
        if name in after.facts
        and not name.startswith(_SIZES)
        and before.facts[name].value != after.facts[name].value
    ]


def other_run(shown_run: Run, run: Run) -> str:
    """Return one line on a run that is not the one shown."""
    parts = [f"started {clock(run.started, shown_run.ended)}"] if run.started else []
    verdict = run.verdict
    if run.aftermath_of is not None:
        parts.append(OUTCOMES[run.outcome])
        cause = f" ({verdict.root})" if verdict and verdict.root else ""
        parts.append(f"aftermath of run {run.aftermath_of}{cause}")
    else:
        if verdict is not None:
            parts.append(verdict_line(verdict))
        parts.append(OUTCOMES[run.outcome])
    if (
        run.outcome in ("running", "stopped")
        and run.id > shown_run.id
        and set(run.inputs) & set(shown_run.inputs)
    ):
        parts.extend(
            f"{name} {value(old.value)} -> {value(new.value)}"
            for name, old, new in changes(shown_run, run)[:3]
        )
    prefix = "bench client, " if run.kind == "bench" else ""
    if run.quoted:
        prefix = "quoted from another log, "
    return prefix + ", ".join(parts)


def others(report: Report, shown_run: Run) -> list[tuple[str, str]]:
    """Return (label, text) for the other runs of the same inputs, the same failure once."""
    groups: dict[Hashable, list[Run]] = {}
    for run in report.runs:
        if not set(run.inputs) & set(shown_run.inputs):
            continue  # another input's: the table of inputs has it
        failed = run.aftermath_of is None and run.outcome in ("crashed", "failed-to-start", "hung")
        groups.setdefault(run.failure_key if failed else run.id, []).append(run)
    out = []
    for runs in groups.values():
        rest = [run for run in runs if run is not shown_run]
        if not rest:
            continue
        if len(runs) == len(rest) == 1:
            out.append((f"Run {rest[0].id}", other_run(shown_run, rest[0])))
            continue
        ids = _numbers([run.id for run in rest])
        if len(runs) > len(rest):
            said = f"the same failure as run {shown_run.id}: {len(runs)} times in all"
        else:
            said = f"{len(rest)} times the same failure, last: {other_run(shown_run, rest[-1])}"
        out.append(("Run " + ids, said) if len(rest) == 1 else ("Runs", f"{ids}: {said}"))
    return out


def _numbers(ids: list[int]) -> str:
    """Write ids as ranges: ``1-4, 6``."""
    spans: list[list[int]] = []
    for one in ids:
        if spans and one == spans[-1][-1] + 1:
            spans[-1][-1:] = [spans[-1][-1], one] if len(spans[-1]) == 1 else [one]
        else:
            spans.append([one])
    return ", ".join("-".join(map(str, span)) for span in spans)


def read_as(report: Report, run: Run) -> str:
    """Return what was recognised around the lines of a run's inputs; empty for a plain log."""
    kinds: list[str] = []
    for item in report.inputs:
        if item.name in run.inputs:
            coded = [item.encoding] if item.encoding != "utf-8" else []
            kinds += [item.compression or "", *coded, *item.envelopes]
    return ", ".join(dict.fromkeys(kind for kind in kinds if kind))


def gaps(report: Report, run: Run) -> list[Gap]:
    """Return the known holes in the inputs of a run."""
    return [gap for item in report.inputs if item.name in run.inputs for gap in item.gaps]


def problems(report: Report) -> list[str]:
    """Return what was wrong with the inputs, each with the name of its input."""
    return [f"{item.name}: {text}" for item in report.inputs for text in item.problems]


@dataclass(frozen=True, slots=True)
class Group:
    """The inputs that have one root cause."""

    verdict: Verdict
    cause: str | None
    """The id of the root, else the type of the exception that no rule explains."""
    names: list[str]


def groups(report: Report) -> list[Group]:
    """Group the inputs by root cause: the gravest first, then in the order of their names."""
    found: dict[tuple[str, str | None], Group] = {}
    for verdict in report.verdicts:
        run = report.run(verdict.run)
        cause = verdict.root
        if cause is None and verdict.status == "unexplained" and run and run.first_failure:
            cause = run.first_failure.type
        group = found.setdefault((verdict.status, cause), Group(verdict, cause, []))
        group.names.append(verdict.input or "-")
    order = list(VERDICT_WORDS)
    return sorted(found.values(), key=lambda group: order.index(group.verdict.status))


def shared_folder(names: list[str]) -> str:
    """Return the folder that all names begin with, with its slash; empty where there is none."""
    first, last = min(names, default=""), max(names, default="")
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[: first.rfind("/", 0, same) + 1]


def listed(names: list[str], room: int) -> str:
    """Return as many names as fit into ``room`` characters, and how many are left out."""
    text = ""
    for index, name in enumerate(names):
        longer = f"{text}, {name}" if text else name
        rest = len(names) - index - 1
        more = f", {rest} more" if rest else ""
        if text and len(longer) + len(more) > room:
            return f"{text}, {rest + 1} more"
        text = longer
    return text


def files_of(item: Input) -> list[str]:
    """Return which lines of a rotated log are in which of its files, in at most one text."""
    if not item.parts:
        return []
    folder = shared_folder([part.name for part in item.parts])
    ranges = [
        f"{part.name[len(folder) :]} {part.first_line}-{part.first_line + part.lines - 1}"
        for part in item.parts
        if part.lines
    ]
    return ["lines of " + ", ".join(ranges)]


def files(report: Report, run: Run) -> list[str]:
    """Return the files of the rotated logs that a run is in."""
    return [text for item in report.inputs if item.name in run.inputs for text in files_of(item)]


def cut_streams(run: Run) -> bool:
    """Tell whether a death of this run cut off answers that had begun."""
    return (
        run.kind == "server"
        and run.outcome in ("crashed", "hung")
        and (run.phase == "serving" or run.ready is not None)
    )


def span(finding: Finding) -> str:
    """Return the lines that a finding covers: ``line 640`` or ``lines 301-420``."""
    if not finding.evidence:
        return ""
    first = finding.evidence[0]
    last = finding.last or finding.evidence[-1]
    if last.input != first.input:
        return f"{first.input}:{first.line} to {last.input}:{last.line}"
    if first.line == last.line:
        return f"line {first.line}"
    return f"lines {first.line}-{last.line}"


def followed(run: Run, root: Finding | None) -> list[str]:
    """Return the symptoms folded to one clause each, then the echoes."""
    clauses: list[str] = []

    # Notices that are never fatal and mechanisms come last: they are cut first.
    def weight(one: Finding) -> tuple[bool, bool]:
        return one.fatal is False, one.family != "symptom"

    for finding in sorted(followers(run, root), key=weight):
        where = span(finding)
        if clauses:  # said once that the numbers are lines'
            where = where.removeprefix("lines ").removeprefix("line ")
        title = finding.title
        if title[1:2].islower():  # no abbreviation
            title = title[0].lower() + title[1:]
        clauses.append(f"{finding.count}x {title}" + (f" ({where})" if where else ""))
    echoes = run.first_failure.echoes if run.first_failure else 0
    if echoes:
        clauses.append(f"{plural(echoes, 'echo')} of the first failure")
    return clauses
