"""docs/writing-rules.md works as it is written: its files are written, its commands run."""

import os
import re
import subprocess
import sys

import pytest

from tests.expectation import SAMPLES

GUIDE = SAMPLES.parent / "docs" / "writing-rules.md"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.M | re.S)


def blocks():
    """Return (kind, file or None, text) of every block, in order."""
    return [
        (found["kind"], found["file"], found["text"])
        for found in BLOCK.finditer(GUIDE.read_text(encoding="utf-8"))
    ]


@pytest.fixture
def shell(tmp_path):
    """Run a script where `vdiag` is this checkout's, with this interpreter."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "vdiag").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vdiag "$@"\n')
    (tools / "vdiag").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()

    def run(script):
        done = subprocess.run(
            ["sh", "-ec", script],
            cwd=work,
            capture_output=True,
            check=False,
            env={
                **os.environ,
                "COLUMNS": "100",
                "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(SAMPLES.parent),
            },
        )
        assert (done.returncode, done.stderr) == (0, b""), (script, done.stdout, done.stderr)
        return done.stdout.decode()

    return work, run


def test_the_guide_works_as_written(shell):
    """A newcomer who types what the guide says gets what the guide shows."""
    work, run = shell
    printed, compared, written = None, 0, 0
    for kind, file, text in blocks():
        if file is not None:
            path = work / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written += 1
        elif kind == "sh":
            printed = run(text)
        elif kind == "text" and printed is not None:
            pattern = re.escape(text).replace("…", ".*")
            assert re.fullmatch(pattern, printed), (text, printed)
            printed = None
            compared += 1

    assert (written, compared) == (5, 4)


def test_the_schema_that_the_guide_names_is_there():
    """The recipes for editors lead to files."""
    named = set(re.findall(r"docs/schemas/[\w.]+\.json", GUIDE.read_text(encoding="utf-8")))

    assert len(named) == 5
    assert [name for name in sorted(named) if not (SAMPLES.parent / name).is_file()] == []
