"""What a sample's ``.expect.yaml`` asks of its report."""

from __future__ import annotations

from pathlib import Path

import yaml

from vdiag.ruletest.expectation import differences

__all__ = ["SAMPLES", "differences", "expectation", "samples"]

SAMPLES = Path(__file__).parent.parent / "samples"
SUFFIXES = (".log", ".md")
"""A log, or a log in an issue's Markdown."""


def samples():
    """Return every log under samples/ that has an expectation, in a fixed order."""
    return sorted(_log(path) for path in SAMPLES.rglob("*.expect.yaml"))


def expectation(log):
    """Return the ``expect`` mapping beside a log."""
    text = log.with_name(log.stem + ".expect.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["expect"]


def _log(expectation):
    stem = expectation.name.removesuffix(".expect.yaml")
    named = [expectation.with_name(stem + suffix) for suffix in SUFFIXES]
    return next((log for log in named if log.is_file()), named[0])
