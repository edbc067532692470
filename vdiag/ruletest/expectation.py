"""What an expectation asks of a report; the keys are those of ``samples/README.md``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vdiag.report.status import exit_status

if TYPE_CHECKING:
    from vdiag.report.model import Finding, Report, Run

Expect = dict[str, Any]


def differences(report: Report, expect: Expect) -> list[str]:
    """Return one line for everything in which a report is not as expected."""
    return [line for check in _CHECKS for line in check(report, expect)]


def _shown(report: Report) -> Run | None:
    return report.run(report.verdict.run)


def _root(report: Report) -> Finding | None:
    run = _shown(report)
    if run is None:
        return None
    return next((one for one in run.findings if one.id == report.verdict.root), None)


def _said(name: str, expected: object, actual: object) -> list[str]:
    if name in ("status", "root", "outcome") and isinstance(expected, list):
        return [] if actual in expected else [f"{name}: {actual!r} is not among {expected!r}"]
    return [] if expected == actual else [f"{name}: expected {expected!r}, got {actual!r}"]


def _verdict(report: Report, expect: Expect) -> list[str]:
    out = []
    for key in ("status", "root"):
        if key in expect:
            out += _said(key, expect[key], getattr(report.verdict, key))
    if "exit" in expect:
        out += _said("exit", expect["exit"], int(exit_status(report)))
    if "runs" in expect:
        out += _said("runs", expect["runs"], len(report.runs))
    if "shown_run" in expect:
        out += _said("shown_run", expect["shown_run"], report.verdict.run)
    if "outcome" in expect:
        run = _shown(report)
        out += _said("outcome", expect["outcome"], run.outcome if run else None)
    return out


def _root_details(report: Report, expect: Expect) -> list[str]:
    root = _root(report)
    out = []
    if "faulting" in expect:
        out += _said("faulting", expect["faulting"], root.faulting if root else None)
    if "severity" in expect:
        out += _said("severity", expect["severity"], root.severity if root else None)
    remedies = {one.id: one.applies for one in root.remedies} if root else {}
    for id, applies in expect.get("remedies", {}).items():
        out += _said(f"remedy {id}", applies, remedies.get(id))
    lines = {one.line for one in root.evidence} if root else set()
    lines |= {
        evidence.line
        for condition in (root.conditions if root else [])
        for evidence in condition.evidence
    }
    missing = [line for line in expect.get("evidence", []) if line not in lines]
    if missing:
        out.append(f"evidence: lines {missing} are not among {sorted(lines)}")
    texts = [f"{one.text} {one.why}" for one in (root.not_a_fix if root else [])]
    for pattern in expect.get("not_a_fix", []):
        if not any(re.search(pattern, text) for text in texts):
            out.append(f"not a fix: {pattern!r} is not among {texts}")
    refuters = [
        f"{one.text} {one.how_to_find_out or ''}"
        for one in (root.conditions if root else [])
        if one.kind == "exclusion" and one.how_to_find_out
    ]
    for pattern in expect.get("open_refuters", []):
        if not any(re.search(pattern, text) for text in refuters):
            out.append(f"open refuter {pattern!r} is not among {refuters}")
    return out


def _considered(report: Report, expect: Expect) -> list[str]:
    run = _shown(report)
    found = {one.id: one for one in (run.considered if run else [])}
    out = []
    for id, status in expect.get("considered", {}).items():
        out += _said(f"considered {id}", status, found[id].status if id in found else None)
    for id in expect.get("not_considered", []):
        if id in found:
            out.append(f"{id} must not be considered, and is {found[id].status}")
    for id, pattern in expect.get("because", {}).items():
        text = found[id].because if id in found else ""
        notes = " ".join(
            note for one in (found[id].conditions if id in found else []) if (note := one.note)
        )
        if not re.search(pattern, text):
            out.append(f"because {id}: {pattern!r} is not in {text!r} ({notes!r})")
    return out


def _findings(report: Report, expect: Expect) -> list[str]:
    run = _shown(report)
    found = {one.id: one for one in (run.findings if run else [])}
    out = []
    for id, count in expect.get("symptoms", {}).items():
        out += _said(f"symptom {id}", count, found[id].count if id in found else None)
    for id in expect.get("not_roots", []):
        if id in found:
            out.append(f"{id} must not be a finding")
    for id, pattern in expect.get("summaries", {}).items():
        text = found[id].summary if id in found else ""
        if not re.search(pattern, text):
            out.append(f"summary of {id}: {pattern!r} is not in {text!r}")
    return out


def _facts(report: Report, expect: Expect) -> list[str]:
    run = _shown(report)
    facts = run.facts if run else {}
    out = []
    for name, value in expect.get("facts", {}).items():
        out += _said(f"fact {name}", value, facts[name].value if name in facts else None)
    for name, basis in expect.get("fact_basis", {}).items():
        out += _said(f"basis of {name}", basis, facts[name].basis if name in facts else None)
    return out


def _first_failure(report: Report, expect: Expect) -> list[str]:
    if "first_failure" not in expect:
        return []
    run = _shown(report)
    first = run.first_failure if run else None
    wanted = expect["first_failure"]
    if wanted is None:
        return _said("first_failure", None, first)
    if first is None:
        return [f"first_failure: expected {wanted!r}, got none"]
    out = []
    for key, value in wanted.items():
        actual = getattr(first, key)
        if key == "message":
            if value not in (actual or ""):
                out.append(f"first_failure.message: {value!r} is not in {actual!r}")
        else:
            out += _said(f"first_failure.{key}", value, actual)
    return out


_CHECKS: tuple[Callable[[Report, Expect], list[str]], ...] = (
    _verdict,
    _root_details,
    _considered,
    _findings,
    _facts,
    _first_failure,
)
