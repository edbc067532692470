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

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from vdiag.errors import PackError

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

    def __str__(self) -> str:
        """Return the case's name in reports: ``gpu-oom-weights/weights_too_large``."""
        return f"{self.rule}/{self.name}"


def load_cases(folder: Path) -> list[Case]:
    """Return every case below ``folder/rules``, composed with ``folder/preludes``.

    Raises PackError, with the file and the case, where one is malformed.
    """
    found: list[Case] = []
    for path in sorted((folder / "rules").rglob("*.yaml")):
        found += _file(path, folder / "preludes")
    return found


def _file(path: Path, preludes: Path) -> Iterator[Case]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  # safe loader
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise PackError(f"{path}: {error}") from error
    if not isinstance(content, dict) or not set(content) <= {"hits", "near_misses"}:
        raise PackError(f"{path}: must hold `hits` and `near_misses`, nothing else")
    names: set[str] = set()
    for key in ("hits", "near_misses"):
        for raw in content.get(key) or []:
            case = _case(raw, path, preludes, hit=key == "hits")
            if case.name in names:
                raise PackError(f"{path}: two cases are named {case.name}")
            names.add(case.name)
            yield case


def _case(raw: object, path: Path, preludes: Path, *, hit: bool) -> Case:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise PackError(f"{path}: a case is a mapping with a `name`")
    where = f"{path}: {raw['name']}"
    unknown = set(raw) - _KEYS
    missing = _KEYS - {"prelude"} - set(raw)
    if unknown or missing:
        said = [f"unknown {sorted(unknown)}"] if unknown else []
        said += [f"missing {sorted(missing)}"] if missing else []
        raise PackError(f"{where}: {', '.join(said)}")
    start = _prelude(raw.get("prelude"), preludes, where)
    block = str(raw["block"])
    expect = raw["expect"]
    if not isinstance(expect, dict):
        raise PackError(f"{where}: `expect` is a mapping")
    lines = start.count(b"\n")
    if "evidence" in expect:
        own = [lines - line if line < 0 else line for line in expect["evidence"]]
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
    )


def _prelude(given: object, preludes: Path, where: str) -> bytes:
    """Return the lines of ``NAME:STAGE``; empty where no prelude is named."""
    if given is None:
        return b""
    name, _, stage = str(given).partition(":")
    file = preludes / f"{name}.yaml"
    if "/" in name or not file.is_file():
        raise PackError(f"{where}: there is no prelude {name!r}")
    stages = yaml.safe_load(file.read_text(encoding="utf-8"))["stages"]
    if stage not in stages:
        raise PackError(f"{where}: prelude {name} has no stage {stage!r}: {', '.join(stages)}")
    lines = (preludes / f"{name}.log").read_bytes().split(b"\n")
    return b"".join(line + b"\n" for line in lines[: stages[stage]])


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that keeps stamps as text."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
