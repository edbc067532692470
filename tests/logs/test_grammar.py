"""The record grammar, style by style."""

import pytest

from vdiag.logs import grammar
from vdiag.logs.record import RAW

MESSAGE = "WorkerProc hit an exception."

STYLES = {
    "0.33, record field": (
        f"(Worker_TP5 pid=605) ERROR 12-01 10:00:00 [multiproc_executor.py:1189] {MESSAGE}",
        ("Worker_TP5", 605),
    ),
    "0.33, custom prefix before the process": (
        f"[prod] (Worker_TP5 pid=605) ERROR 12-01 10:00:00 [multiproc_executor.py:1189] {MESSAGE}",
        ("Worker_TP5", 605),
    ),
    "0.30, custom prefix after the process": (
        f"(Worker_TP5 pid=605) [prod] ERROR 12-01 10:00:00 [multiproc_executor.py:991] {MESSAGE}",
        ("Worker_TP5", 605),
    ),
    "0.12 to 0.15, always coloured": (
        "\x1b[0;36m(Worker_TP5 pid=605)\x1b[0;0m ERROR 12-01 10:00:00 "
        f"[multiproc_executor.py:700] {MESSAGE}",
        ("Worker_TP5", 605),
    ),
    "coloured level, time and location": (
        "\x1b[0;36m(Worker_TP5 pid=605)\x1b[0;0m \x1b[31mERROR\x1b[0m "
        "\x1b[90m12-01 10:00:00\x1b[0m \x1b[90m[multiproc_executor.py:1189]\x1b[0m " + MESSAGE,
        ("Worker_TP5", 605),
    ),
    "0.8, rank in the name": (
        f"(VllmWorker rank=5 pid=605) ERROR 12-01 10:00:00 [multiproc_executor.py:400] {MESSAGE}",
        ("VllmWorker rank=5", 605),
    ),
    "no process at all": (
        f"ERROR 12-01 10:00:00 [multiproc_executor.py:400] {MESSAGE}",
        (None, None),
    ),
    "DEBUG, shortened path": (
        "(Worker_TP5 pid=605) DEBUG 12-01 10:00:00 [v1/executor/multiproc_executor.py:1189] "
        + MESSAGE,
        ("Worker_TP5", 605),
    ),
    "before 0.8, location without brackets in front": (
        f"ERROR 12-01 10:00:00 multiproc_executor.py:400] {MESSAGE}",
        (None, None),
    ),
    "Ray, with the actor's address": (
        f"(RayWorkerProc pid=605, ip=192.0.2.7) ERROR 12-01 10:00:00 [x.py:1] {MESSAGE}",
        ("RayWorkerProc", 605),
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_every_prefix_style_gives_the_same_message(style):
    """Every prefix style of 0.8 to 0.33 is read to the same text, time and process."""
    line, process = STYLES[style]

    (piece,) = grammar.read(line)

    assert piece.text == MESSAGE
    assert piece.time == "12-01 10:00:00"
    assert (piece.process, piece.pid) == process
    assert piece.vllm


def test_a_line_that_ends_in_cr_says_that_the_record_goes_on():
    """VLLM ends all lines of a record but the last in CR LF; the CR is no text."""
    first = grammar.read("(Worker pid=1) ERROR 12-01 10:00:00 [a.py:1] Traceback:\r")[-1]
    last = grammar.read("(Worker pid=1) ERROR 12-01 10:00:00 [a.py:1] ValueError: x")[-1]

    assert (first.text, first.more) == ("Traceback:", True)
    assert last.more is False


def test_a_progress_bar_glued_to_a_record_gives_both():
    """A tqdm bar without a newline leaves the record behind it readable."""
    line = (
        "Capturing CUDA graphs (FULL):  50%|█████     | 5/10 [00:01<00:01]\r"
        "Capturing CUDA graphs (FULL): 100%|██████████| 10/10 [00:02<00:00, 4.9it/s]"
        "(Worker_TP0 pid=7) INFO 12-01 10:00:00 [model_runner.py:722] Graph capturing finished"
    )

    pieces = grammar.read(line)

    assert pieces[-1].text == "Graph capturing finished"
    assert pieces[-1].process == "Worker_TP0"
    assert pieces[0].level == RAW
    assert pieces[0].text.startswith("Capturing CUDA graphs (FULL):  50%")


def test_a_record_glued_to_a_library_line_gives_both():
    """A library that ends without a newline glues the next record on."""
    line = (
        "See https://nanobind.readthedocs.io/en/latest/refleaks.html"
        "(EngineCore pid=7) ERROR 12-01 10:00:00 [core.py:1] EngineCore encountered a fatal error."
    )

    raw, record = grammar.read(line)

    assert raw.text == "See https://nanobind.readthedocs.io/en/latest/refleaks.html"
    assert (record.process, record.text) == (
        "EngineCore",
        "EngineCore encountered a fatal error.",
    )


def test_a_record_quoted_in_a_message_stays_text():
    """A record inside another record's message (a user's prompt) is no record."""
    quoted = "(Worker pid=1) ERROR 12-01 10:00:00 [a.py:1] CUDA error: unspecified launch failure"
    line = f"(APIServer pid=9) INFO 12-01 10:00:01 [logger.py:39] Received request: '{quoted}'"

    (piece,) = grammar.read(line)

    assert piece.level == "INFO"
    assert piece.text == f"Received request: '{quoted}'"


def test_a_json_record_gives_its_message_and_its_traceback_line_by_line():
    """JSON records hold the traceback in exc_info; each of its lines is a piece."""
    line = (
        '{"asctime": "2026-12-01 12:51:02,213", "levelname": "ERROR", "name": "vllm.x", '
        '"processName": "VllmWorker-0", "process": 15528, "message": "It failed", '
        '"exc_info": "Traceback (most recent call last):\\n  File \\"a.py\\", line 1, in f\\n'
        'ValueError: no", "vllm_process_name": "Worker_TP0"}'
    )

    pieces = grammar.read(line)

    assert [piece.text for piece in pieces] == [
        "It failed",
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "ValueError: no",
    ]
    assert {(p.process, p.pid, p.level, p.time) for p in pieces} == {
        ("Worker_TP0", 15528, "ERROR", "12-01 12:51:02")
    }
    assert len({piece.record for piece in pieces}) == 1


def test_a_json_record_behind_the_stream_hook_takes_the_hooks_process():
    """Up to 0.30 the stream hook put the process in front of a JSON record."""
    line = (
        '(Worker_TP1 pid=12) {"asctime": "2026-12-01 12:51:02", "levelname": "INFO", '
        '"name": "vllm.x", "message": "hello"}'
    )

    (piece,) = grammar.read(line)

    assert (piece.process, piece.pid, piece.text) == ("Worker_TP1", 12, "hello")


def test_a_cut_json_record_is_kept_as_text():
    """A JSON record that was cut off loses nothing: it stays an unprefixed line."""
    line = '{"asctime": "2026-12-01 12:51:02", "levelname": "ERROR", "message": "half'

    (piece,) = grammar.read(line)

    assert (piece.level, piece.text) == (RAW, line)


def test_flashinfers_own_format_is_a_record():
    """FlashInfer logs through logging.basicConfig, with a level of its own."""
    line = (
        "(Worker pid=1333) 2026-12-01 13:12:07,463 - WARNING - autotuner.py:651 - "
        "flashinfer.jit: [Autotuner]: OOM detected"
    )

    (piece,) = grammar.read(line)

    assert (piece.level, piece.time, piece.pid) == ("WARNING", "12-01 13:12:07", 1333)


def test_the_hooks_prefix_on_an_unlogged_line_names_its_process():
    """Up to 0.30 prints and unlogged tracebacks carry the process, but no level."""
    (piece,) = grammar.read("(Worker pid=1333) [rank0]: Traceback (most recent call last):")

    assert (piece.level, piece.process) == (RAW, "Worker")
    assert piece.text == "[rank0]: Traceback (most recent call last):"
