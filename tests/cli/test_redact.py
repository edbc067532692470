"""Redaction as a user meets it: what is on by default, what is written where."""

import io
import json
import os
import sys

import pytest

from tests.cli.test_cli import CRASH
from vdiag.cli import main as cli

KEY = "Zk3vQ9xTt7Lm2PpA"


@pytest.fixture
def vdiag(monkeypatch, capsys):
    """Return a function that runs the command: (exit status, standard output, error)."""

    def call(*args, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["vdiag", *map(str, args)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setenv("COLUMNS", "3000")
        with pytest.raises(SystemExit) as stop:
            cli.run()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


@pytest.fixture
def log(tmp_path):
    """Return a crash log with a key and an address in its arguments."""
    path = tmp_path / "server.log"
    text = CRASH.read_text().replace("'port': 8000", f"'port': 8000, 'api_key': '{KEY}'", 1)
    path.write_text(text.replace("tcp://127.0.0.1", "tcp://10.1.2.3"))
    return path


@pytest.mark.parametrize(
    ("args", "redacted"),
    [
        ((), False),
        (("--redact",), True),
        (("-f", "json"), False),
        (("-f", "json", "--redact"), True),
        (("-f", "markdown"), True),
        (("-f", "markdown", "--no-redact"), False),
        (("-f", "github-comment"), True),
        (("-f", "json", "--redact-models"), True),
    ],
)
def test_defaults_on_standard_output(vdiag, log, args, redacted):
    """Markdown is redacted, the terminal and JSON are not, and either can be had."""
    status, out, err = vdiag("analyze", log, *args)

    assert (status, err) == (1, "")
    assert ("/models/GLM-5.3-NVFP4" not in out) is redacted
    assert ("<model-1>" in out) is redacted
    if redacted:
        assert KEY not in out


@pytest.mark.parametrize("format_", ["terminal", "markdown", "github-comment", "json"])
def test_a_file_is_redacted(vdiag, log, tmp_path, format_):
    """What goes into a file is redacted in every format, unless it is told not to be."""
    path = tmp_path / "report"

    assert vdiag("analyze", log, "-f", format_, "-o", path) == (1, "", "")
    assert "/models/GLM" not in path.read_text()
    assert vdiag("analyze", log, "-f", format_, "-o", path, "--no-redact")[0] == 1
    assert "/models/GLM" in path.read_text()


@pytest.mark.parametrize(("args", "applied"), [((), False), (("--redact",), True)])
def test_json_says_whether_it_is_redacted(vdiag, log, args, applied):
    """The JSON report says which it is, and counts the kinds."""
    report = json.loads(vdiag("analyze", log, "-f", "json", *args)[1])

    assert report["redaction"]["applied"] is applied
    assert ("secret" in report["redaction"]["counts"]) is applied


def test_the_redaction_report_has_counts_only(vdiag, log):
    """Kinds and counts go to standard error, values nowhere."""
    _, _, err = vdiag("analyze", log, "-f", "markdown", "--redaction-report")
    kinds = {line.split()[0]: line.split()[1] for line in err.splitlines()}

    assert kinds["model"] == "1"
    assert kinds.get("secret") == "1"
    assert KEY not in err


def test_own_patterns_and_their_errors(vdiag, log, tmp_path):
    """A file of patterns adds to what is replaced; a broken line is one line of error."""
    own = tmp_path / "own.txt"
    own.write_text("connector: HiSparseConnector\n")
    out = vdiag("analyze", log, "-f", "markdown", "--redact-extra", own)[1]
    own.write_text("nothing here\n")
    status, _, err = vdiag("analyze", log, "--redact-extra", own)

    assert "'<connector-1>'" in out
    assert "HiSparseConnector" not in out
    assert status == 2
    assert err.startswith(f"vdiag: {own}:1: ")
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_written_is_one_line(vdiag, log, tmp_path):
    """What, where and what next; and nothing half written is left behind."""
    status, _, err = vdiag("analyze", log, "-o", tmp_path / "nowhere" / "report")
    assert (status, err.count("\n")) == (2, 1)
    assert "nowhere/report: cannot write: no such file or directory" in err

    status, _, err = vdiag("analyze", log, "-o", tmp_path)
    assert (status, err.count("\n")) == (2, 1)
    assert "is a folder" in err
    assert sorted(item.name for item in tmp_path.iterdir()) == ["server.log"]


def test_a_file_is_replaced_whole_and_keeps_its_mode(vdiag, log, tmp_path):
    """The old report stays until the new one is complete; permissions stay as they were."""
    path = tmp_path / "report"
    path.write_text("old\n")
    path.chmod(0o640)
    vdiag("analyze", log, "-o", path, "-f", "markdown")

    assert path.read_text().startswith("**Verdict: confirmed**")
    assert path.stat().st_mode & 0o777 == 0o640


def test_redact_writes_a_copy(vdiag, log, tmp_path):
    """The copy has every line in its place, no secret, and gives the same verdict."""
    path = tmp_path / "copy.log"

    assert vdiag("redact", log, "-o", path) == (0, "", "")
    text = path.read_text()
    assert KEY not in text
    assert text.count("\n") == log.read_text().count("\n")
    before = json.loads(vdiag("analyze", log, "-f", "json")[1])
    after = json.loads(vdiag("analyze", path, "-f", "json")[1])
    assert after["verdict"]["root"] == before["verdict"]["root"]
    lines = [
        [line["line"] for line in report["runs"][0]["findings"][0]["evidence"]]
        for report in (before, after)
    ]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("args", [(), ("-",)])
def test_redact_reads_a_pipe(vdiag, args):
    """The end of a pipe needs no argument, and the tally goes to standard error."""
    data = f"--api-key {KEY} at 10.1.2.3\r\nno newline".encode()
    status, out, err = vdiag("redact", *args, "--redaction-report", stdin=data)

    assert (status, out) == (0, "--api-key <secret-1> at <ip-1>\r\nno newline")
    assert [line.split()[0] for line in err.splitlines()] == ["kind", "secret", "ip"]


def test_redact_does_not_overwrite_the_log(vdiag, log):
    """Naming the log as the output is refused, and the log is as it was."""
    before = log.read_bytes()
    status, _, err = vdiag("redact", log, "-o", log)

    assert status == 2
    assert "is the log itself" in err
    assert log.read_bytes() == before


def test_redact_models(vdiag, tmp_path):
    """Public model ids stay, unless they are to be hidden."""
    data = b"--model Qwen/Qwen3-8B --tokenizer /data/x\n"

    assert vdiag("redact", stdin=data)[1] == "--model Qwen/Qwen3-8B --tokenizer <model-1>\n"
    assert vdiag("redact", "--redact-models", stdin=data)[1].count("<model-") == 2


def test_redact_of_nothing_is_an_error(vdiag, tmp_path):
    """A file that is not there is one line, and no output appears."""
    target = tmp_path / "copy"
    status, out, err = vdiag("redact", tmp_path / "nowhere.log", "-o", target)

    assert (status, out) == (2, "")
    assert "no such file" in err
    assert not os.path.exists(target)  # noqa: PTH110  # a dangling link would count, too
