"""Facts of a run: stated by lines, derived from each other, or absent where that is proof."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vdiag.engine import runs
from vdiag.engine.conditions import Context, evaluate
from vdiag.engine.observation import Observation, RunData
from vdiag.logs import pyrepr
from vdiag.report.model import Basis, Conflict, Evidence, Fact, JSONValue
from vdiag.rules.versions import base_release, in_range

if TYPE_CHECKING:
    from vdiag.rules.packs import Pack
    from vdiag.rules.schema import Derivation, FactSource, FactSpec, Signal

_MAX_EVIDENCE = 3
_NIGHTLY = re.compile(r"\.dev\d")

Seen = tuple[JSONValue, Observation, str | None]
"""A value, the line that states it, and where in that line to look."""


@dataclass
class FactState:
    """A fact as known."""

    value: JSONValue
    basis: Basis
    evidence: list[Evidence]
    conflicts: list[Conflict] = field(default_factory=list)
    reason: str | None = None


class FactTable:
    """Answers what a run's facts are; each is worked out when first asked for."""

    def __init__(self, run: RunData, pack: Pack) -> None:
        self.run = run
        self.pack = pack
        self._known: dict[str, FactState | None] = {}
        self._busy: set[str] = set()
        self._stated = self._stated_by_name()

    def get(self, name: str) -> FactState | None:
        """Return the fact, or None where it is unknown."""
        if name in self._known:
            return self._known[name]
        if name in self._busy:
            return None  # a derivation that asks for itself learns nothing
        self._busy.add(name)
        try:
            found = self._find(name)
        finally:
            self._busy.discard(name)
        if not self._busy or found is not None:
            self._known[name] = found
        return found

    def report(self) -> dict[str, Fact]:
        """Return all known facts as the report holds them, in the pack's order."""
        out: dict[str, Fact] = {}
        for name, spec in self.pack.facts.items():
            state = self.get(name)
            asked = self._sightings(spec.asked)
            if state is None and not asked:
                continue
            fact = Fact(
                value=state.value if state else None,
                basis=state.basis if state else "stated",
                evidence=state.evidence if state else [],
                conflicts=state.conflicts if state else [],
                reason=state.reason
                if state
                else "asked for; the log does not show what it resolved to",
                title=spec.title,
                group=spec.group,
            )
            if asked:
                fact.asked = asked[0][0]
                fact.asked_evidence = [asked[0][1].at.evidence(asked[0][2])]
            out[name] = fact
        for name in sorted(self._stated):
            if name not in out:
                state = self.get(name)
                if state is not None:
                    out[name] = Fact(
                        state.value,
                        state.basis,
                        state.evidence,
                        state.conflicts,
                        title=name.partition(".")[2],
                        group="environment",
                    )
        return out

    def _find(self, name: str) -> FactState | None:
        spec = self.pack.facts.get(name)
        if spec is None:
            sightings = self._stated.get(name, [])
            return _state(sightings, "conflict") if sightings else None
        stated = self._sightings([source for source in spec.sources if not source.weak])
        stated = stated or self._stated.get(name, [])
        stated = stated or self._sightings([source for source in spec.sources if source.weak])
        if stated:
            return _state(
                [(_cast(value, spec.type), seen, focus) for value, seen, focus in stated],
                spec.many,
            )
        return self._derived(spec) or self._absent(spec)

    def _stated_by_name(self) -> dict[str, list[Seen]]:
        out: dict[str, list[Seen]] = {}
        for signal in self.pack.signals.values():
            if signal.states is None or not self.run.has(signal.id):
                continue
            for seen in self.run.observations(signal.id):
                name = signal.states.name
                for capture, value in seen.captures.items():
                    name = name.replace("{" + capture + "}", str(value))
                value = seen.captures.get(signal.states.capture)
                if value is not None:
                    out.setdefault(name, []).append((_plain(value), seen, None))
        return out

    def _sightings(self, sources: list[FactSource]) -> list[Seen]:
        out: list[Seen] = []
        for source in sources:
            for seen in self.run.observations(source.signal):
                if seen.relayed:
                    continue
                value = _value(source, seen)
                if value is not None:
                    out.append((value, seen, _focus(source)))
        return out

    def _derived(self, spec: FactSpec) -> FactState | None:
        for derivation in spec.derive:
            answer = evaluate(derivation.when, Context(self.run, self))
            if answer.truth != "true":
                continue
            value = self._derived_value(derivation)
            if value is None:
                continue
            basis: Basis = (
                "stated" if derivation.stated and answer.basis == "stated" else "inferred"
            )
            return FactState(
                _cast(value, spec.type), basis, answer.evidence, reason=derivation.because
            )
        return None

    def _derived_value(self, derivation: Derivation) -> JSONValue:
        if derivation.value is not None:
            return derivation.value
        if derivation.from_fact is not None:
            state = self.get(derivation.from_fact)
            return state.value if state else None
        if derivation.product is not None:
            result = derivation.factor
            for name in derivation.product:
                state = self.get(name)
                if state is None or isinstance(state.value, str | bool) or state.value is None:
                    return None
                result *= state.value
            return int(result) if float(result).is_integer() else result
        if derivation.release is not None:
            return self._pinned(derivation.release)
        return None

    def _pinned(self, package: str) -> str | None:
        version = self.get("vllm.version")
        if version is None or version.conflicts:
            return None
        base = base_release(str(version.value))
        for release in self.pack.releases:
            if base is not None and base_release(release.vllm) == base:
                return release.flashinfer if package == "flashinfer" else release.torch
        return None

    def _absent(self, spec: FactSpec) -> FactState | None:
        if spec.absent is None:
            return None
        signals = [self.pack.signals[source.signal] for source in spec.sources]
        declared = [signal for signal in signals if signal.printed]
        if not declared or not all(self.absent(signal) for signal in declared):
            return None
        titles = ", ".join(dict.fromkeys(signal.title for signal in declared))
        return FactState(
            spec.absent,
            "inferred",
            [],
            reason=f"not printed, where this release prints it ({titles})",
        )

    def absent(self, signal: Signal) -> bool:
        """Tell whether the log proves that a line was not printed.

        Of a nightly nobody knows what it prints, whichever release it precedes.
        """
        if signal.printed is None:
            return False
        version = self.get("vllm.version") if "vllm.version" in self.pack.facts else None
        within = (
            in_range(str(version.value), signal.printed.versions)
            if version is not None
            and not version.conflicts
            and not _NIGHTLY.search(str(version.value))
            else None
        )
        return runs.provably_absent(self.run, signal, within)


def _value(source: FactSource, seen: Observation) -> JSONValue:
    """Return what a sighting states; None where it states nothing."""
    if source.path is None:
        return source.value
    capture, *keys = source.path.split(".")
    if capture not in seen.captures:
        return source.otherwise if source.otherwise is not None and not keys else None
    found, value = pyrepr.dig(seen.captures[capture], keys)
    if source.contains is not None:
        holds = found and source.contains in pyrepr.flat(value)
        return source.value if holds else source.otherwise
    if not found:
        return source.otherwise
    if source.value is not None:
        return source.value
    plain = _plain(value)
    return source.map.get(str(plain), plain) if plain is not None else None


def _focus(source: FactSource) -> str | None:
    """Return the key that a line of many keys states the value under."""
    if source.path is None or "." not in source.path:
        return source.contains
    return source.path.rpartition(".")[2]


def _plain(value: pyrepr.Value) -> JSONValue:
    if isinstance(value, dict | list):
        return pyrepr.flat(value)
    return value


def _cast(value: JSONValue, kind: str) -> JSONValue:
    """Bring a value to the fact's type; a text that is no such number stays as printed."""
    if value is None or kind == "str":
        return value if value is None or isinstance(value, str) else str(value)
    if kind == "bool":
        if isinstance(value, str):
            return value.strip().lower() in ("true", "1", "yes", "on")
        return bool(value)
    try:
        number = float(str(value).replace(",", ""))
    except (ValueError, OverflowError):
        return value
    if not math.isfinite(number):
        return str(value)
    return int(number) if kind == "int" else number


def _state(sightings: list[Seen], many: str) -> FactState:
    if many == "max":
        sightings = [max(sightings, key=lambda one: (_number(one[0]), -one[1].at.seq))]
    elif many == "last":
        sightings = [max(sightings, key=lambda one: one[1].at.seq)]
    elif many == "first":
        sightings = [min(sightings, key=lambda one: one[1].at.seq)]
    sightings = sorted(sightings, key=lambda one: one[1].at.seq)
    groups: dict[str, tuple[JSONValue, list[Evidence]]] = {}
    for value, seen, focus in sightings:
        key = f"{type(value).__name__}:{value}" if isinstance(value, bool) else str(value)
        entry = groups.setdefault(key, (value, []))
        evidence = seen.at.evidence(focus)
        if evidence not in entry[1] and len(entry[1]) < _MAX_EVIDENCE:
            entry[1].append(evidence)
    (main, proof), *others = groups.values()
    if many == "all":
        proofs = [proof, *(lines for _, lines in others)]
        names = ", ".join(str(value) for value, _ in groups.values())
        return FactState(names, "stated", [lines[0] for lines in proofs][:_MAX_EVIDENCE])
    conflicts = [Conflict(other, lines) for other, lines in others]
    return FactState(main, "stated", proof, conflicts)


def _number(value: JSONValue) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
