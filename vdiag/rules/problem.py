"""What is wrong with a rule file: where, which kind, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Problem:
    """One defect of a pack, at one line of one file."""

    file: str
    line: int
    code: str
    """The kind of defect, as ``name`` or ``slow-pattern``; a waiver names it."""
    message: str

    def __str__(self) -> str:
        """Return the problem as one line: ``file:line: message``."""
        return f"{self.file}:{self.line}: {self.message}"
