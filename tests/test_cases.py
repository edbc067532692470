"""Every case of samples/rules gives the report that it asks for."""

import io

import pytest

from tests.expectation import SAMPLES, differences
from vdiag.engine.diagnose import Engine
from vdiag.errors import PackError
from vdiag.logs.sources import Source
from vdiag.rules.cache import load
from vdiag.rules.cases import load_cases

CASES = load_cases(SAMPLES)
ENGINE = Engine.of(load())


def report_of(case):
    """Return the report of a case's log."""
    return ENGINE.report([Source(f"{case}.log", io.BytesIO(case.log))], "test")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_gives_its_expected_report(case):
    """A hit finds its rule, a near miss does not, and the rest is as written."""
    report = report_of(case)
    found = {finding.id for run in report.runs for finding in run.findings}

    assert differences(report, case.expect) == []
    assert (case.rule in found) == case.hit, found


def test_a_malformed_case_is_named(tmp_path):
    """The error says which file and case, and what is missing."""
    file = tmp_path / "rules" / "family" / "some-rule.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("hits:\n  - {name: one, about: x, block: y}\n")

    with pytest.raises(PackError, match=r"some-rule\.yaml:2: one: missing \['expect', 'source'\]"):
        load_cases(tmp_path)


def test_a_case_is_its_prelude_and_its_block(tmp_path):
    """The log is the prelude up to the stage, then the block; block lines count negative."""
    (tmp_path / "preludes").mkdir()
    (tmp_path / "preludes" / "p.log").write_bytes(b"one\ntwo\rhalf\nthree\n")
    (tmp_path / "preludes" / "p.yaml").write_text("stages: {early: 2}\n")
    file = tmp_path / "rules" / "family" / "some-rule.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "near_misses:\n  - {name: one, about: x, source: s, prelude: 'p:early',\n"
        "     block: 12-01 10:00:00, expect: {evidence: [-1, 1]}}\n"
    )

    (case,) = load_cases(tmp_path)

    assert case.log == b"one\ntwo\rhalf\n12-01 10:00:00\n"
    assert (case.rule, case.hit, case.expect) == ("some-rule", False, {"evidence": [3, 1]})
