"""Lint finds what is wrong, where it is, and all of it at once."""

from pathlib import Path

import pytest

from tests.rules.small import CASES, SIGNAL, parts, write
from vdiag.rules.lint import lint

SIGNALS = "signals/cache.yaml"
RULE = "diagnoses/cache/cache-peer-lost.yaml"
SAMPLES = "samples/rules/cache/cache-peer-lost.yaml"


def linted(tmp_path, files):
    """Return (file below the pack, message) of every problem, in order."""
    folder = write(tmp_path / "pack", files)
    return [(one.file.removeprefix(f"{folder}/"), one.message) for one in lint(folder)]


def signal(files):
    """Return the pack's signal."""
    return files[SIGNALS]["signals"][0]


UNLINTED = Path(__file__).parent / "unlinted.txt"
"""Defects of built-in rules that are known, without their lines; the list only shrinks."""


def test_the_builtin_rules_have_no_new_defect():
    """Every built-in rule holds what lint asks of all rules, but for a list that shrinks."""
    known = UNLINTED.read_text(encoding="utf-8").splitlines()
    found = sorted({one.message for one in lint()})

    assert [one for one in found if one not in known] == []
    assert [one for one in known if one not in found] == []


def test_the_small_pack_has_no_defect(tmp_path):
    """What the tests below break is whole before."""
    assert linted(tmp_path, parts()) == []


def fact(name, **test):
    """Return a condition on a fact."""
    return {"fact": name, "test": test}


def condition(when, kind="state"):
    """Return a condition of a diagnosis."""
    return {"text": "a condition", "kind": kind, "when": when}


def rule(**changes):
    """Return a change of the diagnosis."""
    return lambda files: files[RULE].update(changes)


def of_signal(**changes):
    """Return a change of the signal."""
    return lambda files: signal(files).update(changes)


def conditions(*items):
    """Return a change that gives the diagnosis other conditions."""
    return rule(conditions=list(items))


TRTLLM, MNNVL = (fact("allreduce.backend", equals=name) for name in ("trtllm", "mnnvl"))

DEFECTS = {
    "a pattern that needs no literal": (
        of_signal(patterns=[*SIGNAL["patterns"], r"^(?:RuntimeError: )?shared cache lost"]),
        SIGNALS,
        "pattern 2 matches 'shared cache lost', which holds none of its literals",
    ),
    "a case-blind pattern": (
        of_signal(patterns=["(?i)^shared cache lost its peer", *SIGNAL["patterns"]]),
        SIGNALS,
        "which holds none of its literals",
    ),
    "a short literal": (
        of_signal(literals=["shared cache lost its peer", "peer"]),
        SIGNALS,
        "literal 'peer' is shorter than 8 characters",
    ),
    "an exponential pattern": (
        of_signal(patterns=[r"^(?:\w+\s?)+: shared cache lost its peer", *SIGNAL["patterns"]]),
        SIGNALS,
        "pattern 1 can take too long: one loop can read a text in several ways",
    ),
    "a quadratic pattern": (
        of_signal(patterns=[*SIGNAL["patterns"], r"^.*shared cache lost its peer.*of 9"]),
        SIGNALS,
        "pattern 2 can take too long: loops share a text out",
    ),
    "a pattern that only regex reads": (
        of_signal(patterns=[*SIGNAL["patterns"], r"^\p{Lu}: shared cache lost its peer"]),
        SIGNALS,
        "Python's `re` does not read it",
    ),
    "a sample that does not match": (
        of_signal(samples=[*SIGNAL["samples"], "shared cache lost its peer x"]),
        SIGNALS,
        "no pattern matches the sample 'shared cache lost its peer x'",
    ),
    "a look-alike that matches": (
        of_signal(not_samples=["shared cache lost its peer 3"]),
        SIGNALS,
        "matches 'shared cache lost its peer 3', which it must not",
    ),
    "a pattern without a sample": (
        of_signal(patterns=[*SIGNAL["patterns"], "^Err: shared cache lost its peer"]),
        SIGNALS,
        "no sample matches pattern 2",
    ),
    "a literal without a sample": (
        of_signal(literals=[*SIGNAL["literals"], "another text"]),
        SIGNALS,
        "no sample holds the literal 'another text'",
    ),
    "a level at which it is not printed": (
        of_signal(
            printed={"versions": ">=0.30", "role": "engine", "phase": "serving", "level": "INFO"}
        ),
        SIGNALS,
        "is printed at INFO, but counts in ERROR, raw only",
    ),
    "a relay of no capture": (of_signal(relays="text"), SIGNALS, "no capture is called 'text'"),
    "a signal that nothing reads": (
        lambda files: files[SIGNALS]["signals"].append({**SIGNAL, "id": "cache.other"}),
        SIGNALS,
        "signal cache.other: no rule and no fact reads it",
    ),
    "a waiver of nothing": (
        of_signal(waivers={"slow-pattern": "it is quick enough"}),
        SIGNALS,
        "nothing to waive: slow-pattern",
    ),
    "a fact that nothing states": (
        lambda files: (
            files.update(
                {
                    "facts/f.yaml": {
                        "facts": [
                            {"name": "cache.mode", "title": "x", "group": "engine", "type": "str"}
                        ]
                    }
                }
            ),
            conditions(condition(fact("cache.mode", equals="shared")))(files),
        ),
        RULE,
        "no signal states the fact cache.mode",
    ),
    "a value that a fact never has": (
        conditions(condition(fact("hisparse.enabled", equals="maybe"))),
        RULE,
        "can never be true",
    ),
    "tests that exclude each other": (
        conditions(condition({"all": [fact("parallel.tp", gt=4), fact("parallel.tp", lt=2)]})),
        RULE,
        "can never be true: its tests exclude each other",
    ),
    "an empty version range": (
        conditions(condition(fact("vllm.version", in_range=">=0.30,<0.20"))),
        RULE,
        "can never be true",
    ),
    "an arm that never holds": (
        conditions(condition({"any": [MNNVL, {"all": [MNNVL, TRTLLM]}]})),
        RULE,
        "can never be true",
    ),
    "a condition that always holds": (
        conditions(condition({"any": [MNNVL, {"negate": MNNVL}]})),
        RULE,
        "is true whatever its facts are",
    ),
    "preconditions that exclude each other": (
        conditions(condition(MNNVL), condition(TRTLLM)),
        RULE,
        "its preconditions exclude each other",
    ),
    "an exclusion that always holds": (
        conditions(condition(MNNVL), condition({"negate": TRTLLM}, "must_clear")),
        RULE,
        "this exclusion is true wherever the preconditions are",
    ),
    "an alternative against the preconditions": (
        lambda files: (
            conditions(condition(MNNVL))(files),
            files[RULE]["signature"].append({"event": "cuda.other", "all_facts": [TRTLLM]}),
        ),
        RULE,
        "this alternative can never match",
    ),
    "an alternative that adds nothing": (
        rule(signature=[{"event": "cache.lost"}, {"event": "cache.lost", "phase": ["serving"]}]),
        RULE,
        "adds nothing: earlier alternatives take the same lines",
    ),
    "a phase that a line never stands in": (
        conditions(condition({"event": "life.ready", "phase": ["loading"]}, "support")),
        RULE,
        "life.ready is never seen in loading: its line belongs to serving",
    ),
    "a test that no capture passes": (
        rule(
            signature=[
                {
                    "event": "http.ok",
                    "where": [{"capture": "status", "test": {"ge": 500}}],
                },
                {"event": "cache.lost"},
            ]
        ),
        RULE,
        "no status of http.ok passes the test; it is one of: 200",
    ),
    "a capture that does not exist": (
        rule(
            signature=[
                {"event": "cache.lost", "where": [{"capture": "per", "test": {"equals": 3}}]}
            ]
        ),
        RULE,
        "cache.lost has no capture called 'per'",
    ),
    "a test without an operator": (
        conditions(condition(fact("parallel.tp"))),
        RULE,
        "the test has no operator",
    ),
    "a remedy that never applies": (
        rule(
            fix=[
                {
                    "id": "restart",
                    "kind": "fix",
                    "text": "Restart",
                    "when": [{"when": MNNVL, "text": "mnnvl"}],
                    "never_when": [{"when": {"negate": TRTLLM}, "text": "not trtllm"}],
                }
            ]
        ),
        RULE,
        "the remedy restart never applies",
    ),
    "a placeholder of nothing": (
        rule(summary="lost {pear}"),
        RULE,
        "{pear} is no capture of the signature, no fact",
    ),
    "a reference of no form": (
        rule(references=[{"ref": "issue 12", "note": "x"}]),
        RULE,
        "'issue 12' is neither owner/repo#123 nor an https:// URL",
    ),
    "a reference twice": (
        rule(references=[{"ref": "vllm-project/vllm#1", "note": "x"}] * 2),
        RULE,
        "the reference vllm-project/vllm#1 is listed twice",
    ),
    "a reference in the text alone": (
        rule(cause="See vllm-project/vllm#77."),
        RULE,
        "vllm-project/vllm#77 is named here and missing in `references`",
    ),
    "a blank text": (rule(scenario=" "), RULE, "scenario is blank"),
    "no sample": (
        lambda files: files.update({SAMPLES: {"near_misses": CASES["near_misses"]}}),
        RULE,
        "has no sample that it must find",
    ),
    "no near miss": (
        lambda files: files.update({SAMPLES: {"hits": CASES["hits"]}}),
        RULE,
        "has no near miss that it must not find",
    ),
    "a sample outside": (
        rule(samples=["samples/../../etc/passwd"]),
        RULE,
        "does not lie under samples/",
    ),
    "a sample that is not there": (
        rule(samples=["samples/none.log"]),
        RULE,
        "there is no sample samples/none.log",
    ),
    "a case of no rule": (
        lambda files: files.update({"samples/rules/cache/cache-gone.yaml": CASES}),
        "samples/rules/cache/cache-gone.yaml",
        "there is no diagnosis 'cache-gone'",
    ),
    "a case without its source": (
        lambda files: files[SAMPLES]["hits"][0].pop("source"),
        SAMPLES,
        "missing ['source']",
    ),
    "something left to do": (rule(scenario="TODO"), RULE, "still to do: TODO"),
    "an unknown name, with what was meant": (
        rule(explains=["sym-engine-fatale"]),
        RULE,
        "did you mean 'sym-engine-fatal'?",
    ),
    "rules that yield to each other": (
        lambda files: (
            files.update(
                {
                    RULE.replace("peer-lost", "gone"): {
                        **files[RULE],
                        "id": "cache-gone",
                        "yields_to": ["cache-peer-lost"],
                    },
                    SAMPLES.replace("peer-lost", "gone"): CASES,
                }
            ),
            rule(yields_to=["cache-gone"])(files),
        ),
        RULE,
        "cache-gone yields to this rule too: both would vanish",
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_in_its_file(tmp_path, name):
    """Each kind of defect is told, in the file where it is."""
    break_it, file, message = DEFECTS[name]
    files = parts()
    break_it(files)

    found = linted(tmp_path, files)

    assert any(where == file and message in said for where, said in found), found


def test_a_waiver_takes_its_check_away(tmp_path):
    """A waived check is not told, and the waiver is no defect."""
    files = parts()
    signal(files)["literals"].append("its peer")
    signal(files)["literals"][1] = "peer 3 "
    before = linted(tmp_path / "a", files)
    signal(files)["waivers"] = {"short-literal": "a test needs a short one"}

    assert [said for _, said in before] == [
        "signal cache.lost: literal 'peer 3 ' is shorter than 8 characters"
    ]
    assert linted(tmp_path / "b", files) == []


def test_every_defect_is_told_at_once_with_its_line(tmp_path):
    """Defects of loading and of the checks come together, each with its line."""
    files = parts()
    signal(files)["literals"].append("another text")
    files[RULE]["explains"] = ["sym-nothing"]
    files[RULE]["scenario"] = "TODO"
    files[SIGNALS]["signals"].append({**SIGNAL, "id": "cache.more", "colour": "red"})
    folder = write(tmp_path / "pack", files)

    found = lint(folder)
    lines = {}
    for one in found:
        text = (tmp_path / "pack" / one.file.removeprefix(f"{folder}/")).read_text()
        lines[one.message.split(": ")[0]] = text.splitlines()[one.line - 1].strip()

    assert [one.code for one in found] == ["name", "todo", "sample", "schema"]
    assert list(lines.values()) == [
        "id: cache-peer-lost",
        "scenario: TODO",
        "- another text",
        "colour: red",
    ]
