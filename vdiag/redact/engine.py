"""Replace secrets by stable tokens, in a text or in a whole report.

A token stands for one value wherever it is met, so that correlation survives: the same
address is ``<ip-1>`` in every line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from vdiag.redact.patterns import DEFAULT, ITEM, LISTS, MORE, Pattern, names_secret
from vdiag.report.model import Fact, Redaction, Reference, Report, RulePack, Tool

_T = TypeVar("_T")

_KEPT_FIELDS = frozenset(
    {"input", "inputs", "id", "root", "kind", "status", "role", "family", "severity", "outcome",
     "explains", "explained_by", "encoding", "compression", "envelopes", "matcher"}
)  # fmt: skip
"""Names, ids and words of the contract: never text of a log."""
_KEPT_CLASSES = (Tool, RulePack, Reference)
_LEAST = 8
"""A secret as short as this is not looked for outside the place that named it."""


class Redactor:
    """Replaces what its patterns find and remembers which token stands for which value."""

    def __init__(self, patterns: Sequence[Pattern] = DEFAULT) -> None:
        self._patterns = patterns
        self._tokens: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._known: dict[str, str] = {}

    @property
    def counts(self) -> dict[str, int]:
        """Return how many different values of each kind were replaced."""
        return dict(sorted(self._counts.items()))

    def token(self, kind: str, value: str, canonical: str | None = None) -> str:
        """Return the token for a value, a new one at first sight."""
        key = (kind, canonical or value)
        if key not in self._tokens:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._tokens[key] = f"<{kind}-{self._counts[kind]}>"
            if kind == "secret" and len(value) >= _LEAST:
                self._known[value] = self._tokens[key]
        return self._tokens[key]

    def text(self, text: str) -> str:
        """Return the text with every secret in it replaced."""
        text = self._lists(text)
        for pattern in self._patterns:
            text = self._apply(pattern, text)
        return self._again(self._more(text))

    def _apply(self, pattern: Pattern, text: str) -> str:
        group: str | int = "secret" if "secret" in pattern.regex.groupindex else 0

        def swap(match: re.Match[str]) -> str:
            value = match.group(group)
            if pattern.keep(match, value):
                return match.group()
            token = self.token(pattern.kind, value, pattern.canonical(value))
            start, end = match.start(group) - match.start(), match.end(group) - match.start()
            whole = match.group()
            return whole[:start] + token + whole[end:]

        return pattern.regex.sub(swap, text)

    def _lists(self, text: str) -> str:
        def item(match: re.Match[str]) -> str:
            quote, value = match.group("quote"), match.group("secret")
            if set(value) == {"*"} or value.startswith("<"):
                return match.group()
            return f"{quote}{self.token('secret', value)}{quote}"

        def swap(match: re.Match[str]) -> str:
            whole = match.group()
            start, end = match.start("items") - match.start(), match.end("items") - match.start()
            return whole[:start] + ITEM.sub(item, match.group("items")) + whole[end:]

        return LISTS.sub(swap, text)

    def _more(self, text: str) -> str:
        """Replace the further values of an option, one at a time from the left."""
        while match := MORE.search(text):
            token = self.token("secret", match.group("secret"))
            text = text[: match.start("secret")] + token + text[match.end("secret") :]
        return text

    def _again(self, text: str) -> str:
        """Replace secrets that were named elsewhere and stand here without a name."""
        for value, token in self._known.items():
            if value in text:
                text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", token, text)
        return text

    def value(self, name: str, value: _T) -> _T:
        """Return a fact's value; the whole of it is a secret where its name says so."""
        if isinstance(value, str):
            if names_secret(name) and value.strip("*") and not value.startswith("<"):
                return cast("_T", self.token("secret", value))
            return cast("_T", self.text(value))
        return value

    def walk(self, value: _T, name: str = "") -> _T:
        """Return a copy of a dataclass, list or dict, with every text in it redacted.

        ``name`` is that of the fact around the value.
        """
        if isinstance(value, str):
            return cast("_T", self.text(value))
        if isinstance(value, list):
            return cast("_T", [self.walk(item, name) for item in value])
        if isinstance(value, dict):
            return cast("_T", {key: self.walk(item, str(key)) for key, item in value.items()})
        if is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value, name)
        return value

    def _dataclass(self, value: _T, name: str) -> _T:
        kept = isinstance(value, _KEPT_CLASSES)
        changed: dict[str, object] = {}
        for item in fields(value):  # type: ignore[arg-type]  # checked by the caller
            old = getattr(value, item.name)
            if (
                kept
                or item.name in _KEPT_FIELDS
                or (item.name == "name" and hasattr(value, "lines"))
            ):
                changed[item.name] = old
            elif item.name in ("value", "asked"):
                changed[item.name] = self.value(name, old)
            else:
                changed[item.name] = self.walk(old, name if isinstance(value, Fact) else "")
        return replace(value, **changed)  # type: ignore[type-var]  # a dataclass, see above


def redact(report: Report, patterns: Sequence[Pattern] = DEFAULT) -> Report:
    """Return a copy of the report with the secrets in it replaced; the report stays as it is.

    Names of inputs and ids of rules are kept. ``redaction`` of the copy says that it was
    applied and how many different values of each kind were replaced.
    """
    redactor = Redactor(patterns)
    redactor.walk(report)  # learn every secret first: some stand without their name earlier on
    copy = redactor.walk(report)
    copy.redaction = Redaction(applied=True, counts=redactor.counts)
    return copy
