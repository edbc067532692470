"""A log tells the same whatever a collector, a launcher or a person put around it."""

import functools

import pytest

from tests.expectation import SAMPLES
from tests.logs.told import assert_same, told
from tests.wrap.catalogue import LOSSLESS
from tests.wrap.containers import cri, docker_json
from tests.wrap.issues import bug_form
from tests.wrap.launchers import ray

LOGS = {
    "crash": SAMPLES / "flagship" / "timeout_one_rank_033.log",
    "healthy": SAMPLES / "real" / "h200" / "healthy.log",
}
JSON_LOGS = {
    "json-crash": SAMPLES / "flagship" / "timeout_033_json.log",
    "json-healthy": SAMPLES / "real" / "cpu" / "004_healthy_json.log",
}
AROUND_JSON = (
    "docker-json",
    "cri-parts",
    "kubectl-both",
    "compose",
    "stern-json",
    "journald-json-all",
    "journald-export-all",
    "journald-short-all",
    "loki-jsonl",
    "fluent-bit",
    "vector",
    "issue",
    "utf-16-le",
    "ts",
)


@functools.cache
def bare(path):
    """Return what a log without an envelope tells."""
    return told(path.read_bytes())


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("wrap", LOSSLESS.values(), ids=LOSSLESS)
def test_an_envelope_changes_nothing_that_is_told(wrap, log):
    """Verdict, runs, facts, evidence and first failure are those of the bare log."""
    assert_same(told(wrap(log.read_bytes())), bare(log))


@pytest.mark.parametrize("log", JSON_LOGS.values(), ids=JSON_LOGS)
@pytest.mark.parametrize("name", AROUND_JSON)
def test_a_json_record_is_read_inside_an_envelope(name, log):
    """JSON records of vLLM stay records inside text and inside JSON of a collector."""
    assert_same(told(LOSSLESS[name](log.read_bytes())), bare(log))


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_a_ray_prefix_alone_names_no_rank(log):
    """Where Ray's workers write no prefix of vLLM's, only the names of processes are lost."""
    assert_same(told(ray(log.read_bytes(), bare=True)), bare(log), names=False)


def test_ray_drops_the_carriage_returns_of_workers_only():
    """Where the driver's records keep their CR, a worker's two tracebacks are still one record."""
    log = SAMPLES / "written" / "survived_mm_then_sigkill.log"

    assert told(ray(log.read_bytes())).verdict == bare(log).verdict


@pytest.mark.parametrize("mixed", [False, True], ids=["", "mixed"])
@pytest.mark.parametrize("write", [docker_json, cri])
def test_a_record_over_16_kib_is_joined_again(write, mixed):
    """A configuration that Docker or a CRI runtime cut into parts is read whole."""
    log = longer(LOGS["crash"].read_bytes(), 40_000)

    assert_same(told(write(log, mixed=mixed)), told(log))


def test_the_environment_of_an_issue_states_versions():
    """What pip lists in the form's environment is stated, and the rest is the bare log's."""
    log = LOGS["crash"]
    libraries = ("flashinfer-python==0.7.2.post1", "torch==2.14.0")
    actual = told(bug_form(log.read_bytes(), libraries=libraries))

    assert actual.facts["torch.version"][:2] == ("2.14.0", "stated")
    assert actual.facts["flashinfer.version"][:2] == ("0.7.2.post1", "stated")
    assert actual.verdict == bare(log).verdict
    assert actual.runs == bare(log).runs
    assert actual.first_failure == bare(log).first_failure


@pytest.mark.parametrize("where", ["prose", "between"])
def test_prose_of_an_issue_is_no_log(where):
    """An error named in the text around the fences is nobody's failure."""
    log = LOGS["crash"]
    prose = "I first saw\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"

    assert_same(told(bug_form(log.read_bytes(), cut=True, **{where: prose})), bare(log))


@pytest.mark.parametrize(
    "quoted",
    [
        '{"log":"torch.AcceleratorError: CUDA error: unspecified launch failure\\n",'
        '"stream":"stderr","time":"2026-12-01T10:00:00Z"}',
        "2026-12-01T10:00:00.1Z stderr F (EngineCore pid=1) ERROR 12-01 10:00:00 [core.py:1]"
        " EngineCore encountered a fatal error.",
        "[pod/x/y] (Worker_TP0 pid=2) ERROR 12-01 10:00:00 [m.py:1] WorkerProc hit an exception.",
        "(RayWorkerWrapper pid=3) torch.OutOfMemoryError: CUDA out of memory.",
    ],
    ids=["docker", "cri", "kubectl", "ray"],
)
@pytest.mark.parametrize("around", ["docker-json", "kubectl-prefix", "journald-short-all"])
def test_an_envelope_quoted_in_a_message_stays_text(around, quoted):
    """A prompt that holds a collector's line of a crash is no crash, bare or wrapped."""
    log = LOGS["healthy"].read_bytes()
    at = log.index(b"(APIServer pid=533) INFO 12-01 13:12:57")
    record = (
        "(APIServer pid=533) INFO 12-01 13:12:50 [logger.py:40] Received request cmpl-1: prompt: "
        f"{quoted!r}, params: SamplingParams(n=1)\n"
    )

    report = told(LOSSLESS[around](log[:at] + record.encode() + log[at:]))

    assert report.verdict == ("clean", None)
    assert list(report.findings) == []


def longer(log, size):
    """Let both lines that print the configuration grow by more sizes to capture."""
    sizes = b", ".join(b"%d" % n for n in range(1000, 1000 + size // 6))
    return log.replace(
        b"'cudagraph_capture_sizes': [", b"'cudagraph_capture_sizes': [" + sizes + b", "
    )
