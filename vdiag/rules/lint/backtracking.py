"""Finds patterns that can take very long on a hostile line.

A backtracking engine tries every way in which a pattern can read a text before it says no. The
number of ways is exponential where some loop can read one text in two ways, and a polynomial
where a text can be shared out in many ways between loops that follow each other (Weber and
Seidl, 1991). Both are decided on the pattern's automaton (Glushkov's), over sets of characters.
Look-arounds are taken as always true, so the answer errs on the side of a warning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from vdiag.rules.lint.syntax import (
    Alphabet,
    Alt,
    Anything,
    Chars,
    Group,
    Guard,
    Repeat,
    Seq,
    Tree,
    is_anchored,
)

LINE = 65_536
"""Characters of a line that patterns see."""
MAX_STEPS = 20_000_000
"""About what the engine can do before it gives a line up."""

_MAX_COPIES = 8
_MAX_POSITIONS = 600


@dataclass
class _Part:
    """A part of a pattern, as Glushkov's construction needs it."""

    nullable: bool
    first: list[int]
    last: list[int]
    free: list[int]
    """Positions after which the part may end without any guard left to fail."""
    open: bool
    """Nullable without a guard."""


@dataclass
class _Automaton:
    chars: list[frozenset[int]] = field(default_factory=list)
    edges: Counter[tuple[int, int]] = field(default_factory=Counter)
    """(from, to) → in how many ways."""
    bounds: dict[tuple[int, int], int] = field(default_factory=dict)
    """Of an edge that closes a loop: how often it can be taken."""
    atoms: list[int] = field(default_factory=list)
    """The atomic group that a position lies in; 0 is none."""
    free: set[int] = field(default_factory=set)
    """Positions after which the pattern has matched: nothing can fail any more."""


@dataclass(frozen=True)
class Slow:
    """Why a pattern can take long."""

    exponential: bool
    steps: int
    """Of the worst line, where not exponential."""

    def __str__(self) -> str:
        """Return the reason as the end of a sentence."""
        if self.exponential:
            return "one loop can read a text in several ways, so the time grows exponentially"
        return (
            f"loops share a text out between them in up to {self.steps:,} ways on a line of 64 KiB"
        )


def slowness(tree: Tree, alphabet: Alphabet) -> Slow | None:
    """Return why a pattern, searched in a line, can take too long; None where it cannot."""
    automaton = _Builder(alphabet).build(tree)
    if automaton is None:
        return Slow(exponential=False, steps=LINE * LINE)
    loops = _Loops(automaton)
    if any(loops.is_exponential(component) for component in loops.components):
        return Slow(exponential=True, steps=0)
    steps = loops.worst()
    inner = [slowness(look, alphabet) for look in _looks(tree)]
    exponential = any(one.exponential for one in inner if one)
    steps = max([steps, *(one.steps for one in inner if one)])
    return Slow(exponential, steps) if exponential or steps > MAX_STEPS else None


def _looks(tree: Tree) -> Iterable[Tree]:
    if isinstance(tree, Guard):
        if tree.inner is not None:
            # It is tried at the place where it stands, so it begins there.
            yield Seq((Guard(start=True), tree.inner))
    elif isinstance(tree, Seq):
        for part in tree.parts:
            yield from _looks(part)
    elif isinstance(tree, Alt):
        for arm in tree.arms:
            yield from _looks(arm)
    elif isinstance(tree, Repeat | Group):
        yield from _looks(tree.inner)


class _Builder:
    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._out = _Automaton()
        self._atom = 0
        self._atoms = 0

    def build(self, tree: Tree) -> _Automaton | None:
        """Return the automaton of a searched pattern; None where it is too large to judge."""
        if not is_anchored(tree):
            tree = Seq((Repeat(Chars(self._alphabet.all), 0, None), tree))
        try:
            part = self._part(tree)
        except OverflowError:
            return None
        self._out.free = set(part.free)
        return self._out

    def _part(self, tree: Tree) -> _Part:
        if isinstance(tree, Chars):
            return self._position(tree.of)
        if isinstance(tree, Anything):
            return self._part(Repeat(Chars(self._alphabet.all), 0, None))
        if isinstance(tree, Guard):
            return _Part(nullable=True, first=[], last=[], free=[], open=False)
        if isinstance(tree, Seq):
            out = _Part(nullable=True, first=[], last=[], free=[], open=True)
            for inner in tree.parts:
                out = self._then(out, self._part(inner))
            return out
        if isinstance(tree, Alt):
            arms = [self._part(arm) for arm in tree.arms]
            return _Part(
                any(arm.nullable for arm in arms),
                [one for arm in arms for one in arm.first],
                [one for arm in arms for one in arm.last],
                [one for arm in arms for one in arm.free],
                any(arm.open for arm in arms),
            )
        if isinstance(tree, Group):
            return self._atomic(tree.inner) if tree.atomic else self._part(tree.inner)
        return self._repeat(tree)

    def _position(self, chars: frozenset[int]) -> _Part:
        here = len(self._out.chars)
        if here >= _MAX_POSITIONS:
            raise OverflowError
        self._out.chars.append(chars)
        self._out.atoms.append(self._atom)
        return _Part(nullable=False, first=[here], last=[here], free=[here], open=False)

    def _atomic(self, inner: Tree) -> _Part:
        if self._atom:
            return self._part(inner)
        self._atoms += 1
        self._atom = self._atoms
        part = self._part(inner)
        self._atom = 0
        return part

    def _then(self, one: _Part, two: _Part) -> _Part:
        for end in one.last:
            for start in two.first:
                self._out.edges[end, start] += 1
        return _Part(
            one.nullable and two.nullable,
            [*one.first, *(two.first if one.nullable else ())],
            [*two.last, *(one.last if two.nullable else ())],
            [*two.free, *(one.free if two.open else ())],
            one.open and two.open,
        )

    def _repeat(self, tree: Repeat) -> _Part:
        if tree.possessive:
            return self._atomic(Repeat(tree.inner, tree.low, tree.high))
        if tree.high is not None and tree.high <= _MAX_COPIES and not _loops(tree.inner):
            out = _Part(nullable=True, first=[], last=[], free=[], open=True)
            for turn in range(tree.high):
                part = self._part(tree.inner)
                if turn >= tree.low:
                    part.nullable = part.open = True
                out = self._then(out, part)
            return out
        part = self._part(tree.inner)
        bound = LINE if tree.high is None else tree.high
        if part.nullable and bound > 1:
            # Which of the turns read nothing is left open: many ways to read one text.
            self._out.edges.update((end, start) for end in part.last for start in part.first)
        if bound > 1:
            for end in part.last:
                for start in part.first:
                    self._out.edges[end, start] += 1
                    old = self._out.bounds.get((end, start), 0)
                    self._out.bounds[end, start] = max(old, bound)
        if tree.low == 0:
            part.nullable = part.open = True
        return part


def _loops(tree: Tree) -> bool:
    """Tell whether a tree repeats anything."""
    if isinstance(tree, Seq):
        return any(map(_loops, tree.parts))
    if isinstance(tree, Alt):
        return any(map(_loops, tree.arms))
    if isinstance(tree, Group):
        return _loops(tree.inner)
    return isinstance(tree, Anything) or (
        isinstance(tree, Repeat) and (tree.high is None or tree.high > 1)
    )


class _Loops:
    """The loops of an automaton, and which of them can share out a text."""

    def __init__(self, automaton: _Automaton) -> None:
        self._automaton = automaton
        self._after: dict[int, list[int]] = defaultdict(list)
        for start, end in automaton.edges:
            self._after[start].append(end)
        found = strong_components(range(len(automaton.chars)), self._after)
        self.components = [
            group for group in found if len(group) > 1 or (group[0], group[0]) in automaton.edges
        ]
        self._of = {one: number for number, group in enumerate(self.components) for one in group}

    def is_exponential(self, component: list[int]) -> bool:
        """Tell whether a loop can read one text, from a place back to it, in two ways."""
        edges, chars = self._automaton.edges, self._automaton.chars
        inside = set(component)
        if any(
            edges[one, two] > 1 for one in component for two in self._after[one] if two in inside
        ):
            return True
        if len(component) == 1:
            return False
        pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        todo = [(one, one) for one in component]
        pairs.update((pair, []) for pair in todo)
        while todo:
            pair = todo.pop()
            for one in self._after[pair[0]]:
                for two in self._after[pair[1]]:
                    if one in inside and two in inside and chars[one] & chars[two]:
                        target = one, two
                        pairs[pair].append(target)
                        if target not in pairs:
                            pairs[target] = []
                            todo.append(target)
        return any(
            any(one == two for one, two in group) and any(one != two for one, two in group)
            for group in strong_components(pairs, pairs)
        )

    def worst(self) -> int:
        """Return the largest product of turns over loops that share one text."""
        shares: dict[int, set[int]] = defaultdict(set)
        for one in self._of:
            for two in self._of:
                a, b = self._of[one], self._of[two]
                if a != b and b not in shares[a] and self._share(one, two):
                    shares[a].add(b)
        turns = [self._turns(group) for group in self.components]
        known: dict[int, int] = {}

        def cost(loop: int) -> int:
            if loop not in known:
                known[loop] = turns[loop] * max((cost(other) for other in shares[loop]), default=1)
            return known[loop]

        return max((cost(loop) for loop in range(len(turns))), default=1)

    def _turns(self, component: list[int]) -> int:
        inside = set(component)
        bounds = [
            bound
            for (one, two), bound in self._automaton.bounds.items()
            if one in inside and two in inside
        ]
        out = 1
        for bound in sorted(set(bounds)):
            out = min(out * bound, LINE)
        return out

    def _share(self, one: int, two: int) -> bool:
        """Tell whether one text leads from one place to itself and to another, which it keeps."""
        automaton = self._automaton
        if two in automaton.free:
            return False  # once there, the match is made and nothing is tried again
        if automaton.atoms[one] and automaton.atoms[one] != automaton.atoms[two]:
            return False  # the first loop is never entered again
        chars, of = automaton.chars, self._of
        start = one, one, two
        seen = {start}
        todo = [start]
        while todo:
            a, b, c = todo.pop()
            for x in self._after[a]:
                if of.get(x) != of[one]:
                    continue
                for z in self._after[c]:
                    if of.get(z) != of[two]:
                        continue
                    common = chars[x] & chars[z]
                    if not common:
                        continue
                    for y in self._after[b]:
                        if common & chars[y]:
                            state = x, y, z
                            if state == (one, two, two):
                                return True
                            if state not in seen:
                                seen.add(state)
                                todo.append(state)
        return False


_Node = TypeVar("_Node", bound=Hashable)


def strong_components(
    nodes: Iterable[_Node], after: Mapping[_Node, list[_Node]]
) -> list[list[_Node]]:
    """Return the strongly connected components of a graph (Tarjan, without recursion)."""
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    stack: list[_Node] = []
    on_stack: set[_Node] = set()
    out: list[list[_Node]] = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(after.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(after.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        one = stack.pop()
                        on_stack.discard(one)
                        group.append(one)
                        if one == node:
                            break
                    out.append(group)
    return out
