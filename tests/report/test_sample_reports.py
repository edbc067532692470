"""A report on every sample, in every format, is harmless to look at and to post."""

import io

import pytest

from tests.expectation import SAMPLES, samples
from tests.report.test_hostile import inert
from vdiag.engine.diagnose import Engine
from vdiag.logs.inputs import open_path
from vdiag.redact import Redactor, redact
from vdiag.report import facts, markdown, terminal
from vdiag.report import json as json_report
from vdiag.rules.cache import load

ENGINE = Engine.of(load())
LOGS = sorted(SAMPLES.rglob("*.log"))


def name(log):
    """Return a sample's name below samples/."""
    return log.relative_to(SAMPLES).with_suffix("").as_posix()


def screens(report):
    """Return what the terminal shows of a report, and of its facts."""
    for module in (terminal, facts):
        stream = io.StringIO()
        module.render(report, width=100, color=False, stream=stream)
        yield stream.getvalue()


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_no_control_character_and_no_html_of_the_log(log):
    """Nothing but newline and tab steers a display; strict CommonMark sees only our HTML."""
    report = ENGINE.report([open_path(str(log))], "test")
    made = redact(report)
    pages = [markdown.render(made), markdown.render(made, brief=True), markdown.render(report)]
    for page in pages:
        inert(page)
    outputs = [*pages, json_report.render(report), json_report.render(made)]
    for output in (*outputs, *screens(report), *screens(made)):
        assert [char for char in output if not char.isprintable() and char not in "\n\t"] == []


def test_every_sample_is_looked_at():
    """The tree has samples, and each that is expected something of is among them."""
    assert {log for log in samples() if log.suffix == ".log"} <= set(LOGS)
    assert len(LOGS) > 150


@pytest.mark.parametrize("log", LOGS[::10], ids=name)
def test_a_redacted_report_differs_in_tokens_only(log):
    """Verdicts, ids, lines and counts stay; texts differ where a token stands."""
    report = ENGINE.report([open_path(str(log))], "test")
    redactor = Redactor()
    made = redact(report, redactor=redactor)
    before = json_report.render(report).splitlines()
    after = json_report.render(made).splitlines()
    start = before.index('  "redaction": {')

    assert after.index('  "redaction": {') == start
    for old, new in zip(before[:start], after[:start], strict=True):
        if old != new and '"focus": ' not in old:  # it moves with the text before it
            tokens = ["<cut>", *(f"<{kind}-" for kind in redactor.counts)]
            assert any(token in new for token in tokens), (old, new)
