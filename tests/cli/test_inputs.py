"""Every kind of input at the command line: bad ones are one line, the others are still read."""

import bz2
import gzip
import json
import os
import pty
import shutil
import subprocess
import sys

import pytest

from tests.cli.test_cli import CRASH, HEALTHY, vdiag
from tests.expectation import SAMPLES
from tests.logs.packing import CODECS, encrypted_zip, tarred, zipped
from tests.wrap import journal

DATA = CRASH.read_bytes()


def fifo(path):
    """Make a named pipe that nobody writes to."""
    os.mkfifo(path)


def folder(path):
    """Make a folder that holds no log."""
    path.mkdir()
    (path / "notes.txt").write_text("hello\n")


BAD = {
    "truncated gzip": (lambda path: path.write_bytes(gzip.compress(DATA)[:-9]), "truncated gzip"),
    "truncated zstd": (
        lambda path: path.write_bytes(CODECS["zstd"](DATA)[:-100]),
        "truncated zstd: ends after",
    ),
    "truncated head": (lambda path: path.write_bytes(gzip.compress(DATA)[:5]), "truncated gzip"),
    "damaged xz": (
        lambda path: path.write_bytes(CODECS["xz"](DATA)[:-40] + b"x" * 40),
        "damaged xz",
    ),
    "tar that leads out": (
        lambda path: path.write_bytes(tarred({"../../etc/cron.d/x": DATA, "server.log": DATA})),
        "../../etc/cron.d/x: not read, the name leads out",
    ),
    "encrypted zip": (lambda path: path.write_bytes(encrypted_zip("a.log", DATA)), "encrypted"),
    "pipe": (fifo, "is a named pipe; use: cat"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "is a device"),
    "folder without a log": (folder, "no vLLM log in this folder (1 without anything of vLLM's)"),
    "empty zip": (lambda path: path.write_bytes(zipped({})), "no vLLM log in this archive"),
    "truncated tar": (
        lambda path: path.write_bytes(tarred({"server.log": DATA})[: len(DATA) // 2]),
        "truncated tar: ends after",
    ),
    "deep zip": (
        lambda path: path.write_bytes(zipped({"b": zipped({"c": zipped({"d": DATA})})})),
        "is an archive in an archive in an archive",
    ),
    "7z": (lambda path: path.write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(100)), "7z x -so"),
    "missing": (lambda path: None, "no such file"),
    "name with an escape": (
        lambda path: path.write_bytes(tarred({"../\x1b[2J\nx.log": DATA})),
        "../\\x1b[2J\\nx.log: not read",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_one_line_and_the_others_are_read(tmp_path, kind):
    """Exit status 2, one line that says what and where, and the verdict of the good one."""
    make, said = BAD[kind]
    path = tmp_path / "bad"
    make(path)

    status, out, err = vdiag("analyze", path, HEALTHY, "-f", "json")

    assert status == 2
    assert err.count("\n") == 1
    assert err.startswith(f"vdiag: {path}")
    assert said in err
    assert str(HEALTHY) in [item["name"] for item in json.loads(out)["inputs"]]


def test_a_truncated_log_still_gets_its_verdict(tmp_path):
    """The crash stands in the part that is there; the status says that a part is missing."""
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(DATA)[:-4])

    status, out, _ = vdiag("analyze", path, "-f", "json")
    report = json.loads(out)

    assert status == 2
    assert report["verdict"]["root"] == "fi-mnnvl-hisparse-spill-crash"
    assert report["inputs"][0]["problems"] == [
        f"truncated gzip: ends after {len(DATA)} unpacked bytes"
    ]
    assert report["inputs"][0]["complete"] is False


@pytest.mark.parametrize("codec", CODECS)
def test_a_pipe_may_be_packed(codec):
    """Standard input is known by its content, without seeking."""
    status, out, err = vdiag("analyze", "-f", "json", stdin=CODECS[codec](DATA))
    report = json.loads(out)

    assert (status, err) == (1, "")
    assert report["inputs"][0]["compression"] == codec
    assert report["verdict"]["root"] == "fi-mnnvl-hisparse-spill-crash"


def test_process_substitution_works(tmp_path):
    """`vdiag analyze <(zcat …)` hands over a descriptor that is a pipe."""
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(DATA))
    command = f"{sys.executable} -m vdiag analyze <(zcat {path}) <(cat {path}) -f json"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
        timeout=60,
    )

    report = json.loads(done.stdout)
    assert [item["compression"] for item in report["inputs"]] == [None, "gzip"]
    assert {verdict["status"] for verdict in report["verdicts"]} == {"confirmed"}


def test_what_a_folder_holds_beside_logs_is_a_note(tmp_path):
    """It is counted on standard error and in the report, and is no error."""
    (tmp_path / "server.log").write_bytes(DATA)
    (tmp_path / "config.json").write_text("{}\n")

    status, out, err = vdiag("analyze", tmp_path, "-f", "json")

    note = f"{tmp_path}: left out 1 file (1 without anything of vLLM's)"
    assert status == 1
    assert err == f"vdiag: note: {note}\n"
    assert json.loads(out)["notes"] == [note]


def measured(path):
    """Analyse a file in a process of its own; return (status, errors, peak memory in MiB)."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'vdiag', 'analyze', sys.argv[1]],"
        " stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)\n"
        "sys.stderr.write(done.stderr.decode())\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
        timeout=300,
    )
    status, peak = done.stdout.split()
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return int(status), done.stderr.decode(), int(peak) / scale


FLOOD = (b"a" * 1023 + b"\n") * (16 << 10)
LINES = gzip.compress(FLOOD)
"""16 MiB of one line; frames one after the other are one file."""
BOMBS = {
    "zstd of vLLM's": lambda: CODECS["zstd"](HEALTHY.read_bytes()) + CODECS["zstd"](FLOOD) * 20,
    "bzip2": lambda: bz2.compress(bytes(50 << 20)) * 6,
    "gzip in gzip": lambda: gzip.compress(LINES * 20),
    "zip of bombs": lambda: zipped({f"{n}.gz": LINES * 10 for n in range(4)}),
    "extended header": lambda: gzip.compress(huge_extension()),
}


def huge_extension():
    """Return a tar whose first header claims a name of 1 GiB."""
    import tarfile

    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_costs_little_memory_and_is_one_line(tmp_path, kind):
    """What unpacks without end is stopped, in the memory that a small log takes."""
    path = tmp_path / "bomb"
    path.write_bytes(BOMBS[kind]())

    status, err, peak = measured(path)

    assert status == 2
    assert err.count("\n") == 1
    assert err.startswith(f"vdiag: {path}")
    assert peak < 200


def test_memory_does_not_grow_with_a_packed_log(tmp_path):
    """A long log of a legal ratio is read whole in the same memory."""
    path = tmp_path / "server.log.gz"
    lines = "".join(f"2026-12-01 10:00:{n % 60:02d} request {n} done\n" for n in range(100_000))
    path.write_bytes(
        gzip.compress(HEALTHY.read_bytes()) + gzip.compress(lines.encode(), compresslevel=1) * 60
    )

    status, _, peak = measured(path)

    assert status == 0
    assert peak < 200


def journalctl(folder, script):
    """Put a program called journalctl first in PATH; return the environment."""
    program = folder / "journalctl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_the_journal_of_a_unit_is_read_without_a_shell(tmp_path):
    """A unit's name is an argument, whatever is in it."""
    entries = tmp_path / "entries"
    entries.write_bytes(DATA)
    env = journalctl(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/args; cat {entries}')

    status, out, err = vdiag(
        "analyze", "--journal", "vllm; true", "--since", "-2h", "-f", "json", env=env
    )

    assert (status, err) == (1, "")
    assert json.loads(out)["inputs"][0]["name"] == "journal:vllm; true"
    assert (tmp_path / "args").read_text().splitlines() == [
        "--unit=vllm; true",
        "--output=json",
        "--all",
        "--no-pager",
        "--since=-2h",
    ]


@pytest.mark.skipif(bool(journal.missing()), reason=str(journal.missing()))
def test_a_real_journal_gives_the_verdict_of_the_bare_log(tmp_path):
    """What journalctl prints for --journal is what the reader of its JSON reads."""
    file = journal.make(DATA, tmp_path)
    real = shutil.which("journalctl")
    env = journalctl(tmp_path, f'exec {real} --quiet --file={file} "$@"')

    status, out, err = vdiag("analyze", "--journal", "vllm", "-f", "json", env=env)
    report = json.loads(out)
    bare = json.loads(vdiag("analyze", CRASH, "-f", "json")[1])

    assert (status, err) == (1, "")
    assert report["inputs"][0]["envelopes"] == ["journald-json"]
    assert report["verdict"]["root"] == bare["verdict"]["root"]
    facts = [
        {name: fact["value"] for name, fact in one["runs"][0]["facts"].items()}
        for one in (report, bare)
    ]
    assert facts[0] == facts[1]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo '-- No entries --'", "the journal has no entries of this unit; check"),
        ("echo '-- No entries --' >&2", "the journal has no entries of this unit; check"),
        (
            "echo 'Hint: You are currently not seeing messages from other users' >&2",
            "try with sudo",
        ),
        ("echo 'Failed to parse timestamp: x' >&2; exit 1", "Failed to parse timestamp: x"),
        ("head -c 300000 /dev/zero | tr '\\0' x >&2; exit 1", "journalctl failed"),
    ],
)
def test_a_journal_that_gives_nothing_is_one_line(tmp_path, script, said):
    """A misspelt unit, no permission, a time that journalctl does not know."""
    status, _, err = vdiag(
        "analyze", "--journal", "vllm", HEALTHY, env=journalctl(tmp_path, script)
    )

    assert status == 2
    assert err.count("\n") == 1
    assert err.startswith("vdiag: journal:vllm: ")
    assert said in err


def test_a_machine_without_journalctl_is_told_what_to_do(tmp_path):
    """The journal can be printed where systemd runs."""
    status, _, err = vdiag("analyze", "--journal", "vllm", env={"PATH": str(tmp_path)})

    assert status == 2
    assert "cannot run journalctl" in err
    assert "journalctl -u vllm -o json --all" in err


def test_times_without_a_journal_are_wrong_usage():
    """They would be ignored in silence."""
    status, _, err = vdiag("analyze", CRASH, "--since", "-2h")

    assert status == 2
    assert "--since and --until go with --journal UNIT" in err


def on_a_terminal(script, path):
    """Run vdiag with a terminal as standard error; return what the terminal got."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=child,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent), "TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        os.close(child)
        process.stdin.close()
        out = process.stdout.read()
    said = b""
    try:
        while part := os.read(parent, 65536):
            said += part
    except OSError:  # how Linux ends a terminal
        pass
    os.close(parent)
    return out, said


RUN = """
import sys
import vdiag.cli.progress as progress
progress._PATIENCE = {patience}
progress._EVERY = 0
sys.argv = ["vdiag", "analyze", sys.argv[1], "-f", "json"]
from vdiag.cli.main import run
try:
    run()
finally:
    print("rich" in sys.modules, file=sys.stdout)
"""


def test_a_long_reading_shows_how_far_it_is_and_wipes_it(tmp_path):
    """The line names the input and is gone at the end."""
    path = tmp_path / "long.log"
    path.write_bytes(DATA + b"nothing that matters\n" * 500_000)

    out, said = on_a_terminal(RUN.format(patience=0), path)

    assert out.endswith(b"True\n")
    assert b"long.log" in said or b"\xe2\x80\xa6" in said
    assert said.endswith(b"\x1b[2K") or b"\x1b[2K" in said[-40:]


def test_a_short_reading_shows_nothing_and_costs_no_import():
    """Nothing flickers for a small log."""
    out, said = on_a_terminal(RUN.format(patience=1.0), CRASH)

    assert out.endswith(b"False\n")
    assert said == b""


def test_nothing_of_a_format_is_imported_before_it_is_met():
    """A plain log pays for no codec and no archive."""
    code = (
        "import sys\n"
        "from vdiag.logs.inputs import open_path\n"
        f"sum(chunk.size for chunk in open_path({str(CRASH)!r}).chunks())\n"
        "heavy = {'bz2', 'lzma', 'tarfile', 'zipfile', 'backports', 'rich', 'subprocess', 'glob',"
        " 'vdiag.logs.tar', 'vdiag.logs.zip', 'vdiag.logs.rotated', 'vdiag.logs.joined'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parent)},
    )

    assert done.stdout.decode() == "[]\n"


def test_nothing_is_written_to_the_disk(tmp_path):
    """Archives are read where they lie, also where a member names another place."""
    path = tmp_path / "x.tar"
    elsewhere = f"{tmp_path}/elsewhere.log"
    path.write_bytes(tarred({elsewhere: DATA, "a/b.log": DATA}))

    status, _, _ = vdiag("analyze", path, cwd=tmp_path, env={"TMPDIR": str(tmp_path)})

    assert status == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.tar"]
