"""The built-in rules: what a test can check of every one of them."""

import pytest
import regex

from vdiag.engine.compiled import CompiledSignal
from vdiag.rules.pack import load

PACK = load()


@pytest.mark.parametrize("signal", PACK.signals.values(), ids=lambda signal: signal.id)
def test_a_signal_matches_its_samples_and_not_their_neighbours(signal):
    """Each sample holds a literal and matches; each look-alike does not."""
    compiled = CompiledSignal(signal, list(signal.literals))

    for sample in signal.samples:
        assert any(literal in sample for literal in signal.literals), sample
        assert compiled.match(sample) is not None, sample
    for sample in signal.not_samples:
        assert compiled.match(sample) is None, sample


@pytest.mark.parametrize("signal", PACK.signals.values(), ids=lambda signal: signal.id)
def test_a_signal_does_not_backtrack_badly(signal):
    """Long hostile lines made of a signal's own words end in no time limit."""
    slow = []
    for pattern in (*signal.patterns, *signal.relayed):
        compiled = regex.compile(pattern)
        for sample in signal.samples:
            for hostile in (sample * 200, sample + " " * 5000, sample[:-1] + "a" * 5000):
                try:
                    compiled.search(hostile, timeout=1.0)
                except TimeoutError:
                    slow.append((pattern, hostile[:80]))

    assert slow == []


@pytest.mark.parametrize("rule", PACK.diagnoses.values(), ids=lambda rule: rule.id)
def test_a_diagnosis_has_its_ten_sections(rule):
    """Nothing that the report promises is left empty."""
    for section in (
        "quick_conclusion",
        "applies_to",
        "fix",
        "scenario",
        "original_error_text",
        "cause",
        "what_to_check",
        "steps",
    ):
        assert getattr(rule, section), section
    assert rule.caveats.does_not_prove
    assert rule.verification.text


def test_every_signal_is_used():
    """A signal that nothing reads is dead weight in the scan."""
    from vdiag.rules.walk import conditions_of, event_names, walk

    used = set()
    for fact in PACK.facts.values():
        used |= {source.signal for source in (*fact.asked, *fact.sources)}
        for derivation in fact.derive:
            for condition in walk(derivation.when):
                used |= set(event_names(condition.event))
    for rule in (*PACK.diagnoses.values(), *PACK.symptoms.values()):
        for alternative in rule.signature:
            used |= set(event_names(alternative.event))
    for rule in PACK.diagnoses.values():
        for condition in conditions_of(rule):
            used |= set(event_names(condition.event))
    idle = [
        signal.id
        for signal in PACK.signals.values()
        if signal.id not in used
        and signal.kind not in ("noise", "echo", "wrapper", "survivable")
        and not (signal.marks or signal.boundary or signal.healthy or signal.states or signal.fatal)
    ]

    assert idle == []
