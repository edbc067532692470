"""Planted private values never survive, whatever their kind and place."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.redact.planted import KINDS, PREFIX, plant, survivors
from tests.redact.planted import POSITIONS as PLACES
from vdiag.engine.diagnose import Engine
from vdiag.logs.sources import Source
from vdiag.redact import Redactor, redact
from vdiag.redact.stream import LogRedactor
from vdiag.report import json as json_report
from vdiag.report import markdown
from vdiag.rules.cache import load

ENGINE = Engine.of(load())


def redacted(log: str) -> str:
    """Return a log as `vdiag redact` writes it."""
    return b"".join(LogRedactor(Redactor()).feed([log.encode()])).decode()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_planted_survives_in_a_log(kind: str, place: str) -> None:
    """No value of any kind survives in any place, not even in halves; lines stay lines."""
    for seed in range(3):
        log, secrets = plant(kind, place, seed)
        made = redacted(log)

        assert survivors(made, secrets) == [], made
        assert made.count("\n") == log.count("\n")


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(KINDS)), st.sampled_from(list(PLACES)), st.integers(0, 1 << 32))
def test_any_planted_value(kind: str, place: str, seed: int) -> None:
    """The same holds for any value that the generator makes."""
    log, secrets = plant(kind, place, seed)

    assert survivors(redacted(log), secrets) == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_planted_survives_in_a_report(kind: str) -> None:
    """A report whose evidence holds the value tells it in no format."""
    import io

    for seed in range(2):
        item = KINDS[kind](random.Random(seed))  # noqa: S311  # repeatable, no secret
        text = item.text
        log = (
            f"{PREFIX}vLLM API server version 0.33.0\n"
            f"{PREFIX}non-default args: {{'x': {text!r}}}\n"
            f"{'' if item.start else PREFIX}{text}\n"
            "(EngineCore pid=7) ERROR 12-01 10:00:00 [core.py:1] EngineCore encountered a fatal "
            "error.\r\n"
            "(EngineCore pid=7) ERROR 12-01 10:00:00 [core.py:1] Traceback (most recent call "
            "last):\r\n"
            '(EngineCore pid=7) ERROR 12-01 10:00:00 [core.py:1]   File "/opt/vllm/vllm/a.py", '
            "line 1, in f\r\n"
            f"(EngineCore pid=7) ERROR 12-01 10:00:00 [core.py:1] OddError: {text}\n"
            f"(EngineCore pid=7) WARNING 12-01 10:00:00 [core.py:1] {text}\n"
        )
        report = ENGINE.report([Source("server.log", io.BytesIO(log.encode()))], "test")
        made = redact(report)

        assert report.runs[0].first_failure is not None
        for output in (markdown.render(made), json_report.render(made)):
            assert survivors(output, item.secrets) == [], output
