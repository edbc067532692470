"""Reads the lines that hit, and hands them to the server that they are of.

Envelopes are taken off, records that a collector split are joined, and where several servers
wrote one log each has a lane (:mod:`.lane`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vdiag.engine.compiled import CompiledPack, CompiledSignal
from vdiag.engine.lane import MAX_GAPS, Lane, Observed
from vdiag.engine.process import role_of
from vdiag.engine.scan import Lines, Matcher
from vdiag.logs import clock, grammar
from vdiag.logs.envelopes import HOW_TO_GET, Unwrapped, Unwrapper, containers
from vdiag.logs.envelopes.entries import rewrite
from vdiag.logs.record import Piece
from vdiag.logs.sources import Source
from vdiag.logs.text import clip
from vdiag.report.model import Gap

_MAX_JOINED = 1 << 18
"""Characters of a record that a collector split over lines."""
_SNIFF = 1 << 16
_HOLE = b"\0" * 8
_SNIFF_LINES = 200


def observe(source: Source, compiled: CompiledPack, matcher: Matcher) -> Observed:
    """Read a source to its end; raises InputError where it cannot be read."""
    lines = Lines(matcher)
    rewritten, chunks = rewrite(source.chunks())
    observer = Observer(source.name, compiled, lines.literals_in, rewritten=rewritten)
    nul = 0
    first = True
    latest: tuple[int, bytes, list[int]] | None = None
    for chunk in chunks:
        if first:
            first = False
            head = bytes(chunk.data[: min(chunk.size, _SNIFF)])
            nul = head.count(b"\0")
            observer.sniff(head)
            lines.follow = observer.following
        hole = chunk.data.find(b"\0", 0, chunk.size)  # cheap; the search for a run of them is not
        if hole >= 0 and (hole := chunk.data.find(_HOLE, hole, chunk.size)) >= 0:
            observer.nul_hole(lines.number + chunk.data.count(b"\n", 0, hole) + 1)
        for number, raw, literals in lines.of(chunk):
            if not lines.follow and compiled.latest.issuperset(literals):
                latest = number, raw, literals  # of a run of such lines the last one is enough
                continue
            if latest is not None:
                observer.line(*latest, b"", b"")
                latest = None
            observer.line(number, raw, literals, *lines.previous())
            lines.follow = observer.following
    if latest is not None:
        observer.line(*latest, b"", b"")
    observer.finish()
    out = observer.out
    out.bytes, out.lines, out.hits, out.nul_bytes = source.size, lines.number, lines.hits, nul
    return out


class Observer:
    """Takes the lines of one input in order: envelopes off, parts joined, servers parted."""

    def __init__(
        self,
        name: str,
        compiled: CompiledPack,
        literals_in: Callable[[bytes], list[int]],
        *,
        rewritten: str | None = None,
    ) -> None:
        self.out = Observed(name)
        self._name = name
        self._compiled = compiled
        self._literals_in = literals_in
        """For texts that the scan did not see as they are: joined, or decoded."""
        self._unwrapper = Unwrapper(rewritten=rewritten)
        self._seq = 0
        self._lane = Lane(name, compiled, self.out)
        """The lane of the last line that names its process."""
        self._lanes = [self._lane]
        self._lane_of: dict[str, Lane] = {}
        """By server: pod or service."""
        self._members: set[str] = set()
        """Servers that wrote a record of vLLM's: the ranks of another node print no banner."""
        self._strangers: dict[str, Lane] = {}
        """By server of which no record of vLLM's was seen: perhaps somebody else's program."""
        self._lane_of_pid: dict[tuple[str | None, int], Lane] = {}
        self._behind_hole = False
        self._parts: dict[str, _Parts] = {}
        self._zone: int | None = None
        """Seconds that the collector's clock is ahead of vLLM's local time."""

    @property
    def following(self) -> bool:
        """Whether the next line is needed, hit or not."""
        return (
            self._unwrapper.follows
            or bool(self._parts)
            or any(lane.following for lane in self._all_lanes())
        )

    def sniff(self, head: bytes) -> None:
        """Learn from the input's beginning what its lines are wrapped in."""
        text = head.decode("utf-8", "replace").removeprefix("\ufeff")
        self._unwrapper.sniff(text)
        for line in text.split("\n")[:_SNIFF_LINES]:
            if self._zone is not None:
                break
            for one in self._unwrapper.peek(line):
                if one.time is not None:
                    self._learn_zone(one.time, grammar.read(one.text))

    def line(
        self,
        number: int,
        raw: bytes,
        literals: list[int],
        previous: bytes,
        previous_end: bytes = b"",
    ) -> None:
        """Take one physical line, and the beginning and end of the line before it."""
        text = raw.decode("utf-8", "replace")
        if number == 1:
            text = text.removeprefix("\ufeff")
        for one in self._unwrapper.unwrap(text):
            if one.hidden:
                literals = self._literals_in(one.text.encode("utf-8", "replace"))
            if one.stream is None:
                self._unwrapped(one, number, literals, previous)
                continue
            parts = self._parts.get(one.stream)
            if parts is None and one.partial:
                if not self._continues(one.stream, previous, previous_end):
                    self._parts[one.stream] = _Parts(one, number)
            elif parts is None:
                # The tail of a record whose beginning holds nothing of ours says nothing.
                if not self._continues(one.stream, previous, previous_end):
                    self._unwrapped(one, number, literals, previous)
            else:
                parts.add(one)
                if not one.partial:
                    del self._parts[one.stream]
                    self._joined(parts)

    def _joined(self, parts: _Parts) -> None:
        """Read a record whose parts are together, envelopes inside of it included."""
        outer = parts.first
        for one in self._unwrapper.inside(outer):
            literals = self._literals_in(one.text.encode("utf-8", "replace"))
            self._unwrapped(one, parts.number, literals, b"")

    def _continues(self, stream: str, previous: bytes, previous_end: bytes) -> bool:
        """Tell whether the line before is a part of the same record."""
        if not previous:
            return False
        if stream.startswith("docker-"):
            return containers.is_docker_part(previous_end, stream)
        one = self._unwrapper.peek(previous.decode("utf-8", "replace"))
        return bool(one) and one[0].stream == stream and one[0].partial

    def _unwrapped(self, one: Unwrapped, number: int, literals: list[int], previous: bytes) -> None:
        if one.boundary:
            for lane in self._all_lanes():
                lane.end_excerpt()
            return
        if one.gap:
            lane = self._lane_of.get(one.server or "", self._lanes[-1])
            lane.gap(self._gap(number, one), self._seq)
            return
        if one.hole:
            self._behind_hole = True
        pieces = grammar.read(one.text, host=one.host, envelope_pid=one.pid)
        if one.time is not None:
            if self._zone is None:
                self._learn_zone(one.time, pieces)
            time = clock.shift(one.time, -self._zone) if self._zone else one.time
            for piece in pieces:
                piece.time = piece.time or time
        candidates = self._compiled.candidates(literals) if literals else []

        def before() -> str:
            return "\n".join(
                two.text for two in self._unwrapper.peek(previous.decode("utf-8", "replace"))
            )

        for piece in pieces:
            self._seq += 1
            piece.machine = one.machine
            if one.server:
                lane = self._of_server(one.server, piece, candidates)
            else:
                lane = self._of_process(piece, candidates)
            lane.piece(piece, number, self._seq, candidates, before)

    def _of_server(self, server: str, piece: Piece, candidates: list[CompiledSignal]) -> Lane:
        """Return the lane of a pod or service; one with a banner of its own has its own.

        The other nodes of a server share its lane. What a stranger prints, before any record of
        vLLM's, is kept apart: a trainer beside the server runs out of memory too.
        """
        lane = self._lane_of.get(server)
        if lane is not None:
            return lane
        if self._is_banner(piece, candidates):
            lane = self._new_lane() if self._lane_of else self._shared(server)
            self._lane_of[server] = lane
            self._members.add(server)
            return lane
        if piece.vllm and server not in self._members:
            self._members.add(server)
            return self._shared(server)
        kin = _family(server)
        if server in self._members or any(_family(known) == kin for known in self._members):
            return self._lanes[0]
        if server not in self._strangers:
            self._strangers[server] = Lane(self._name, self._compiled, self.out)
        return self._strangers[server]

    def _shared(self, server: str) -> Lane:
        """Return the lane of all that have no banner; the first one brings what it said before."""
        before = self._strangers.get(server)
        if before is not None and self._lanes[0].unused:
            if self._lane is self._lanes[0]:
                self._lane = before
            self._lanes[0] = before
            del self._strangers[server]
        return self._lanes[0]

    def _of_process(self, piece: Piece, candidates: list[CompiledSignal]) -> Lane:
        """Return the lane of a process, where several servers write one log.

        A second server prints its banner while the first one lives; or its launch cut the
        first one's file short, which leaves a hole and the first one's lines behind it.
        """
        if piece.pid is None:
            return self._lane
        known = self._lane_of_pid.get((piece.host, piece.pid))
        if known is not None:
            self._lane = known
            return known
        if len(self._lanes) == 1 and not self._behind_hole and not candidates:
            return self._lane
        second = self._lane.lives and not self._lane.knows(piece)
        if second and (self._behind_hole or self._is_banner(piece, candidates)):
            for host, pid in self._lane.pids:
                self._lane_of_pid[host, pid] = self._lane
            self._lane = self._new_lane()
            self._behind_hole = False
        elif len(self._lanes) > 1:
            self._lane = self._lanes[-1]
        return self._lane

    def _all_lanes(self) -> list[Lane]:
        return [*self._lanes, *self._strangers.values()]

    def _new_lane(self) -> Lane:
        lane = Lane(self._name, self._compiled, self.out)
        self._lanes.append(lane)
        return lane

    def _is_banner(self, piece: Piece, candidates: list[CompiledSignal]) -> bool:
        banners = [one for one in candidates if one.signal.boundary == "banner"]
        if not banners:
            return False
        role = role_of(piece.process)
        return bool(self._compiled.match(banners, piece.text, piece.level, role))

    def _learn_zone(self, time: str, pieces: list[Piece]) -> None:
        own = next((piece.time for piece in pieces if piece.vllm and piece.time), None)
        if own is not None:
            self._zone = clock.zone_between(time, own)

    def _gap(self, number: int, one: Unwrapped) -> Gap:
        assert one.gap is not None  # noqa: S101  # told by the caller
        gap = Gap(number, one.gap, clip(one.text.strip()), max(one.lost, 1), HOW_TO_GET[one.gap])
        if len(self.out.gaps) < MAX_GAPS:
            self.out.gaps.append(gap)
        return gap

    def nul_hole(self, number: int) -> None:
        """Take NULs in a line: of a hole over several chunks the first line counts."""
        if not self.out.gaps or self.out.gaps[-1].kind != "nul-hole":
            gap = Unwrapped("NUL bytes in place of text", gap="nul-hole", lost=1)
            self._lanes[-1].gap(self._gap(number, gap), self._seq)

    def finish(self) -> None:
        """Take the end of the input."""
        for parts in self._parts.values():
            self._joined(parts)
        self._parts = {}
        for lane in self._all_lanes():
            lane.finish()
        self.out.envelopes = self._unwrapper.kinds
        for run in self.out.runs:
            for observations in run.buckets.values():
                for observation in observations.kept():
                    observation.at.phase = run.phase_at(observation.at.seq)


def _family(server: str) -> str:
    """Return what the pods of one set, and the services of one project's server, share."""
    return server.partition("-")[0]


@dataclass
class _Parts:
    """A record that a collector split over lines, as far as it was read."""

    first: Unwrapped
    number: int

    def add(self, one: Unwrapped) -> None:
        """Take the next part."""
        if len(self.first.text) < _MAX_JOINED:
            self.first.text += one.text
