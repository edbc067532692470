"""Envelopes, one by one: what is taken off, what is not, and what is said of it."""

import io
import json
import struct

import pytest

from tests.expectation import SAMPLES
from vdiag.engine.diagnose import Engine
from vdiag.logs.envelopes import Unwrapper
from vdiag.logs.envelopes.entries import rewrite
from vdiag.logs.sources import Source
from vdiag.rules.cache import load

ENGINE = Engine.of(load())
RECORD = "(APIServer pid=7) INFO 12-01 10:00:00 [api_server.py:1] hello"


def unwrapped(*lines):
    """Return the texts of lines, read in order by one unwrapper that saw the first 64 KiB."""
    unwrapper = Unwrapper()
    unwrapper.sniff("\n".join(lines))
    return [one.text for line in lines for one in unwrapper.unwrap(line)], unwrapper.kinds


def report_of(data):
    """Return the report of bytes."""
    return ENGINE.report([Source("x.log", io.BytesIO(data))], "test")


def flagship():
    """Return the lines of a flagship crash."""
    return (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_bytes().split(b"\n")[:-1]


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        ("vllm  | ", "docker-compose"),
        ("3: ", "srun"),
        ("[rank0]: ", "torchrun"),
        ("[default3]:", "torchrun"),
        ("> ", "quote"),
        ("> > ", "quote"),
        ("2026-12-01 12:00:00,123 ", "timestamps"),
        ("[12:00:00] ", "timestamps"),
        ("Dec 01 12:00:00 ", "timestamps"),
        ("gpu-node-07: ", "host-prefix"),
        ("<14>vllm/blue#2 ", "prefix"),
    ],
)
def test_a_prefix_is_learned_from_a_record_behind_it(prefix, kind):
    """A traceback before and after the record loses the same prefix."""
    lines = [prefix + "ValueError: a", prefix + RECORD, prefix + "ValueError: b"]

    texts, kinds = unwrapped(*lines)

    assert texts == ["ValueError: a", RECORD, "ValueError: b"]
    assert kinds == [kind]


@pytest.mark.parametrize("line", ["3: x", "> x", "10:00:00 x", "[rank0]: x", "vllm  | x", "    x"])
def test_what_no_record_shows_to_be_a_prefix_stays(line):
    """Text that only looks like a prefix is text."""
    assert unwrapped(line, RECORD) == ([line, RECORD], [])


def test_an_indented_record_among_others_is_no_code_block():
    """One record behind blanks does not take the indentation off a traceback's frames."""
    lines = [RECORD, "    " + RECORD, "    " + RECORD, "    " + RECORD, "    raise ValueError"]

    assert unwrapped(*lines)[0][-1] == "    raise ValueError"


def test_flashinfers_own_stamp_stays_behind_learned_stamps():
    """A library that prints a stamp and a level itself is left to the record grammar."""
    own = "2026-12-01 13:11:58,915 - INFO - autotuner.py:651 - flashinfer.jit: starts"

    assert unwrapped("2026-12-01 13:11:58,900 " + RECORD, own)[0][1] == own


@pytest.mark.parametrize("text", ["The error: no", "Exception in thread: no", "ValueError: no: no"])
def test_a_stamped_sentence_is_not_taken_for_journald(text):
    """A host and an identifier need a pid behind them, or a known name."""
    assert unwrapped("2026-12-01T12:00:00Z " + text)[0] == [text]


def test_prose_of_a_page_is_no_log():
    """An issue's title may quote an error; only fences, foldings and records count."""
    page = [
        "### CUDA error: unspecified launch failure",
        "CUDA error: unspecified launch failure",
        "```text",
        "ValueError: inside",
        "```",
        RECORD,
        "<details>",
        "[pip3] torch==2.11.0",
        "</details>",
        "and prose",
    ]

    texts, kinds = unwrapped(*page)

    assert [text for text in texts if text] == [
        "ValueError: inside",
        RECORD,
        "[pip3] torch==2.11.0",
    ]
    assert kinds == ["markdown"]


def test_a_title_alone_gives_no_crash():
    """A page whose prose names the flagship's error and whose log is healthy is healthy."""
    healthy = (SAMPLES / "real" / "h200" / "healthy.log").read_bytes()
    page = b"# [Bug]: torch.AcceleratorError: CUDA error: unspecified launch failure\n"
    page += (
        b"torch.AcceleratorError: CUDA error: unspecified launch failure\n\n```\n"
        + healthy
        + b"```\n"
    )

    assert report_of(page).verdict.status == "clean"


def test_nested_json_is_read_to_the_record():
    """Fluent Bit around Docker around vLLM."""
    docker = json.dumps({"log": RECORD + "\n", "stream": "stdout", "time": "2026-12-01T12:00:00Z"})
    line = json.dumps({"date": 1796135026.6, "log": docker, "kubernetes": {"pod_name": "vllm-0"}})

    texts, kinds = unwrapped(line)

    assert texts == [RECORD]
    assert kinds == ["json-lines", "docker-json"]


def test_a_traceback_joined_by_a_shipper_is_read_line_by_line():
    """A multi-line message gives one line of text for each of its lines."""
    line = json.dumps({"message": "Traceback (most recent call last):\n  File\nValueError: x"})

    assert unwrapped(line)[0] == ["Traceback (most recent call last):", "  File", "ValueError: x"]


@pytest.mark.parametrize("key", ["jsonPayload", "message"])
def test_json_that_a_shipper_parsed_is_read(key):
    """A JSON record of vLLM, taken apart by a collector, is a record again."""
    record = {"levelname": "ERROR", "message": "EngineCore encountered a fatal error."}
    line = json.dumps({"timestamp": "2026-12-01T12:00:00Z", key: record})

    assert unwrapped(line) == ([json.dumps(record)], ["json-lines"])


@pytest.mark.parametrize(
    "entry",
    [
        {"textPayload": RECORD, "severity": "INFO"},
        {"jsonPayload": {"message": RECORD}, "severity": "INFO"},
        {"preview": False, "result": {"_raw": RECORD}},
    ],
)
def test_an_exported_entry_is_its_message(entry):
    """Cloud and Splunk exports hold the line in a field of theirs, or in an object."""
    assert unwrapped(json.dumps(entry)) == ([RECORD], ["json-lines"])


def test_vllms_own_json_is_no_envelope():
    """A JSON record of vLLM's stays whole for the grammar."""
    line = json.dumps({"levelname": "INFO", "message": "hello"})

    assert unwrapped(line) == ([line], [])


def test_journald_json_gives_bytes_and_names_what_is_missing():
    """A message in bytes is decoded; null is a gap with the command that gets it."""
    fields = {"_PID": "7", "_HOSTNAME": "a", "__REALTIME_TIMESTAMP": "1796135026609967"}
    data = json.dumps({**fields, "MESSAGE": list(RECORD.encode())}) + "\n"
    data += json.dumps({**fields, "MESSAGE": None}) + "\n"

    report = report_of(data.encode())

    assert report.inputs[0].envelopes == ["journald-json"]
    assert [(gap.line, gap.kind) for gap in report.inputs[0].gaps][-1] == (2, "null-message")
    assert "journalctl -a" in report.inputs[0].gaps[-1].how_to_get
    assert report.runs[0].processes[0].name == "APIServer"


def test_export_entries_keep_their_lines_and_binary_messages():
    """Fields become empty lines; a binary message's lines carry its entry's prefix."""
    message = b"one\ntwo"
    entry = b"__CURSOR=x\n__REALTIME_TIMESTAMP=1796135026609967\nMESSAGE\n"
    entry += (
        struct.pack("<Q", len(message))
        + message
        + b"\n_PID=7\n_HOSTNAME=a\nSYSLOG_IDENTIFIER=v\n\n"
    )
    entry += b"__CURSOR=y\nMESSAGE=three\n_TRANSPORT=kernel\nSYSLOG_IDENTIFIER=kernel\n\n"

    kind, chunks = rewrite(Source("x", io.BytesIO(entry)).chunks())
    out = b"".join(bytes(chunk.data[: chunk.size]) for chunk in chunks)

    assert kind == "journald-export"
    assert out.count(b"\n") == entry.count(b"\n")
    stamp = b"2026-12-01T14:23:46.609967+0000 a v[7]: "
    assert [line for line in out.split(b"\n") if line] == [
        stamp + b"one",
        stamp + b"two",
        b"1970-01-01T00:00:00.0+0000 - kernel: three",
    ]


@pytest.mark.parametrize("length", [10, 2560, 3000])
def test_a_length_with_a_newline_in_it_breaks_no_export(length):
    """The eight bytes of a binary field's length may hold the byte of a newline."""
    entry = b"__CURSOR=x\nMESSAGE\n" + struct.pack("<Q", length) + b"a" * length + b"\n_PID=7\n\n"
    entry += b"__CURSOR=y\nMESSAGE=last\n\n"

    _, chunks = rewrite(Source("x", io.BytesIO(entry)).chunks())
    out = b"".join(bytes(chunk.data[: chunk.size]) for chunk in chunks)

    assert out.count(b"\n") == entry.count(b"\n")
    assert b"a" * length in out
    assert b": last\n" in out


def test_parts_of_one_record_are_joined_across_other_streams():
    """CRI cuts long records; a line of the other stream between the parts changes nothing."""
    config = next(line for line in flagship() if b"Initializing a V1 LLM engine" in line)
    stamp = b"2026-12-01T10:00:17.000000000Z "
    out = []
    for line in flagship():
        if line is config:
            third = len(line) // 3
            out += [
                stamp + b"stdout P " + line[:third],
                stamp + b"stderr F something else",
                stamp + b"stdout P " + line[third : 2 * third],
                stamp + b"stdout F " + line[2 * third :],
            ]
        else:
            out.append(stamp + b"stdout F " + line)
    bare, cut = report_of(b"\n".join(flagship())), report_of(b"\n".join(out))

    assert (cut.verdict.status, cut.verdict.root) == (bare.verdict.status, bare.verdict.root)
    assert {name: fact.value for name, fact in cut.runs[0].facts.items()} == {
        name: fact.value for name, fact in bare.runs[0].facts.items()
    }


def test_the_tail_of_a_part_is_not_taken_for_a_line():
    """The end of a split record that starts like an error is no error."""
    stamp = "2026-12-01T10:00:17Z stdout "
    lines = [
        stamp + "F " + RECORD,
        stamp + "P (APIServer pid=7) INFO 12-01 10:00:01 [logger.py:9] prompt: 'x",
        stamp + "F CUDA error: unspecified launch failure",
    ]

    assert report_of("\n".join(lines).encode()).verdict.status != "probable"


def test_two_pods_in_one_stream_are_two_servers():
    """Each pod that prints a banner has runs of its own, whatever the order of their lines."""
    healthy = (SAMPLES / "real" / "h200" / "healthy.log").read_bytes().split(b"\n")[:-1]
    crash = flagship()
    out = []
    for index in range(max(len(healthy), len(crash))):
        for name, lines in ((b"a", healthy), (b"b", crash)):
            if index < len(lines):
                out.append(b"[pod/vllm-" + name + b"/vllm] " + lines[index])
    report = report_of(b"\n".join(out))

    assert [run.outcome for run in report.runs] == ["stopped", "crashed"]
    assert report.verdict.root == "fi-mnnvl-hisparse-spill-crash"
    assert report.verdict.status == "confirmed"


def test_times_of_a_collector_in_another_zone_do_not_mix():
    """A server prints local time, CRI prints UTC: both are put on vLLM's scale."""
    out = [b"2026-12-01T02:00:00.5Z stdout F " + line for line in flagship()]
    bare, report = report_of(b"\n".join(flagship())), report_of(b"\n".join(out))

    assert report.runs[0].seconds_to_notice == bare.runs[0].seconds_to_notice
    assert report.runs[0].started == bare.runs[0].started


def test_rays_note_of_copies_counts_them():
    """``[repeated 7x across cluster]`` is taken off the text and counted."""
    line = (
        "(RayWorkerWrapper pid=9, ip=10.0.0.2) ERROR 12-01 10:00:00 [worker_base.py:9] "
        "Error executing method 'load_model'. [repeated 7x across cluster]"
    )
    from vdiag.logs import grammar

    (piece,) = grammar.read(line)

    assert piece.text.endswith("'load_model'.")
    assert (piece.copies, piece.host, piece.process) == (8, "10.0.0.2", "RayWorkerWrapper")


def test_a_hole_of_nuls_hides_no_line():
    """What stands behind the NULs of a truncated file is read."""
    data = b"\0" * 4096 + b"\n".join(flagship())

    assert report_of(data).verdict.status == "confirmed"


@pytest.mark.parametrize(
    ("machine", "root"), [("a", "gpu-xid"), ("b", "fi-mnnvl-hisparse-spill-crash")]
)
def test_a_kernel_line_counts_on_its_own_machine(machine, root):
    """In a journal of several machines another one's hardware fault explains nothing here."""
    out, crashed = [], False
    for line in flagship():
        if b"ERROR" in line and not crashed:
            crashed = True
            out.append(
                b"Dec 01 10:03:13 %s kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=892, "
                b"GPU has fallen off the bus." % machine.encode()
            )
        out.append(b"Dec 01 10:03:14 a vllm[412]: " + line)

    assert report_of(b"\n".join(out)).verdict.root == root


def test_the_report_says_what_was_recognised():
    """A wrapped log's report names its wrappers; a plain one's has no such line."""
    from vdiag.report.terminal import render

    shown = []
    for prefix in (b"", b"2026-12-01T10:00:17.000000000Z stdout F "):
        stream = io.StringIO()
        data = b"\n".join(prefix + line for line in flagship())
        render(report_of(data), width=100, color=False, stream=stream)
        shown.append([line for line in stream.getvalue().splitlines() if "read as" in line])

    assert shown[0] == []
    assert shown[1][0].endswith("; read as cri")
