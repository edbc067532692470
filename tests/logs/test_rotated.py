"""Rotated logs: which files are one log, in which order, and how its lines are numbered."""

import gzip
import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs.packing import CODECS
from tests.logs.test_sources import whole
from vdiag.engine.diagnose import Engine
from vdiag.logs.inputs import open_inputs
from vdiag.logs.places import Place
from vdiag.logs.rotated import by_stamps, first_stamp, grouped
from vdiag.rules.cache import load


def groups(*names):
    """Return the groups that files of these names fall into."""
    return [[p.path for p in family.places] for family in grouped(Place(name) for name in names)]


@pytest.mark.parametrize(
    "ordered",
    [
        ["vllm.log.2.gz", "vllm.log.1", "vllm.log"],
        ["a/vllm.log.10.zst", "a/vllm.log.9", "a/vllm.log"],
        ["vllm.log-20261130.gz", "vllm.log-20261201.gz", "vllm.log"],
        ["vllm.log.2026-11-30", "vllm.log.2026-12-01", "vllm.log"],
        ["0.log.20261130-101112.gz", "0.log.20261201-101112", "0.log"],
        ["vllm-2026-11-30.log", "vllm-20261201.log.xz", "vllm.log"],
        ["vllm.log-20261201-1764547200", "vllm.log-20261202-1764633600"],
        ["vllm.log.3", "vllm.log.2", "vllm.log.1"],
        ["stdout.1", "stdout"],
    ],
)
def test_a_rotated_set_is_one_log_oldest_first(ordered):
    """However they are listed, the files come in the order they were written in."""
    assert groups(*ordered) == [ordered]
    assert groups(*reversed(ordered)) == [ordered]


@pytest.mark.parametrize(
    "apart",
    [
        ["worker.0", "worker.1"],
        ["worker.log.0", "worker.log.1"],
        ["rank.1", "rank.2"],
        ["server.1.log", "server.log"],
        ["node-1.log", "node-2.log"],
        ["vllm-2026-11-30.log", "vllm-2026-12-01.log"],
        ["a/vllm.log", "b/vllm.log.1"],
        ["vllm.log", "vllm.log.gz"],
        ["vllm.log", "vllm.log.old"],
        ["vllm-0.30.log", "vllm-0.33.log"],
        ["run.20269999", "run"],
    ],
)
def test_what_names_do_not_prove_stays_apart(apart):
    """Ranks, nodes and days of different servers are several logs."""
    assert groups(*apart) == [[name] for name in apart]


def test_a_packed_copy_beside_its_part_is_left_out():
    """A rotation that was interrupted leaves both; lines must not count twice."""
    (family,) = grouped([Place("v.log.1.gz"), Place("v.log"), Place("v.log.1")])

    assert [place.path for place in family.places] == ["v.log.1", "v.log"]
    assert [place.path for place in family.copies] == ["v.log.1.gz"]


@pytest.mark.parametrize(
    ("line", "stamp"),
    [
        (b"(APIServer pid=1) INFO 12-01 10:00:00 [a.py:1] x", "12-01 10:00:00"),
        (b"\x1b[1;36m(APIServer pid=1)\x1b[0;0m INFO 12-01 10:00:00 [a.py:1] x", "12-01 10:00:00"),
        (b"2026-12-01T10:00:00.123Z stdout F INFO", "2026-12-01 10:00:00"),
        (b"[2026-12-01 10:00:00] x", "2026-12-01 10:00:00"),
        (b"Dec 01 10:00:00 host vllm[1]: x", "12-01 10:00:00"),
        (b"built on 2026-11-02 10:00:00 by x", None),
    ],
)
def test_the_first_stamp_is_a_records_own(line, stamp):
    """A date inside a message is no time stamp."""
    assert first_stamp(b"noise\n" + line + b"\n") == stamp


@pytest.mark.parametrize(
    ("stamps", "order"),
    [
        (["12-01 10:00:00", "12-01 11:00:00"], [0, 1]),
        (["12-01 11:00:00", "12-01 10:00:00"], [1, 0]),
        (["12-31 23:00:00", "01-01 01:00:00"], [0, 1]),
        (["01-01 01:00:00", "12-31 23:00:00", "12-30 01:00:00"], [2, 1, 0]),
        (["12-01 11:00:00", None, "12-01 10:00:00"], [2, 1, 0]),
        ([None, None], [0, 1]),
        (["2026-12-01 10:00:00", "2025-12-02 10:00:00"], [1, 0]),
        (["12-01 10:00:00", "12-01 10:00:00"], [0, 1]),
    ],
)
def test_stamps_decide_where_they_contradict_the_names(stamps, order):
    """Names are only names; parts without a time keep their places."""
    assert by_stamps(stamps) == order


def record(minute, text):
    """Return a record of vLLM's."""
    return f"(APIServer pid=7) INFO 12-01 10:{minute:02d}:00 [api.py:1] {text}\n".encode()


@pytest.fixture
def rotated(tmp_path):
    """Return a folder with a log in three parts, one of them without a newline at its end."""
    (tmp_path / "vllm.log.2.gz").write_bytes(gzip.compress(record(0, "one") + record(1, "two")))
    (tmp_path / "vllm.log.1").write_bytes(record(2, "three").rstrip(b"\n"))
    (tmp_path / "vllm.log").write_bytes(record(3, "four"))
    return tmp_path


def test_lines_are_numbered_through_and_parts_say_where(rotated):
    """A line of the joined log is found again in its file."""
    (source,) = (s for s in open_inputs([str(rotated)]) if not s.error)
    text = whole(source)
    parts = [(part.name, part.first_line, part.lines) for part in source.parts]

    assert text == record(0, "one") + record(1, "two") + record(2, "three") + record(3, "four")
    assert source.name == f"{rotated}/vllm.log (+2 rotated)"
    assert source.compression == "gzip"
    assert parts == [
        (f"{rotated}/vllm.log.2.gz", 1, 2),
        (f"{rotated}/vllm.log.1", 3, 1),
        (f"{rotated}/vllm.log", 4, 1),
    ]


def test_files_named_one_by_one_are_joined_in_time_order(rotated):
    """The order on the command line does not matter."""
    names = [str(rotated / name) for name in ("vllm.log", "vllm.log.2.gz", "vllm.log.1")]

    (source,) = open_inputs(names)

    assert whole(source).index(b"one") < whole_index(names, b"four")


def whole_index(names, word):
    """Return where a word stands in the joined log."""
    (source,) = open_inputs(names)
    return whole(source).index(word)


def test_stamps_that_contradict_the_names_are_trusted_and_noted(tmp_path):
    """A set that was renamed by hand is read in the order of its times."""
    (tmp_path / "v.log.1").write_bytes(record(9, "late"))
    (tmp_path / "v.log").write_bytes(record(1, "early"))

    (source,) = open_inputs([str(tmp_path / "v.log"), str(tmp_path / "v.log.1")])

    assert whole(source) == record(1, "early") + record(9, "late")
    assert source.problems == ["joined by their first time stamps, which contradict their names"]
    assert source.complete


def test_a_part_that_cannot_be_read_is_left_out_and_said(rotated):
    """The others are read; the input is not complete."""
    packed = (rotated / "vllm.log.2.gz").read_bytes()
    (rotated / "vllm.log.2.gz").write_bytes(packed[:-4])

    (source,) = open_inputs([str(rotated / "vllm.log"), str(rotated / "vllm.log.2.gz")])
    text = whole(source)

    assert b"two" in text
    assert b"four" in text
    assert not source.complete
    assert source.problems[0].startswith(f"{rotated}/vllm.log.2.gz: truncated gzip")
    assert "its part 1 is missing" in source.problems


@pytest.mark.parametrize("codec", CODECS)
def test_a_crash_cut_in_three_gives_the_verdict_of_the_whole(tmp_path, codec):
    """Rotation in the middle of a run hides nothing."""
    from tests.logs.test_packed import CRASH

    lines = CRASH.read_bytes().splitlines(keepends=True)
    third = len(lines) // 3
    (tmp_path / "v.log.2.gz").write_bytes(CODECS[codec](b"".join(lines[:third])))
    (tmp_path / "v.log.1").write_bytes(b"".join(lines[third : 2 * third]))
    (tmp_path / "v.log").write_bytes(b"".join(lines[2 * third :]))
    engine = Engine.of(load())

    bare = engine.report(open_inputs([str(CRASH)]), "test")
    got = engine.report(open_inputs([str(tmp_path)]), "test")

    assert got.verdict.root == bare.verdict.root
    assert got.verdict.status == bare.verdict.status
    assert [e.line for e in got.runs[0].findings[0].evidence] == [
        e.line for e in bare.runs[0].findings[0].evidence
    ]
    assert got.inputs[0].lines == bare.inputs[0].lines
    assert len(got.inputs[0].parts) == 3


@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(
        st.binary(max_size=30).map(lambda line: b"n" + line.replace(b"\n", b"")), min_size=1
    ),
    cuts=st.lists(st.integers(0, 100), min_size=1, max_size=4),
    codecs=st.lists(st.sampled_from([None, *CODECS]), min_size=5, max_size=5),
)
def test_wherever_a_log_was_cut_the_lines_stay(lines, cuts, codecs):
    """Joined, the parts are the log, and each part's range is its lines."""
    lines = [b"text", *lines]
    at = sorted(cut % (len(lines) + 1) for cut in cuts)
    pieces = [lines[a:b] for a, b in itertools.pairwise([0, *at, len(lines)])]
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, piece in enumerate(pieces):
            age = len(pieces) - 1 - number
            names.append(f"{folder}/v.log.{age}" if age else f"{folder}/v.log")
            data = b"".join(line + b"\n" for line in piece)
            codec = codecs[number]
            Path(names[-1]).write_bytes(CODECS[codec](data) if codec else data)
        (source,) = open_inputs(names)

        assert whole(source).split(b"\n")[:-1] == lines
    assert source.complete
    for part, piece in zip(source.parts, pieces, strict=True):
        assert part.lines == len(piece)
        assert lines[part.first_line - 1 : part.first_line - 1 + part.lines] == piece
