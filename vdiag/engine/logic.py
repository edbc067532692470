"""Three-valued logic (Kleene) that keeps its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from vdiag.report.model import Basis, Evidence, Truth

MAX_EVIDENCE = 4


@dataclass(slots=True)
class Answer:
    """A truth value, how it is known, and the lines that made it so."""

    truth: Truth
    basis: Basis = "stated"
    evidence: list[Evidence] = field(default_factory=list)
    note: str | None = None
    """The reasoning of an inference, or why it is unknown."""

    def negated(self) -> Answer:
        """Return the answer to the opposite question."""
        opposite: dict[Truth, Truth] = {"true": "false", "false": "true", "unknown": "unknown"}
        return Answer(opposite[self.truth], self.basis, self.evidence, self.note)


def both(answers: Iterable[Answer]) -> Answer:
    """Conjunction: false if any is false, unknown if any is unknown, else true."""
    return _combine(list(answers), decisive="false", neutral="true")


def either(answers: Iterable[Answer]) -> Answer:
    """Disjunction: true if any is true, unknown if any is unknown, else false."""
    return _combine(list(answers), decisive="true", neutral="false")


def _combine(answers: list[Answer], decisive: Truth, neutral: Truth) -> Answer:
    deciding = [answer for answer in answers if answer.truth == decisive]
    if deciding:
        # A stated reason is worth more than an inferred one; one is enough.
        best = min(deciding, key=lambda answer: answer.basis != "stated")
        return Answer(decisive, best.basis, best.evidence, best.note)
    unknown = [answer for answer in answers if answer.truth == "unknown"]
    if unknown:
        return Answer("unknown", "stated", [], _notes(unknown))
    return Answer(
        neutral,
        "stated" if all(answer.basis == "stated" for answer in answers) else "inferred",
        _merge(answers),
        _notes(answers),
    )


def _merge(answers: list[Answer]) -> list[Evidence]:
    out: list[Evidence] = []
    for answer in answers:
        for evidence in answer.evidence:
            if evidence not in out:
                out.append(evidence)
    return out[:MAX_EVIDENCE]


def _notes(answers: list[Answer]) -> str | None:
    notes: list[str] = []
    for answer in answers:
        if answer.note and answer.note not in notes:
            notes.append(answer.note)
    return "; ".join(notes) or None
