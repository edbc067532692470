"""The figures in docs/hardening.md are those of this code."""

from tests.hardening import PAGE, SECTIONS
from tests.hardening.redaction import redaction


def test_the_figures_of_redaction_are_current():
    """What `python -m tests.hardening` would write is what stands there, and nothing got by."""
    made = redaction()

    assert "Redaction" in SECTIONS
    assert made in PAGE.read_text(encoding="utf-8")
    totals = [line.split("|")[2:4] for line in made.splitlines() if line.startswith("| **all**")]
    assert len(totals) == 3
    for planted, caught in totals:
        assert int(planted) == int(caught) > 100
