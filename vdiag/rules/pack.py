"""Loads rule packs: reads YAML safely, validates it, resolves every name.

Packs are taken whole or not at all. Every refusal says which file, which line and why. Further
packs add to the built-in one; what they replace, they must say (``overrides:`` in pack.yaml).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from vdiag.errors import PackError
from vdiag.rules.document import BadDocument, Document
from vdiag.rules.files import MAX_FILE, pack_files
from vdiag.rules.names import name_problems
from vdiag.rules.packs import BUILTIN, Pack, PackRef, builtin_dir
from vdiag.rules.problem import Problem
from vdiag.rules.schema import Diagnosis, FactSpec, PackInfo, Release, Signal, Symptom

_Model = TypeVar("_Model", bound=BaseModel)


def samples_dir(folder: Path) -> Path | None:
    """Return the samples of a pack: ``samples/`` in its folder or beside it; None without any.

    The built-in pack of a wheel comes without samples.
    """
    inside = folder / "samples"
    if inside.is_dir():
        return inside
    beside = folder.resolve().parent / "samples"
    return beside if pack_name(folder) == BUILTIN and beside.is_dir() else None


def pack_name(folder: Path) -> str | None:
    """Return the name that a folder's pack.yaml gives; None where it gives none."""
    try:
        with (folder / "pack.yaml").open("rb") as file:
            data = Document("pack.yaml", file.read(MAX_FILE)).data
    except (OSError, BadDocument):
        return None
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) else None


def load(folder: Path | None = None) -> Pack:
    """Load one pack alone, by default the built-in one.

    Raises PackError with ``file:line: reason`` where anything is wrong.
    """
    return _whole(read_packs([(folder, str(folder))] if folder else [_builtin()]))


def load_with(folders: Sequence[Path]) -> Pack:
    """Load the built-in pack and, over it, further ones in the order given.

    Raises PackError with ``file:line: reason`` where anything is wrong.
    """
    return _whole(read_packs([_builtin(), *((folder, str(folder)) for folder in folders)]))


@cache
def builtin_reading() -> Reading:
    """Return the built-in pack as read, for others to be checked over it; read once."""
    return read_packs([_builtin()])


def _builtin() -> tuple[Path, str]:
    return builtin_dir(), ""


def _whole(reading: Reading) -> Pack:
    """Refuse a pack with any problem, in one line."""
    problems = sorted(set(reading.problems))
    if problems:
        first = str(min(reading.problems, key=reading.problems.index))
        more = len(problems) - 1
        rest = f" (and {more} more; vdiag rules lint shows all)" if more else ""
        raise PackError(first + rest)
    return reading.pack


@dataclass
class Reading:
    """Packs as read, with all that is wrong with them."""

    pack: Pack = field(default_factory=Pack)
    problems: list[Problem] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    """By file as named in problems."""
    paths: dict[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    """``signal sym.x`` → its file and where in it, for the line of a part."""
    owners: dict[str, str] = field(default_factory=dict)
    """``signal sym.x`` → the name of the pack that defines it."""
    broken: set[str] = field(default_factory=set)
    """Names whose definition is refused: no further complaint is made about them."""

    def copy(self) -> Reading:
        """Return a reading that further packs can be read into."""
        pack = self.pack
        return Reading(
            Pack(
                [*pack.packs],
                {**pack.signals},
                {**pack.facts},
                [*pack.releases],
                {**pack.symptoms},
                {**pack.diagnoses},
                {**pack.places},
            ),
            [*self.problems],
            {**self.documents},
            {**self.paths},
            {**self.owners},
            {*self.broken},
        )

    def line(self, thing: str, *path: Any) -> tuple[str, int]:  # noqa: ANN401  # keys, indices
        """Return (file, line) of a part of a thing: ``("signal sym.x", "patterns", 0)``."""
        file, base = self.paths[thing]
        return file, self.documents[file].line((*base, *path))


def read_packs(folders: Iterable[tuple[Path, str]], base: Reading | None = None) -> Reading:
    """Read packs, each over those before it; (folder, how its files are named in problems).

    ``base`` are packs read before; it is left as it is. Raises PackError where a folder is no
    pack or cannot be read; all else is in ``problems``.
    """
    reading = base.copy() if base else Reading()
    for folder, shown in folders:
        _Layer(reading, folder, f"{shown.rstrip('/')}/" if shown else "").read()
    reading.problems += name_problems(reading.pack, reading.broken)
    return reading


class _Layer:
    """One pack, being read over those before it."""

    def __init__(self, reading: Reading, folder: Path, prefix: str) -> None:
        self._reading = reading
        self._pack = reading.pack
        self._folder = folder
        self._prefix = prefix
        self._name = ""
        self._own: set[str] = set()
        self._overrides: set[str] = set()
        self._replaced: set[str] = set()

    def read(self) -> None:
        """Read every file; what is wrong goes into the reading's problems."""
        digest = hashlib.sha256()
        documents: dict[str, Document] = {}
        for name, raw in pack_files(self._folder):
            digest.update(f"{name}\0{len(raw)}\0".encode())
            digest.update(raw)
            file = self._prefix + name
            try:
                documents[name] = self._reading.documents[file] = Document(file, raw)
            except BadDocument as error:
                self._reading.problems.append(error.problem)
                self._reading.broken.add(Path(name).stem)
        info = self._info(documents.pop("pack.yaml", None))
        self._name = info.name
        self._overrides = set(info.overrides)
        self._pack.packs.append(PackRef(info.name, info.version, digest.hexdigest()[:12]))
        for name, document in documents.items():
            self._file(name, document)
        self._check_overrides(info)

    def _info(self, document: Document | None) -> PackInfo:
        info = self._model(document, PackInfo) if document else None
        info = info or PackInfo(name="unnamed", version="0")
        if any(info.name == other.name for other in self._pack.packs):
            self._wrong("pack.yaml", 1, "duplicate", f"a pack is already called {info.name!r}")
        return info

    def _wrong(self, name: str, line: int, code: str, message: str) -> None:
        self._reading.problems.append(Problem(self._prefix + name, line, code, message))

    def _file(self, name: str, document: Document) -> None:
        top = name.split("/", 1)[0]
        pack = self._pack
        if top == "signals":
            for signal, path in self._items(document, "signals", Signal):
                self._put(pack.signals, "signal", signal.id, signal, document, path)
        elif top == "facts":
            for fact, path in self._items(document, "facts", FactSpec):
                self._put(pack.facts, "fact", fact.name, fact, document, path)
        elif name == "releases.yaml":
            for release, path in self._items(document, "releases", Release):
                self._release(release, document, path)
        elif top == "symptoms":
            symptom = self._model(document, Symptom)
            if symptom is not None and self._named(name, symptom.id):
                self._put(pack.symptoms, "symptom", symptom.id, symptom, document, ())
        elif top == "diagnoses":
            diagnosis = self._model(document, Diagnosis)
            if diagnosis is not None and self._named(name, diagnosis.id):
                self._put(pack.diagnoses, "diagnosis", diagnosis.id, diagnosis, document, ())
        else:
            self._wrong(
                name,
                1,
                "layout",
                "belongs to no part of a pack; expected signals/, facts/, symptoms/, "
                "diagnoses/ or releases.yaml",
            )

    def _model(
        self, document: Document, kind: type[_Model], path: tuple[Any, ...] = ()
    ) -> _Model | None:
        made = document.model(kind, path)
        if not isinstance(made, list):
            return made
        self._reading.problems += made
        raw: Any = document.data
        for part in path:
            raw = raw[part]
        if isinstance(raw, dict):
            self._reading.broken |= {str(raw[key]) for key in ("id", "name") if key in raw}
        return None

    def _items(
        self, document: Document, key: str, kind: type[_Model]
    ) -> Iterator[tuple[_Model, tuple[Any, ...]]]:
        """Validate a list under a key; yields (object, its path in the document)."""
        data = document.data
        name = document.file.removeprefix(self._prefix)
        if not isinstance(data, dict) or list(data) != [key]:
            self._wrong(name, 1, "schema", f"expected one list under `{key}:`")
            return
        if not isinstance(data[key], list):
            self._wrong(name, 1, "schema", f"`{key}` is no list")
            return
        for index in range(len(data[key])):
            made = self._model(document, kind, (key, index))
            if made is not None:
                yield made, (key, index)

    def _named(self, name: str, id: str) -> bool:
        if Path(name).stem == id:
            return True
        self._wrong(name, 1, "layout", f"holds the id {id!r}; name the file {id}.yaml")
        self._reading.broken.add(id)
        return False

    def _put(
        self,
        table: dict[str, Any],
        kind: str,
        id: str,
        thing: object,
        document: Document,
        path: tuple[Any, ...],
    ) -> None:
        key = f"{kind} {id}"
        line = document.line(path)
        if not self._may_define(id, key, id in table, document, line):
            return
        table[id] = thing  # a replaced one keeps its place in the order
        self._pack.places[key] = f"{document.file}:{line}"
        self._reading.paths[key] = document.file, path
        self._reading.owners[key] = self._name
        self._own.add(key)

    def _may_define(self, id: str, key: str, exists: bool, document: Document, line: int) -> bool:
        if not exists:
            return True
        if id in self._overrides and key not in self._own:
            self._replaced.add(id)
            return True
        why = f"{key.split(' ')[0]} {id!r} is already defined in {self._pack.places[key]}"
        if key not in self._own:
            why += f"; to replace it, list {id} under `overrides:` in pack.yaml"
        self._reading.problems.append(Problem(document.file, line, "duplicate", why))
        return False

    def _release(self, release: Release, document: Document, path: tuple[Any, ...]) -> None:
        key = f"release {release.vllm}"
        line = document.line(path)
        old = [one for one in self._pack.releases if one.vllm == release.vllm]
        if not self._may_define(release.vllm, key, bool(old), document, line):
            return
        self._pack.releases = [one for one in self._pack.releases if one not in old] + [release]
        self._pack.places[key] = f"{document.file}:{line}"
        self._own.add(key)

    def _check_overrides(self, info: PackInfo) -> None:
        file = self._prefix + "pack.yaml"
        document = self._reading.documents.get(file)
        for index, id in enumerate(info.overrides):
            if id in self._replaced or id in self._reading.broken:
                continue
            line = document.line(("overrides", index)) if document else 1
            self._wrong(
                "pack.yaml",
                line,
                "override",
                f"overrides {id!r}, which no pack before it defines or this pack does not replace",
            )
