"""Where a collector loses text: what is left tells no lie, and the gap is reported."""

import pytest

from tests.expectation import SAMPLES
from tests.logs.told import told
from tests.wrap.damage import nul_instead
from tests.wrap.journald import SHORT, entries, journald
from tests.wrap.launchers import ray

CRASH = SAMPLES / "flagship" / "timeout_one_rank_033.log"
HEALTHY = SAMPLES / "real" / "h200" / "healthy.log"
MANY_RANKS = SAMPLES / "flagship" / "timeout_three_ranks_mixed_033.log"
VERDICTS = {CRASH: ("confirmed", "fi-mnnvl-hisparse-spill-crash"), HEALTHY: ("clean", None)}


def assert_no_lie(actual, bare):
    """Fail where a report states what the whole log does not."""
    for name, (value, basis, _) in actual.facts.items():
        if basis == "stated" and name in bare.facts:
            assert (name, value) == (name, bare.facts[name][0])
    texts = {text for _, found in bare.findings.values() for text in found}
    assert {text for _, found in actual.findings.values() for text in found} <= texts


def gaps(report, kind):
    """Return the gaps of one kind in the only input."""
    return [gap for gap in report.report.inputs[0].gaps if gap.kind == kind]


@pytest.mark.parametrize("log", [CRASH, HEALTHY], ids=["crash", "healthy"])
@pytest.mark.parametrize("form", [*SHORT, "verbose"])
def test_bars_that_journalctl_left_out_are_gaps(form, log):
    """Without --all a bar is `[N blob data]`: the verdict stays, the gap says how to get it."""
    data = log.read_bytes()
    actual, bare = told(journald(data, form=form)), told(data)

    assert actual.verdict == VERDICTS[log]
    assert actual.first_failure == bare.first_failure
    assert_no_lie(actual, bare)
    found = gaps(actual, "blob-data")
    assert sum(gap.count for gap in found) == sum(b"\r" in one.message for one in entries(data))
    assert all("-a" in (gap.how_to_get or "") for gap in found)


def test_a_null_message_is_a_gap_and_no_fact():
    """`-o json` without --all drops a long configuration: nothing is made up from its absence."""
    data = longer(CRASH.read_bytes())
    actual, bare = told(journald(data, form="json")), told(data)
    lost = [one for one in entries(data) if len(one.message) > 4096]

    assert lost
    assert sum(gap.count for gap in gaps(actual, "null-message")) == len(lost)
    assert actual.verdict[1] == VERDICTS[CRASH][1]
    assert actual.first_failure == bare.first_failure
    assert_no_lie(actual, bare)


@pytest.mark.parametrize("form", ["short", "json", "export"])
def test_a_line_that_journald_cut_is_read_as_far_as_it_goes(form):
    """Of a configuration over 48 KiB the rest is an entry of its own: no failure, no other run."""
    data = longer(CRASH.read_bytes(), 80_000)
    actual, bare = told(journald(data, form=form, all=True)), told(data)

    assert actual.verdict[1] == VERDICTS[CRASH][1]
    assert actual.runs == bare.runs
    assert actual.first_failure == bare.first_failure
    assert_no_lie(actual, bare)


@pytest.mark.parametrize("form", ["short", "with-unit", "json", "export", "verbose"])
def test_messages_that_journald_suppressed_are_a_gap(form):
    """Its rate limit swallowed the flood after the crash: the crash is still the root."""
    data = CRASH.read_bytes()
    kept = entries(data)
    first = next(n for n, one in enumerate(kept) if b"completion stream generator" in one.message)
    last = next(n for n, one in enumerate(kept) if n > first + 100 and b"shutdown" in one.message)
    bare = told(data)

    actual = told(journald(data, form=form, all=True, suppress=(first + 40, last)))

    assert actual.verdict == bare.verdict
    assert actual.first_failure == bare.first_failure
    assert gaps(actual, "suppressed")
    assert_no_lie(actual, bare)


@pytest.mark.parametrize("log", [CRASH, HEALTHY], ids=["crash", "healthy"])
def test_lines_that_became_nul_bytes_are_a_gap(log):
    """Access lines that a power cut left as NUL bytes are lost, and the report says so."""
    data = log.read_bytes()
    actual, bare = told(nul_instead(data)), told(data)

    assert actual.verdict == bare.verdict
    assert actual.first_failure == bare.first_failure
    assert actual.findings == bare.findings
    assert actual.report.inputs[0].gaps


@pytest.mark.parametrize("log", [CRASH, MANY_RANKS, HEALTHY], ids=["one", "three", "healthy"])
def test_what_ray_held_back_is_not_missed(log):
    """Ray's deduplication leaves one worker's line of several; its notes are no text of vLLM's."""
    data = log.read_bytes()
    wrapped = ray(data, dedup=True)
    actual, bare = told(wrapped), told(data)

    assert actual.verdict == bare.verdict
    assert actual.runs == bare.runs
    assert {name: fact[0] for name, fact in actual.facts.items()} == {
        name: fact[0] for name, fact in bare.facts.items()
    }
    assert not [text for text in actual.unexplained if "across cluster" in text]
    assert_no_lie(actual, bare)
    if log is not MANY_RANKS:
        assert actual.unexplained == bare.unexplained
    if log is CRASH:
        assert b" [repeated 7x across cluster] (Ray deduplicates logs" in wrapped
        assert actual.faulting == bare.faulting


def longer(log, size=4096):
    """Let both lines that print the configuration grow beyond a size."""
    sizes = b", ".join(b"%d" % n for n in range(1000, 1000 + size // 6))
    return log.replace(
        b"'cudagraph_capture_sizes': [", b"'cudagraph_capture_sizes': [" + sizes + b", "
    )
