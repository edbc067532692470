"""Runs a pack's samples: each rule on its own, and every rule on every other's."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vdiag.engine.diagnose import Engine
from vdiag.errors import InputError, PackError
from vdiag.rules.pack import load, load_with, pack_name, samples_dir
from vdiag.rules.packs import BUILTIN, Pack, builtin_dir
from vdiag.ruletest.expectation import differences
from vdiag.ruletest.logs import Log, logs_of

if TYPE_CHECKING:
    from vdiag.report.model import Report


@dataclass
class RuleResult:
    """How one rule fared."""

    rule: str
    hits: int = 0
    hits_failed: int = 0
    near_misses: int = 0
    near_misses_failed: int = 0
    elsewhere: int = 0
    """Samples of others in which it is an unexpected root."""

    @property
    def passed(self) -> bool:
        """Whether everything was as it should be."""
        return not (self.hits_failed or self.near_misses_failed or self.elsewhere)


@dataclass(frozen=True)
class Failure:
    """One thing that was not as it should be."""

    rule: str
    kind: str
    """``hit``, ``near-miss``, ``expectation`` or ``elsewhere``."""
    sample: str
    message: str


@dataclass
class Results:
    """Everything that a test of a pack says."""

    pack: str
    samples: int = 0
    rules: dict[str, RuleResult] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


def run_tests(folder: Path | None = None) -> Results:
    """Test a pack, by default the built-in one; raises PackError where it cannot be.

    Another pack is tested over the built-in one, and its rules on the built-in samples too,
    where those are installed.
    """
    given = folder or builtin_dir()
    name = pack_name(given)
    pack = load(given if folder else None) if name == BUILTIN else load_with([given])
    own = own_rules(given, pack)
    samples = samples_dir(given)
    if samples is None:
        raise PackError(f"{given}: there are no samples here (no samples/)")
    builtin = samples_dir(builtin_dir()) if name != BUILTIN else None
    preludes = [builtin / "preludes"] if builtin else []
    logs = logs_of(samples, pack, own, preludes)
    results = Results(str(name), rules={id: RuleResult(id) for id in pack.diagnoses if id in own})
    test = _Test(Engine.of(pack), results)
    for log in logs:
        test.own(log)
    if builtin is not None:
        for log in _foreign(builtin, pack):
            test.foreign(log)
    return results


def _foreign(builtin: Path, pack: Pack) -> list[Log]:
    """Return the built-in samples, which another pack's rules must leave alone."""
    return logs_of(builtin, pack, set(), [])


def own_rules(folder: Path, pack: Pack) -> set[str]:
    """Return the diagnoses that a folder's files define."""
    return {path.stem for path in (folder / "diagnoses").rglob("*.yaml")} & set(pack.diagnoses)


class _Test:
    def __init__(self, engine: Engine, results: Results) -> None:
        self._engine = engine
        self._results = results

    def _report(self, log: Log) -> Report:
        try:
            return self._engine.report([log.open()], "test")
        except InputError as error:
            raise PackError(str(error)) from error

    def own(self, log: Log) -> None:
        """Test a sample of the pack: what it must find, must not, and must say."""
        report = self._report(log)
        self._results.samples += 1
        found = {finding.id for run in report.runs for finding in run.findings}
        unlike = differences(report, log.expect)
        for id in sorted(log.hits):
            result = self._result(id)
            result.hits += 1
            result.hits_failed += id not in found or bool(unlike)
            if id not in found:
                self._fail(id, "hit", log, f"is not found; the verdict is {_verdict(report)}")
        for id in sorted(log.misses):
            result = self._result(id)
            result.near_misses += 1
            result.near_misses_failed += id in found or bool(unlike)
            if id in found:
                self._fail(id, "near-miss", log, "is found, and must not be")
        for line in unlike:
            self._fail(min(log.hits | log.misses, default="-"), "expectation", log, line)
        self._elsewhere(report, log, set(self._engine.pack.diagnoses))

    def foreign(self, log: Log) -> None:
        """Test that none of the pack's rules claims a sample of the built-in pack."""
        self._results.samples += 1
        self._elsewhere(self._report(log), log, set(self._results.rules))

    def _elsewhere(self, report: Report, log: Log, rules: set[str]) -> None:
        roots = {
            finding.id
            for run in report.runs
            for finding in run.findings
            if finding.role == "root" and finding.explained_by is None
        }
        for id in sorted((roots & rules) - log.roots):
            self._result(id).elsewhere += 1
            self._fail(id, "elsewhere", log, "is a root here, and nothing expects it")

    def _result(self, id: str) -> RuleResult:
        return self._results.rules.setdefault(id, RuleResult(id))

    def _fail(self, rule: str, kind: str, log: Log, message: str) -> None:
        self._results.failures.append(Failure(rule, kind, log.name, message))


def _verdict(report: Report) -> str:
    verdict = report.verdict
    return f"{verdict.status}: {verdict.root}" if verdict.root else verdict.status
