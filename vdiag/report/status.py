"""The exit status that a report ends with, and which run it is about."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from vdiag.errors import ExitStatus
from vdiag.report.model import Report, Run

_OF = {
    "confirmed": ExitStatus.PROBLEM,
    "probable": ExitStatus.PROBLEM,
    "unexplained": ExitStatus.PROBLEM,
    "symptom-only": ExitStatus.PROBLEM,
    "at-risk": ExitStatus.CLEAN,
    "clean": ExitStatus.CLEAN,
    "no-vllm": ExitStatus.USAGE,
}


def exit_status(report: Report, *, fail_on_risk: bool = False) -> ExitStatus:
    """Return 0, 1 or 2; with several inputs the worst counts."""
    statuses = [_OF[verdict.status] for verdict in report.verdicts or [report.verdict]]
    if fail_on_risk and any(verdict.status == "at-risk" for verdict in report.verdicts):
        statuses.append(ExitStatus.PROBLEM)
    return max(statuses)


def diagnosis_key(run: Run) -> Hashable:
    """Return what two runs share that failed in the same way."""
    verdict, first = run.verdict, run.first_failure
    status, root = (verdict.status, verdict.root) if verdict else (None, None)
    failure = (first.type, first.message) if first and root is None else None
    return (tuple(run.inputs), run.outcome, status, root, failure)


def about(report: Report, run: Run) -> Report:
    """Return the report with another run as the one it is about."""
    verdict = run.verdict or report.verdict
    verdicts = [
        replace(verdict, input=one.input) if one.input in run.inputs else one
        for one in report.verdicts
    ]
    return replace(report, verdict=verdict, verdicts=verdicts)
