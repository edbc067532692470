"""The figures of docs/hardening.md. ``python -m tests.hardening`` writes them again.

A section is a function that returns Markdown; add one to ``SECTIONS`` and it is written. Equal
code gives equal figures: no section measures time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.hardening.redaction import redaction

PAGE = Path(__file__).parent.parent.parent / "docs" / "hardening.md"
HEAD = """\
# Hardening

What was thrown at vdiag and what came of it. `python -m tests.hardening` writes this page; the
figures are those of the code beside it, and a test holds them to it.
"""
SECTIONS: dict[str, Callable[[], str]] = {"Redaction": redaction}
"""Title and text of each section, in order."""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD, *(f"## {title}\n\n{section()}" for title, section in SECTIONS.items())]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)
