"""What a sample's ``.expect.yaml`` asks of its report."""

from __future__ import annotations

from pathlib import Path

import yaml

from vdiag.ruletest.expectation import differences

__all__ = ["SAMPLES", "differences", "expectation", "samples"]

SAMPLES = Path(__file__).parent.parent / "samples"


def samples():
    """Return every log under samples/ that has an expectation, in a fixed order."""
    return sorted(
        path.with_name(path.name.removesuffix(".expect.yaml") + suffix)
        for path in SAMPLES.rglob("*.expect.yaml")
        for suffix in (".log",)
    )


def expectation(log):
    """Return the ``expect`` mapping beside a log."""
    text = log.with_name(log.stem + ".expect.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["expect"]
