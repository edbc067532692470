"""Which values a capture and a fact can have, where that is a short list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from vdiag.rules.lint.syntax import Alt, Chars, Group, Guard, Repeat, Seq, Tree

if TYPE_CHECKING:
    from vdiag.rules.lint.subject import Subject
    from vdiag.rules.schema import FactSource, FactSpec, Scalar, Signal

_MAX_VALUES = 64
_Values = frozenset[object] | None
"""None: too many to list."""


def captures_of(signal: Signal) -> set[str]:
    """Return the names of a signal's captures."""
    return {
        name
        for pattern in (*signal.patterns, *signal.relayed)
        for name in regex.compile(pattern).groupindex
    }


def capture_values(subject: Subject, signal: Signal, name: str) -> _Values:
    """Return every value that a capture can have; None where they cannot be listed."""
    kind = signal.types.get(name, "str")
    out: set[object] = set()
    for parsed in subject.trees(signal):
        if parsed.tree is None:
            return None
        for group in _groups(parsed.tree, name):
            texts = _texts(group)
            if texts is None:
                return None
            for text in texts:
                value = _typed(text, kind)
                if value is None:
                    return None
                out.add(value)
    return frozenset(out) if len(out) <= _MAX_VALUES else None


def _typed(text: str, kind: str) -> object | None:
    if kind == "str":
        return text
    if kind == "bool":
        return text.strip().lower() in ("true", "1", "yes", "on")
    if kind in ("int", "float"):
        try:
            return float(text.replace(",", "")) if kind == "float" else int(text.replace(",", ""))
        except ValueError:
            return None
    return None


def _groups(tree: Tree, name: str) -> list[Tree]:
    if isinstance(tree, Group):
        own = [tree.inner] if tree.name == name else []
        return own + _groups(tree.inner, name)
    if isinstance(tree, Seq):
        return [one for part in tree.parts for one in _groups(part, name)]
    if isinstance(tree, Alt):
        return [one for arm in tree.arms for one in _groups(arm, name)]
    if isinstance(tree, Repeat):
        return _groups(tree.inner, name)
    return []


def _texts(tree: Tree) -> set[str] | None:
    """Return the texts that a tree takes, guards left aside; None where there are many."""
    if isinstance(tree, Chars):
        return {chr(char) for char in tree.of} if len(tree.of) <= _MAX_VALUES else None
    if isinstance(tree, Guard):
        return {""}
    if isinstance(tree, Group):
        return _texts(tree.inner)
    if isinstance(tree, Alt):
        out: set[str] = set()
        for arm in tree.arms:
            found = _texts(arm)
            if found is None:
                return None
            out |= found
        return out if len(out) <= _MAX_VALUES else None
    if isinstance(tree, Seq):
        return _joined([_texts(part) for part in tree.parts])
    if isinstance(tree, Repeat) and tree.high is not None and tree.high <= _MAX_VALUES:
        inner = _texts(tree.inner)
        out = set()
        for turns in range(tree.low, tree.high + 1):
            some = _joined([inner] * turns)
            if some is None:
                return None
            out |= some
            if len(out) > _MAX_VALUES:
                return None
        return out
    return None


def _joined(parts: list[set[str] | None]) -> set[str] | None:
    out = {""}
    for part in parts:
        if part is None or len(out) * len(part) > _MAX_VALUES:
            return None
        out = {one + two for one in out for two in part}
    return out


def fact_values(subject: Subject, fact: FactSpec, above: tuple[str, ...] = ()) -> _Values:
    """Return every value that a fact can have; empty where nothing states it."""
    if fact.name in above:
        return frozenset()
    if any(_could_name(signal, fact.name) for signal in subject.pack.signals.values()):
        return None
    out: set[object] = set() if fact.absent is None else {fact.absent}
    for source in fact.sources:
        found = _stated(subject, source)
        if found is None:
            return None
        out |= found
    for derivation in fact.derive:
        if derivation.value is not None:
            out.add(derivation.value)
        elif derivation.from_fact is not None and derivation.from_fact in subject.pack.facts:
            other = subject.pack.facts[derivation.from_fact]
            values = fact_values(subject, other, (*above, fact.name))
            if values is None:
                return None
            out |= values
        else:
            return None
    return _cast(out, fact.type)


def _could_name(signal: Signal, fact: str) -> bool:
    if signal.states is None:
        return False
    pattern = regex.sub(r"\\\{\w+\\\}", ".+", regex.escape(signal.states.name, special_only=False))
    return regex.fullmatch(pattern, fact) is not None


def _stated(subject: Subject, source: FactSource) -> _Values:
    out: set[object] = set()
    if source.otherwise is not None:
        out.add(source.otherwise)
    if source.path is None or source.value is not None:
        return frozenset(out | {source.value})
    capture, _, keys = source.path.partition(".")
    signal = subject.pack.signals.get(source.signal)
    if keys or signal is None:
        return None
    values = capture_values(subject, signal, capture)
    if values is None:
        return None
    return frozenset(out | {source.map.get(str(value), value) for value in values})


def _cast(values: set[object], kind: str) -> _Values:
    if kind == "bool":
        return frozenset(
            str(value).strip().lower() in ("true", "1", "yes", "on") for value in values
        )
    return frozenset(values)


def is_stated(subject: Subject, name: str) -> bool:
    """Tell whether any signal, derivation or absence can give a fact a value."""
    fact = subject.pack.facts.get(name)
    if fact is not None and (fact.sources or fact.derive or fact.absent is not None):
        return True
    return any(_could_name(signal, name) for signal in subject.pack.signals.values())


def constants(values: list[Scalar]) -> list[object]:
    """Return constants and, for numbers, their neighbours."""
    out: list[object] = list(values)
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            out += [value - 1, value + 1, value - 1e-6, value + 1e-6]
    return out
