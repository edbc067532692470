"""Redact a whole report: every text of a log in it, one set of tokens for all inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from vdiag.redact.engine import Redactor, spliced
from vdiag.redact.kinds import DEFAULT
from vdiag.redact.pattern import PLACEHOLDER, Finder
from vdiag.redact.secrets import names_secret
from vdiag.report.model import (
    Evidence,
    Fact,
    Process,
    Redaction,
    Reference,
    Report,
    RulePack,
    Tool,
    Unexplained,
)

_T = TypeVar("_T")

_KEPT_FIELDS = frozenset(
    {"id", "root", "kind", "status", "role", "family", "severity", "outcome", "explains",
     "explained_by", "encoding", "compression", "envelopes", "matcher", "fixed_in", "affected",
     "phase", "time", "started", "ready", "ended", "failed_at", "title", "group", "basis",
     "truth", "subkind", "level"}
)  # fmt: skip
"""Names, ids, times and words of the contract: never text of a log."""
_KEPT_CLASSES = (Tool, RulePack, Reference)
_CLIPPED = 4093
"""Bytes from which on a stored line may have been cut (at 4096, on a character boundary)."""
_MODEL_FACTS = ("model.name", "model.tokenizer", "model.path", "tokenizer.name")


class ReportRedactor:
    """Copies reports without what is private in them."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def value(self, name: str, value: object) -> object:
        """Return a fact's value; it is read as if its name stood before it."""
        if not isinstance(value, str):
            return value
        if names_secret(name) and not PLACEHOLDER.match(value):
            return self.redactor.token("secret", value)
        last = "model" if name in _MODEL_FACTS else name.rpartition(".")[2]
        lead = f"{last}="
        pieces = self.redactor.pieces(lead + value)
        shifted = [(start - len(lead), end - len(lead), token) for start, end, token in pieces]
        return spliced(value, [(max(s, 0), e, token) for s, e, token in shifted if e > 0])

    def walk(self, value: _T, name: str = "") -> _T:
        """Return a copy of a dataclass, list or dict, with every text in it redacted.

        ``name`` is that of the fact around the value.
        """
        if isinstance(value, str):
            return cast("_T", self._text(value))
        if isinstance(value, list):
            return cast("_T", [self.walk(item, name) for item in value])
        if isinstance(value, dict):
            return cast(
                "_T", {self._text(key): self.walk(item, str(key)) for key, item in value.items()}
            )
        if isinstance(value, Evidence):
            return cast("_T", self._evidence(value))
        if is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value, name)
        return value

    def _text(self, text: str) -> str:
        return self.redactor.text(text, cut=len(text.encode("utf-8", "replace")) >= _CLIPPED)

    def _evidence(self, one: Evidence) -> Evidence:
        cut = len(one.text.encode("utf-8", "replace")) >= _CLIPPED
        pieces = self.redactor.pieces(one.text, cut=cut)
        focus = one.focus
        if focus is not None:
            focus = len(spliced(one.text[:focus], [piece for piece in pieces if piece[1] <= focus]))
        return replace(
            one,
            input=self._text(one.input),
            text=spliced(one.text, pieces),
            process=self._text(one.process) if one.process else one.process,
            focus=focus,
        )

    def _dataclass(self, value: _T, name: str) -> _T:
        kept = isinstance(value, _KEPT_CLASSES)
        changed: dict[str, object] = {}
        for item in fields(value):  # type: ignore[arg-type]  # checked by the caller
            old = getattr(value, item.name)
            if kept or item.name in _KEPT_FIELDS:
                changed[item.name] = old
            elif item.name in ("value", "asked"):
                changed[item.name] = self.value(name, old)
            elif item.name == "template" and isinstance(value, Unexplained):
                changed[item.name] = self.redactor.template(old)
            elif item.name == "host" and isinstance(value, Process) and old:
                changed[item.name] = self._host(old)
            else:
                changed[item.name] = self.walk(old, name if isinstance(value, Fact) else "")
        return replace(value, **changed)  # type: ignore[type-var]  # a dataclass, see above

    def _host(self, host: str) -> str:
        return str(self.value("hostname", host))


def redact(
    report: Report, finders: Sequence[Finder] = DEFAULT, *, redactor: Redactor | None = None
) -> Report:
    """Return a copy of the report without what is private in it; the report stays as it is.

    Ids of rules, times and numbers are kept. ``redaction`` of the copy says that it was
    applied and how many different values of each kind were replaced.
    """
    redactor = redactor or Redactor(finders)
    walker = ReportRedactor(redactor)
    walker.walk(report)  # learn every value first: some stand without their name earlier on
    redactor.forget_places()
    copy = walker.walk(report)
    copy.redaction = Redaction(applied=True, counts=redactor.counts)
    return copy
