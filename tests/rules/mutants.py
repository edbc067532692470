"""Rules with one thing taken away, and whether any sample notices.

A log is read once; every mutant is judged on what was observed. A mutant of a diagnosis is killed
where a sample's expectation fails (or, for a support, which decides nothing, where the report
shows other evidence). Literals and captures are judged on their signal's own samples.

``python -m tests.rules.mutants`` writes ``captures.json`` and ``unkilled.txt`` again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import regex

from tests.expectation import SAMPLES
from vdiag.engine import evaluate, failure
from vdiag.engine.compiled import CompiledSignal
from vdiag.engine.diagnose import Engine
from vdiag.engine.facts import FactTable
from vdiag.engine.observation import RunData
from vdiag.engine.observe import Observed, observe
from vdiag.engine.verdict import of_input, worst
from vdiag.logs import pyrepr
from vdiag.report.model import Redaction, Report, Rules, Stats, Tool
from vdiag.rules.pack import load
from vdiag.rules.packs import Pack
from vdiag.rules.schema import Diagnosis, Signal
from vdiag.rules.walk import event_names
from vdiag.ruletest.expectation import differences
from vdiag.ruletest.logs import Log, logs_of

HERE = Path(__file__).parent
CAPTURES = HERE / "captures.json"
UNKILLED = HERE / "unkilled.txt"


_MAX_REPORTS = 15
"""Whole reports on one mutant; a rule's own samples come first."""


@dataclass
class Read:
    """A sample, read; what the true rules make of it is worked out when asked for."""

    log: Log
    observed: Observed
    engine: Engine

    @cached_property
    def runs(self) -> list[tuple[RunData, FactTable, failure.Failures]]:
        """The runs of the sample, ready to be judged by a rule."""
        pack = self.engine.pack
        return [
            (run, FactTable(run, pack), failure.find_failures(run, pack))
            for run in self.observed.runs
        ]

    @cached_property
    def report(self) -> Report:
        """What the true rules report."""
        return report_of(self.engine, self.observed)

    @cached_property
    def passes(self) -> bool:
        """Whether the sample's expectation holds for the true rules."""
        return passes(self.log, self.report)

    def seen(self, signals: list[str]) -> bool:
        """Tell whether any of the signals was seen."""
        return any(run.has(*signals) for run in self.observed.runs)


class Laboratory:
    """All samples, read once, and the mutants of one pack."""

    def __init__(self, pack: Pack | None = None) -> None:
        self.pack = pack or load()
        self.engine = Engine.of(self.pack)
        self.reads = [
            self._read(log) for log in logs_of(SAMPLES, self.pack, set(self.pack.diagnoses), [])
        ]

    def _read(self, log: Log) -> Read:
        source = log.open()
        try:
            observed = observe(source, self.engine.compiled, self.engine.matcher)
        finally:
            source.close()
        return Read(log, observed, self.engine)

    def unkilled(self) -> list[str]:
        """Return every mutant of a diagnosis that no sample notices: ``rule: mutation``."""
        return [
            f"{rule.id}: {name}"
            for rule in self.pack.diagnoses.values()
            for name, mutant in mutants(rule)
            if not self._killed(rule, name, mutant)
        ] + [
            f"{rule.id}: drop support: {rule.conditions[index].text}"
            for rule in self.pack.diagnoses.values()
            for index, item in enumerate(rule.conditions)
            if item.kind == "support" and not self._shown(rule, item.text)
        ]

    def _shown(self, rule: Diagnosis, text: str) -> bool:
        """Tell whether some report shows lines for a support."""
        return any(
            condition.text == text and condition.truth == "true" and condition.evidence
            for read in self._touched(rule.id)
            for run in read.report.runs
            for finding in run.findings
            if finding.id == rule.id
            for condition in finding.conditions
        )

    def _killed(self, rule: Diagnosis, name: str, mutant: Diagnosis) -> bool:
        pack = replace(self.pack, diagnoses={**self.pack.diagnoses, rule.id: mutant})
        engine = Engine(pack, self.engine.compiled, self.engine.matcher)
        judged, alike = [], []
        for read, gists in zip(self._touched(rule.id), self._gists(rule.id), strict=True):
            same = gists == [_gist(evaluate.apply(mutant, *run)) for run in read.runs]
            (alike if same else judged).append(read)
        # Where the judgement is the same, the lines shown may still be others.
        alike = [
            read for read in alike if rule.id in read.log.hits and "evidence" in read.log.expect
        ]
        return any(
            read.passes and not passes(read.log, report_of(engine, read.observed))
            for read in [*judged[:_MAX_REPORTS], *alike]
        )

    @cache  # noqa: B019  # one laboratory lives as long as the tests
    def _gists(self, rule_id: str) -> list[list[Any]]:
        """Return what the true rule says of each sample that it touches."""
        rule = self.pack.diagnoses[rule_id]
        return [
            [_gist(evaluate.apply(rule, *run)) for run in read.runs]
            for read in self._touched(rule_id)
        ]

    @cache  # noqa: B019  # as above
    def _touched(self, rule_id: str) -> list[Read]:
        """Return the samples on which a rule can say anything, its own first."""
        rule = self.pack.diagnoses[rule_id]
        signals = [name for one in rule.signature for name in event_names(one.event)]
        return sorted(
            (read for read in self.reads if rule.risk or read.seen(signals)),
            key=lambda read: rule.id not in read.log.hits | read.log.misses,
        )


def _gist(evaluated: evaluate.Evaluated | None) -> Any:
    if evaluated is None:
        return None
    signature = evaluated.signature
    return (
        evaluated.status,
        evaluated.severity,
        [item.text for item, _ in evaluated.deciding],
        signature.count,
        [seen.at.seq for seen in signature.evidence],
        signature.alternative.wording if signature.alternative else None,
    )


def report_of(engine: Engine, observed: Observed) -> Report:
    """Return the report on one input that was read before."""
    runs = engine.runs_of(observed)
    verdict = of_input(observed.input, runs)
    return Report(
        vdiag=Tool("test", Rules([], engine.pack.count)),
        inputs=[],
        verdict=worst([verdict], runs),
        verdicts=[verdict],
        runs=runs,
        redaction=Redaction(),
        stats=Stats(observed.hits, "test"),
    )


def passes(log: Log, report: Report) -> bool:
    """Tell whether a report is what a sample asks for."""
    found = {finding.id for run in report.runs for finding in run.findings}
    return log.hits <= found and not log.misses & found and not differences(report, log.expect)


def mutants(rule: Diagnosis) -> Iterator[tuple[str, Diagnosis]]:
    """Yield (name, rule) for everything that can be taken from a rule, supports apart."""
    for index, item in enumerate(rule.conditions):
        if item.kind != "support":
            rest = [*rule.conditions[:index], *rule.conditions[index + 1 :]]
            name = f"drop {item.kind}: {item.text}"
            yield name, rule.model_copy(update={"conditions": rest})
    for index, one in enumerate(rule.signature):
        events = event_names(one.event)
        label = f"{index + 1} ({events[0]})"
        for name, other in _narrower(one, events):
            signature = list(rule.signature)
            signature[index : index + 1] = [other] if other is not None else []
            if signature:
                mutant = rule.model_copy(update={"signature": signature})
                yield f"signature {label}: {name}", mutant


def _narrower(one: Any, events: list[str]) -> Iterator[tuple[str, Any]]:
    yield "drop it", None
    if len(events) > 1:
        for event in events:
            rest = [name for name in events if name != event]
            yield f"drop {event}", one.model_copy(update={"event": rest})
    for key in ("where", "all_facts"):
        for at in range(len(getattr(one, key))):
            rest = [part for place, part in enumerate(getattr(one, key)) if place != at]
            yield f"drop {key} {at + 1}", one.model_copy(update={key: rest})
    for key in ("phase", "roles"):
        if getattr(one, key):
            yield f"drop {key}", one.model_copy(update={key: []})


# -- signals -------------------------------------------------------------------------------


def captures(signal: Signal) -> dict[str, dict[str, Any]]:
    """Return what each sample of a signal states: sample → capture → value."""
    out = {}
    for sample in signal.samples:
        found = CompiledSignal(signal, list(signal.literals)).match(sample)
        if found is not None and found.captures:
            out[sample] = {name: _plain(value) for name, value in sorted(found.captures.items())}
    return out


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else pyrepr.flat(value)


def all_captures(pack: Pack) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the captures of every signal that has any."""
    found = {signal.id: captures(signal) for signal in pack.signals.values()}
    return {id: of for id, of in sorted(found.items()) if of}


def unkilled_signals(pack: Pack, golden: dict[str, Any]) -> list[str]:
    """Return the mutants of signals that their own samples do not notice."""
    out = []
    for signal in pack.signals.values():
        for literal in signal.literals:
            rest = [one for one in signal.literals if one != literal]
            if not any(_seen_by(signal, literal, rest, sample) for sample in signal.samples):
                out.append(f"{signal.id}: drop literal: {literal}")
        for key in ("patterns", "relayed"):
            for index, pattern in enumerate(getattr(signal, key)):
                for name, wider in widened(pattern):
                    texts = [*getattr(signal, key)]
                    texts[index] = wider
                    mutant = signal.model_copy(update={key: texts})
                    if _notices(mutant, golden.get(signal.id, {})):
                        continue
                    if foreign_text(signal, mutant, name) is not None:
                        out.append(f"{signal.id}: widen {name} in {key} {index + 1}")
    return out


FOREIGN = ("?", "many", "two words", "(none)", "", "<b>", "-1", "1e", "x.y z")
"""Values that few captures take."""


def foreign_text(signal: Signal, mutant: Signal, capture: str) -> str | None:
    """Return a text that a wider signal takes and the true one does not.

    It is a sample with another value in the capture's place; None where the capture takes any
    value, so that it cannot be widened.
    """
    true = CompiledSignal(signal, list(signal.literals))
    wide = CompiledSignal(mutant, list(mutant.literals))
    for sample in signal.samples:
        for pattern in (*signal.patterns, *signal.relayed):
            found = regex.search(pattern, sample)
            if found is None or capture not in found.groupdict() or found.start(capture) < 0:
                continue
            start, end = found.span(capture)
            for value in FOREIGN:
                text = sample[:start] + value + sample[end:]
                if true.match(text) is None and wide.match(text) is not None:
                    return text.strip("\n")
            break
    return None


def _seen_by(signal: Signal, literal: str, rest: list[str], sample: str) -> bool:
    """Tell whether a sample needs a literal: without it no line like this would be read."""
    return literal in sample and not any(one in sample for one in rest)


def widened(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield (capture, pattern) with one capture at a time taking any text."""
    for match in regex.finditer(r"\(\?P<(\w+)>", pattern):
        end = _closing(pattern, match.end())
        wider = f"{pattern[: match.end()]}.*{pattern[end:]}"
        inner = set(regex.findall(r"\(\?P<(\w+)>", pattern[match.end() : end]))
        lost = "".join(f"(?P<{name}>(?!))?" for name in sorted(inner))
        yield match.group(1), wider[: match.end()] + lost + wider[match.end() :]


def _closing(pattern: str, start: int) -> int:
    """Return where the group that is open at ``start`` ends."""
    depth, at, in_class = 1, start, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            at += 1 if pattern[at + 1 : at + 2] != "^" else 2
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return at
        at += 1
    raise ValueError(pattern)


def _notices(mutant: Signal, golden: dict[str, dict[str, Any]]) -> bool:
    """Tell whether a signal's own samples tell a mutant from it."""
    if captures(mutant) != golden:
        return True
    compiled = CompiledSignal(mutant, list(mutant.literals))
    return any(compiled.match(text) is not None for text in mutant.not_samples)


def main() -> None:
    """Write the golden captures and the list of mutants that nothing kills."""
    laboratory = Laboratory()
    golden = all_captures(laboratory.pack)
    text = json.dumps(golden, indent=1, ensure_ascii=False, sort_keys=True)
    CAPTURES.write_text(text + "\n", encoding="utf-8")
    unkilled = sorted([*laboratory.unkilled(), *unkilled_signals(laboratory.pack, golden)])
    UNKILLED.write_text("".join(f"{line}\n" for line in unkilled), encoding="utf-8")


if __name__ == "__main__":
    main()
