"""What a rule's forms, refused requests and listed facts do to a verdict."""

import io

from tests.expectation import SAMPLES
from vdiag.engine.diagnose import Engine
from vdiag.logs.sources import Source
from vdiag.report import story
from vdiag.rules.cache import load
from vdiag.rules.cases import load_cases

ENGINE = Engine.of(load())
CASES = {str(case): case for case in load_cases(SAMPLES)}


def run_of(log):
    """Return the run that the report of a log shows."""
    report = ENGINE.report([Source("x.log", io.BytesIO(log))], "test")
    return report.run(report.verdict.run)


def roles(run):
    """Return the role of each diagnosis found."""
    return {one.id: one.role for one in run.findings if one.role != "symptom"}


def test_a_form_has_its_own_severity():
    """A parser that does not exist ends the start; the same cause in a request only refuses it."""
    start = run_of(CASES["tool-choice-needs-parser/start_without_parser"].log)
    request = run_of(CASES["tool-choice-needs-parser/request_refused"].log)

    assert [one.severity for one in start.findings] == ["start"]
    assert roles(start) == {"tool-choice-needs-parser": "root"}
    assert [one.severity for one in request.findings] == ["req"]
    assert roles(request) == {"tool-choice-needs-parser": "advice"}


def test_a_refused_request_is_the_root_only_until_another_is_answered():
    """The last thing in the log may be what was asked about; a server that goes on is clean."""
    last = CASES["context-length-exceeded/last_line"].log
    answered = last + b'INFO:     127.0.0.1:41008 - "POST /v1/completions HTTP/1.1" 200 OK\n'

    assert roles(run_of(last)) == {"context-length-exceeded": "root"}
    assert roles(run_of(answered)) == {"context-length-exceeded": "advice"}


def test_a_refused_request_is_never_the_root_of_a_crash():
    """What ended the engine is unknown, not the request that was refused before."""
    log = CASES["context-length-exceeded/last_line"].log + (
        b"(EngineCore pid=688) ERROR 12-01 10:09:12 [core.py:1586] "
        b"EngineCore encountered a fatal error.\n"
    )
    run = run_of(log)

    assert run.outcome == "crashed"
    assert roles(run) == {"context-length-exceeded": "advice"}


def test_a_fact_may_list_all_that_was_seen():
    """Two unknown variables are two values of one fact, not a conflict."""
    run = run_of(CASES["unknown-vllm-env/two_of_which_one_misspelt"].log)
    fact = run.facts["environment.unknown_variables"]

    assert fact.value == "VLLM_FLASHINFER_ALLREDUCE_BACKENDS, VLLM_USE_V1"
    assert fact.conflicts == []
    assert len(fact.evidence) == 2


def test_an_exception_that_wraps_the_root_is_not_shown_beside_it():
    """The evidence is the inner line of a ValidationError; its outer line is no second failure."""
    run = run_of(CASES["arch-not-supported/pydantic_033"].log)

    assert run.first_failure.explained_by == "arch-not-supported"
    assert story.unnamed_failure(run, run.findings[0]) is None


def test_a_remedy_set_under_an_unknown_name_had_no_effect():
    """Where the start says that it does not know the variable, the report says it was no remedy."""
    lines = (SAMPLES / "flagship" / "timeout_033_lf_only.log").read_bytes().splitlines(True)
    warning = (
        b"(APIServer pid=412) WARNING 12-01 10:00:06 [interface.py:1469] "
        b"Unknown vLLM environment variable detected: VLLM_ALLREDUCE_BACKEND\n"
    )
    plain = run_of(b"".join(lines)).findings[0]
    warned = run_of(b"".join([*lines[:8], warning, *lines[8:]])).findings[0]

    assert plain.id == warned.id == "fi-mnnvl-hisparse-spill-crash"
    assert not any("does not know" in one.text for one in plain.not_a_fix)
    assert [one.tried for one in warned.not_a_fix if "does not know" in one.text] == [True]
