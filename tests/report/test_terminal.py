"""The terminal report: order, size, wording, and harmlessness."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report import fixtures
from vdiag.report import terminal

GOLDEN = Path(__file__).parent / "golden"
CASES = [
    "flagship",
    "multi_node",
    "two_runs",
    "several_inputs",
    "unexplained",
    "symptom_only",
    "at_risk",
    "clean",
    "no_vllm",
]


def show(name: str, *, width: int = 80, color: bool = False) -> str:
    """Render one of the fixtures."""
    stream = io.StringIO()
    terminal.render(getattr(fixtures, name)(), width=width, color=color, stream=stream)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, width: int) -> None:
    """Each kind of report prints exactly what its golden file holds."""
    expected = (GOLDEN / f"{name}.{width}.txt").read_text(encoding="utf-8")

    assert expected == show(name, width=width)


@pytest.mark.parametrize("name", ["flagship", "multi_node", "two_runs"])
def test_one_screen(name: str) -> None:
    """A confirmed flagship fits 40 lines of 80 columns, later runs included."""
    lines = show(name).splitlines()

    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_order() -> None:
    """The parts stand in the order that a person at 3 a.m. needs them in."""
    text = show("two_runs")
    labels = [
        "Ran",
        "Verdict",
        "Fix",
        "Root fix",
        "Not a fix",
        "Why",
        "Followed",
        "Refuted by",
        "Not proved",
        "Considered",
        "Healthy",
        "Run 2",
    ]
    places = [re.search(rf"^{label}\b", text, re.MULTILINE) for label in labels]

    assert all(places)
    starts = [place.start() for place in places if place]
    assert sorted(starts) == starts


def test_verdict_is_last() -> None:
    """The last line repeats the verdict with the rank that faulted first."""
    last = show("flagship").splitlines()[-1]

    assert last == "confirmed: fi-mnnvl-hisparse-spill-crash, first on Worker_TP5"


def test_command_is_whole() -> None:
    """A command is never cut or wrapped, however narrow the terminal is."""
    text = show("flagship", width=40)

    assert "export VLLM_FLASHINFER_ALLREDUCE_BACKEND=trtllm\n" in text


def test_remedy_that_does_not_apply() -> None:
    """A remedy that does not apply is listed with its reason, and never as the fix."""
    text = " ".join(show("multi_node").split())

    assert "Fix Rebuild the image" in text
    assert "Not here Let FlashInfer use its trtllm all-reduce backend: the TP group" in text
    assert "export VLLM_FLASHINFER_ALLREDUCE_BACKEND" not in text


def test_tried_advice() -> None:
    """Advice that does not help says where the log shows it already in force."""
    assert "fuse_allreduce_rms=false (already set, line 5)" in show("flagship")


def test_cut_streams() -> None:
    """A server that died while serving has the remark on streams that counted as success."""
    assert "Streams begun with 200 were cut" in show("flagship")
    assert "Streams" not in show("clean")


def test_later_run() -> None:
    """A later clean run is noted with the fact that changed; aftermath is called so."""
    text = " ".join(show("two_runs", width=120).split())

    assert "aftermath of run 1 (gpu-free-memory-below-utilization)" in text
    assert "clean, up at the end of the log, allreduce.backend mnnvl -> trtllm" in text


def test_inferred_is_marked() -> None:
    """A line that only implies a condition says that it was inferred."""
    report = fixtures.flagship()
    report.runs[0].findings[0].conditions[4].basis = "inferred"
    stream = io.StringIO()
    terminal.render(report, width=120, color=False, stream=stream)

    assert "inferred: HiSparse read KV from host memory: " in stream.getvalue()


def test_unexplained_invents_nothing() -> None:
    """Without a rule the report gives the first failure and what to collect, and no fix."""
    text = show("unexplained")

    assert "first in Worker_TP1 (pid 601)" in text
    assert re.search(r"^Collect ", text, re.MULTILINE)
    assert re.search(r"^Unknown ", text, re.MULTILINE)
    assert not re.search(r"^Fix ", text, re.MULTILINE)


def test_clean_is_short() -> None:
    """A clean log takes three lines."""
    assert len(show("clean").splitlines()) == 3


def test_plain_has_no_escapes_and_no_rich() -> None:
    """Without colour nothing is painted and rich is not imported."""
    code = (
        "import sys, io\n"
        "from tests.report import fixtures\n"
        "from vdiag.report import terminal\n"
        "terminal.render(fixtures.flagship(), width=80, color=False, stream=io.StringIO())\n"
        "sys.exit('rich' in sys.modules or 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False)

    assert done.returncode == 0
    assert "\x1b" not in show("flagship")


@pytest.mark.parametrize("name", CASES)
def test_colour_only_paints(name: str) -> None:
    """In colour the report says the same as in plain text."""
    painted = show(name, color=True)

    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == show(name)


def test_rich_markup_is_text() -> None:
    """What looks like rich markup in a log is printed as it stands."""
    stream = io.StringIO()
    report = fixtures.hostile("[bold red]x[/foo] [link=http://e]y[/link] :smile:")
    terminal.render(report, width=200, color=True, stream=stream)

    assert "[bold red]x[/foo] [link=http://e]y[/link] :smile:" in stream.getvalue()


def test_ascii_stream() -> None:
    """A stream that cannot encode a character gets its code instead of an error."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    terminal.render(fixtures.hostile("错误"), width=80, color=False, stream=stream)
    stream.flush()

    assert b"\\u9519\\u8bef" in raw.getvalue()
