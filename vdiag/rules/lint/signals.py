"""What is checked of a signal: its literals, its patterns, its samples, its captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import regex

from vdiag.rules.lint.backtracking import slowness
from vdiag.rules.lint.literals import text_without
from vdiag.rules.lint.subject import Found, Subject
from vdiag.rules.lint.values import captures_of
from vdiag.rules.walk import conditions_of, event_names, walk

if TYPE_CHECKING:
    from vdiag.rules.schema import Signal

_DISTINCTIVE = 8


def check(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with the pack's signals."""
    used = _used(subject)
    for signal in subject.signals:
        yield from _patterns(subject, signal)
        yield from _literals(signal)
        yield from _samples(signal)
        yield from _captures(subject, signal)
        yield from _printed(signal)
        if signal.id not in used and _needs_reader(signal):
            yield Found(f"signal {signal.id}", (), "unused", "no rule and no fact reads it")


def _patterns(subject: Subject, signal: Signal) -> Iterator[Found]:
    thing = f"signal {signal.id}"
    alphabet = subject.alphabet(signal)
    for parsed in subject.trees(signal):
        path = parsed.key, parsed.index
        if parsed.tree is None:
            yield Found(
                thing,
                path,
                "unparsed-pattern",
                f"{parsed}: cannot be proved, Python's `re` does not read it: {parsed.why}",
            )
            continue
        without = text_without(parsed.tree, signal.literals, alphabet)
        if without is not None:
            sure = regex.search(parsed.text, without) is not None
            verb = "matches" if sure else "may match"
            yield Found(
                thing,
                path,
                "literal",
                f"{parsed} {verb} {without!r}, which holds none of its literals",
            )
        slow = slowness(parsed.tree, alphabet)
        if slow is not None:
            yield Found(thing, path, "slow-pattern", f"{parsed} can take too long: {slow}")


def _literals(signal: Signal) -> Iterator[Found]:
    thing = f"signal {signal.id}"
    for index, literal in enumerate(signal.literals):
        path = "literals", index
        if len(literal) < _DISTINCTIVE:
            yield Found(
                thing,
                path,
                "short-literal",
                f"literal {literal!r} is shorter than {_DISTINCTIVE} characters",
            )
        if signal.literals.index(literal) != index:
            yield Found(thing, path, "duplicate", f"literal {literal!r} is listed twice")
        elif not any(literal in sample for sample in signal.samples):
            yield Found(thing, path, "sample", f"no sample holds the literal {literal!r}")


def _samples(signal: Signal) -> Iterator[Found]:
    thing = f"signal {signal.id}"
    patterns = [
        (key, index, regex.compile(text))
        for key in ("patterns", "relayed")
        for index, text in enumerate(getattr(signal, key))
    ]
    idle = {(key, index) for key, index, _ in patterns}
    for index, sample in enumerate(signal.samples):
        path = "samples", index
        found = [(key, at) for key, at, pattern in patterns if _matches(pattern, sample)]
        idle -= set(found)
        if not found:
            yield Found(thing, path, "sample-fails", f"no pattern matches the sample {sample!r}")
        elif not any(literal in sample for literal in signal.literals):
            yield Found(thing, path, "sample-fails", f"the sample {sample!r} holds no literal")
    for index, sample in enumerate(signal.not_samples):
        if any(_matches(pattern, sample) for _, _, pattern in patterns) and any(
            literal in sample for literal in signal.literals
        ):
            yield Found(
                thing,
                ("not_samples", index),
                "sample-fails",
                f"matches {sample!r}, which it must not",
            )
    for key, index in sorted(idle):
        kind = "relayed pattern" if key == "relayed" else "pattern"
        yield Found(thing, (key, index), "sample", f"no sample matches {kind} {index + 1}")


def _matches(pattern: regex.Pattern[str], text: str) -> bool:
    try:
        return pattern.search(text, timeout=1.0) is not None
    except TimeoutError:
        return False  # told as a slow pattern


def _captures(subject: Subject, signal: Signal) -> Iterator[Found]:
    thing = f"signal {signal.id}"
    known = captures_of(signal)
    if signal.relays is not None and signal.relays not in known:
        yield Found(thing, ("relays",), "name", f"no capture is called {signal.relays!r}")
    if signal.states is not None:
        wanted = [signal.states.capture, *regex.findall(r"\{(\w+)\}", signal.states.name)]
        for name in wanted:
            if name not in known:
                yield Found(thing, ("states",), "name", f"no capture is called {name!r}")


def _printed(signal: Signal) -> Iterator[Found]:
    thing, printed = f"signal {signal.id}", signal.printed
    if printed is None:
        return
    if signal.levels and printed.level not in signal.levels:
        yield Found(
            thing,
            ("printed", "level"),
            "contradiction",
            f"is printed at {printed.level}, but counts in {', '.join(signal.levels)} only",
        )
    if signal.roles and printed.role not in signal.roles:
        yield Found(
            thing,
            ("printed", "role"),
            "contradiction",
            f"is printed by role {printed.role}, but counts from {', '.join(signal.roles)} only",
        )


def _needs_reader(signal: Signal) -> bool:
    """Tell whether a signal is dead weight where no rule and no fact reads it."""
    return signal.kind not in ("noise", "echo", "wrapper", "survivable") and not (
        signal.marks
        or signal.marks_offline
        or signal.boundary
        or signal.healthy
        or signal.stalled
        or signal.states
        or signal.fatal
    )


def _used(subject: Subject) -> set[str]:
    pack = subject.pack
    used: set[str] = set()
    for fact in pack.facts.values():
        used |= {source.signal for source in (*fact.asked, *fact.sources)}
        for derivation in fact.derive:
            for condition in walk(derivation.when):
                used |= set(event_names(condition.event))
    signatures = [rule.signature for rule in pack.diagnoses.values()]
    signatures += [symptom.signature for symptom in pack.symptoms.values()]
    for signature in signatures:
        for alternative in signature:
            used |= set(event_names(alternative.event))
    for diagnosis in pack.diagnoses.values():
        for condition in conditions_of(diagnosis):
            used |= set(event_names(condition.event))
    return used
