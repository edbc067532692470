"""Loads a rule pack: reads YAML safely, validates it, resolves every name.

A pack is taken whole or not at all. Every refusal says which file, which line and why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from vdiag.errors import PackError
from vdiag.rules.names import check_names
from vdiag.rules.schema import Diagnosis, FactSpec, PackInfo, Release, Signal, Symptom

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_FILE = 1 << 20
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass
class Pack:
    """Validated rules, in a fixed order."""

    name: str
    version: str
    digest: str
    signals: dict[str, Signal] = field(default_factory=dict)
    facts: dict[str, FactSpec] = field(default_factory=dict)
    releases: list[Release] = field(default_factory=list)
    symptoms: dict[str, Symptom] = field(default_factory=dict)
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """Where each thing is defined: ``signal sym.x`` → ``signals/symptoms.yaml:12``."""

    @property
    def count(self) -> int:
        """How many diagnoses and symptoms the pack holds."""
        return len(self.diagnoses) + len(self.symptoms)


def builtin_dir() -> Path:
    """Return the folder of the built-in rules: in the wheel, else beside the package."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_rules"
    return inside if inside.is_dir() else package.parent / "rules"


def load(folder: Path | None = None) -> Pack:
    """Load a pack; raises PackError with ``file:line: reason`` where anything is wrong."""
    folder = folder or builtin_dir()
    if not (folder / "pack.yaml").is_file():
        raise PackError(f"{folder}: no rule pack here (no pack.yaml)")
    files = sorted(folder.rglob("*.yaml"))
    digest = hashlib.sha256()
    documents: dict[str, _Document] = {}
    for path in files:
        name = path.relative_to(folder).as_posix()
        raw = _read(path, name)
        digest.update(f"{name}\0{len(raw)}\0".encode())
        digest.update(raw)
        documents[name] = _Document(name, raw)
    info = documents.pop("pack.yaml").model(PackInfo)
    pack = Pack(info.name, info.version, digest.hexdigest()[:12])
    for name, document in documents.items():
        _add(pack, name, document)
    check_names(pack)
    return pack


def _read(path: Path, name: str) -> bytes:
    try:
        if path.stat().st_size > _MAX_FILE:
            raise PackError(f"{name}: larger than 1 MiB; a rule file is text written by hand")
        return path.read_bytes()
    except OSError as error:
        raise PackError(f"{name}: cannot read: {error.strerror}") from error


def _add(pack: Pack, name: str, document: _Document) -> None:
    top = name.split("/", 1)[0]
    if top == "signals":
        for signal, line in document.items("signals", Signal):
            _put(pack, pack.signals, "signal", signal.id, signal, f"{name}:{line}")
    elif top == "facts":
        for fact, line in document.items("facts", FactSpec):
            _put(pack, pack.facts, "fact", fact.name, fact, f"{name}:{line}")
    elif name == "releases.yaml":
        pack.releases = [release for release, _ in document.items("releases", Release)]
    elif top == "symptoms":
        symptom = document.model(Symptom)
        _check_file_name(name, symptom.id)
        _put(pack, pack.symptoms, "symptom", symptom.id, symptom, f"{name}:1")
    elif top == "diagnoses":
        diagnosis = document.model(Diagnosis)
        _check_file_name(name, diagnosis.id)
        _put(pack, pack.diagnoses, "diagnosis", diagnosis.id, diagnosis, f"{name}:1")
    else:
        raise PackError(
            f"{name}: belongs to no part of a pack; expected signals/, facts/, symptoms/, "
            "diagnoses/ or releases.yaml"
        )


def _check_file_name(name: str, id: str) -> None:
    if Path(name).stem != id:
        raise PackError(f"{name}:1: holds the id {id!r}; name the file {id}.yaml")


def _put(pack: Pack, table: dict[str, Any], kind: str, id: str, thing: object, place: str) -> None:
    if id in table:
        raise PackError(
            f"{place}: {kind} {id!r} is already defined in {pack.places[f'{kind} {id}']}"
        )
    table[id] = thing
    pack.places[f"{kind} {id}"] = place


class _Document:
    """One YAML file: its data, and the line of every key in it."""

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = name
        try:
            text = raw.decode("utf-8")
            self._node = yaml.compose(text, Loader=_Loader)
            self.data = yaml.load(text, Loader=_Loader)  # noqa: S506  # a safe loader
        except UnicodeDecodeError as error:
            raise PackError(f"{name}: is not UTF-8 (byte {error.start})") from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise PackError(f"{name}:{line}: {error.problem or 'not valid YAML'}") from error
        except yaml.YAMLError as error:
            raise PackError(f"{name}:1: {error}") from error

    def model(self, kind: type[_Model], data: object = None, base: tuple[Any, ...] = ()) -> _Model:
        """Validate the document (or a part of it) as one object."""
        try:
            return kind.model_validate(self.data if not base else data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the document"
            line = self.line((*base, *first["loc"]))
            reason = first["msg"].removeprefix("Value error, ")
            raise PackError(f"{self.name}:{line}: {where}: {reason}") from error

    def items(self, key: str, kind: type[_Model]) -> Iterator[tuple[_Model, int]]:
        """Validate a list under a key; yields (object, line)."""
        if not isinstance(self.data, dict) or list(self.data) != [key]:
            raise PackError(f"{self.name}:1: expected one list under `{key}:`")
        entries = self.data[key]
        if not isinstance(entries, list):
            raise PackError(f"{self.name}:1: `{key}` is no list")
        for index, entry in enumerate(entries):
            yield self.model(kind, entry, (key, index)), self.line((key, index))

    def line(self, path: Iterable[Any]) -> int:
        """Return the line of the deepest part of a path that exists in the file."""
        node = self._node
        line = node.start_mark.line + 1 if node else 1
        for part in path:
            if isinstance(node, yaml.MappingNode):
                found = [pair for pair in node.value if pair[0].value == str(part)]
                if not found:
                    break
                line = found[0][0].start_mark.line + 1
                node = found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
                if part >= len(node.value):
                    break
                node = node.value[part]
                line = node.start_mark.line + 1
            else:
                break
        return line
