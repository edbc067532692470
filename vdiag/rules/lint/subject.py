"""What a check looks at, and what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vdiag.rules.lint.syntax import Alphabet, Tree, Unparsed, parse

if TYPE_CHECKING:
    from vdiag.rules.cases import Case
    from vdiag.rules.pack import Reading
    from vdiag.rules.packs import Pack
    from vdiag.rules.schema import Diagnosis, FactSpec, Signal, Symptom


@dataclass(frozen=True)
class Found:
    """A defect of a thing (``signal cuda.x``), at a path inside it."""

    thing: str
    path: tuple[Any, ...]
    code: str
    message: str


@dataclass
class Parsed:
    """A pattern of a signal as a tree; None where only ``regex`` reads it."""

    key: str
    """``patterns`` or ``relayed``."""
    index: int
    text: str
    tree: Tree | None
    why: str = ""

    def __str__(self) -> str:
        """Return how a message calls it: ``pattern 2`` (counted from 1)."""
        return f"{'relayed ' if self.key == 'relayed' else ''}pattern {self.index + 1}"


@dataclass
class Subject:
    """One pack as read, over those before it."""

    reading: Reading
    pack_name: str
    samples: Path | None
    """The folder that sample paths start from; None where the samples are not installed."""
    cases: list[Case] = field(default_factory=list)
    _trees: dict[str, list[Parsed]] = field(default_factory=dict)

    @property
    def pack(self) -> Pack:
        """All that the pack can name."""
        return self.reading.pack

    def _own(self, kind: str, table: dict[str, Any]) -> Iterator[Any]:
        for id, thing in table.items():
            if self.reading.owners.get(f"{kind} {id}") == self.pack_name:
                yield thing

    @cached_property
    def signals(self) -> list[Signal]:
        """The pack's own signals."""
        return list(self._own("signal", self.pack.signals))

    @cached_property
    def facts(self) -> list[FactSpec]:
        """The pack's own facts."""
        return list(self._own("fact", self.pack.facts))

    @cached_property
    def symptoms(self) -> list[Symptom]:
        """The pack's own symptoms."""
        return list(self._own("symptom", self.pack.symptoms))

    @cached_property
    def diagnoses(self) -> list[Diagnosis]:
        """The pack's own diagnoses."""
        return list(self._own("diagnosis", self.pack.diagnoses))

    def alphabet(self, signal: Signal) -> Alphabet:
        """Return the characters that matter to a signal."""
        return Alphabet([*signal.patterns, *signal.relayed, *signal.literals])

    def trees(self, signal: Signal) -> list[Parsed]:
        """Return the patterns of a signal as trees."""
        if signal.id not in self._trees:
            alphabet = self.alphabet(signal)
            out = []
            for key in ("patterns", "relayed"):
                for index, text in enumerate(getattr(signal, key)):
                    try:
                        out.append(Parsed(key, index, text, parse(text, alphabet)))
                    except Unparsed as error:
                        out.append(Parsed(key, index, text, None, str(error)))
            self._trees[signal.id] = out
        return self._trees[signal.id]
