"""The logs that a pack's rules are tested on: case files, and samples with an expectation."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vdiag.errors import PackError
from vdiag.logs.inputs import open_path
from vdiag.logs.sources import Source
from vdiag.rules.cases import Case, CaseReading
from vdiag.rules.document import BadDocument, Document
from vdiag.rules.files import MAX_FILE
from vdiag.rules.packs import Pack
from vdiag.ruletest.expectation import Expect

_EXPECTATION = ".expect.yaml"


@dataclass
class Log:
    """One log, what it must show, and of which rules it is a sample."""

    name: str
    path: Path | None
    """None for a case, whose bytes are put together."""
    content: bytes = b""
    expect: Expect = field(default_factory=dict)
    hits: set[str] = field(default_factory=set)
    misses: set[str] = field(default_factory=set)

    def open(self) -> Source:
        """Return the log as an input."""
        if self.path is not None:
            return open_path(str(self.path))
        return Source(self.name, io.BytesIO(self.content))

    @property
    def roots(self) -> set[str]:
        """The rules that may be its root: those it is a sample of, and the expected ones."""
        root = self.expect.get("root")
        named = root if isinstance(root, list) else [root]
        return self.hits | {str(one) for one in named if one is not None}


def logs_of(samples: Path, pack: Pack, rules: set[str], more_preludes: list[Path]) -> list[Log]:
    """Return every log under a samples folder, in a fixed order.

    ``rules`` are the diagnoses whose ``samples:`` and ``near_misses:`` lie there. Raises
    PackError where an expectation, a case or a sample is unusable.
    """
    found: dict[str, Log] = {}
    for path in sorted(samples.rglob("*" + _EXPECTATION)):
        log = _beside(path)
        name = log.relative_to(samples.parent).as_posix()
        found[name] = Log(name, log, expect=_expectation(path))
    for id in sorted(rules):
        rule = pack.diagnoses[id]
        for name in (*rule.samples, *rule.near_misses):
            path = samples.parent / name
            if not path.resolve().is_relative_to(samples.resolve()) or not path.is_file():
                raise PackError(f"{pack.places[f'diagnosis {id}']}: there is no sample {name}")
            log_ = found.setdefault(name, Log(name, path))
            (log_.hits if name in rule.samples else log_.misses).add(id)
    return [*found.values(), *_cases(samples, more_preludes)]


def _cases(samples: Path, more_preludes: list[Path]) -> Iterator[Log]:
    reading = CaseReading.of(samples, more_preludes)
    if reading.problems:
        raise PackError(str(reading.problems[0]))
    for case in reading.cases:
        yield of_case(case)


def of_case(case: Case) -> Log:
    """Return a case as a log."""
    rules = {case.rule}
    return Log(
        f"case {case}",
        None,
        case.log,
        case.expect,
        rules if case.hit else set(),
        set() if case.hit else rules,
    )


def _beside(expectation: Path) -> Path:
    stem = expectation.name.removesuffix(_EXPECTATION)
    for path in sorted(expectation.parent.glob(f"{stem}.*")):
        if path.stem == stem and path.suffix != ".yaml":
            return path
    raise PackError(f"{expectation}: there is no log {stem}.log beside it")


def _expectation(path: Path) -> Expect:
    try:
        data = Document(str(path), path.read_bytes()[:MAX_FILE]).data
    except BadDocument as error:
        raise PackError(str(error)) from error
    expect = data.get("expect") if isinstance(data, dict) else None
    if not isinstance(expect, dict):
        raise PackError(f"{path}: has no mapping `expect:`")
    return expect
