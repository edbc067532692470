"""What was seen: observations, capped a signal and process, and the runs that hold them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vdiag.logs.text import clip
from vdiag.report.model import Evidence, Gap

if TYPE_CHECKING:
    from vdiag.engine.process import ProcessState
    from vdiag.logs.blocks import Block
    from vdiag.logs.pyrepr import Value
    from vdiag.rules.schema import Signal

CodePlace = tuple[str, str | None, int | None, bool]
"""(level, file or logger, line, whether raw) of a block's first line."""

KEEP_FIRST = 50
KEEP_LAST = 10
PHASES = ("startup", "loading", "kv-sizing", "capture", "warmup", "serving", "shutdown")


@dataclass(slots=True)
class Sighting:
    """One line that matters: its place and text, its process and time."""

    input: str
    line: int
    seq: int
    text: str
    process: ProcessState | None
    time: str | None
    seconds: int | None
    """On the log's own scale; a line without a stamp has that of the line before it."""
    phase: str | None
    machine: str | None = None
    """The machine whose journal the line stands in."""

    def evidence(self, focus: str | None = None) -> Evidence:
        """Return it as the report shows it, under the process's latest name.

        ``focus`` is the part that matters of a line that says much else.
        """
        process = self.process
        text = clip(self.text)
        at = text.find(focus) if focus else -1
        return Evidence(
            self.input,
            self.line,
            text,
            process.label if process else None,
            process.pid if process else None,
            self.time,
            at if at > 0 else None,
        )


@dataclass(slots=True)
class Observation:
    """One match of a signal."""

    signal: Signal
    captures: dict[str, Value]
    at: Sighting
    block: Block | None
    relayed: bool
    copies: int = 1
    """Ray prints one line for several processes."""


@dataclass
class Bucket:
    """The observations of one signal in one process: first and last kept, all counted."""

    first: list[Observation] = field(default_factory=list)
    last: deque[Observation] = field(default_factory=lambda: deque(maxlen=KEEP_LAST))
    count: int = 0
    """Of blocks: a record that shows the signal twice counts once."""
    _block: int = 0

    def add(self, observation: Observation) -> None:
        """Take one more."""
        block = observation.block.id if observation.block else 0
        if not block or block != self._block:
            self.count += observation.copies
            self._block = block
            if len(self.first) < KEEP_FIRST:
                self.first.append(observation)
            else:
                self.last.append(observation)

    def kept(self) -> list[Observation]:
        """Return those kept, in the order of the log."""
        return [*self.first, *self.last]


@dataclass
class RunData:
    """One life of a server, as observed."""

    number: int
    input: str
    kind: str = "server"
    banner: Sighting | None = None
    buckets: dict[tuple[str, int], Bucket] = field(default_factory=dict)
    """By signal and process number (-1 without one)."""
    blocks: list[Block] = field(default_factory=list)
    """Those kept: the first of each place in the code; the others are counted."""
    places: dict[CodePlace, int] = field(default_factory=dict)
    """How many blocks each place in the code made, kept or not."""
    block_sightings: dict[int, Sighting] = field(default_factory=dict)
    exception_sightings: dict[int, Sighting] = field(default_factory=dict)
    processes: list[ProcessState] = field(default_factory=list)
    marks: list[tuple[int, str, bool, Sighting]] = field(default_factory=list)
    """(seq, phase entered, whether by the ready line, the line)."""
    gaps: list[tuple[int, Gap]] = field(default_factory=list)
    ready: Sighting | None = None
    stop: Sighting | None = None
    end: Sighting | None = None
    bench: Sighting | None = None
    first: Sighting | None = None
    last: Sighting | None = None
    last_by_process: dict[int, Sighting] = field(default_factory=dict)
    seen_vllm: bool = False
    failed: bool = False
    """A failure of the engine was seen (used to split runs)."""
    _index: dict[str, list[tuple[int, Bucket]]] = field(default_factory=dict, repr=False)
    """Buckets by signal, with their place: rules ask for few of many signals, very often."""
    _indexed: int = -1
    quoted: bool = False
    """An excerpt of somebody else's log, in a page about another run."""

    def observations(self, *signals: str) -> list[Observation]:
        """Return the kept observations of these signals, in the order of the log."""
        found = [observation for bucket in self._buckets(signals) for observation in bucket.kept()]
        found.sort(key=lambda observation: observation.at.seq)
        return found

    def _buckets(self, signals: tuple[str, ...]) -> list[Bucket]:
        """Return the buckets of these signals, in the order in which they were made."""
        if self._indexed != len(self.buckets):  # buckets are only ever added
            self._index = {}
            for place, ((name, _), bucket) in enumerate(self.buckets.items()):
                self._index.setdefault(name, []).append((place, bucket))
            self._indexed = len(self.buckets)
        found = [pair for name in set(signals) for pair in self._index.get(name, ())]
        found.sort(key=lambda pair: pair[0])
        return [bucket for _, bucket in found]

    def count(self, *signals: str) -> int:
        """Return how many blocks showed one of these signals."""
        return sum(bucket.count for bucket in self._buckets(signals))

    def has(self, *signals: str) -> bool:
        """Tell whether any of these signals was seen."""
        return bool(self._buckets(signals))

    @property
    def served(self) -> bool:
        """Whether the log shows it serving."""
        return self.ready is not None or any(phase == "serving" for _, phase, _, _ in self.marks)

    def last_healthy(
        self, *, before: int | None = None, generating: bool = False
    ) -> Sighting | None:
        """Return the last line (before another) that proves that requests were answered.

        ``generating`` takes only lines that prove that tokens came.
        """
        wanted = ("generating",) if generating else ("generating", "answered")
        return max(
            (
                observation.at
                for bucket in self.buckets.values()
                for observation in bucket.kept()
                if observation.signal.healthy in wanted
                and (before is None or observation.at.seq < before)
            ),
            key=lambda at: at.seq,
            default=None,
        )

    def phase_at(self, seq: int) -> str | None:
        """Return the phase the run was in at a line; None where nothing tells."""
        found = None
        for mark, phase, _, _ in self.marks:
            if mark > seq:
                break
            found = phase
        if found is None and self.marks:
            first_phase, by_ready = self.marks[0][1], self.marks[0][2]
            if first_phase == "serving" and not by_ready:
                return "serving"  # a tail: the first thing it shows is traffic
            if first_phase != "shutdown":
                return "startup" if self.banner is not None or by_ready else None
        return found


def names_own_process(seen: Observation, run: RunData) -> bool:
    """Tell whether a line (of the kernel) names the pid of one of the run's processes."""
    named = seen.captures.get("pid")
    return any(process.pid == named for process in run.processes if process.pid is not None)
