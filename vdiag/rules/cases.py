"""A rule's samples: a failing block behind a shared, real start-up.

``samples/rules/<family>/<id>.yaml`` holds the logs that a rule must find (``hits``) and those
that look alike and that it must not (``near_misses``). A case names a prelude, the beginning of
a real log up to a stage, and adds the lines that its failure prints::

    hits:
      - name: weights_too_large
        about: the weights do not fit
        source: vllm/v1/worker/gpu_worker.py:345 (0.33.0)
        prelude: h200_tp1_0251:loading
        block: |
          (Worker pid=1012) ERROR 12-01 13:11:45 [gpu_worker.py:345] ...
        expect: {status: confirmed, root: gpu-oom-weights}

``expect`` has the keys of ``samples/README.md``. Line numbers in it count from 1 in the whole
log; a negative one counts in the block (-1 is its first line).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vdiag.errors import PackError
from vdiag.rules.document import BadDocument, Document
from vdiag.rules.files import MAX_FILE
from vdiag.rules.problem import Problem

_KEYS = {"name", "about", "source", "prelude", "block", "expect"}


@dataclass(frozen=True)
class Case:
    """One sample of a rule, put together."""

    rule: str
    name: str
    """Unique within the rule."""
    hit: bool
    """Whether the rule must find it."""
    about: str
    source: str
    """Where the block's texts come from: ``vllm/path.py:line (release)``."""
    log: bytes
    expect: dict[str, Any]
    path: Path
    line: int = 1
    """Where the case stands in its file."""

    def __str__(self) -> str:
        """Return the case's name in reports: ``gpu-oom-weights/weights_too_large``."""
        return f"{self.rule}/{self.name}"


def load_cases(folder: Path) -> list[Case]:
    """Return every case below ``folder/rules``, composed with ``folder/preludes``.

    Raises PackError, with the file and the case, where one is malformed.
    """
    reading = CaseReading.of(folder)
    if reading.problems:
        raise PackError(str(reading.problems[0]))
    return reading.cases


class CaseReading:
    """The case files below a folder, with all that is wrong with them."""

    def __init__(self, preludes: Sequence[Path]) -> None:
        self.cases: list[Case] = []
        self.problems: list[Problem] = []
        self.documents: list[Document] = []
        self._preludes = preludes
        self._stages: dict[Path, dict[str, int]] = {}

    @classmethod
    def of(cls, folder: Path, more: Sequence[Path] = ()) -> CaseReading:
        """Read ``folder/rules``; preludes come from ``folder/preludes``, then from ``more``."""
        reading = cls([folder / "preludes", *more])
        for path in sorted((folder / "rules").rglob("*.yaml")):
            reading._file(path, folder.resolve())
        return reading

    def _wrong(self, path: Path, line: int, message: str) -> None:
        self.problems.append(Problem(str(path), line, "case", message))

    def _file(self, path: Path, root: Path) -> None:
        if not path.resolve().is_relative_to(root):
            self._wrong(path, 1, "a link that leads out of the samples")
            return
        try:
            with path.open("rb") as file:
                document = Document(str(path), file.read(MAX_FILE))
        except BadDocument as error:
            self.problems.append(error.problem)
            return
        except OSError as error:
            self._wrong(path, 1, f"cannot read: {error.strerror}")
            return
        self.documents.append(document)
        content = document.data
        if not isinstance(content, dict) or not set(content) <= {"hits", "near_misses"}:
            self._wrong(path, 1, "must hold `hits` and `near_misses`, nothing else")
            return
        names: set[str] = set()
        for key in ("hits", "near_misses"):
            for index, raw in enumerate(content.get(key) or []):
                line = document.line((key, index))
                case = self._case(raw, path, line, hit=key == "hits")
                if case is None:
                    continue
                if case.name in names:
                    self._wrong(path, line, f"two cases are named {case.name}")
                names.add(case.name)
                self.cases.append(case)

    def _case(self, raw: object, path: Path, line: int, *, hit: bool) -> Case | None:
        problems = list(_malformed(raw))
        start = b""
        if not problems:
            assert isinstance(raw, dict)  # noqa: S101  # told by _malformed
            try:
                start = self._prelude(raw.get("prelude"))
            except PackError as error:
                problems.append(f"{raw['name']}: {error}")
        for message in problems:
            self._wrong(path, line, message)
        if problems or not isinstance(raw, dict):
            return None
        block = str(raw["block"])
        expect = raw["expect"]
        lines = start.count(b"\n")
        if "evidence" in expect:
            own = [lines - at if at < 0 else at for at in expect["evidence"]]
            expect = {**expect, "evidence": own}
        if not block.endswith("\n"):
            block += "\n"
        return Case(
            rule=path.stem,
            name=raw["name"],
            hit=hit,
            about=str(raw["about"]),
            source=str(raw["source"]),
            log=start + block.encode(),
            expect=expect,
            path=path,
            line=line,
        )

    def _prelude(self, given: object) -> bytes:
        """Return the lines of ``NAME:STAGE``; empty where no prelude is named."""
        if given is None:
            return b""
        name, _, stage = str(given).partition(":")
        files = [folder / f"{name}.yaml" for folder in self._preludes]
        file = next((file for file in files if file.is_file()), None)
        if "/" in name or file is None:
            raise PackError(f"there is no prelude {name!r}")
        stages = self._stages_of(file)
        if stage not in stages:
            raise PackError(f"prelude {name} has no stage {stage!r}: {', '.join(stages)}")
        lines = file.with_suffix(".log").read_bytes().split(b"\n")
        return b"".join(line + b"\n" for line in lines[: stages[stage]])

    def _stages_of(self, file: Path) -> dict[str, int]:
        if file not in self._stages:
            try:
                data = Document(str(file), file.read_bytes()[:MAX_FILE]).data
            except BadDocument as error:
                raise PackError(str(error)) from error
            stages = data.get("stages") if isinstance(data, dict) else None
            if not isinstance(stages, dict) or not all(type(at) is int for at in stages.values()):
                raise PackError(f"{file}: has no `stages:`, each with its number of lines")
            self._stages[file] = {str(name): at for name, at in stages.items()}
        return self._stages[file]


def _malformed(raw: object) -> Iterator[str]:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        yield "a case is a mapping with a `name`"
        return
    unknown, missing = set(raw) - _KEYS, _KEYS - {"prelude"} - set(raw)
    if unknown or missing:
        said = [f"unknown {sorted(unknown)}"] if unknown else []
        said += [f"missing {sorted(missing)}"] if missing else []
        yield f"{raw['name']}: {', '.join(said)}"
    elif not isinstance(raw["expect"], dict):
        yield f"{raw['name']}: `expect` is a mapping"
    elif not all(type(at) is int for at in raw["expect"].get("evidence", [])):
        yield f"{raw['name']}: `evidence` is a list of line numbers"
