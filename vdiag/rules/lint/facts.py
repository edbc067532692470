"""What is checked of facts: where their values come from."""

from __future__ import annotations

from collections.abc import Iterator

from vdiag.rules.lint.subject import Found, Subject
from vdiag.rules.lint.values import captures_of

_STRUCTURED = ("repr", "argv")
"""Types of captures that facts can reach into."""


def check(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with the sources of the pack's facts."""
    for fact in subject.facts:
        thing = f"fact {fact.name}"
        for key in ("asked", "sources"):
            for index, source in enumerate(getattr(fact, key)):
                path = key, index
                signal = subject.pack.signals.get(source.signal)
                if signal is None:
                    continue  # told as an unknown name
                if source.path is None:
                    if source.value is None:
                        yield Found(thing, path, "source", "states neither a path nor a value")
                    continue
                capture, _, keys = source.path.partition(".")
                if capture not in captures_of(signal):
                    yield Found(
                        thing, path, "name", f"{signal.id} has no capture called {capture!r}"
                    )
                elif keys and signal.types.get(capture) not in _STRUCTURED:
                    yield Found(
                        thing,
                        path,
                        "source",
                        f"reaches into {capture!r} of {signal.id}, which is no "
                        f"{' or '.join(_STRUCTURED)}",
                    )
                if source.contains is not None and source.value is None:
                    yield Found(thing, path, "source", "`contains` needs a `value`")
