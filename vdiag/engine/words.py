"""Fills the texts of rules with what the run shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vdiag.engine.numbers import compute
from vdiag.engine.observation import Observation

if TYPE_CHECKING:
    from vdiag.engine.facts import FactTable
    from vdiag.rules.schema import Number

_TOKEN = re.compile(r"\{([a-z][\w.]*)\}")
_SHELL_SAFE = re.compile(r"[\w./:@%+=,-]*")
"""What of a log may stand in a command that somebody pastes: no quote, blank, ``$`` or ``;``."""


def enumerate_names(names: list[str]) -> str:
    """Join names as in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    if len(names) <= 1:
        return names[0] if names else ""
    return ", ".join(names[:-1]) + " and " + names[-1]


class Words:
    """Replaces ``{name}`` by a fact, a capture, a computed figure or one of the fixed words.

    A name that nothing gives a value becomes ``an unknown …``, so that a text never shows a
    placeholder or an invented number.
    """

    def __init__(
        self,
        facts: FactTable,
        signature: list[Observation],
        fixed: dict[str, str],
        numbers: list[Number] | None = None,
    ) -> None:
        self._facts = facts
        self._fixed = fixed
        self._captures: dict[str, object] = {}
        for seen in reversed(signature):
            self._captures.update(seen.captures)

        self._numbers = compute(numbers or [], self._seen)

    def fix(self, name: str, text: str) -> None:
        """Make a fixed word of a text that has placeholders of its own."""
        self._fixed[name] = self.fill(text)

    def fill(self, text: str) -> str:
        """Return the text with every placeholder replaced."""
        return _TOKEN.sub(lambda match: self._word(match.group(1)), text)

    def lacks(self, text: str) -> bool:
        """Tell whether a placeholder of the text has no value."""
        return any(self._value(match.group(1)) is None for match in _TOKEN.finditer(text))

    def fill_command(self, command: str) -> str:
        """Return a command with its figures as a shell takes them; an unknown one in capitals."""
        return _TOKEN.sub(lambda match: self._argument(match.group(1)), command)

    def _word(self, name: str) -> str:
        value = self._value(name)
        if value is None:
            return f"(unknown {name.rpartition('.')[2].replace('_', ' ')})"
        # A port is a name made of digits, no quantity.
        return str(value) if name.endswith(".port") else _show(value)

    def _argument(self, name: str) -> str:
        value = self._value(name)
        text = "" if value is None else _bare(value)
        if not text or not _SHELL_SAFE.fullmatch(text):
            return name.rpartition(".")[2].upper()
        return text

    def _value(self, name: str) -> object:
        if name in self._fixed:
            return self._fixed[name]
        if name in self._numbers:
            return self._numbers[name]
        return self._seen(name)

    def _seen(self, name: str) -> object:
        """Return a capture of the signature or a fact; None where the log has neither."""
        if self._captures.get(name) is not None:
            return self._captures[name]
        state = self._facts.get(name)
        return state.value if state is not None else None


def _bare(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return str(value)


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value)
