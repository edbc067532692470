"""A pack made ready for scanning: literals numbered, patterns compiled when first needed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vdiag.logs import argv, pyrepr

if TYPE_CHECKING:
    import regex

    from vdiag.rules.packs import Pack
    from vdiag.rules.schema import Signal

GENERIC = (
    # A level and the first digit of the month; at the start of a line nothing stands before it.
    *(level + digit for level in (b"WARNING ", b"ERROR ", b"CRITICAL ") for digit in (b"0", b"1")),
    *(level + b"\x1b[" for level in (b"WARNING", b"ERROR", b"CRITICAL")),
    b" - ERROR - ",
    b" - CRITICAL - ",
    b"Traceback (most",
    *(
        quote + b"levelname" + quote + b":" + space + quote + level + quote
        for level in (b"WARNING", b"ERROR", b"CRITICAL")
        for space in (b" ", b"")
        for quote in (b'"', b'\\"')  # a JSON record, as it is and inside a collector's JSON
    ),
    b" blob data]",
    # A message in bytes shows no literal of ours; null is one that is missing.
    *(b'"MESSAGE"' + colon + value for colon in (b":", b": ", b" : ") for value in (b"null", b"[")),
    b"systemd-journald",
    b" stdout P ",  # the beginning or middle of a record that a container runtime cut
    b" stderr P ",
)
"""Literals of no rule: errors that nobody knows yet, and gaps."""

MATCH_SECONDS = 0.25
"""A pattern that takes longer on one line (4 KiB of it) is given up for that line."""

_MAX_DIGITS = 24
"""No number that vLLM prints is longer; a longer one is no number."""

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>bytes|[KMGT]i?B)")
_EXPONENT = {"bytes": 30, "KB": 20, "MB": 10, "GB": 0, "TB": -10}
_EXPONENT |= {unit[0] + "iB": power for unit, power in _EXPONENT.items() if unit != "bytes"}
"""Powers of two that a GiB is larger; torch and vLLM count in them whatever the unit's name."""

_MAX_MATCHED = 64 * 1024
"""Characters of a line that patterns see; configuration dumps are the longest of vLLM's."""


@dataclass(slots=True)
class Match:
    """A signal found in a text, with its captures as typed values."""

    signal: Signal
    captures: dict[str, pyrepr.Value]
    relayed: bool


@dataclass
class CompiledSignal:
    """A signal and its patterns, compiled on the first line that needs them."""

    signal: Signal
    literals: list[str]
    _own: list[regex.Pattern[str]] | None = None
    _relayed: list[regex.Pattern[str]] = field(default_factory=list)

    def match(self, text: str) -> Match | None:
        """Search the patterns in a text after its prefix."""
        if not any(literal in text for literal in self.literals):
            return None
        if self._own is None:
            import regex

            self._own = [regex.compile(pattern) for pattern in self.signal.patterns]
            self._relayed = [regex.compile(pattern) for pattern in self.signal.relayed]
        for patterns, relayed in ((self._own, False), (self._relayed, True)):
            for pattern in patterns:
                try:
                    found = pattern.search(text, timeout=MATCH_SECONDS)
                except TimeoutError:
                    continue
                if found:
                    return Match(self.signal, self._typed(found.groupdict()), relayed)
        return None

    def _typed(self, groups: dict[str, Any]) -> dict[str, pyrepr.Value]:
        out: dict[str, pyrepr.Value] = {}
        for name, text in groups.items():
            if text is not None:
                value = typed(text, self.signal.types.get(name, "str"))
                if value is not None:
                    out[name] = value
        return out


def typed(text: str, kind: str) -> pyrepr.Value:
    """Convert a captured text; None where it is not of that type."""
    if kind in ("int", "float") and len(text) > _MAX_DIGITS:
        return None
    try:
        if kind == "int":
            return int(text.replace(",", "").replace("_", ""))
        if kind == "float":
            return float(text.replace(",", ""))
    except ValueError:
        return None
    if kind == "gib":
        return _gib(text)
    if kind == "bool":
        return text.strip().lower() in ("true", "1", "yes", "on")
    if kind == "repr":
        return pyrepr.parse(text)
    if kind == "argv":
        return argv.parse(text)
    return text


def _gib(text: str) -> float | None:
    """Return a size with its unit, as torch and vLLM print it, as a number of GiB."""
    size = _SIZE.fullmatch(text.strip())
    if size is None or len(text) > _MAX_DIGITS:
        return None
    return float(size["number"]) / 2.0 ** _EXPONENT[size["unit"]]


class CompiledPack:
    """The signals of a pack by literal."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        numbers: dict[bytes, int] = {literal: i for i, literal in enumerate(GENERIC)}
        by_literal: dict[int, list[CompiledSignal]] = {}
        for signal in pack.signals.values():
            compiled = CompiledSignal(signal, list(signal.literals))
            for literal in signal.literals:
                number = numbers.setdefault(literal.encode(), len(numbers))
                by_literal.setdefault(number, []).append(compiled)
        self.literals = list(numbers)
        self.latest = frozenset(
            number
            for number, compiled in by_literal.items()
            if all(one.signal.latest for one in compiled) and number >= len(GENERIC)
        )
        """Literals of signals of which only the latest sighting matters."""
        self._by_literal = by_literal
        self.order = {name: place for place, name in enumerate(pack.signals)}

    def candidates(self, literals: list[int]) -> list[CompiledSignal]:
        """Return the signals that declare one of these literals, in the pack's order."""
        if len(literals) == 1:
            return self._by_literal.get(literals[0], [])
        found = {
            compiled.signal.id: compiled
            for number in literals
            for compiled in self._by_literal.get(number, ())
        }
        return sorted(found.values(), key=lambda compiled: self.order[compiled.signal.id])

    @staticmethod
    def match(candidates: list[CompiledSignal], text: str, level: str, role: str) -> list[Match]:
        """Return the signals that a text of this level, from this role, really shows."""
        out = []
        text = text[:_MAX_MATCHED]
        for compiled in candidates:
            signal = compiled.signal
            if signal.levels and level not in signal.levels:
                continue
            if signal.roles and role not in signal.roles and role != "unknown":
                continue
            match = compiled.match(text)
            if match:
                out.append(match)
        return out
