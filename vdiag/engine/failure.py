"""Which blocks are failures of their own, and which of them came first.

A block is no failure of its own where it is noise, passes on another process's failure,
tells of a lost partner while a death or another exception exists, repeats an exception, was
survived, or came of a requested stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vdiag.engine.lane import is_vllm_block
from vdiag.engine.observation import Observation, RunData, Sighting, names_own_process
from vdiag.report.model import FirstFailure
from vdiag.rules.walk import event_names

if TYPE_CHECKING:
    from vdiag.logs.blocks import Block
    from vdiag.rules.packs import Pack

Kind = Literal["own", "noise", "wrapper", "echo", "survived", "stopped"]

ROLE_RANK = {"worker": 0, "engine": 1, "coordinator": 2, "main": 3, "api": 3, "unknown": 3}
"""Inside one second, a worker's error precedes the engine's, and that the API server's. What an
unprefixed traceback says, its process mostly logged before."""

_SERVED_ON_SECONDS = 15
"""More than one interval of vLLM's statistics (10 s), less than two."""

_OWNER = re.compile(r"Process (?P<name>[\w.-]+(?: \S+)?):$")
_IGNORED = "Exception ignored in"


@dataclass
class Failure:
    """One exception, or one fatal line, of a process."""

    type: str
    message: str
    at: Sighting
    """The line of the exception."""
    order: tuple[float, int, int]
    process: str | None
    pid: int | None
    role: str
    frame: str | None
    phase: str | None
    block: Block | None
    kind: Kind
    peer: bool = False
    """It only tells that a partner is gone."""
    fatal: bool = False
    """The record that holds it says that a worker or the engine failed."""

    @property
    def key(self) -> str:
        """What makes it the same failure elsewhere: its text, else its type."""
        return _squeeze(self.message) or self.type.rpartition(".")[2]


@dataclass
class Failures:
    """The failures of a run, classed."""

    all: list[Failure] = field(default_factory=list)
    own: list[Failure] = field(default_factory=list)
    """Those of their own, in order."""
    clean_stop: bool = False
    deaths: list[Observation] = field(default_factory=list)
    """Fatal symptoms, in the order of the log."""

    @property
    def first(self) -> Failure | None:
        """The first failure of its own."""
        return self.own[0] if self.own else None

    @property
    def begin(self) -> Sighting | None:
        """Where the failure begins: the first of its own, or a death without a word."""
        lines = [seen.at for seen in self.deaths[:1]]
        lines += [failure.at for failure in self.own if failure.fatal][:1]
        return min(lines, key=lambda at: at.seq, default=None)


def served_between(run: RunData, after: Sighting, before: Sighting | None) -> bool:
    """Whether tokens came between two lines, more than one interval after the first."""
    healthy = run.last_healthy(generating=True, before=before.seq if before is not None else None)
    if healthy is None or healthy.seq <= after.seq:
        return False
    if healthy.seconds is None or after.seconds is None:
        return False
    return healthy.seconds - after.seconds >= _SERVED_ON_SECONDS


def order_of(at: Sighting, role: str) -> tuple[float, int, int]:
    """Sort key of a failing line: time, then role inside a second, then line."""
    return (at.seconds if at.seconds is not None else -1.0, ROLE_RANK.get(role, 3), at.seq)


def find_failures(run: RunData, pack: Pack) -> Failures:
    """Class every block of a run."""
    symptom_signals = {
        name
        for symptom in pack.symptoms.values()
        for alternative in symptom.signature
        for name in event_names(alternative.event)
    }
    fatal_signals = {
        name
        for symptom in pack.symptoms.values()
        if symptom.fatal and symptom.severity != "req"
        for alternative in symptom.signature
        for name in event_names(alternative.event)
    }
    found = Failures()
    found.deaths = run.observations(*fatal_signals)
    for block in run.blocks:
        failure = _failure(run, block, pack, symptom_signals)
        if failure is not None:
            found.all.append(failure)
    found.all += _fatal_lines(run)
    found.all += _relayed(run, pack, found.all)
    found.all.sort(key=lambda failure: failure.order)
    found.clean_stop = _is_clean_stop(run, found)
    _class(run, found)
    return found


def _failure(run: RunData, block: Block, pack: Pack, symptom_signals: set[str]) -> Failure | None:
    last = block.last
    if last is None or (not block.raw and block.first.level not in ("ERROR", "CRITICAL")):
        return None
    at = run.exception_sightings.get(block.id) or run.block_sightings[block.id]
    state = at.process
    name, pid, role = (state.label, state.pid, state.role) if state else (None, None, "unknown")
    if state is None and block.owner:
        owner = _OWNER.match(block.owner)
        if owner:
            name, role = owner["name"], _role_of_owner(owner["name"])
    kind: Kind = "own"
    # Behind an unprefixed message stands what others print next: it classes nothing.
    kinds = _kinds(pack, block.head_signals | block.line_signals)
    fatal = any(pack.signals[id].tells for id in block.head_signals)
    if "noise" in kinds or (block.owner or "").startswith(_IGNORED):
        kind = "noise"
    elif "wrapper" in _kinds(pack, block.exception_signals) or (
        block.exception_signals & symptom_signals
    ):
        kind = "wrapper"
    elif "echo" in _kinds(pack, block.exception_signals):
        kind = "echo"
    elif "survivable" in kinds and not fatal:
        kind = "survived"
    elif block.raw and not run.seen_vllm and not is_vllm_block(block):
        kind = "noise"
    return Failure(
        type=last.type,
        message=last.useful_text.strip(),
        at=at,
        order=order_of(at, role),
        process=name,
        pid=pid,
        role=role,
        frame=str(last.frame) if last.frame else None,
        phase=run.phase_at(at.seq),
        block=block,
        kind=kind,
        peer="echo" in _kinds(pack, block.exception_signals),
        fatal=fatal,
    )


def _kinds(pack: Pack, signals: set[str]) -> set[str]:
    return {pack.signals[id].kind for id in signals}


def _role_of_owner(name: str) -> str:
    lower = name.lower()
    if "worker" in lower:
        return "worker"
    return "engine" if "engine" in lower else "api" if "api" in lower else "unknown"


def _fatal_lines(run: RunData) -> list[Failure]:
    """Failures told by a single line without a traceback."""
    out = []
    seen: set[tuple[str, str]] = set()
    for name in sorted({signal for signal, _ in run.buckets}):
        for observation in run.observations(name):
            type_ = observation.signal.fatal
            if not type_ or (observation.block is not None and observation.block.raised):
                continue
            if observation.signal.beside and not names_own_process(observation, run):
                continue  # the kernel's line is about somebody else
            text = observation.captures.get("text", observation.at.text)
            key = (name, _squeeze(str(text)))
            if key in seen:
                continue
            seen.add(key)
            out.append(_told(run, observation, type_, str(text)))
    return out


def _relayed(run: RunData, pack: Pack, known: list[Failure]) -> list[Failure]:
    """Find the worker's own text inside ``Worker failed with error '…'``, where it stands alone."""
    texts = {failure.key for failure in known if failure.kind in ("own", "echo")}
    out = []
    relaying = [signal for signal in pack.signals.values() if signal.relays]
    for observation in run.observations(*(signal.id for signal in relaying)):
        inner = observation.captures.get(observation.signal.relays or "")
        if not isinstance(inner, str) or not inner.strip():
            continue
        if observation.block is not None and "echo" in _kinds(pack, observation.block.signals):
            continue  # it passes on a lost partner
        text = inner.strip().rstrip("'")
        if _squeeze(text) in texts or any(_squeeze(text).startswith(known) for known in texts):
            continue
        texts.add(_squeeze(text))
        failure = _told(run, observation, "exception", text)
        # The worker's, by way of the engine: which worker, the line does not say.
        failure.role, failure.process, failure.pid = "worker", None, None
        # A fatal head stands for the text that it passes on: it is not survived by another engine.
        block = observation.block
        failure.fatal = block is not None and any(
            pack.signals[id].tells for id in block.head_signals
        )
        out.append(failure)
    return out


def _told(run: RunData, observation: Observation, type_: str, message: str) -> Failure:
    """Make a failure of a single line."""
    at = observation.at
    role = at.process.role if at.process else "unknown"
    return Failure(
        type=type_,
        message=message.strip(),
        at=at,
        order=order_of(at, role),
        process=at.process.label if at.process else None,
        pid=at.process.pid if at.process else None,
        role=role,
        frame=None,
        phase=run.phase_at(at.seq),
        block=observation.block,
        kind="own",
    )


def _is_clean_stop(run: RunData, found: Failures) -> bool:
    """Whether the server was asked to stop before (or as) anything went wrong."""
    stop = run.stop
    if stop is None:
        return False
    for failure in found.all:
        if failure.kind in ("noise", "survived"):
            continue
        before = failure.order[2] < stop.seq and not _same_second(failure.at, stop)
        of_engine = failure.role in ("worker", "engine") and failure.kind == "own"
        if before and failure.role != "api":
            return False
        if of_engine and failure.order[2] < stop.seq:
            return False
        if of_engine and not _same_second(failure.at, stop):
            return False
    return not any(
        death.at.seq < stop.seq
        and not _same_second(death.at, stop)
        and "front-end" not in death.signal.tells
        for death in found.deaths
    )


def _same_second(one: Sighting, other: Sighting) -> bool:
    return one.seconds is not None and one.seconds == other.seconds


def _class(run: RunData, found: Failures) -> None:
    if found.clean_stop and run.stop is not None:
        for failure in found.all:
            if failure.order[2] > run.stop.seq or _same_second(failure.at, run.stop):
                failure.kind = "stopped"
    for failure in found.all:
        if failure.kind == "own" and _served_on(run, failure):
            failure.kind = "survived"
    own = [failure for failure in found.all if failure.kind == "own"]
    served = run.served
    for failure in found.all if not own else ():
        lonely = failure.kind == "echo" and not _died(found)
        state = failure.at.process
        last = run.last_by_process.get(state.order) if state is not None else None
        went_on = last is not None and last.seq > failure.at.seq
        went_on = went_on or any(seq > failure.at.seq for seq, _, _, _ in run.marks)
        fatal = failure.kind == "survived" and not (served or went_on)
        wrapped = failure.kind == "wrapper" and not found.deaths
        if fatal or ((lonely or wrapped) and not _served_on(run, failure)):
            failure.kind = "own"
    seen: dict[str, Failure] = {}
    for failure in found.all:
        if failure.kind != "own":
            continue
        earlier = seen.get(failure.key)
        if earlier is not None and (
            failure.block is None
            or failure.at.process is None
            or failure.role != earlier.role
            or failure.pid == earlier.pid
        ):
            failure.kind = "echo"
            continue
        seen.setdefault(failure.key, failure)
        found.own.append(failure)


def _served_on(run: RunData, failure: Failure) -> bool:
    """Whether requests were answered after a failure, so that it was none of the server's.

    After a failure of a worker or the engine it takes a line that tokens came, more than one
    interval of vLLM's statistics later.
    """
    if failure.fatal:
        return False
    inner = failure.role in ("worker", "engine")
    last = run.last_healthy(generating=inner)
    if last is None or last.seq <= failure.at.seq:
        return False
    if not inner:
        return True
    if last.seconds is None or failure.at.seconds is None:
        return False
    return last.seconds - failure.at.seconds >= _SERVED_ON_SECONDS


def _died(found: Failures) -> bool:
    return any("death" in death.signal.tells for death in found.deaths)


def first_failure(found: Failures) -> FirstFailure | None:
    """Return the report's entry for the first failure of its own."""
    first = found.first
    if first is None:
        return None
    same = [failure for failure in found.own if failure.key == first.key]
    evidence = [first.at.evidence()]
    evidence += [failure.at.evidence() for failure in same if failure is not first][:3]
    echoes = sum(
        1 for failure in found.all if failure not in same and failure.kind in ("echo", "wrapper")
    )
    return FirstFailure(
        type=first.type,
        message=first.message,
        process=first.process,
        pid=first.pid,
        frame=first.frame,
        phase=first.phase,
        count=len({(failure.pid, failure.process) for failure in same}),
        evidence=evidence,
        echoes=echoes,
    )


def _squeeze(text: str) -> str:
    return " ".join(text.split())[:200]
