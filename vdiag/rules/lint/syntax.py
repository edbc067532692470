"""Patterns as trees: Python's own parser, reduced to what the proofs need.

Characters are sets over a finite alphabet of representatives: all of ASCII, every other
character that the pattern names, and one of each kind of the rest (a letter, a digit, a space,
a symbol), so that equal sets mean equal behaviour.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import regex

_parser: Any = re._parser  # type: ignore[attr-defined]  # the tree is what is wanted
_names: Any = re._constants  # type: ignore[attr-defined]

_KINDS = (0xE9, 0x663, 0x2003, 0x2584)
"""é (a letter), ٣ (a digit that \\d takes), an em space, ▄ (neither)."""


class Unparsed(Exception):  # noqa: N818  # an answer, not a failure
    """A pattern that Python's parser does not read (``regex`` may)."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    of: frozenset[int]


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of several."""

    arms: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``low`` to ``high`` times; ``high`` None is any number."""

    inner: Tree
    low: int
    high: int | None
    possessive: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A group; ``name`` None where it has none. Atomic ones are never entered again."""

    inner: Tree
    name: str | None = None
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """Consumes nothing and may fail: an anchor, a border, a look-around."""

    start: bool = False
    """``^`` or ``\\A``: holds at one place of a line."""
    inner: Tree | None = None


@dataclass(frozen=True, slots=True)
class Anything:
    """A back reference: any text at all."""


Tree: TypeAlias = Chars | Seq | Alt | Repeat | Group | Guard | Anything


class Alphabet:
    """The representatives for some patterns and literals."""

    def __init__(self, texts: Iterable[str]) -> None:
        named = {ord(char) for text in texts for char in text if ord(char) > 127}
        self.all = frozenset((*range(128), *_KINDS, *named))
        self.line = self.all - {10}
        self._kinds = {
            name: frozenset(c for c in self.all if regex.match(escape, chr(c)))
            for name, escape in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w"))
        }

    def kind(self, name: str) -> frozenset[int]:
        """Return the members of a class and its like, by the parser's name for it."""
        short = name.removeprefix("CATEGORY_").removeprefix("UNI_")
        if short.startswith("NOT_"):
            return self.all - self._kinds[short.removeprefix("NOT_")]
        return self._kinds[short]

    def wide(self) -> frozenset[int]:
        """Return every representative outside ASCII."""
        return frozenset(char for char in self.all if char > 127)


def parse(pattern: str, alphabet: Alphabet) -> Tree:
    """Parse a pattern; raises Unparsed where only ``regex`` reads it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # FutureWarning about sets; they mean the same here
            parsed = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unparsed(str(error)) from error
    groups = {number: name for name, number in parsed.state.groupdict.items()}
    return _Reader(alphabet, groups).sequence(parsed, parsed.state.flags)


class _Reader:
    def __init__(self, alphabet: Alphabet, groups: dict[int, str]) -> None:
        self._alphabet = alphabet
        self._groups = groups

    def sequence(self, items: Any, flags: int) -> Tree:  # noqa: ANN401  # the parser's lists
        return Seq(tuple(self._one(str(op), value, flags) for op, value in items))

    def _one(self, op: str, value: Any, flags: int) -> Tree:  # noqa: ANN401  # as above
        if op in ("LITERAL", "NOT_LITERAL"):
            chars = self._cases(frozenset((value,)), flags)
            return Chars(chars if op == "LITERAL" else self._alphabet.all - chars)
        if op == "ANY":
            every = flags & re.DOTALL
            return Chars(self._alphabet.all if every else self._alphabet.line)
        if op == "IN":
            return Chars(self._set(value, flags))
        if op == "BRANCH":
            return Alt(tuple(self.sequence(arm, flags) for arm in value[1]))
        if op == "SUBPATTERN":
            number, add, remove, inner = value
            name = self._groups.get(number)
            return Group(self.sequence(inner, (flags | add) & ~remove), name)
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, inner = value
            top = None if high is _names.MAXREPEAT else int(high)
            return Repeat(self.sequence(inner, flags), low, top, op == "POSSESSIVE_REPEAT")
        if op == "ATOMIC_GROUP":
            return Group(self.sequence(value, flags), atomic=True)
        if op in ("ASSERT", "ASSERT_NOT"):
            return Guard(inner=self.sequence(value[1], flags))
        if op == "AT":
            start = str(value) in ("AT_BEGINNING", "AT_BEGINNING_STRING")
            return Guard(start=start and not flags & re.MULTILINE)
        if op == "GROUPREF":
            return Anything()
        if op == "GROUPREF_EXISTS":
            _, yes, no = value
            return Alt((self.sequence(yes, flags), self.sequence(no or [], flags)))
        if op == "FAILURE":
            return Chars(frozenset())
        raise Unparsed(f"nothing is known of {op}")

    def _cases(self, chars: frozenset[int], flags: int) -> frozenset[int]:
        if not flags & re.IGNORECASE:
            return chars
        both = {
            ord(one)
            for char in chars
            for one in (chr(char).lower(), chr(char).upper())
            if len(one) == 1
        }
        return chars | both

    def _set(self, items: Any, flags: int) -> frozenset[int]:  # noqa: ANN401  # as above
        chars: frozenset[int] = frozenset()
        sure: frozenset[int] = frozenset()
        negated = False
        for op, value in items:
            name = str(op)
            if name == "NEGATE":
                negated = True
                continue
            if name == "LITERAL":
                found = frozenset((value,))
            elif name == "RANGE":
                found = frozenset(c for c in self._alphabet.all if value[0] <= c <= value[1])
                if value[1] > 127:
                    # Which of the rest lie inside is not known: all may, and none must.
                    chars |= self._alphabet.wide()
                    found = frozenset(c for c in found if c < 128)
            else:
                found = self._alphabet.kind(str(value))
            chars |= found
            sure |= found
        if negated:
            return self._alphabet.all - self._cases(sure, flags)
        return self._cases(chars, flags)


def is_anchored(tree: Tree) -> bool:
    """Tell whether a match can begin at the start of the text only."""
    if isinstance(tree, Seq):
        for part in tree.parts:
            if is_anchored(part):
                return True
            if not isinstance(part, Guard):
                return False
        return False
    if isinstance(tree, Alt):
        return all(is_anchored(arm) for arm in tree.arms)
    if isinstance(tree, Group):
        return is_anchored(tree.inner)
    return isinstance(tree, Guard) and tree.start
