"""Tie a log to its expected report, and register the scenarios that make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .writer import Log

Expect = dict[str, Any]
Scenario = Callable[[], tuple[Log | str, Expect]]
SCENARIOS: dict[str, tuple[str, Scenario]] = {}


@dataclass(frozen=True)
class Sample:
    """One generated log with the report expected of it."""

    name: str
    text: str
    about: str
    expect: Expect

    def files(self) -> dict[Path, bytes]:
        """Return the contents of the log and of its expectation, by path below samples/."""
        head = {
            "about": self.about,
            "provenance": "built by tests/synth from vLLM's format strings; not a real server",
            "expect": self.expect,
        }
        body = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=96)
        return {
            Path(f"{self.name}.log"): self.text.encode(),
            Path(f"{self.name}.expect.yaml"): body.encode(),
        }


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    """Register a scenario under `<group>/<name>`; its docstring becomes `about`."""

    def register(function: Scenario) -> Scenario:
        if name in SCENARIOS:
            raise ValueError(f"two scenarios are called {name}")
        about = " ".join((function.__doc__ or "").split())
        SCENARIOS[name] = (about, function)
        return function

    return register


def build(name: str) -> Sample:
    """Run one scenario and resolve the texts of its evidence to line numbers."""
    about, function = SCENARIOS[name]
    made, expect = function()
    text = made if isinstance(made, str) else made.text()
    resolved = dict(expect)
    if "evidence" in resolved:
        resolved["evidence"] = [line_of(text, part) for part in resolved["evidence"]]
    return Sample(name, text, about, resolved)


def line_of(text: str, part: str) -> int:
    """Return the number of the first line that holds every `…`-separated piece of `part`."""
    pieces = part.split("…")
    for number, line in enumerate(text.split("\n"), 1):
        if all(piece in line for piece in pieces):
            return number
    raise ValueError(f"no line holds {part!r}")
