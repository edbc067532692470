"""The tables: facts of a run, and the list of rules."""

import io
import json

from tests.report import fixtures
from vdiag.report import facts, overview
from vdiag.report.status import about


def table(width: int, **options: object) -> list[str]:
    """Render the facts of the flagship."""
    stream = io.StringIO()
    facts.render(
        options.pop("report", fixtures.flagship()),  # type: ignore[arg-type]
        width=width,
        color=False,
        stream=stream,
        **options,  # type: ignore[arg-type]
    )
    return stream.getvalue().splitlines()


def test_facts_row() -> None:
    """A fact shows what was asked for, what it resolved to, and the line that says so."""
    row = next(line for line in table(80) if line.startswith("allreduce.backend"))

    assert row.split() == ["allreduce.backend", "auto", "mnnvl", "stated", "line", "118"]


def test_facts_conflict() -> None:
    """A contradicting value stands below the fact with its own line."""
    lines = table(80)
    index = next(i for i, line in enumerate(lines) if line.startswith("cuda_graphs.mode"))

    assert lines[index + 1].split()[:6] == ["but", "also", "PIECEWISE", "stated", "line", "170"]


def test_facts_width() -> None:
    """The table keeps to the width, and shows the lines' text where there is room."""
    assert max(map(len, table(80))) <= 80
    assert max(map(len, table(200))) <= 200
    assert any(line.endswith("workspace with backend=mnnvl") for line in table(200))
    assert any("vLLM 0.33.0 pins it" in line for line in table(200))


def test_facts_of_another_run() -> None:
    """The facts of a run other than the one shown can be asked for."""
    report = fixtures.two_runs()
    lines = table(80, report=about(report, report.run(3)))

    assert any(line.split()[:3] == ["allreduce.backend", "-", "trtllm"] for line in lines)


def test_no_facts() -> None:
    """An input without facts says so."""
    assert table(80, report=fixtures.no_vllm()) == ["no facts in the input"]


ROWS = [
    overview.RuleRow("gpu-xid", "The driver reported a hardware fault", "cuda", "run"),
    overview.RuleRow("cuda-launch-failure", "A kernel died", "cuda", "run", "probable"),
]


def test_rules_table() -> None:
    """Rules are listed one a line, in the order given, within the width."""
    stream = io.StringIO()
    overview.render_table(ROWS, width=60, color=False, stream=stream)
    lines = stream.getvalue().splitlines()

    assert [line.split()[0] for line in lines] == ["id", "gpu-xid", "cuda-launch-failure"]
    assert max(map(len, lines)) <= 60


def test_rules_json() -> None:
    """The JSON list holds the same rows."""
    data = json.loads(overview.render_json(ROWS))

    assert data[1] == {
        "id": "cuda-launch-failure",
        "title": "A kernel died",
        "family": "cuda",
        "severity": "run",
        "ceiling": "probable",
    }
