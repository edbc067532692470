"""Evaluates the conditions of rules over one run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vdiag.engine.logic import MAX_EVIDENCE, Answer, both, either
from vdiag.engine.observation import Observation, RunData, names_own_process
from vdiag.report.model import JSONValue, Truth
from vdiag.rules.compare import compare, number, same
from vdiag.rules.walk import event_names

if TYPE_CHECKING:
    from vdiag.engine.facts import FactState, FactTable
    from vdiag.logs.pyrepr import Value
    from vdiag.rules.schema import Condition, Test, Where


@dataclass
class Context:
    """What a condition is evaluated over."""

    run: RunData
    facts: FactTable
    signature: list[Observation] = field(default_factory=list)
    """The evidence of the rule's signature, in order; empty where it was not seen."""


def evaluate(condition: Condition, context: Context) -> Answer:
    """Return the truth of a condition, with its evidence."""
    if condition.all is not None:
        return both(evaluate(inner, context) for inner in condition.all)
    if condition.any is not None:
        return either(evaluate(inner, context) for inner in condition.any)
    if condition.negate is not None:
        return evaluate(condition.negate, context).negated()
    if condition.fact is not None and condition.test is not None:
        return _fact(condition.fact, condition.test, context)
    if condition.signature_phase is not None:
        return _signature_phase(list(condition.signature_phase), context)
    if condition.run_kind is not None:
        return Answer(_truth(context.run.kind in condition.run_kind))
    return _event(condition, context)


def seen_where(observation: Observation, wheres: list[Where], context: Context) -> bool:
    """Tell whether an observation's captures pass all tests."""
    return all(
        where.capture in observation.captures
        and check(observation.captures[where.capture], where.test, context.facts) is True
        for where in wheres
    )


def check(value: Value, test: Test, facts: FactTable) -> bool | None:
    """Compare a value; None where it cannot be compared (a nightly, an unknown fact)."""
    if test.gt_fact or test.le_fact or test.equals_fact:
        return _check_other(value, test, facts)
    return compare(value, test)


def _check_other(value: Value, test: Test, facts: FactTable) -> bool | None:
    name = test.gt_fact or test.le_fact or test.equals_fact or ""
    other = facts.get(name)
    if other is None or other.conflicts:
        return None
    if test.equals_fact:
        return same(value, other.value)
    one, two = number(value), number(other.value)
    if one is None or two is None:
        return None
    return one > two if test.gt_fact else one <= two


def _truth(value: bool | None) -> Truth:
    return "unknown" if value is None else "true" if value else "false"


def _fact(name: str, test: Test, context: Context) -> Answer:
    state = context.facts.get(name)
    if test.known is not None:
        if state is None:
            return Answer(_truth(not test.known))
        return Answer(_truth(test.known), state.basis, state.evidence[:MAX_EVIDENCE])
    if state is None:
        return Answer("unknown", note=f"{name} is not in this log")
    results = {_truth(check(value, test, context.facts)) for value in _values(state)}
    if len(results) > 1:
        return Answer(
            "unknown",
            evidence=[*state.evidence[:1], *state.conflicts[0].evidence[:1]],
            note=f"the log states {name} as {state.value} and as {state.conflicts[0].value}",
        )
    return Answer(results.pop(), state.basis, state.evidence[:MAX_EVIDENCE], state.reason)


def _values(state: FactState) -> list[JSONValue]:
    return [state.value, *(conflict.value for conflict in state.conflicts)]


def _signature_phase(phases: list[str], context: Context) -> Answer:
    if not context.signature:
        return Answer("unknown", note="the failure itself was not seen")
    first = context.signature[0].at
    if first.phase is None:
        return Answer("unknown", note="the log does not show in which phase it failed")
    evidence = []
    for seq, phase, _, at in context.run.marks:
        if seq <= first.seq and phase == first.phase:
            evidence = [at.evidence()]
    return Answer(
        _truth(first.phase in phases), "stated", evidence, f"it failed in the phase {first.phase}"
    )


def _event(condition: Condition, context: Context) -> Answer:
    names = event_names(condition.event)
    found = []
    for seen in context.run.observations(*names):
        if condition.phase and seen.at.phase is not None and seen.at.phase not in condition.phase:
            continue
        if condition.roles and (
            seen.at.process is None or seen.at.process.role not in condition.roles
        ):
            continue
        if not seen_where(seen, condition.where, context):
            continue
        if condition.before_signature and not _before(seen, context):
            continue
        if seen.signal.beside and (
            _before_start(seen, context) or _on_another_machine(seen, context)
        ):
            continue
        if condition.after_signature and not _after(seen, context):
            continue
        if condition.same_process and not _same_process(seen, context):
            continue
        if condition.same_run and not names_own_process(seen, context.run):
            continue
        if condition.within is not None and not _near(seen, condition.within, context):
            continue
        found.append(seen)
    if found:
        return Answer("true", "stated", [seen.at.evidence() for seen in found[:MAX_EVIDENCE]])
    if condition.absent == "false":
        return Answer("false", "inferred")
    signals = [context.facts.pack.signals[name] for name in names]
    if signals and all(context.facts.absent(signal) for signal in signals):
        return Answer("false", "inferred", note="not printed, where this release prints it")
    return Answer("unknown", note="no such line in this log")


def _before_start(seen: Observation, context: Context) -> bool:
    """Whether a kernel line is older than this life of the server: it was survived."""
    start = context.run.banner
    if start is None or start.seconds is None or not seen.at.time or seen.at.seconds is None:
        return False
    return seen.at.seconds < start.seconds - _STILL_FRESH


def _on_another_machine(seen: Observation, context: Context) -> bool:
    """Whether a kernel line of a merged journal is of a machine that did not fault."""
    machines = {one.at.machine for one in context.signature} - {None}
    return bool(machines) and seen.at.machine is not None and seen.at.machine not in machines


def _before(seen: Observation, context: Context) -> bool:
    """By the lines' own stamps where both have one, else by their order in the log.

    The head of the signature's own record is no earlier event.
    """
    if not context.signature:
        return False
    first = context.signature[0]
    head = first.block is not None and seen.at.seq == first.block.place.seq
    return not head and _precedes(seen, first)


def _after(seen: Observation, context: Context) -> bool:
    return bool(context.signature) and _precedes(context.signature[0], seen)


_STILL_FRESH = 3600
"""Seconds before a start in which a kernel line can still be about its GPUs."""

_CLOCK_SKEW = 300
"""Seconds by which the stamps of ``dmesg -T`` may be off; inside, the order of lines decides."""


def _precedes(one: Observation, other: Observation) -> bool:
    a, b = one.at, other.at
    if a.time and b.time and a.seconds is not None and b.seconds is not None:
        beside = one.signal.beside or other.signal.beside
        if not beside or abs(a.seconds - b.seconds) > _CLOCK_SKEW:
            return (a.seconds, a.seq) < (b.seconds, b.seq)
    return a.seq < b.seq


def _near(seen: Observation, seconds: int, context: Context) -> bool:
    if not context.signature:
        return False
    one, other = seen.at, context.signature[0].at
    if other.seconds is None:
        return True  # an excerpt without stamps
    if not one.time or one.seconds is None:
        return False
    return abs(one.seconds - other.seconds) <= seconds


def _same_process(seen: Observation, context: Context) -> bool:
    pids = set().union(*(_pids(one) for one in context.signature))
    return bool(_pids(seen) & pids)


def _pids(seen: Observation) -> set[int]:
    named = seen.captures.get("pid")
    pids = {named} if isinstance(named, int) and not isinstance(named, bool) else set()
    if seen.at.process is not None and seen.at.process.pid is not None:
        pids.add(seen.at.process.pid)
    return pids
