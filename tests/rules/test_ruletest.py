"""`vdiag rules test`: a rule finds its own samples, no near miss, and claims no other's."""

import json

import pytest
from click.testing import CliRunner

from tests.rules.small import CASES, RECORD, SIGNAL, parts, write
from vdiag.cli.rules import command
from vdiag.errors import PackError
from vdiag.ruletest import run as ruletest
from vdiag.ruletest.run import run_tests

RULE = "diagnoses/cache/cache-peer-lost.yaml"
CASE_FILE = "samples/rules/cache/cache-peer-lost.yaml"


@pytest.fixture
def no_builtin_samples(monkeypatch):
    """Leave the built-in samples out, but for their preludes: they take seconds."""
    monkeypatch.setattr(ruletest, "_foreign", lambda builtin, pack: [])


def failures(tmp_path, files):
    """Return (rule, kind, sample) of everything that failed."""
    results = run_tests(write(tmp_path / "pack", files))
    return [(one.rule, one.kind, one.sample) for one in results.failures]


@pytest.mark.usefixtures("no_builtin_samples")
def test_a_pack_as_it_should_be_has_no_failure(tmp_path):
    """Hits are found and near misses are not."""
    assert failures(tmp_path, parts()) == []


@pytest.mark.usefixtures("no_builtin_samples")
def test_a_hit_that_is_missed_fails(tmp_path):
    """A rule that no longer matches is told by its own sample."""
    files = parts()
    files["signals/cache.yaml"]["signals"] = [
        {
            **SIGNAL,
            "patterns": ["^other: shared cache lost its peer"],
            "types": {},
            "samples": ["other: shared cache lost its peer"],
        }
    ]

    assert failures(tmp_path, files) == [
        ("cache-peer-lost", "hit", "case cache-peer-lost/plain"),
        ("cache-peer-lost", "expectation", "case cache-peer-lost/plain"),
    ]


@pytest.mark.usefixtures("no_builtin_samples")
def test_a_near_miss_that_is_found_fails(tmp_path):
    """A rule that matches too much is told by its near miss."""
    files = parts()
    files[CASE_FILE] = {"hits": CASES["hits"], "near_misses": [{**CASES["hits"][0], "expect": {}}]}
    files[CASE_FILE]["near_misses"][0]["name"] = "found"

    assert ("cache-peer-lost", "near-miss", "case cache-peer-lost/found") in failures(
        tmp_path, files
    )


@pytest.mark.usefixtures("no_builtin_samples")
def test_a_root_in_another_rules_sample_fails(tmp_path):
    """Two rules that claim one failure are told, whichever comes first."""
    files = parts()
    other = {**files[RULE], "id": "cache-gone", "conditions": []}
    files[RULE.replace("peer-lost", "gone")] = other

    assert ("cache-gone", "elsewhere", "case cache-peer-lost/plain") in failures(tmp_path, files)


def test_a_root_in_a_builtin_sample_fails(tmp_path, monkeypatch):
    """A private rule that claims a failure of the built-in samples is told."""
    every = ruletest._foreign
    monkeypatch.setattr(
        ruletest, "_foreign", lambda *where: [one for one in every(*where) if "014_" in one.name]
    )
    files = parts()
    files[RULE]["signature"].append({"event": "start.port_in_use"})
    files[RULE].update(severity="start", conditions=[])

    found = failures(tmp_path, files)

    assert ("cache-peer-lost", "elsewhere", "samples/real/cpu/014_port_in_use.log") in found


def test_a_pack_without_samples_cannot_be_tested(tmp_path):
    """Nothing to test is no success."""
    files = {name: data for name, data in parts().items() if "samples" not in name}

    with pytest.raises(PackError, match="there are no samples here"):
        run_tests(write(tmp_path, files))


@pytest.mark.usefixtures("no_builtin_samples")
def test_the_command_says_what_failed(tmp_path):
    """The table and the JSON say the same; the exit status is 1."""
    files = parts()
    files[CASE_FILE]["near_misses"][0]["block"] = RECORD.format(
        level="ERROR", text="shared cache lost its peer 3"
    )
    folder = write(tmp_path / "pack", files)
    table = CliRunner().invoke(command, ["test", str(folder)])
    data = CliRunner().invoke(command, ["test", str(folder), "-f", "json"])

    (rule,) = json.loads(data.output)["rules"]
    assert (table.exit_code, data.exit_code) == (1, 1)
    assert (rule["hits"], rule["hits_failed"], rule["near_misses_failed"]) == (1, 0, 1)
    assert "cache-peer-lost: near-miss: case cache-peer-lost/asked: is found" in table.output
    assert table.output.splitlines()[1].split() == ["cache-peer-lost", "1/1", "0/1", "0"]


def test_no_builtin_rule_claims_a_sample_that_does_not_expect_it():
    """The cross-rule matrix over all samples of the tree has no unexpected root."""
    results = run_tests()

    assert [(one.rule, one.kind, one.sample) for one in results.failures] == []
    assert results.samples > 900
