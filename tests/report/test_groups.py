"""Several inputs are grouped by root cause."""

import io

from tests.report import fixtures
from vdiag.report import markdown, story, terminal
from vdiag.report.model import Input, Part, Verdict


def several(*verdicts):
    """Return a report with these verdicts, (status, root, name) each."""
    report = fixtures.several_inputs()
    report.verdicts = [
        Verdict(status, root, report.verdict.run, "it broke", name)
        for status, root, name in verdicts
    ]
    report.inputs = [Input(name, 1, 1) for _, _, name in verdicts]
    return report


FIVE = several(
    ("clean", None, "logs/a/0.log"),
    ("confirmed", "gpu-xid", "logs/a/1.log"),
    ("clean", None, "logs/b/2.log"),
    ("probable", "cuda-launch-failure", "logs/b/3.log"),
    ("confirmed", "gpu-xid", "logs/c/4.log"),
)


def test_the_gravest_cause_comes_first_and_names_keep_their_order():
    """One group a status and root."""
    groups = [(group.cause, group.names) for group in story.groups(FIVE)]

    assert groups == [
        ("gpu-xid", ["logs/a/1.log", "logs/c/4.log"]),
        ("cuda-launch-failure", ["logs/b/3.log"]),
        (None, ["logs/a/0.log", "logs/b/2.log"]),
    ]


def test_unexplained_failures_are_grouped_by_their_exception():
    """Two servers that died of different exceptions are two causes."""
    report = fixtures.unexplained()
    name = report.verdicts[0].input if report.verdicts else None
    report.verdicts = [Verdict("unexplained", None, report.verdict.run, "x", name)]

    assert story.groups(report)[0].cause == story.shown(report).first_failure.type


def test_the_terminal_begins_with_a_line_for_each_cause():
    """Verdict, count and names without the folder that they share."""
    stream = io.StringIO()
    terminal.render(FIVE, width=80, color=False, stream=stream)

    assert stream.getvalue().splitlines()[:3] == [
        "confirmed: gpu-xid             2x  a/1.log, c/4.log",
        "probable: cuda-launch-failure  1x  b/3.log",
        "clean                          2x  a/0.log, b/2.log",
    ]


def test_many_names_are_counted_where_they_do_not_fit():
    """A line is never wider than the terminal."""
    report = several(*(("clean", None, f"logs/node-{n}.log") for n in range(100)))
    stream = io.StringIO()
    terminal.render(report, width=60, color=False, stream=stream)

    first = stream.getvalue().splitlines()[0]
    assert len(first) <= 60
    assert first.startswith("clean  100x  node-0.log, node-1.log")
    assert first.endswith(" more")


def test_markdown_has_a_table_of_causes():
    """For an issue with the logs of many nodes."""
    lines = markdown.render(FIVE).splitlines()
    at = lines.index("| verdict | root cause | inputs | names |")

    assert lines[at + 2 : at + 5] == [
        "| confirmed | `gpu-xid` | 2 | `a/1.log`, `c/4.log` |",
        "| probable | `cuda-launch-failure` | 1 | `b/3.log` |",
        "| clean | - | 2 | `a/0.log`, `b/2.log` |",
    ]


def test_a_rotated_log_says_which_lines_are_in_which_file():
    """A line number of the joined log leads to its file."""
    report = fixtures.flagship()
    report.inputs[0].parts = [Part("l/v.log.1", 1, 200), Part("l/v.log", 201, 50)]
    stream = io.StringIO()
    terminal.render(report, width=100, color=False, stream=stream)

    assert "Files      lines of v.log.1 1-200, v.log 201-250" in stream.getvalue()
    assert "lines of v.log.1 1-200, v.log 201-250" in markdown.render(report)
