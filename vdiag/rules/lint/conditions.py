"""Conditions that can never hold, or always do, wherever a pack states them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vdiag.rules.lint.logic import Logic, passes
from vdiag.rules.lint.subject import Found, Subject
from vdiag.rules.lint.values import capture_values, captures_of, is_stated
from vdiag.rules.walk import event_names

if TYPE_CHECKING:
    from vdiag.rules.schema import Alternative, Condition, Diagnosis, Signal, Test, Where

_PHASES = ("startup", "loading", "kv-sizing", "capture", "warmup", "serving", "shutdown")
_NUMERIC = ("gt", "ge", "lt", "le")
_Placed = tuple[tuple[Any, ...], "Condition"]


def placed(rule: Diagnosis) -> Iterator[_Placed]:
    """Yield (path, condition) for every condition that a diagnosis states as a whole."""
    for index, alternative in enumerate(rule.signature):
        for at, condition in enumerate(alternative.all_facts):
            yield ("signature", index, "all_facts", at), condition
    for index, item in enumerate(rule.conditions):
        yield ("conditions", index, "when"), item.when
    for index, remedy in enumerate(rule.fix):
        for key in ("when", "never_when"):
            for at, reason in enumerate(getattr(remedy, key)):
                yield ("fix", index, key, at, "when"), reason.when
    for index, advice in enumerate(rule.not_a_fix):
        for key in ("tried_when", "only_when"):
            if getattr(advice, key) is not None:
                yield ("not_a_fix", index, key), getattr(advice, key)
    for index, risk in enumerate(rule.risk):
        if risk.when is not None:
            yield ("risk", index, "when"), risk.when
    for key in ("must_appear", "must_not_appear", "exercised"):
        for index, step in enumerate(getattr(rule.verification, key)):
            yield ("verification", key, index, "when"), step.when


def check(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with the conditions of the pack's facts, symptoms and diagnoses."""
    for fact in subject.facts:
        for index, derivation in enumerate(fact.derive):
            path = "derive", index, "when"
            yield from _condition(subject, f"fact {fact.name}", path, derivation.when)
    for symptom in subject.symptoms:
        yield from _signature(subject, f"symptom {symptom.id}", symptom.signature)
    for rule in subject.diagnoses:
        thing = f"diagnosis {rule.id}"
        yield from _signature(subject, thing, rule.signature)
        for path, condition in placed(rule):
            yield from _condition(subject, thing, path, condition)
        yield from _together(subject, rule)


def _condition(
    subject: Subject, thing: str, path: tuple[Any, ...], condition: Condition
) -> Iterator[Found]:
    """Check one condition as a whole, then its parts."""
    parts = list(_parts(condition, path))
    own = [found for at, part in parts for found in _leaf(subject, thing, at, part)]
    yield from own
    if own:
        return
    logic = Logic(subject)
    for at, part in parts:
        whole = at == path
        if not whole and at[-2] != "any":
            continue
        if not logic.possible((part, True)):
            yield Found(thing, at, "unreachable", "can never be true: its tests exclude each other")
            return
    if condition.event is None and not logic.possible((condition, False)):
        yield Found(
            thing, path, "unreachable", "is true whatever its facts are: it decides nothing"
        )


def _parts(condition: Condition, path: tuple[Any, ...]) -> Iterator[_Placed]:
    yield path, condition
    for key in ("all", "any"):
        for index, part in enumerate(getattr(condition, key) or ()):
            yield from _parts(part, (*path, key, index))
    if condition.negate is not None:
        yield from _parts(condition.negate, (*path, "negate"))


def _leaf(
    subject: Subject, thing: str, path: tuple[Any, ...], condition: Condition
) -> Iterator[Found]:
    if condition.fact is not None and condition.test is not None:
        if not is_stated(subject, condition.fact) and condition.fact in subject.pack.facts:
            yield Found(thing, path, "unreachable", f"no signal states the fact {condition.fact}")
        elif not is_stated(subject, condition.fact) and condition.fact.startswith("env."):
            yield Found(thing, path, "unreachable", f"no signal states {condition.fact}")
        yield from _test(thing, path, condition.test)
    if condition.before_signature and condition.after_signature:
        yield Found(thing, path, "unreachable", "asks for lines before and after the signature")
    names = event_names(condition.event)
    for name in names:
        signal = subject.pack.signals.get(name)
        if signal is None:
            continue
        one = f"{name} " if len(names) > 1 else ""
        yield from _event(
            subject, thing, path, signal, condition.phase, condition.roles, condition.where, one
        )


def _event(
    subject: Subject,
    thing: str,
    path: tuple[Any, ...],
    signal: Signal,
    phases: list[Any],
    roles: list[Any],
    wheres: list[Where],
    name: str,
) -> Iterator[Found]:
    """Check what is asked of one signal's sightings."""
    earliest = _earliest(signal)
    if phases and earliest and all(_PHASES.index(one) < _PHASES.index(earliest) for one in phases):
        yield Found(
            thing,
            (*path, "phase"),
            "unreachable",
            f"{name or signal.id + ' '}is never seen in {', '.join(phases)}: "
            f"its line belongs to {earliest}",
        )
    if roles and signal.roles and not set(roles) & set(signal.roles):
        yield Found(
            thing,
            (*path, "roles"),
            "unreachable",
            f"{name or signal.id + ' '}counts from {', '.join(signal.roles)} only",
        )
    known = captures_of(signal)
    for index, where in enumerate(wheres):
        at = (*path, "where", index)
        yield from _test(thing, at, where.test)
        if where.capture not in known:
            yield Found(thing, at, "name", f"{signal.id} has no capture called {where.capture!r}")
            continue
        values = capture_values(subject, signal, where.capture)
        if values is not None and not passes(where.test, values):
            said = ", ".join(sorted(map(str, values)))
            yield Found(
                thing,
                at,
                "unreachable",
                f"no {where.capture} of {signal.id} passes the test; it is one of: {said}",
            )


def _earliest(signal: Signal) -> str | None:
    """Return the first phase in which a signal's line can stand, where it says so."""
    if signal.printed is not None:
        return signal.printed.phase
    if signal.marks is not None and signal.marks_offline is None:
        return signal.marks
    return "serving" if signal.healthy else None


def _test(thing: str, path: tuple[Any, ...], test: Test) -> Iterator[Found]:
    given = [name for name in type(test).model_fields if getattr(test, name) is not None]
    if not given:
        yield Found(thing, path, "test", "the test has no operator, so it is never true")
    elif len(given) > 1 and not set(given) <= set(_NUMERIC):
        yield Found(
            thing, path, "test", f"the test has several operators, one counts: {', '.join(given)}"
        )


def _signature(subject: Subject, thing: str, signature: list[Alternative]) -> Iterator[Found]:
    if not signature:
        yield Found(thing, ("signature",), "unreachable", "has no signature, so it never matches")
    covered: set[str] = set()
    for index, one in enumerate(signature):
        path = "signature", index
        names = event_names(one.event)
        for name in names:
            signal = subject.pack.signals.get(name)
            if signal is not None:
                label = f"{name} " if len(names) > 1 else ""
                yield from _event(
                    subject, thing, path, signal, one.phase, one.roles, one.where, label
                )
        if names and covered >= set(names):
            yield Found(
                thing, path, "unreachable", "adds nothing: earlier alternatives take the same lines"
            )
        if not (one.phase or one.roles or one.where or one.all_facts):
            covered |= set(names)


def _together(subject: Subject, rule: Diagnosis) -> Iterator[Found]:
    """Check what the parts of a rule leave of each other."""
    thing = f"diagnosis {rule.id}"
    phases = [set(one.phase) for one in rule.signature]
    limited = frozenset().union(*phases) if phases and all(phases) else None
    logic = Logic(subject, limited)
    needed = [(item.when, True) for item in rule.conditions if item.kind in ("state", "trigger")]
    if not logic.possible(*needed):
        yield Found(
            thing,
            ("conditions",),
            "unreachable",
            "its preconditions exclude each other: it can never be found",
        )
        return
    for index, one in enumerate(rule.signature):
        own = Logic(subject, frozenset(one.phase) or None)
        if not own.possible(*needed, *((fact, True) for fact in one.all_facts)):
            yield Found(
                thing,
                ("signature", index),
                "unreachable",
                "this alternative can never match: its facts or phases exclude the preconditions",
            )
    for index, item in enumerate(rule.conditions):
        if item.kind in ("must_clear", "open") and not logic.possible(*needed, (item.when, False)):
            yield Found(
                thing,
                ("conditions", index),
                "unreachable",
                "this exclusion is true wherever the preconditions are: it can never be found",
            )
    for index, remedy in enumerate(rule.fix):
        wanted = [(reason.when, True) for reason in remedy.when]
        barred = [(reason.when, False) for reason in remedy.never_when]
        if not logic.possible(*wanted, *barred):
            yield Found(
                thing, ("fix", index), "unreachable", f"the remedy {remedy.id} never applies"
            )
