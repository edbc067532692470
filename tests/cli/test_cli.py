"""The command line as a user meets it: whole processes, their output and exit status."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.expectation import SAMPLES

CRASH = SAMPLES / "flagship" / "timeout_one_rank_033.log"
HEALTHY = SAMPLES / "real" / "h200" / "healthy.log"
AT_RISK = SAMPLES / "flagship" / "at_risk_startup_033.log"


def vdiag(*args, stdin=b"", env=None, cwd=None):
    """Run the command; return (exit status, standard output, standard error)."""
    done = subprocess.run(
        [sys.executable, "-m", "vdiag", *map(str, args)],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent), **(env or {})},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_crash_is_status_1_and_its_verdict_is_the_last_line():
    """People tail the output: the verdict stands at its end."""
    status, out, err = vdiag("analyze", CRASH)

    assert (status, err) == (1, "")
    assert out.splitlines()[-1].startswith("confirmed: fi-mnnvl-hisparse-spill-crash")


def test_a_healthy_log_is_status_0():
    """Nothing wrong is status 0."""
    assert vdiag("analyze", HEALTHY)[0] == 0


@pytest.mark.parametrize(("fail_on", "status"), [("problem", 0), ("risk", 1)])
def test_a_risk_counts_only_when_asked(fail_on, status):
    """--fail-on risk turns a risk into status 1."""
    assert vdiag("analyze", AT_RISK, "--fail-on", fail_on)[0] == status


@pytest.mark.parametrize("args", [(), ("-",)])
def test_standard_input_is_read_with_and_without_a_dash(args):
    """The end of a pipe needs no argument."""
    status, out, _ = vdiag("analyze", *args, "-f", "json", stdin=CRASH.read_bytes())

    report = json.loads(out)
    assert status == 1
    assert report["inputs"][0]["name"] == "<stdin>"
    assert report["verdict"]["root"] == "fi-mnnvl-hisparse-spill-crash"


def test_no_argument_and_a_terminal_prints_the_help():
    """Nothing is read from a terminal; the user is told what to type."""
    parent, child = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "vdiag", "analyze"],
        stdin=child,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
        timeout=30,
    )
    os.close(parent)
    os.close(child)

    assert done.returncode == 0
    assert b"Usage: vdiag analyze" in done.stdout


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (None, 2, "no such file"),
        (b"\x1f\x8b\x08\x00\x00", 2, "gzip"),
        (b"\x00\x01\x02" * 5000, 2, "is binary data"),
    ],
)
def test_input_that_cannot_be_read_is_one_line_and_status_2(tmp_path, content, status, said):
    """No traceback, no report, one line that says what, where and what next."""
    path = tmp_path / "server.log"
    if content is not None:
        path.write_bytes(content)

    got, out, err = vdiag("analyze", path)

    assert (got, out) == (status, "")
    assert said in err
    assert err.count("\n") == 1
    assert err.startswith(f"vdiag: {path}")


@pytest.mark.parametrize("content", [b"", b"hello\nworld\n", b"-- No entries --\n"])
def test_input_without_vllm_is_status_2(tmp_path, content):
    """A misspelt unit must not look healthy."""
    path = tmp_path / "server.log"
    path.write_bytes(content)

    status, out, _ = vdiag("analyze", path, "-f", "json")

    assert status == 2
    assert json.loads(out)["verdict"]["status"] == "no-vllm"


def test_one_bad_input_does_not_stop_the_others(tmp_path):
    """The others are still analysed; the status says that one was not."""
    status, out, err = vdiag("analyze", tmp_path / "nowhere.log", CRASH, "-f", "json")

    assert status == 2
    assert "nowhere.log: no such file" in err
    assert json.loads(out)["verdict"]["status"] == "confirmed"


def test_a_log_given_as_a_command_gets_a_hint():
    """`vdiag server.log` is what people type first."""
    status, _, err = vdiag(CRASH)

    assert status == 2
    assert f"did you mean: vdiag analyze {CRASH}" in err


def test_a_misspelt_id_gets_the_nearest_one():
    """Explain says what was probably meant."""
    status, _, err = vdiag("explain", "fi-mnnvl-hisparse-spil-crash")

    assert status == 2
    assert "did you mean fi-mnnvl-hisparse-spill-crash?" in err


def test_explain_prints_the_ten_sections_in_their_order():
    """The sections of a diagnosis keep the field report's order."""
    status, out, _ = vdiag("explain", "fi-mnnvl-hisparse-spill-crash")
    lowered = out.lower()
    sections = (
        "quick conclusion",
        "applies to",
        "fix",
        "caveats",
        "scenario",
        "original error text",
        "cause",
        "what to check",
        "steps",
        "verification",
    )
    places = [lowered.index("\n" + name) for name in sections]

    assert status == 0
    assert places == sorted(places)


def test_rules_list_gives_every_rule_in_both_forms():
    """The list for people and the one for programs hold the same ids."""
    from vdiag.rules.pack import load

    pack = load()
    rows = json.loads(vdiag("rules", "list", "-f", "json")[1])
    text = vdiag("rules", "list")[1]

    assert {row["id"] for row in rows} == {*pack.diagnoses, *pack.symptoms}
    assert all(row["id"] in text for row in rows)


def test_facts_name_the_line_that_states_them():
    """Each fact comes with the line that says so."""
    status, out, _ = vdiag("facts", CRASH)
    row = next(line for line in out.splitlines() if line.startswith("allreduce.backend"))

    assert status == 0
    assert "mnnvl" in row
    assert "line 48" in row


def test_the_json_report_fits_the_published_schema():
    """What analyze prints is what schema describes."""
    from vdiag.report.schema import validate

    schema = json.loads(vdiag("schema")[1])
    report = json.loads(vdiag("analyze", CRASH, "-f", "json")[1])

    assert set(report) <= set(schema["properties"])
    assert validate(report).verdict.status == "confirmed"


@pytest.mark.parametrize("format_", ["terminal", "markdown", "json"])
def test_output_is_the_same_under_any_hash_seed(format_):
    """Two runs over the same input print identical bytes."""
    outputs = {
        vdiag("analyze", CRASH, HEALTHY, AT_RISK, "-f", format_, env={"PYTHONHASHSEED": seed})[1]
        for seed in ("0", "1", "4242")
    }

    assert len(outputs) == 1


def test_a_reader_that_goes_away_is_no_error():
    """`| head -1` must not print a traceback."""
    command = f"{sys.executable} -m vdiag analyze {CRASH} | head -1"
    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
    )

    assert done.stderr == b""


def test_a_broken_pack_is_refused_and_nothing_is_analysed(tmp_path):
    """Nothing is analysed with half a pack."""
    import shutil

    tree = tmp_path / "site"
    shutil.copytree(SAMPLES.parent / "vdiag", tree / "vdiag")
    shutil.copytree(SAMPLES.parent / "rules", tree / "rules")
    broken = next(Path(tree / "rules" / "diagnoses").rglob("port-in-use.yaml"))
    broken.write_text(broken.read_text() + "\nseverity: [\n")

    status, out, err = vdiag("analyze", CRASH, env={"PYTHONPATH": str(tree)}, cwd=tmp_path)

    assert (status, out) == (2, "")
    assert "port-in-use.yaml:" in err
    assert err.count("\n") == 1


def test_an_internal_error_is_one_line_and_debug_shows_it(monkeypatch, tmp_path):
    """No traceback reaches a user; --debug shows it."""
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import vdiag.engine.diagnose as d\n"
        "def broken(*a, **k): raise RuntimeError('it broke')\n"
        "d.observe = broken\n"
    )
    env = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SAMPLES.parent}"}

    status, _, err = vdiag("analyze", CRASH, env=env)
    debug = vdiag("analyze", CRASH, "--debug", env=env)[2]

    assert status == 2
    assert "internal error: RuntimeError: it broke" in err
    assert err.count("\n") == 1
    assert "Traceback (most recent call last)" in debug


def test_colour_is_for_terminals_and_can_be_forced():
    """A pipe gets plain text; --color always gets colour."""
    plain = vdiag("analyze", CRASH)[1]
    coloured = vdiag("analyze", CRASH, "--color", "always")[1]

    assert "\x1b[" not in plain
    assert "\x1b[" in coloured


def test_markdown_replaces_secrets_and_says_so(tmp_path):
    """Under the verdict of a Markdown report stands what was replaced."""
    secret = "hf_" + "a1B2" * 8
    path = tmp_path / "server.log"
    planted = f"'hf_token': '{secret}', 'host': '10.20.30.40', 'port': 8000"
    path.write_text(CRASH.read_text().replace("'port': 8000", planted))

    out = vdiag("analyze", path, "-f", "markdown")[1]

    assert out.splitlines()[2].startswith("Redacted (1 ip, 1 model, 1 secret): ")
    assert "'hf_token': '<secret-1>', 'host': '<ip-1>'" in out
    assert secret not in out
    assert "10.20.30.40" not in out


@pytest.mark.parametrize(("choice", "shown", "status"), [("last", 2, 0), ("1", 1, 1), (None, 1, 1)])
def test_the_run_can_be_chosen(choice, shown, status):
    """--run shows another run than the incident, and the exit status is of what is shown."""
    log = SAMPLES / "runs" / "crash_then_trtllm_033.log"
    args = ["--run", choice] if choice else []
    done, out, _ = vdiag("analyze", log, "-f", "json", *args)

    assert (json.loads(out)["verdict"]["run"], done) == (shown, status)


def test_all_runs_can_be_shown():
    """--run all gives the report of every run, the verdict of each at its end."""
    log = SAMPLES / "runs" / "crash_then_trtllm_033.log"
    status, out, _ = vdiag("analyze", log, "--run", "all")

    assert status == 1
    assert "run 1 of 2" in out and "run 2 of 2" in out


@pytest.mark.parametrize("choice", ["0", "x", "7"])
def test_a_run_that_is_not_there_is_said_in_one_line(choice):
    """A wrong run is wrong usage."""
    status, _, err = vdiag("analyze", CRASH, "--run", choice)

    assert status == 2
    assert choice in err and "Traceback" not in err


def test_the_literals_are_those_of_the_scan():
    """What is given to another matcher finds the lines that the scan finds."""
    from vdiag.engine.compiled import CompiledPack
    from vdiag.rules.cache import load

    status, out, _ = vdiag("rules", "literals")
    printed = out.encode().split(b"\n")[:-1]

    assert status == 0
    assert sorted(printed) == sorted(CompiledPack(load()).literals)
    assert all(printed)
