"""What a report says of a log, apart from where in the file it stands."""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass
from unittest import mock

import vdiag
from vdiag.engine.diagnose import Engine
from vdiag.report.model import Evidence, Report
from vdiag.rules import pack


@dataclass(frozen=True)
class Told:
    """What a report says of the run shown, without line numbers, gaps and counts.

    Texts of evidence go with what they prove; `times` are those that records of vLLM state.
    """

    verdict: tuple[str, str | None]
    runs: list[tuple[str, str]]
    facts: dict[str, tuple[object, str, list[str]]]
    findings: dict[str, tuple[str, list[str]]]
    first_failure: tuple[str, str] | None
    times: dict[str, object]
    unexplained: list[str]
    processes: set[tuple[str, int | None]]
    faulting: list[str]
    report: Report


def told(data: bytes) -> Told:
    """Analyse a log through the public door and return what its report says."""
    report = analyze(data)
    run = report.run(report.verdict.run)
    assert run is not None, report.verdict
    failure = run.first_failure
    root = next((one for one in run.findings if one.id == report.verdict.root), None)
    return Told(
        verdict=(report.verdict.status, report.verdict.root),
        runs=[(one.kind, one.outcome) for one in report.runs],
        facts={
            name: (fact.value, fact.basis, _texts(fact.evidence))
            for name, fact in run.facts.items()
        },
        findings={one.id: (one.status, _texts(one.evidence)) for one in run.findings},
        first_failure=(failure.type, _spaced(failure.message)) if failure else None,
        times={
            "started": run.started,
            "ready": run.ready,
            "failed_at": run.failed_at,
            "seconds_to_failure": run.seconds_to_failure,
            "seconds_to_notice": run.seconds_to_notice,
        },
        unexplained=sorted(one.template for one in run.unexplained),
        processes={(one.name, one.pid) for one in run.processes},
        faulting=list(root.faulting) if root else [],
        report=report,
    )


def assert_same(actual: Told, bare: Told, *, names: bool = True) -> None:
    """Fail where a wrapped log's report differs; `names`: also in the names of processes."""
    assert actual.verdict == bare.verdict
    assert actual.runs == bare.runs
    assert actual.facts == bare.facts
    assert actual.first_failure == bare.first_failure
    assert actual.findings == bare.findings
    assert actual.times == bare.times
    assert actual.unexplained == bare.unexplained
    if names:
        assert actual.processes == bare.processes
        assert actual.faulting == bare.faulting


def analyze(data: bytes) -> Report:
    """Call :func:`vdiag.analyze` on bytes; the rules are loaded once for all calls."""
    with (
        mock.patch.object(Engine, "of", lambda *_args, **_kwargs: _engine()),
        mock.patch.object(pack, "load", lambda *_args: None),
    ):
        return vdiag.analyze(io.BytesIO(data))


@functools.cache
def _engine() -> Engine:
    return _of(_load())


_of, _load = Engine.of, pack.load


def _texts(evidence: list[Evidence]) -> list[str]:
    return sorted({_spaced(one.text) for one in evidence})


def _spaced(text: str) -> str:
    """Return a text with each run of white space as one blank: collectors change tabs.

    Of a line near the report's 4 KiB the end may fall elsewhere.
    """
    return " ".join(text.split())[:3000]
