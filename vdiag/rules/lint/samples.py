"""What is checked of a rule's samples: that there are some, and where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from vdiag.rules.lint.subject import Found, Subject


def check(subject: Subject) -> Iterator[Found]:
    """Yield what is missing of the samples of the pack's diagnoses."""
    hits: dict[str, int] = defaultdict(int)
    misses: dict[str, int] = defaultdict(int)
    for case in subject.cases:
        (hits if case.hit else misses)[case.rule] += 1
    for rule in subject.diagnoses:
        thing = f"diagnosis {rule.id}"
        for key in ("samples", "near_misses"):
            for index, name in enumerate(getattr(rule, key)):
                yield from _path(subject, thing, (key, index), name)
        if subject.samples is None:
            continue
        if not rule.samples and not hits[rule.id]:
            yield Found(
                thing, (), "sample", "has no sample that it must find (`samples:` or a case file)"
            )
        if not rule.near_misses and not misses[rule.id]:
            yield Found(
                thing,
                (),
                "near-miss",
                "has no near miss that it must not find (`near_misses:` or a case file)",
            )


def _path(subject: Subject, thing: str, path: tuple[str, int], name: str) -> Iterator[Found]:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or parts.parts[:1] != ("samples",):
        yield Found(thing, path, "sample-path", f"{name!r} does not lie under samples/")
    elif subject.samples is not None:
        file = subject.samples.parent / name
        inside = file.resolve().is_relative_to(subject.samples.resolve())
        if not file.is_file() or not inside:
            yield Found(thing, path, "sample-path", f"there is no sample {name}")
