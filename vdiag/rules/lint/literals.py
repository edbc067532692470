"""Proves that every text a pattern matches holds one of its signal's literals.

The scan decodes only lines that hold a literal, so a pattern that can match without one is a
pattern that sometimes never runs. The proof runs the pattern's tree and an automaton of the
literals side by side: it is exact but for look-arounds and back references, which it takes as
always true, so that it never proves too much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

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
)

_FOUND = -1
_States = dict[int, str]
"""State of the automaton → a text that leads there."""

_MAX_TURNS = 64
_MAX_WITNESS = 200


def text_without(tree: Tree, literals: Sequence[str], alphabet: Alphabet) -> str | None:
    """Return a text that the tree takes and that holds no literal; None where there is none."""
    states = _Prover(literals, alphabet).run(tree, {0: ""})
    without = [text for state, text in states.items() if state != _FOUND]
    return min(without, key=len) if without else None


class _Prover:
    """The literals' automaton (Aho and Corasick), and trees run over it."""

    def __init__(self, literals: Sequence[str], alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._next: list[dict[int, int]] = [{}]
        ends: set[int] = set()
        for literal in literals:
            state = 0
            for char in map(ord, literal):
                if char not in self._next[state]:
                    self._next.append({})
                    self._next[state][char] = len(self._next) - 1
                state = self._next[state][char]
            ends.add(state)
        fail = [0] * len(self._next)
        queue = deque(self._next[0].values())
        order = list(queue)
        while queue:
            state = queue.popleft()
            for char, target in self._next[state].items():
                queue.append(target)
                order.append(target)
                back = fail[state]
                while back and char not in self._next[back]:
                    back = fail[back]
                fail[target] = self._next[back].get(char, 0)
        for state in order:
            if fail[state] in ends:
                ends.add(state)
        self._special = frozenset(char for literal in literals for char in map(ord, literal))
        self._ends = ends
        self._fail = fail
        self._steps: dict[tuple[int, int], int] = {}

    def _step(self, state: int, char: int) -> int:
        key = state, char
        if key not in self._steps:
            at = state
            while at and char not in self._next[at]:
                at = self._fail[at]
            target = self._next[at].get(char, 0)
            self._steps[key] = _FOUND if target in self._ends else target
        return self._steps[key]

    def run(self, tree: Tree, states: _States) -> _States:
        """Return the states after every text that the tree takes, from each of the given."""
        if isinstance(tree, Chars):
            return self._chars(tree.of, states)
        if isinstance(tree, Seq):
            for part in tree.parts:
                states = self.run(part, states)
            return states
        if isinstance(tree, Alt):
            out: _States = {}
            for arm in tree.arms:
                _merge(out, self.run(arm, states))
            return out
        if isinstance(tree, Repeat):
            return self._repeat(tree, states)
        if isinstance(tree, Group):
            return self.run(tree.inner, states)
        if isinstance(tree, Guard):
            return states
        assert isinstance(tree, Anything)  # noqa: S101  # the last form
        return self._repeat(Repeat(Chars(self._alphabet.all), 0, None), states)

    def _chars(self, chars: frozenset[int], states: _States) -> _States:
        out: _States = {}
        # All characters of no literal lead back to the start: one of them is enough.
        order = sorted(chars & self._special)
        order += sorted(chars - self._special, key=_oddness)[:1]
        for state, text in states.items():
            if state == _FOUND:
                if chars:
                    _merge(out, {_FOUND: text})
                continue
            reached: set[int] = set()
            for char in order:
                target = self._step(state, char)
                if target not in reached:
                    reached.add(target)
                    _merge(out, {target: (text + chr(char))[:_MAX_WITNESS]})
        return out

    def _repeat(self, tree: Repeat, states: _States) -> _States:
        # Beyond some turns the exact number is given up: any number from there on.
        turns = min(tree.low, _MAX_TURNS)
        for _ in range(turns):
            states = self.run(tree.inner, states)
        out = dict(states)
        left = None if tree.high is None or tree.low > turns else tree.high - tree.low
        fresh = states
        while fresh and (left is None or left > 0):
            after = self.run(tree.inner, fresh)
            fresh = {state: text for state, text in after.items() if state not in out}
            _merge(out, after)
            left = None if left is None else left - 1
        return out


def _oddness(char: int) -> tuple[bool, bool, int]:
    """Order characters so that the most readable one stands for the others."""
    return char > 127, not chr(char).isalnum(), -char


def _merge(into: _States, more: _States) -> None:
    for state, text in more.items():
        if state not in into or len(text) < len(into[state]):
            into[state] = text
