"""The JSON report and its schema."""

import json

import pytest
from pydantic import ValidationError

from tests.report import fixtures
from vdiag.report import json as json_report
from vdiag.report import schema

CASES = ["flagship", "two_runs", "several_inputs", "unexplained", "symptom_only", "no_vllm"]


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name: str) -> None:
    """What is written validates and is the same report again."""
    report = getattr(fixtures, name)()

    assert schema.validate(json.loads(json_report.render(report))) == report


def test_order_of_the_contract() -> None:
    """Fields stand in the order of the contract."""
    data = json.loads(json_report.render(fixtures.flagship()))

    assert list(data) == [
        "schema_version",
        "vdiag",
        "inputs",
        "verdict",
        "verdicts",
        "runs",
        "redaction",
        "stats",
        "notes",
    ]
    assert list(data["runs"][0])[:8] == [
        "id",
        "kind",
        "inputs",
        "outcome",
        "phase",
        "started",
        "ready",
        "ended",
    ]


def test_text_stays_readable() -> None:
    """Text outside ASCII is written as it is, hidden characters by their code."""
    report = fixtures.flagship()
    report.verdict.summary = "快 \u202e \x7f"
    text = json_report.render(report)

    assert '"快 \\u202e \\u007f"' in text
    assert text.endswith("}\n")


def test_numbers_that_json_cannot_say() -> None:
    """A number that is none becomes null, never invalid JSON."""
    report = fixtures.flagship()
    report.runs[0].facts["kv_cache.max_concurrency"].value = float("nan")
    facts = json.loads(json_report.render(report))["runs"][0]["facts"]

    assert facts["kv_cache.max_concurrency"]["value"] is None


def test_types_survive() -> None:
    """Booleans, integers and floats of facts keep their type."""
    report = schema.validate(json.loads(json_report.render(fixtures.flagship())))
    facts = report.runs[0].facts

    assert facts["hisparse.enabled"].value is True
    assert facts["parallel.tp"].value == 8
    assert isinstance(facts["kv_cache.max_concurrency"].value, float)


def test_schema() -> None:
    """The schema requires what is always written and fixes its version."""
    made = schema.json_schema()

    assert made["properties"]["schema_version"]["const"] == 1
    assert set(made["required"]) >= {"verdict", "runs", "schema_version"}
    assert "Finding" in made["$defs"]


def test_unknown_fields_are_ignored_and_wrong_ones_refused() -> None:
    """A newer field is no error, a status that does not exist is one."""
    data = json.loads(json_report.render(fixtures.flagship()))
    data["new"] = 1

    assert schema.validate(data) == fixtures.flagship()
    data["verdict"]["status"] = "maybe"
    with pytest.raises(ValidationError, match="status"):
        schema.validate(data)
