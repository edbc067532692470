"""Checks that a pack says what it means: everything wrong with it, at once.

What loading refuses (unknown keys and names, patterns that do not compile) is found first; on
what is left the checks of this package run. A signal or a diagnosis may waive some of them, with
a reason; a waiver that waives nothing is a defect too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vdiag.rules.cases import CaseReading
from vdiag.rules.lint import conditions, facts, samples, signals, texts
from vdiag.rules.lint.subject import Found, Subject
from vdiag.rules.pack import builtin_reading, pack_name, read_packs, samples_dir
from vdiag.rules.packs import BUILTIN, builtin_dir
from vdiag.rules.problem import Problem

if TYPE_CHECKING:
    from vdiag.rules.document import Document

__all__ = ["lint"]

_CHECKS = (signals.check, facts.check, conditions.check, texts.check, samples.check)
_TODO = "TODO"


def lint(folder: Path | None = None) -> list[Problem]:
    """Return all that is wrong with a pack, in the order of its files; by default the built-in.

    Another pack is judged as it will be loaded: over the built-in one.

    Raises PackError where the folder is no pack or cannot be read.
    """
    given = folder or builtin_dir()
    shown = given.as_posix()
    alone = pack_name(given) == BUILTIN
    reading = read_packs([(given, shown)], None if alone else builtin_reading())
    root = samples_dir(given)
    cases = CaseReading.of(root, _preludes(given)) if root else CaseReading([])
    subject = Subject(reading, reading.pack.packs[-1].name, root, cases.cases)
    prefix = f"{shown.rstrip('/')}/"
    problems = [one for one in reading.problems if alone or one.file.startswith(prefix)]
    problems += cases.problems
    problems += _orphans(subject, cases)
    problems += _judged(subject, (found for check in _CHECKS for found in check(subject)))
    own = [one for file, one in reading.documents.items() if alone or file.startswith(prefix)]
    problems += _todos([*own, *cases.documents])
    return sorted(set(problems))


def _preludes(folder: Path) -> list[Path]:
    """Return the built-in preludes, which other packs may use too."""
    own = samples_dir(builtin_dir())
    return [own / "preludes"] if own and own != samples_dir(folder) else []


def _judged(subject: Subject, found: Iterable[Found]) -> Iterator[Problem]:
    """Yield what is not waived, and the waivers that waive nothing."""
    waivers = {f"signal {signal.id}": signal.waivers for signal in subject.signals}
    waivers |= {f"diagnosis {rule.id}": rule.waivers for rule in subject.diagnoses}
    used: set[tuple[str, str]] = set()
    for one in found:
        if one.code in waivers.get(one.thing, ()):
            used.add((one.thing, one.code))
            continue
        file, line = subject.reading.line(one.thing, *one.path)
        yield Problem(file, line, one.code, f"{one.thing}: {one.message}")
    for thing, codes in waivers.items():
        for code in codes:
            if (thing, code) not in used:
                file, line = subject.reading.line(thing, "waivers", code)
                yield Problem(file, line, "waiver", f"{thing}: nothing to waive: {code}")


def _orphans(subject: Subject, cases: CaseReading) -> Iterator[Problem]:
    """Find case files of rules that do not exist, or that lie in another family's folder."""
    for case in {case.path: case for case in cases.cases}.values():
        rule = subject.pack.diagnoses.get(case.rule)
        file = str(case.path)
        if rule is None and case.rule not in subject.reading.broken:
            yield Problem(file, 1, "case", f"there is no diagnosis {case.rule!r}")
        elif rule is not None and case.path.parent.name != rule.family:
            yield Problem(
                file,
                1,
                "case",
                f"{rule.id} is of the family {rule.family}: lay it into that folder",
            )


def _todos(documents: Iterable[Document]) -> Iterator[Problem]:
    for document in documents:
        for line, text in document.texts():
            at = text.find(_TODO)
            if at >= 0:
                said = " ".join(text[at:].split())
                said = said if len(said) <= 80 else said[:79] + "…"
                yield Problem(document.file, line, "todo", f"still to do: {said}")
