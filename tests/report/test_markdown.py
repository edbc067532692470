"""The Markdown report for an issue."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report import fixtures
from vdiag.redact import redact
from vdiag.report import markdown
from vdiag.report.gfm import cell, code, fence, prose

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["flagship", "unexplained", "two_runs", "no_vllm", "clean"])
def test_golden(name: str) -> None:
    """Each kind of report makes exactly the Markdown of its golden file."""
    expected = (GOLDEN / f"{name}.md").read_text(encoding="utf-8")

    assert expected == markdown.render(redact(getattr(fixtures, name)()))


def test_golden_short() -> None:
    """The short form makes exactly the Markdown of its golden file."""
    expected = (GOLDEN / "flagship.short.md").read_text(encoding="utf-8")

    assert expected == markdown.render(redact(fixtures.flagship()), brief=True)


def test_the_verdict_is_the_first_line() -> None:
    """The verdict comes first, then what was replaced."""
    lines = markdown.render(redact(fixtures.flagship())).splitlines()

    assert lines[0].startswith("**Verdict: confirmed** (`fi-mnnvl-hisparse-spill-crash`).")
    assert lines[2].startswith("Redacted (nothing found)")


def test_what_was_replaced_is_counted() -> None:
    """The counts of the redaction stand under the verdict."""
    report = fixtures.flagship()
    report.runs[0].last_healthy = fixtures.line(2, "at 10.1.2.3 and 10.1.2.4, a.b@c.com")

    assert "Redacted (1 email, 2 ip)" in markdown.render(redact(report)).splitlines()[2]


def test_an_unredacted_report_says_so() -> None:
    """A report that was not redacted does not claim to be."""
    line = markdown.render(fixtures.flagship()).splitlines()[2]

    assert line == "**Nothing in this report is redacted. Check all of it before posting.**"


def test_parts_of_the_report() -> None:
    """Tasks, fenced evidence, a table of facts, folded symptoms and rules, versions at the end."""
    output = markdown.render(fixtures.flagship())

    assert output.count("\n- [ ] ") == 3
    assert "| fact | value | basis | from |\n|---|---|---|---|\n| `vllm.version` |" in output
    assert "431  Worker_TP5  torch.AcceleratorError" in output.split("```text")[1]
    for folded in ("What followed", "What was considered"):
        assert f"<details><summary>{folded}</summary>" in output
    assert output.rindex("### How this was made") > output.rindex("</details>")


@pytest.mark.parametrize(("brief", "limit"), [(False, 65_000), (True, 8_000)])
def test_it_is_cut_by_importance_and_says_what(brief: bool, limit: int) -> None:
    """However large the report, the limit holds, the fix stays, and the cut is named."""
    report = fixtures.flagship()
    run = report.runs[0]
    long = "x" * 380
    run.unexplained = [
        fixtures.Unexplained(f"{number} {long}", "ERROR", 1, fixtures.ARGS) for number in range(50)
    ]
    run.considered = [
        fixtures.Considered(f"rule-{number}", "open", "y" * 1900, []) for number in range(60)
    ]
    for number in range(300):
        report.inputs.append(replace(report.inputs[0], name=f"/logs/{number}/" + "n" * 4000))
        run.facts[f"fact.{number}.{long}"] = replace(run.facts["parallel.tp"], value=long)
    report.verdicts = [
        replace(report.verdict, input=item.name, summary=long) for item in report.inputs
    ]
    run.findings[0].conditions = [
        replace(run.findings[0].conditions[0], text=f"{number} {long}") for number in range(40)
    ]
    run.findings[0].evidence = [fixtures.line(number, long) for number in range(1, 90)]
    output = markdown.render(report, brief=brief)

    assert len(output) <= limit
    assert "export VLLM_FLASHINFER_ALLREDUCE_BACKEND=trtllm" in output
    if not brief:
        assert "Cut to 65,000 characters. Left out: 50 entries of Errors and warnings" in output
    assert output.count("<details>") == output.count("</details>")
    assert output.splitlines()[0].startswith("**Verdict: confirmed**")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask (@me)", "ask (`@me`)"),
        ("see #12, now", "see `#12`, now"),
        ("set `a_b` here", "set `a_b` here"),
        ("a_b<c>", "`a_b<c>`"),
        ("# head", "`#` head"),
        ("1. item", "`1`. item"),
        ("at 10:04:41 it died", "at 10:04:41 it died"),
        ("x`y", "`` x`y ``"),
    ],
)
def test_prose(text: str, expected: str) -> None:
    """Words that mean something to GitHub become code, other words stay."""
    assert prose(text) == expected


def test_code_holds_backticks() -> None:
    """A code span is longer than the backticks in it."""
    assert code("a ` b") == "`` a ` b ``"
    assert code("a `` b") == "` a `` b `"


def test_cell_escapes_pipes() -> None:
    """A pipe does not end a table cell, nor does one behind a backslash."""
    assert cell("a|b") == "a\\|b"
    assert cell("a\\|b") == "a\\x7cb"


def test_fence_is_longer() -> None:
    """A fence is longer than any run of backticks in its lines."""
    assert fence(["a", "`````"]) == "``````text\na\n`````\n``````"
