"""The writers give back what they were given: an envelope that loses text says so."""

import json

import pytest

from tests.expectation import SAMPLES

from .catalogue import COLLECTORS, LAUNCHERS
from .collectors import fluent_bit, json_msg, loki_jsonl, vector
from .containers import cri, docker_json
from .journald import entries, journald
from .kubernetes import stern_json
from .launchers import ray

LOG = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_bytes()
LONG = LOG.replace(b"'inductor'", b"'inductor" + b"x" * 50_000 + b"'")


@pytest.mark.parametrize("log", [LOG, LONG], ids=["", "long"])
def test_the_parts_of_a_docker_record_join_to_the_log(log):
    """Only the last part of a line ends with a newline, and no part is over 16 KiB."""
    parts = [json.loads(line)["log"] for line in docker_json(log).splitlines()]

    assert "".join(parts) == log.decode()
    assert max(len(part.rstrip("\n").encode()) for part in parts) <= 16 * 1024


@pytest.mark.parametrize("mixed", [False, True], ids=["", "mixed"])
def test_the_parts_of_a_cri_record_join_to_the_log(mixed):
    """By stream, P parts and the F part that ends them are the line."""
    open_lines = {b"stdout": b"", b"stderr": b""}
    got = []
    for row in cri(LONG, limit=512, mixed=mixed).removesuffix(b"\n").split(b"\n"):
        _, stream, tag, text = row.split(b" ", 3)
        open_lines[stream] += text
        if tag == b"F":
            got.append(open_lines[stream])
            open_lines[stream] = b""

    assert sorted(got) == sorted(LONG.removesuffix(b"\n").split(b"\n"))


@pytest.mark.parametrize(
    ("write", "key", "end"),
    [
        (fluent_bit, "log", "\n"),
        (vector, "message", ""),
        (loki_jsonl, "line", ""),
        (json_msg, "msg", ""),
        (stern_json, "message", ""),
    ],
)
def test_each_object_holds_one_line(write, key, end):
    """Objects are valid JSON, one a line, in order."""
    texts = [json.loads(row)[key] for row in write(LOG).splitlines()]

    assert texts == [line + end for line in LOG.decode().removesuffix("\n").split("\n")]


def test_journald_keeps_all_but_blank_lines_and_white_space_at_the_end():
    """`cat` is the log without carriage returns at line ends and without blank lines."""
    lines = [line.rstrip() for line in LOG.split(b"\n")]

    assert journald(LOG, form="cat").split(b"\n")[:-1] == [line for line in lines if line]


def test_a_line_over_48_kib_is_two_journal_entries():
    """LineMax cuts both lines of the log that print the configuration."""
    assert max(len(one.message) for one in entries(LONG)) == 48 * 1024
    assert len(entries(LONG)) == len(entries(LOG)) + 2


def test_ray_holds_back_what_other_workers_wrote():
    """The first worker's line is printed, the last one's later with the number of repeats."""
    shown = ray(LOG, dedup=True).split(b"\n")
    groups = [line for line in shown if b"world_size=8 rank=" in line]
    bare = [line for line in LOG.split(b"\n") if b"world_size=8 rank=" in line]

    assert len(bare) == 8
    assert groups[0].endswith(bare[0])
    assert bare[-1] in groups[1]
    assert b"[repeated 7x across cluster]" in groups[1]
    assert len(groups) == 2


@pytest.mark.parametrize("name", [*COLLECTORS, *LAUNCHERS])
def test_a_writer_gives_the_same_twice(name):
    """Times and order come from the log and a seed alone."""
    write = {**COLLECTORS, **LAUNCHERS}[name]

    assert write(LOG) == write(LOG)
