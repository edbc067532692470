"""Fills the texts of rules with what the run shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vdiag.engine.observation import Observation

if TYPE_CHECKING:
    from vdiag.engine.facts import FactTable

_TOKEN = re.compile(r"\{([a-z][\w.]*)\}")


def enumerate_names(names: list[str]) -> str:
    """Join names as in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    if len(names) <= 1:
        return names[0] if names else ""
    return ", ".join(names[:-1]) + " and " + names[-1]


class Words:
    """Replaces ``{name}`` by a fact, a capture or one of the fixed words.

    A name that nothing gives a value becomes ``an unknown …``, so that a text never shows a
    placeholder or an invented number.
    """

    def __init__(
        self, facts: FactTable, signature: list[Observation], fixed: dict[str, str]
    ) -> None:
        self._facts = facts
        self._fixed = fixed
        self._captures: dict[str, object] = {}
        for seen in reversed(signature):
            self._captures.update(seen.captures)

    def fix(self, name: str, text: str) -> None:
        """Make a fixed word of a text that has placeholders of its own."""
        self._fixed[name] = self.fill(text)

    def fill(self, text: str) -> str:
        """Return the text with every placeholder replaced."""
        return _TOKEN.sub(lambda match: self._word(match.group(1)), text)

    def _word(self, name: str) -> str:
        if name in self._fixed:
            return self._fixed[name]
        if name in self._captures:
            return _show(self._captures[name])
        state = self._facts.get(name)
        if state is not None:
            # A port is a name made of digits, no quantity.
            return str(state.value) if name.endswith(".port") else _show(state.value)
        return f"(unknown {name.rpartition('.')[2].replace('_', ' ')})"


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value)
