"""A pack in memory, and where the built-in one lies. Imports neither pydantic nor YAML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from vdiag.rules.schema import Diagnosis, FactSpec, Release, Signal, Symptom

BUILTIN = "builtin"
"""Name of the built-in pack, which no other pack may have."""


class PackRef(NamedTuple):
    """What a report says of a pack."""

    name: str
    version: str
    digest: str


@dataclass
class Pack:
    """Validated rules of one pack or of several, in a fixed order."""

    packs: list[PackRef] = field(default_factory=list)
    signals: dict[str, Signal] = field(default_factory=dict)
    facts: dict[str, FactSpec] = field(default_factory=dict)
    releases: list[Release] = field(default_factory=list)
    symptoms: dict[str, Symptom] = field(default_factory=dict)
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """Where each thing is defined: ``signal sym.x`` → ``signals/symptoms.yaml:12``."""

    @classmethod
    def of(cls, refs: Iterable[tuple[str, str, str]], **tables: Any) -> Pack:  # noqa: ANN401
        """Return a pack of tables that were checked before."""
        return cls([PackRef(*ref) for ref in refs], **tables)

    @property
    def count(self) -> int:
        """How many diagnoses and symptoms the pack holds."""
        return len(self.diagnoses) + len(self.symptoms)

    @property
    def digest(self) -> str:
        """Name the content of all packs; differs where any byte of any of them does."""
        return "+".join(ref.digest for ref in self.packs)


def builtin_dir() -> Path:
    """Return the folder of the built-in rules: in the wheel, else beside the package."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_rules"
    return inside if inside.is_dir() else package.parent / "rules"
