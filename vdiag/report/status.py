"""The exit status that a report ends with, and which run it is about."""

from __future__ import annotations

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
    """Return 0, 1 or 2; with several inputs the worst counts.

    An input that ended before its log did could not be read, whatever the part of it says.
    """
    statuses = [_OF[verdict.status] for verdict in report.verdicts or [report.verdict]]
    if fail_on_risk and any(verdict.status == "at-risk" for verdict in report.verdicts):
        statuses.append(ExitStatus.PROBLEM)
    if not all(item.complete for item in report.inputs):
        statuses.append(ExitStatus.USAGE)
    return max(statuses)


def about(report: Report, run: Run) -> Report:
    """Return the report with another run as the one it is about."""
    verdict = run.verdict or report.verdict
    verdicts = [
        replace(verdict, input=one.input) if one.input in run.inputs else one
        for one in report.verdicts
    ]
    return replace(report, verdict=verdict, verdicts=verdicts)
