"""The real journalctl: its output is read, and the writers of `tests.wrap` agree with it."""

import json
import os
import re

import pytest

from tests.expectation import SAMPLES
from tests.logs.told import assert_same, told
from tests.wrap import journal
from tests.wrap.journald import FORMATS, JSON_THRESHOLD, journald

LOGS = {
    "crash": SAMPLES / "flagship" / "timeout_one_rank_033.log",
    "healthy": SAMPLES / "real" / "h200" / "healthy.log",
}
HARD = b"\n".join(
    [
        b"(APIServer pid=7) INFO 12-01 10:00:00 [a.py:1] plain \xe2\x96\x88 caf\xc3\xa9",
        b"\ttab\tand trailing blanks  \t ",
        b"\x1b[0;36m(EngineCore pid=9)\x1b[0;0m \x1b[32mINFO\x1b[0m 12-01 10:00:01 [b.py:2] colour",
        b"EL \x1b[K and \x1b[01;31mred\x1b[m",
        b"\rbar 1\rbar 2",
        b"\x1b[31mcolour\x1b[0m and\rCR",
        b"not UTF-8 \xff\xfe",
        b"bell \x07, DEL \x7f",
        b"C1 \xc2\x85",
        b"\r",
        b"   ",
        b"",
        b"x" * (JSON_THRESHOLD - len("MESSAGE=") - 1),
        b"x" * (JSON_THRESHOLD - len("MESSAGE=")),
        b"\r" + b"y" * 1023,
        b"\r" + b"y" * 5432,
        b"z" * 20000,
        b'"quotes" and \\backslashes\\ <&>',
        b"  indented",
    ]
)


@pytest.fixture(scope="module", autouse=True)
def _tools():
    reason = journal.missing()
    if reason and os.environ.get("VDIAG_REQUIRE_JOURNAL"):
        pytest.fail(f"{reason}, but VDIAG_REQUIRE_JOURNAL is set; apt-get install it")
    if reason:
        pytest.skip(f"{reason}; on Debian: apt-get install systemd systemd-journal-remote")


@pytest.fixture(scope="module")
def journals(tmp_path_factory):
    """Give a real journal of each log."""
    logs = {name: path.read_bytes() for name, path in LOGS.items()} | {"hard": HARD}
    return {
        name: (log, journal.make(log, tmp_path_factory.mktemp(name))) for name, log in logs.items()
    }


@pytest.mark.parametrize("all", [False, True], ids=["", "all"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["crash", "healthy", "hard"])
def test_a_writer_prints_what_journalctl_prints(journals, name, form, all):
    """Each text format is the same byte for byte; the fields of the others are."""
    log, file = journals[name]

    assert comparable(journald(log, form=form, all=all), form) == comparable(
        journal.show(file, form, all=all), form
    )


@pytest.mark.parametrize("all", [False, True], ids=["", "all"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", LOGS)
def test_a_real_journal_tells_what_its_log_tells(journals, name, form, all):
    """Verdict, facts and evidence are those of the bare log, whatever journalctl's format."""
    log, file = journals[name]

    assert_same(told(journal.show(file, form, all=all)), told(log))


def comparable(data, form):
    """Leave out what a journal file adds of itself: ids of the file, the order of fields."""
    if form == "json":
        rows = [json.loads(line) for line in data.splitlines()]
        return [{k: v for k, v in row.items() if k != "__CURSOR"} for row in rows]
    if form == "export":
        text = re.sub(rb"^__CURSOR=.*$", b"__CURSOR", data, flags=re.M).rstrip(b"\n")
        return [sorted(entry.split(b"\n")) for entry in re.split(rb"\n\n(?=__CURSOR)", text)]
    if form == "verbose":
        text = re.sub(rb" \[s=\w+;.*\]$", b" []", data, flags=re.M)
        return [sorted(entry.split(b"\n")) for entry in re.split(rb"\n(?=\w)", text.rstrip(b"\n"))]
    # systemd 255 writes the offset with a colon.
    return re.sub(rb"^(\S+\+\d\d):(\d\d) ", rb"\1\2 ", data, flags=re.M)
