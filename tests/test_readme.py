"""The README shows what the program prints."""

import io
import re

import vdiag
from tests.expectation import SAMPLES
from vdiag.report.terminal import render

README = (SAMPLES.parent / "README.md").read_text(encoding="utf-8")


def test_the_first_screen_is_the_real_output():
    """The block under the first command is what it prints at 80 columns."""
    shown = re.search(r"```text\n(.*?)```", README, re.S).group(1)
    sample = re.search(r"vdiag analyze (samples/\S+\.log)", README).group(1)
    stream = io.StringIO()

    render(vdiag.analyze(SAMPLES.parent / sample), width=80, color=False, stream=stream)

    assert shown == stream.getvalue()


def test_every_command_named_exists():
    """No command in the README is an invention."""
    from vdiag.cli.main import main

    named = set(re.findall(r"\bvdiag ([a-z]+)\b", README)) - {"opens", "reads", "knows"}

    assert named <= set(main.list_commands(None))


def test_every_sample_named_exists():
    """A stranger's command must find its file."""
    for path in re.findall(r"samples/[\w/.-]+\.log", README):
        assert (SAMPLES.parent / path).is_file()
