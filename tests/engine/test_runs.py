"""Runs: one life of a server each."""

import io

from tests.expectation import SAMPLES
from vdiag.engine.diagnose import Engine
from vdiag.logs.sources import Source
from vdiag.report.terminal import render
from vdiag.rules.cache import load

ENGINE = Engine.of(load())
CRASH = (SAMPLES / "flagship" / "timeout_three_ranks_mixed_033.log").read_bytes()
HEALTHY = (SAMPLES / "real" / "h200" / "healthy.log").read_bytes()


def report(data):
    """Analyse bytes."""
    return ENGINE.report([Source("server.log", io.BytesIO(data))], "test")


def test_a_restart_with_the_same_pids_keeps_every_process_apart():
    """In a container each start has the pids of the one before; no rank is lost by that."""
    once, twice = report(CRASH), report(CRASH + CRASH)

    assert len(twice.runs) == 2
    for run in twice.runs:
        assert run.findings[0].faulting == once.runs[0].findings[0].faulting
        assert {(p.name, p.pid) for p in run.processes} == {
            (p.name, p.pid) for p in once.runs[0].processes
        }
        assert run.coverage == once.runs[0].coverage


def test_each_run_has_its_own_facts_and_findings():
    """What an earlier run stated says nothing of a later one."""
    both = report(CRASH + HEALTHY)

    assert [run.outcome for run in both.runs] == ["crashed", "stopped"]
    assert both.runs[0].facts["parallel.tp"].value == 8
    assert both.runs[1].facts["parallel.tp"].value == 1
    assert both.runs[1].findings == []


def test_the_run_shown_is_the_last_that_failed():
    """A later clean run is no reason to forget the crash, nor is an earlier one."""
    for data, shown in ((CRASH + HEALTHY, 1), (HEALTHY + CRASH, 2)):
        verdict = report(data).verdict

        assert (verdict.status, verdict.run) == ("confirmed", shown)


def test_a_flood_of_one_message_hides_no_other_and_is_counted():
    """However often one record comes, the crash behind it is found."""
    noise = b"".join(
        b"(APIServer pid=412) WARNING 12-01 10:02:40 [odd.py:7] Something odd about request %d\n"
        % number
        for number in range(3000)
    )
    cut = CRASH.index(b"Application startup complete.")
    cut = CRASH.index(b"\n", cut) + 1
    flooded = report(CRASH[:cut] + noise + CRASH[cut:])

    assert flooded.verdict.status == "confirmed"
    (unknown,) = [one for one in flooded.runs[0].unexplained if "odd" in one.template]
    assert unknown.count == 3000


def test_an_environment_block_between_runs_speaks_of_the_next():
    """Its facts go to the run around it, else to the one that follows, else to the one before."""
    block = b"[pip3] flashinfer-python==0.7.4\n"

    before = report(HEALTHY + block + CRASH)
    after = report(CRASH + block)

    assert "flashinfer.version" in before.runs[1].facts
    assert before.runs[1].facts["flashinfer.version"].value == "0.7.4"
    assert before.runs[0].facts["flashinfer.version"].value != "0.7.4"
    assert after.runs[0].facts["flashinfer.version"].value == "0.7.4"
    assert {one.id: one.status for one in after.runs[0].considered}[
        "fi-mnnvl-hisparse-spill-crash"
    ] == "ruled-out"


def test_a_tail_behind_another_servers_log_is_a_run_of_its_own():
    """Records of processes that a stopped server never had are another life's."""
    tail = (SAMPLES / "flagship" / "tail_only_033.log").read_bytes()
    joined = report(HEALTHY + tail.replace(b"12-01 10:", b"12-01 19:"))

    assert [run.outcome for run in joined.runs] == ["stopped", "crashed"]
    assert joined.runs[1].coverage.startup == "missing"
    assert joined.verdict.root == "cuda-launch-failure"


def test_a_diagnosis_claims_no_condition_that_the_log_does_not_state():
    """Where HiSparse is unknown, the weaker kin leads and the flagship says what is missing."""
    lines = CRASH.split(b"\n")
    start = next(i for i, line in enumerate(lines) if b"norm fusion workspace" in line)
    kept = [line for line in lines[start:] if b"HiSparse" not in line]
    shown = report(b"\n".join(kept)).runs[0]
    flagship = next(one for one in shown.findings if one.id == "fi-mnnvl-hisparse-spill-crash")

    assert shown.verdict.root == "fi-mnnvl-fused-allreduce-crash"
    assert (flagship.status, flagship.role) == ("probable", "root")
    assert "not all of that stands in this log" in flagship.summary


def test_kernel_lines_after_an_orderly_stop_speak_of_the_next_run():
    """A stop that prints EngineDeadError is no crash, so the lines behind it are not about it."""
    stopped = (SAMPLES / "clean" / "sigterm_engine_dead_033.log").read_bytes()
    xid = (SAMPLES / "xid" / "xid48_dmesg_block_first_033.log").read_bytes()

    joined = report(stopped + xid)

    assert [run.outcome for run in joined.runs] == ["stopped", "crashed"]
    assert joined.verdict.root == "gpu-xid"


def test_a_second_server_in_the_same_log_takes_nothing_from_the_first():
    """Lines of two servers that live at the same time go by their pids."""
    cut = HEALTHY.index(b"POST /v1/completions")
    cut = HEALTHY.rindex(b"\n", 0, cut) + 1
    both = report(HEALTHY[:cut] + CRASH + HEALTHY[cut:])

    assert [run.outcome for run in both.runs] == ["stopped", "crashed"]
    assert both.verdict.status == "confirmed"
    assert {one.pid for one in both.runs[0].processes} == {533, 800, 1012}


def test_a_launch_that_truncated_the_file_is_told_from_the_server_before():
    """The first server writes on at its old offset: a hole, then lines of unknown pids."""
    cut = CRASH.index(b"ERROR")
    cut = CRASH.rindex(b"\n", 0, cut) + 1
    banner = HEALTHY[: HEALTHY.index(b"(EngineCore")]
    both = report(banner + b"\0" * 5000 + CRASH[cut:])

    assert len(both.runs) == 2
    assert both.runs[0].outcome == "unknown"
    assert both.runs[1].outcome == "crashed"
    assert both.runs[1].coverage.startup == "missing"
    assert both.runs[0].findings == []


def test_a_crash_loop_is_one_entry_with_a_count():
    """The same diagnosis in several runs is told once."""
    loop = report(CRASH * 4 + HEALTHY)
    stream = io.StringIO()
    render(loop, width=100, color=False, stream=stream)
    text = stream.getvalue()

    assert loop.verdicts[0].same_in == [1, 2, 3, 4]
    assert "1-3: the same failure as run 4: 4 times in all" in text
    assert "Run 5" in text
