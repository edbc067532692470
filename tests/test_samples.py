"""Every sample gives the report that its expectation asks for."""

import pytest

import vdiag
from tests.expectation import SAMPLES, differences, expectation, samples


@pytest.mark.parametrize(
    "log", samples(), ids=lambda log: log.relative_to(SAMPLES).with_suffix("").as_posix()
)
def test_a_sample_gives_its_expected_report(log):
    """Verdict, root, remedies, considered, evidence lines, facts and counts are as written."""
    report = vdiag.analyze(log)

    assert differences(report, expectation(log)) == []
