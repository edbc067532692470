"""The memory rules reckon with the figures that the log gives."""

import io

import pytest

from tests.expectation import SAMPLES
from vdiag.engine.diagnose import Engine
from vdiag.logs.sources import Source
from vdiag.rules.cache import load
from vdiag.rules.cases import load_cases

ENGINE = Engine.of(load())
CASES = {str(case): case.log for case in load_cases(SAMPLES)}


def root_of(name, *changes):
    """Return the root of a case's log, after replacing texts in it."""
    log = CASES[name]
    for old, new in changes:
        assert old in log
        log = log.replace(old, new)
    report = ENGINE.report([Source("x.log", io.BytesIO(log))], "test")
    run = report.run(report.verdict.run)
    return next(one for one in run.findings if one.role == "root")


def command(finding, remedy):
    """Return the command of a remedy."""
    return next(one.command for one in finding.remedies if one.id == remedy)


@pytest.mark.parametrize(
    ("free", "total", "fits"),
    [("61.20", "178.36", "0.34"), ("40.00", "80.00", "0.49"), ("79.10", "80.00", "0.98")],
)
def test_the_largest_utilisation_that_fits_is_rounded_down(free, total, fits):
    """Free over total, down to a hundredth, a hundredth of a GiB kept back for print rounding."""
    name = "gpu-free-memory-below-utilization/largest_that_fits"
    root = root_of(name, (b"(61.20/178.36 GiB)", f"({free}/{total} GiB)".encode()))

    assert f"{float(free):g} of {float(total):g} GiB" in root.summary
    assert command(root, "lower-utilization").endswith(f"--gpu-memory-utilization {fits}")


def test_no_utilisation_is_advised_where_next_to_nothing_is_free():
    """0.01 would fit and help nobody."""
    name = "gpu-free-memory-below-utilization/largest_that_fits"
    root = root_of(name, (b"(61.20/178.36 GiB)", b"(2.10/178.36 GiB)"))

    assert command(root, "lower-utilization").endswith("--gpu-memory-utilization N")


def test_the_utilisation_after_a_failed_capture_covers_what_was_lacking():
    """1.20 GiB were asked for and 101 MiB free of 79.19 GiB: two hundredths less than 0.97."""
    root = root_of("gpu-oom-cudagraph-capture/computed_utilisation")

    assert command(root, "lower-utilization").endswith("--gpu-memory-utilization 0.95")
    assert "1.20 GiB more were asked for, 101.12 MiB of 79.19 GiB were free" in root.summary


def test_a_kv_cache_set_by_hand_is_lowered_by_what_was_lacking():
    """12 GiB, less the missing 1.11 GiB and a margin, rounded down."""
    root = root_of("gpu-oom-cudagraph-capture/one_rank_of_eight")

    assert command(root, "smaller-kv-bytes").endswith("--kv-cache-memory-bytes 10G")


def test_the_checkpoint_tells_how_many_gpus_it_needs():
    """3,912 GiB over 8 GPUs of 178.36 GiB: 489 a rank is too much; 25 GPUs would hold it."""
    name = "gpu-oom-weights/one_rank_of_eight"
    larger = root_of(name, (b"Checkpoint size: 391.20 GiB", b"Checkpoint size: 3912.00 GiB"))

    assert "--tensor-parallel-size 25 " in command(larger, "more-gpus")
    assert command(larger, "cpu-offload").endswith("--cpu-offload-gb 329")
    assert command(root_of(name), "more-gpus").endswith("--tensor-parallel-size N")


def test_without_figures_nothing_is_invented():
    """A bare "CUDA error: out of memory" gives a summary and commands without numbers."""
    root = root_of("gpu-oom-profile-or-compile/bare_cuda_text")

    assert "unknown" not in root.summary
    assert not any("unknown" in (one.text + (one.command or "")) for one in root.remedies)
