"""Inputs that once gave a wrong or no answer, kept as they were found."""

import io

import pytest

from tests.expectation import SAMPLES
from vdiag.engine.diagnose import Engine
from vdiag.logs.sources import Source
from vdiag.report.status import exit_status
from vdiag.rules.cache import load

ENGINE = Engine.of(load())
REAL = SAMPLES / "real" / "cpu"
NOISE = [
    "[rank0]:[W1201 10:00:00.0 ProcessGroupNCCL.cpp:1538] Warning: WARNING: "
    "destroy_process_group() was not called before program exit, which can leak resources.",
    "/opt/python/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: "
    "resource_tracker: There appear to be 4 leaked shared_memory objects to clean up",
    "  warnings.warn('resource_tracker: There appear to be %d '",
    "Triton is installed, but doesn't include CPU backend. Disabling Triton.",
]
WORKER = (
    "(Worker_TP1 pid=7) ERROR 12-01 10:00:00 [multiproc_executor.py:1105] "
    "torch.AcceleratorError: CUDA error: unspecified launch failure\n"
)


def report(text):
    """Analyse a text."""
    data = text if isinstance(text, bytes) else text.encode()
    return ENGINE.report([Source("server.log", io.BytesIO(data))], "test")


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(
    ("log", "root"),
    [("014_port_in_use.log", "port-in-use"), ("018_tp3_heads.log", "heads-not-divisible-tp")],
)
def test_noise_behind_a_traceback_does_not_swallow_it(log, root, noise):
    """What others print after an exception's message is no part of it."""
    verdict = report((REAL / log).read_bytes() + b"\n" + noise.encode() + b"\n").verdict

    assert (verdict.root, verdict.status) == (root, "confirmed")


def test_an_error_whose_traceback_was_cut_off_outlives_a_later_stop():
    """A worker's error before the stop is no clean stop, header or not."""
    stop = (
        "(APIServer pid=3) INFO 12-01 10:00:40 [launcher.py:254] "
        "[shutdown] API server: shutdown triggered\n"
    )

    got = report(WORKER + stop)

    assert got.verdict.root == "cuda-launch-failure"
    assert exit_status(got) == 1


def test_the_line_behind_a_cut_traceback_is_no_exception():
    """A traceback that lost its end has none; uvicorn's next line is not it."""
    text = (
        "(APIServer pid=3) INFO 12-01 10:00:00 [a.py:1] vLLM API server version 0.33.0\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/vllm/vllm/entrypoints/cli/main.py", line 1, in main\n'
        "    run()\n"
        "INFO:     Shutting down\n"
    )

    assert report(text).runs[0].first_failure is None


def test_a_log_that_is_all_crlf_keeps_its_first_failure():
    """Where every line ends in CR LF, a CR says nothing of records."""
    data = (REAL / "093_async_raise_execute.log").read_bytes()
    crlf = b"\r\n".join(line.rstrip(b"\r") for line in data.split(b"\n"))

    first = report(crlf).runs[0].first_failure

    assert (first.process, first.message) == ("Worker_TP0", "injected failure in execute_model")


def test_a_death_before_the_error_is_not_folded_under_it():
    """A worker that is gone two seconds before a CUDA error may be its cause."""
    log = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_text()
    mark = "(Worker_TP5 pid="
    at = log.index(mark, log.index("KV Transfer metrics"))
    death = (
        "(EngineCore pid=688) ERROR 12-01 10:03:12 [multiproc_executor.py:380] Worker proc "
        "VllmWorker-2 died unexpectedly (exit code: -9), shutting down executor.\n"
    )

    run = report(log[:at] + death + log[at:]).runs[0]

    assert run.verdict.root is None or not run.verdict.root.startswith("fi-mnnvl")
    assert {one.id: one.status for one in run.considered}["fi-mnnvl-hisparse-spill-crash"] == "open"


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_absurd_length_is_no_number(digits):
    """No value in a log raises in the arithmetic on it."""
    log = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_text()
    for name in ("tensor_parallel_size=", "Running: ", "misses=", "max_seq_len="):
        log = log.replace(name, name + "9" * digits)

    assert report(log).verdict.status in ("confirmed", "probable", "unexplained")


def test_a_byte_order_mark_hides_nothing():
    """A BOM in front of the first line is no text."""
    data = (SAMPLES / "xid" / "xid48_dmesg_block_first_033.log").read_bytes()

    assert report(b"\xef\xbb\xbf" + data).verdict.root == "gpu-xid"


def test_an_old_xid_of_another_life_is_no_cause():
    """A kernel line older than the server's start was survived."""
    log = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_text()
    xid = "[Thu Nov 27 03:00:00 2026] NVRM: Xid (PCI:0000:3b:00): 63, pid=99, row remap\n"

    assert report(xid + log).verdict.root == "fi-mnnvl-hisparse-spill-crash"


def test_a_server_that_failed_outranks_its_clients_numbers():
    """Given both logs, the crash is the incident, not the bench that ran into it."""
    real = SAMPLES / "real" / "h200"
    names = ("launch_failure_graph.bench.log", "launch_failure_graph.log")
    sources = [Source(name, io.BytesIO((real / name).read_bytes())) for name in names]

    assert ENGINE.report(sources, "test").verdict.root == "cuda-launch-failure"


def test_a_summary_never_holds_half_a_secret():
    """A message is cut at a word, so that what is left of it still redacts."""
    from vdiag.redact import redact
    from vdiag.report.markdown import render

    secret = "sk-" + "Zq8Xv2Lm4Np6" * 4
    for length in range(180, 260, 5):
        text = WORKER.replace(
            "CUDA error: unspecified launch failure", "x " * (length // 2) + secret
        ).replace("AcceleratorError", "OddError")

        assert "sk-Zq8" not in render(redact(report(text)))


def test_a_million_access_lines_cost_little():
    """Of consecutive access lines only the last is read, and it is the last healthy one."""
    access = b'INFO:     127.0.0.1:%d - "POST /v1/completions HTTP/1.1" 200 OK\n'
    log = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_bytes()
    at = log.index(b"\n", log.index(b"Application startup complete.")) + 1
    flood = b"".join(access % (10000 + number) for number in range(3000))

    run = report(log[:at] + flood + log[at:]).runs[0]
    plain = report(log).runs[0]

    assert run.verdict.root == plain.verdict.root
    assert run.last_healthy.line == plain.last_healthy.line + 3000


def test_another_exception_in_the_same_second_is_shown():
    """Inside one second the order is undefined, so what the root does not explain is said."""
    from vdiag.report.terminal import render

    log = (SAMPLES / "flagship" / "timeout_one_rank_033.log").read_text()
    line = next(one for one in log.split("\n") if "Error getting async model runner" in one)
    stamp = line[line.index("ERROR ") + 6 :][:14]
    other = "".join(
        f"(Worker_TP2 pid=894) ERROR {stamp} [multiproc_executor.py:1189] {text}\r\n"
        for text in (
            "WorkerProc hit an exception.",
            "Traceback (most recent call last):",
            '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/worker/x.py", line 1, in f',
            "IndexError: block table has a hole",
        )
    )
    stream = io.StringIO()

    render(report(log.replace(line, other + line, 1)), width=100, color=False, stream=stream)

    assert "Also       IndexError: block table has a hole in Worker_TP2" in stream.getvalue()
