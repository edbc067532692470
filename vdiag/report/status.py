"""The exit status that a report ends with."""

from __future__ import annotations

from vdiag.errors import ExitStatus
from vdiag.report.model import Report

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
