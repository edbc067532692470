"""The lines of one server, put into its lives.

Runs are split while reading, so that the caps on kept observations hold a run and a second
start never loses its own facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vdiag.engine import lives
from vdiag.engine.compiled import CompiledPack, CompiledSignal, Match
from vdiag.engine.observation import PHASES, Bucket, CodePlace, Observation, RunData, Sighting
from vdiag.engine.process import ProcessState, ranks_of, role_of
from vdiag.logs import grammar
from vdiag.logs.blocks import Assembler, Block, Place
from vdiag.logs.clock import Clock
from vdiag.logs.record import Piece
from vdiag.report.model import Gap

_MAX_BLOCKS = 100
"""Kept of each place in the code, so that a flood of one message hides no other."""
MAX_GAPS = 200


@dataclass
class Observed:
    """All that one input showed."""

    input: str
    runs: list[RunData] = field(default_factory=list)
    bytes: int = 0
    lines: int = 0
    hits: int = 0
    envelopes: list[str] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    nul_bytes: int = 0


class Lane:
    """The lines of one server, put into its lives: an input nearly always has one."""

    def __init__(self, name: str, compiled: CompiledPack, out: Observed) -> None:
        self.out = out
        self._name = name
        self._compiled = compiled
        self._assembler = Assembler()
        self._clock = Clock()
        self._seq = 0
        self._seconds: int | None = None
        self._processes: dict[tuple[str | None, int | str | None], ProcessState] = {}
        self._made = 0
        self._run: RunData | None = None
        self._next_excerpt = False
        """Whether an excerpt ended since the run was opened."""
        self._pending: list[Observation] = []
        self._orphans: list[tuple[Block, Sighting]] = []
        self._orphan_exceptions: dict[int, Sighting] = {}

    @property
    def following(self) -> bool:
        """Whether the next line is needed, hit or not."""
        return self._assembler.following

    @property
    def unused(self) -> bool:
        """Whether nothing was put into it."""
        return self._run is None and not (self._orphans or self._pending)

    @property
    def lives(self) -> bool:
        """Whether its server has started and nothing told its end."""
        run = self._run
        return (
            run is not None
            and run.banner is not None
            and not (run.failed or run.stop is not None or run.end is not None)
        )

    @property
    def pids(self) -> list[tuple[str | None, int]]:
        """The processes of its current run, by host and pid."""
        processes = self._run.processes if self._run is not None else []
        return [(one.host, one.pid) for one in processes if one.pid is not None]

    def knows(self, piece: Piece) -> bool:
        """Tell whether a piece's process wrote in the current run before."""
        return (piece.host, piece.pid) in self.pids

    def end_excerpt(self) -> None:
        """Take the end of an excerpt: no traceback goes on behind it."""
        self._assembler.end_raw()
        self._next_excerpt = True

    def gap(self, gap: Gap, seq: int) -> None:
        """Take lines that are missing."""
        if self._run is not None and len(self._run.gaps) < MAX_GAPS:
            self._run.gaps.append((seq, gap))

    def piece(
        self,
        piece: Piece,
        number: int,
        seq: int,
        candidates: list[CompiledSignal],
        previous: Callable[[], str],
    ) -> None:
        """Take one piece of a line; ``previous`` gives the text of the line before it."""
        self._seq = seq
        state = self._process(piece)
        if piece.time is not None:
            self._seconds = self._clock.seconds(piece.time)
        role = state.role if state else "unknown"
        matches = self._compiled.match(candidates, piece.text, piece.level, role)
        at = Sighting(
            self._name,
            number,
            seq,
            piece.text,
            state,
            piece.time,
            self._seconds,
            None,
            piece.machine,
        )
        self._split(piece, matches, at)
        state = at.process
        run = self._run
        if run is None and (piece.vllm or self._opens(matches)):
            run = self._open(at, "server", banner=False)
        block, part = self._assembler.feed(piece, Place(self._name, number, self._seq))
        if block is not None:
            self._note_block(block, at, previous)
        for match in matches:
            self._record(match, at, block, run, part, piece.copies)
        if run is not None:
            self._touch(run, piece, state, at)

    # -- processes ---------------------------------------------------------------------

    def _process(self, piece: Piece) -> ProcessState | None:
        if piece.pid is None and piece.process is None:
            if piece.envelope_pid is not None:
                return self._processes.get((piece.host, piece.envelope_pid))
            return None
        key = (piece.host, piece.pid if piece.pid is not None else piece.process)
        state = self._processes.get(key)
        name = piece.process or f"pid {piece.pid}"
        if state is None:
            state = self._new_process(name, piece.pid, piece.host)
            self._processes[key] = state
        elif piece.process:
            state.rename(piece.process)
        return state

    def _new_process(self, name: str, pid: int | None, host: str | None) -> ProcessState:
        self._made += 1
        return ProcessState(name, pid, host, role_of(name), self._made, ranks_of(name))

    # -- runs --------------------------------------------------------------------------

    def _opens(self, matches: list[Match]) -> bool:
        return any(
            match.signal.kind == "event"
            and not match.signal.boundary
            and (bool(match.signal.tells) or match.signal.own)
            for match in matches
        )

    def _split(self, piece: Piece, matches: list[Match], at: Sighting) -> None:
        """Open a new run where a line says that one starts."""
        run = self._run
        if piece.vllm and run is not None and lives.is_later(run, at):
            run = self._open(at, "server", banner=False)
        elif piece.vllm and run is not None and self._next_excerpt and lives.is_quoted(run, at):
            run = self._open(at, "server", banner=False)
            run.quoted = True
        for match in matches:
            boundary = match.signal.boundary
            before = run is not None and lives.is_before_banner(run)
            if boundary == "banner" and run is not None and before:
                run.banner = at
            elif boundary == "banner" and (run is None or not lives.is_same_start(run, at)):
                run = self._open(at, "server", banner=True)
            elif boundary == "bench" and run is not None and before:
                run.kind, run.bench = "bench", at
            elif boundary == "bench" and (
                run is None or run.kind != "bench" or run.end is not None
            ):
                run = self._open(at, "bench", banner=False)
            elif boundary == "init" and (run is None or lives.is_new_engine(run, at)):
                run = self._open(at, "offline", banner=False)

    def _open(self, at: Sighting, kind: str, *, banner: bool) -> RunData:
        if self._orphans and banner:
            self._orphan_run()
        run = RunData(len(self.out.runs) + 1, self._name, kind)
        if self._run is not None:
            self._forget_processes(at)
        if banner:
            run.banner = at
        if kind == "bench":
            run.bench = at
        self.out.runs.append(run)
        self._run = run
        self._next_excerpt = False
        self._drain(run)
        return run

    def _drain(self, run: RunData) -> None:
        """Give a run what was read while there was none."""
        for block, sighting in self._orphans:
            self._keep_block(run, block, sighting)
            if block.id in self._orphan_exceptions:
                run.exception_sightings[block.id] = self._orphan_exceptions[block.id]
        for observation in self._pending:
            self._keep(run, observation)
        self._orphans, self._pending = [], []

    def _forget_processes(self, at: Sighting) -> None:
        """Begin anew: in a container every start has the pids of the one before it."""
        first = at.process
        self._processes = {}
        if first is not None:
            at.process = self._new_process(first.name, first.pid, first.host)
            key = (first.host, first.pid if first.pid is not None else first.name)
            self._processes[key] = at.process

    def _orphan_run(self) -> None:
        """Make a run of tracebacks that no record surrounds, where they are vLLM's."""
        orphans = [pair for pair in self._orphans if is_vllm_block(pair[0])]
        if not orphans:
            return
        run = RunData(len(self.out.runs) + 1, self._name, "server")
        run.first, run.last = orphans[0][1], self._orphans[-1][1]
        self._drain(run)
        self.out.runs.append(run)

    def finish(self) -> None:
        """Take the end of the input."""
        if self._run is not None:
            self._drain(self._run)
        else:
            self._orphan_run()
            told = [o for o in self._pending if o.signal.fatal and not o.signal.beside]
            fatal = [o for o in told if _names_vllm(o)]
            if fatal:
                run = self._open(fatal[0].at, "server", banner=False)
                run.first = run.last = fatal[0].at

    # -- what a line shows -------------------------------------------------------------

    def _note_block(self, block: Block, at: Sighting, previous: Callable[[], str]) -> None:
        run = self._run
        if block.lines == 1:
            if block.raw:
                block.owner = _owner(previous())
            if run is None:
                self._orphans.append((block, at))
            else:
                self._keep_block(run, block, at)
        if (
            (run is None or block.id in run.block_sightings)
            and block.exception_place is not None
            and block.exception_place.seq == self._seq
        ):
            target = run.exception_sightings if run is not None else self._orphan_exceptions
            target[block.id] = at

    @staticmethod
    def _keep_block(run: RunData, block: Block, at: Sighting) -> None:
        place = code_place(block)
        run.places[place] = run.places.get(place, 0) + 1
        if run.places[place] <= _MAX_BLOCKS:
            run.blocks.append(block)
            run.block_sightings[block.id] = at

    def _record(
        self,
        match: Match,
        at: Sighting,
        block: Block | None,
        run: RunData | None,
        part: str,
        copies: int,
    ) -> None:
        signal = match.signal
        if part == "more" and run is not None and run.served and _is_front_end(at):
            return  # the text of a refused request, which may quote anything
        observation = Observation(signal, match.captures, at, block, match.relayed, copies)
        if block is not None:
            block.signals.add(signal.id)
            if block.lines == 1:
                block.head_signals.add(signal.id)
            if part in ("exception", "more") and block.raised:
                block.exception_signals.add(signal.id)
                if part == "exception":
                    block.line_signals.add(signal.id)
        if run is None or lives.is_beside(run, observation):
            self._pending.append(observation)
            return
        self._keep(run, observation)
        phase = signal.marks
        if run.kind == "offline" and signal.marks_offline:
            phase = signal.marks_offline
        if phase:
            self._mark(run, phase, signal.boundary == "ready", at)
        if signal.boundary == "ready" and run.ready is None:
            run.ready = at
        elif signal.boundary == "stop" and run.stop is None:
            run.stop = at
        elif signal.boundary == "end":
            run.end = at
        told = signal.fatal and not signal.beside
        fatal = signal.kind == "wrapper" or "engine-end" in signal.tells or told
        if fatal and run.stop is None:  # a requested stop says such things too
            run.failed = True

    def _keep(self, run: RunData, observation: Observation) -> None:
        process = observation.at.process
        key = (observation.signal.id, process.order if process else -1)
        bucket = run.buckets.get(key)
        if bucket is None:
            bucket = run.buckets[key] = Bucket()
        bucket.add(observation)

    def _mark(self, run: RunData, phase: str, by_ready: bool, at: Sighting) -> None:
        current = run.marks[-1][1] if run.marks else None
        if current == phase:
            return
        if current is not None:
            serving = PHASES.index("serving")
            backwards = PHASES.index(phase) < PHASES.index(current)
            if backwards and PHASES.index(current) >= serving:
                return  # a late line of another process, or the log of a stop
            if backwards and phase in ("startup", "loading"):
                return
        run.marks.append((at.seq, phase, by_ready, at))

    def _touch(self, run: RunData, piece: Piece, state: ProcessState | None, at: Sighting) -> None:
        run.seen_vllm = run.seen_vllm or piece.vllm
        if run.first is None:
            run.first = at
        if piece.vllm or run.kind == "bench":
            run.last = at
        if state is not None:
            if state not in run.processes:
                run.processes.append(state)
            phase = run.marks[-1][1] if run.marks else None
            state.phase = phase or state.phase
            state.levels.setdefault(phase or "", set()).add(piece.level)
            run.last_by_process[state.order] = at


def _is_front_end(at: Sighting) -> bool:
    return at.process is not None and at.process.role == "api"


def code_place(block: Block) -> CodePlace:
    """Return where in the code a block comes from."""
    first = block.first
    return first.level, first.file, first.lineno, block.raw


def _owner(previous: str) -> str | None:
    """Return what a line just before a raw traceback says of it, as text."""
    text = grammar.read(previous.strip())[-1].text.strip()
    return text or None


def _names_vllm(observation: Observation) -> bool:
    return "vllm" in observation.at.text or "api_server.py" in observation.at.text


def is_vllm_block(block: Block) -> bool:
    """Whether a traceback is vLLM's: by a frame, or by the class it raised."""
    return any(
        raised.type.startswith("vllm.")
        or any(
            "/vllm/" in frame.path
            or frame.path.startswith("vllm/")
            or frame.path.endswith("/bin/vllm")
            for frame in raised.frames
        )
        for raised in block.raised
    )
