"""No text from a log steers a terminal, breaks out of Markdown, or breaks the JSON."""

import io
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.report import fixtures
from vdiag.report import facts, markdown, schema, terminal
from vdiag.report import json as json_report
from vdiag.report.escape import is_hidden, visible

NASTY = [
    "\x1b[31mred\x1b]0;title\x07",
    "a\u202eb\u2066c\u200bd\ufeffe",
    "\x9b31m\x85\u2028\u2029\x00",
    "```\n# head\n```",
    "`````` ` `` x",
    "@torvalds #123 GH-12 org/repo#5 https://evil.example www.evil.example a@b.c",
    "</details><script>alert(1)</script><!-- <img src=x> &lt; &#64;torvalds",
    "| a \\| b | `c` \\",
    "[x](http://e) ![y](z) **b** __c__ ~~d~~ $e$ :smile: 4ba787ec9",
    "- [x] 1. > # ===\n---",
    "[bold]x[/foo]",
    "\ud800 \U000e0041",
    "",
    "x" * 5000,
]
ANY = st.text(st.characters(), max_size=60) | st.sampled_from(NASTY)
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def outputs(text: str) -> list[str]:
    """Render the hostile report in every format."""
    report = fixtures.hostile(text)
    made = [
        json_report.render(report),
        markdown.render(report),
        markdown.render(report, brief=True),
    ]
    for width in (80, 200):
        stream = io.StringIO()
        terminal.render(report, width=width, color=False, stream=stream)
        facts.render(report, width=width, color=False, stream=stream)
        made.append(stream.getvalue())
    return made


@QUICK
@given(ANY)
def test_nothing_hidden_is_printed(text: str) -> None:
    """No output holds a character that steers the display, but newline and tab."""
    for output in outputs(text):
        assert [char for char in output if is_hidden(char) and char not in "\n\t"] == []


@QUICK
@given(ANY)
def test_json_round_trip(text: str) -> None:
    """The JSON reads back as the same report."""
    report = fixtures.hostile(text)

    assert schema.validate(json.loads(json_report.render(report))) == report


@QUICK
@given(ANY)
def test_markdown_stays_inert(text: str) -> None:
    """Outside code no text of a log makes HTML, a link, a mention or an issue number."""
    report = fixtures.hostile(text)
    inert(markdown.render(report))
    inert(markdown.render(report, brief=True))


def inert(output: str) -> None:
    """Assert that the only HTML in a document is our own, and that nothing links or pings."""
    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    folds = []
    for token in parser.parse(output):
        if token.type == "html_block":
            assert re.fullmatch(
                r"<details><summary>[\w ',]+</summary>\n?|</details>\n?", token.content
            ), token.content
            folds.append(token.content.startswith("<details>"))
        if token.type != "inline":
            continue
        for child in token.children or []:
            assert child.type not in ("link_open", "image", "html_inline", "em_open", "s_open")
            if child.type == "text":
                assert not re.search(r"@\w|#\d|://|www\.", child.content)
                assert not re.search(r"\b[0-9a-f]{7,40}\b", child.content)
    assert folds.count(True) == folds.count(False)


@QUICK
@given(ANY)
def test_fences_hold(text: str) -> None:
    """Every fence that is opened is closed by its own, and headings are all ours."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.render(fixtures.hostile(text)))
    ours = {
        "What to do", "Not a fix", "Why", "First failure", "What this does not prove",
        "Would refute it, or is not known from this log", "Collect next", "Facts",
        "Last healthy line", "Besides", "Gaps in the log", "How this was made",
    }  # fmt: skip
    heads = [
        tokens[index + 1].content
        for index, token in enumerate(tokens)
        if token.type == "heading_open"
    ]

    assert set(heads) <= ours
    assert heads[-1] == "How this was made"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("\U000e0041", "\\U000e0041"),
        ("a\tb\nc\rd", "a b\\nc\\rd"),
        ("\udc80", "\\udc80"),
        ("\u3164", "\\u3164"),
        ("a\ufe0fb\u2800", "a\\ufe0fb\\u2800"),
        ("快 é\u00a0ü", "快 é\u00a0ü"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    """What is hidden is shown by its code, other text stays."""
    assert visible(text) == shown


def test_markdown_is_bounded() -> None:
    """However much there is to say, the Markdown stays under 65,000 characters and says so."""
    report = fixtures.flagship()
    run = report.runs[0]
    run.unexplained = [
        fixtures.Unexplained(f"{number} " + "x" * 380, "ERROR", 1, fixtures.ARGS)
        for number in range(50)
    ]
    run.considered = [
        fixtures.Considered(f"rule-{number}", "open", "y" * 1500, []) for number in range(60)
    ]
    output = markdown.render(report)

    assert len(output) <= 65_000
    assert "Cut to 65,000 characters" in output
    assert "of Errors and warnings that no rule knows" in output
    assert "export VLLM_FLASHINFER_ALLREDUCE_BACKEND=trtllm" in output
    assert output.count("<details>") == output.count("</details>")


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize(
    "markup", ["[bold]x[/bold]", "[/foo]", "[link=https://evil.example]x[/link]", "[red on white]"]
)
def test_rich_markup_is_text(markup: str, color: bool) -> None:
    """What rich would take for markup is printed as it stands."""
    report = fixtures.hostile("plain")
    assert report.runs[0].findings[0].evidence
    report.verdict.summary = f"died of {markup} here"
    stream = io.StringIO()
    terminal.render(report, width=200, color=color, stream=stream)

    assert f"died of {markup} here" in stream.getvalue()


@pytest.mark.parametrize(
    ("nasty", "shown"),
    [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x1b[2J\x9b31m", "\\x1b[2J\\x9b31m"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("z\u200bw\ufeff\u2060", "z\\u200bw\\ufeff\\u2060"),
        ("tag\U000e0041\ufe0f", "tag\\U000e0041\\ufe0f"),
    ],
)
def test_what_steers_a_display_is_shown_by_its_code(nasty: str, shown: str) -> None:
    """Escapes, bidirectional overrides and what has no width are readable in every report."""
    report = fixtures.flagship()
    report.verdict.summary = f"died of {nasty} here"
    stream = io.StringIO()
    terminal.render(report, width=200, color=False, stream=stream)

    for output in (stream.getvalue(), markdown.render(report)):
        assert nasty not in output
        assert shown in output.replace("`", "")
