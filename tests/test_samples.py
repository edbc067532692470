"""Every sample gives the report that its expectation asks for."""

import contextlib
import io
import json

import pytest

from tests.expectation import SAMPLES, differences, expectation, samples
from vdiag.engine.diagnose import Engine
from vdiag.logs.inputs import open_path
from vdiag.logs.sources import Source
from vdiag.rules.cache import load

ENGINE = Engine.of(load())
FALLBACK = Engine.of(ENGINE.pack, fallback=True)


def name(log):
    """Return a sample's name below samples/."""
    return log.relative_to(SAMPLES).with_suffix("").as_posix()


@pytest.mark.parametrize("log", samples(), ids=name)
def test_a_sample_gives_its_expected_report(log):
    """Verdict, root, remedies, considered, evidence lines, facts and counts are as written."""
    report = ENGINE.report([open_path(str(log))], "test")

    assert differences(report, expectation(log)) == []


@pytest.mark.parametrize("log", samples(), ids=name)
def test_evidence_is_what_stands_in_the_line_it_names(log):
    """Every line number in a report leads to the text that the report shows."""
    physical = log.read_bytes().decode("utf-8", "replace").split("\n")
    report = ENGINE.report([open_path(str(log))], "test")
    shown = [
        evidence
        for run in report.runs
        for finding in run.findings
        for evidence in (
            *finding.evidence,
            *(one for condition in finding.conditions for one in condition.evidence),
        )
    ]

    for evidence in shown:
        part = evidence.text.strip()[:60].rstrip("\\")
        line = physical[evidence.line - 1]
        assert part in line or part in _decoded(line), (evidence.line, part)


def _decoded(line):
    """Return a line without colour, and the strings of a JSON object."""
    from vdiag.logs.grammar import read

    texts = [piece.text for piece in read(line)]
    if line.startswith("{"):
        texts += _strings(line)
    return "\n".join(texts)


def _strings(line):
    """Return the strings in a JSON object, in JSON inside its strings, and in arrays of bytes."""
    waiting, out = [line], []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list) and all(one in range(256) for one in value):
            waiting.append(bytes(value).decode("utf-8", "replace"))
        elif isinstance(value, str):
            out.append(value)
            if value.startswith("{"):
                with contextlib.suppress(ValueError):
                    waiting.append(json.loads(value))
    return out


@pytest.mark.parametrize(
    "log", [log for log in samples() if log.parent.name in ("flagship", "runs")], ids=name
)
def test_both_matchers_give_the_same_report(log):
    """Without hyperscan's wheel the report is the same, but for the matcher's name."""
    one = ENGINE.report([open_path(str(log))], "test")
    other = FALLBACK.report([open_path(str(log))], "test")
    other.stats = one.stats

    assert one == other


@pytest.mark.parametrize(
    "log", [log for log in samples() if log.parent.name in ("flagship", "clean")], ids=name
)
def test_lost_carriage_returns_change_no_verdict(log):
    """Collectors drop the CR inside records; the verdict stays."""
    data = log.read_bytes().replace(b"\r\n", b"\n")
    bare = ENGINE.report([open_path(str(log))], "test").verdict
    report = ENGINE.report([Source(str(log), io.BytesIO(data))], "test")

    assert (report.verdict.status, report.verdict.root) == (bare.status, bare.root)
