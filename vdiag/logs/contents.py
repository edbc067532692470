"""What one thing that a user named holds: a log, or an archive's members, at most two deep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from vdiag.errors import InputError
from vdiag.logs import archives, encodings
from vdiag.logs.codecs import PEEK, foreign_packing, peel
from vdiag.logs.limits import Budget, Limits, Trouble, UnpackError
from vdiag.logs.places import Origin, reason
from vdiag.logs.sources import Source
from vdiag.logs.streams import Peeked

_MAX_ARCHIVES = 2
_ENCRYPTED = "encrypted; unzip the archive with its password and name its files"
_LEADS_OUT = (
    "not read, the name leads out of the archive; if you trust it, unpack it and name its files"
)


def said(error: Exception) -> str:
    """Return what an error says, without the name of the input."""
    return f"cannot read: {reason(error)}" if isinstance(error, OSError) else str(error)


@dataclass
class Argument:
    """One thing that a user named, while it is read."""

    name: str
    origin: Origin | None
    limits: Limits
    total: int | None = None
    trouble: Trouble = field(default_factory=Trouble)

    def __post_init__(self) -> None:
        """Give it a budget of its own."""
        self.budget = Budget(self.limits)

    def sources(self, stream: BinaryIO, *, owned: bool) -> Iterator[Source]:
        """Yield what a stream holds: one log, or the members of an archive."""
        raw = Peeked(stream, self.budget)
        own = self.origin
        try:
            yield from self._expand(self.name, raw, [], 0)
        except OSError as error:  # the disk or the network below failed
            yield self._failed(self.name, said(error))
        finally:
            if owned:
                raw.close()
        if self.origin is not own and self.origin is not None:
            yield from end_of(self.origin)

    def _failed(self, name: str, text: str) -> Source:
        if self.origin is not None:
            self.origin.failed += 1
        return Source.failed(name, InputError(f"{name}: {text}"), self.origin)

    def _expand(self, name: str, stream: Peeked, above: list[str], depth: int) -> Iterator[Source]:
        """Yield the logs in a stream; ``above`` says what it was packed in, innermost first."""
        try:
            stream, codecs = peel(stream, self.budget, self.trouble)
            first = stream.peek(PEEK)
        except (InputError, OSError) as error:
            yield self._failed(name, said(error))
            return
        kind = archives.kind_of(first)
        if kind is None:
            yield from self._log(name, stream, [*codecs, *above])
        elif depth == _MAX_ARCHIVES:
            yield self._failed(
                name,
                "is an archive in an archive in an archive; unpack the outer one and name its "
                "files",
            )
        else:
            yield from self._archive(name, kind, stream, [kind, *codecs, *above], depth + 1)

    def _archive(
        self, name: str, kind: str, stream: Peeked, above: list[str], depth: int
    ) -> Iterator[Source]:
        if self.origin is None:
            self.origin = Origin(name, "archive")
        refused: dict[str, list[str]] = {}
        count = 0
        try:
            for member in archives.members_of(kind, stream, self.budget, self.trouble):
                count += 1
                if count > self.limits.members:
                    raise UnpackError(
                        f"holds more than {self.limits.members:,} members; unpack it and name "
                        "the log files"
                    )
                shown = archives.tidy(member.name)
                if archives.leads_out(shown) and member.passed_over != "":
                    refused.setdefault(_LEADS_OUT, []).append(shown)
                elif member.stream is None:
                    self._pass_over(member, shown, refused)
                elif not archives.is_hidden(shown):
                    inner = Peeked(member.stream)
                    yield from self._expand(f"{name}!{shown}", inner, above, depth)
                if self.budget.spent:
                    break
        except UnpackError as error:
            if not self.trouble.noted:
                self.trouble.note(str(error))
        for why, names in refused.items():
            many = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield self._failed(name, f"{names[0]}{many}: {why}")
        for text in self.trouble.take():
            yield self._failed(name, text)

    def _pass_over(
        self, member: archives.Member, shown: str, refused: dict[str, list[str]]
    ) -> None:
        if member.passed_over == "encrypted":
            refused.setdefault(_ENCRYPTED, []).append(shown)
        elif member.passed_over and self.origin is not None:
            self.origin.leave_out(f"{member.passed_over}")

    def _log(self, name: str, stream: Peeked, packed: list[str]) -> Iterator[Source]:
        """Yield the one log that a stream is, or leave it out where it was only found."""
        origin = self.origin
        first = stream.peek(PEEK)
        packing = foreign_packing(first)
        if packing is not None and origin is None:
            yield self._failed(
                name,
                f"is {packing[0]} data, which vdiag does not unpack; pipe it in: "
                f"{packing[1]} {name} | vdiag analyze -",
            )
            return
        if origin is not None:
            why = f"{packing[0]} data" if packing else "empty" if not first else None
            if why is None and encodings.looks_foreign(stream):
                why = "no text"
            if why is not None:
                for text in self.trouble.take():
                    yield self._failed(name, text)
                    return
                origin.leave_out(why)
                return
        utf8, encoding = encodings.as_utf8(stream)
        yield Source(
            name,
            utf8,
            compression="+".join(packed) or None,
            encoding=encoding,
            origin=origin,
            total=self.total,
            budget=self.budget,
            trouble=self.trouble,
        )


def end_of(origin: Origin) -> Iterator[Source]:
    """Say what could not be read, or that there was no log at all."""
    if origin.unreadable:
        rest = len(origin.unreadable) - 1
        more = f", and {rest} more like it in {origin.name}" if rest else ""
        yield Source.failed(origin.name, InputError(origin.unreadable[0] + more), origin)
    elif not origin.kept and not origin.failed:
        yield Source.failed(origin.name, InputError(origin.refusal()), origin)
