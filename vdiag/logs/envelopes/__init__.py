"""What collectors put around each line: recognised from the content, nested as they nest.

Some envelopes are plain from one line (Docker's JSON, CRI, journald, kubectl's prefix); a
prefix such as srun's ``3: `` is taken off only once it was seen in front of a vLLM record
(:mod:`.shapes`). journald's export and verbose formats are rewritten before the scan
(:mod:`.entries`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from vdiag.logs.envelopes import containers, journald
from vdiag.logs.envelopes.markdown import Page, is_page
from vdiag.logs.envelopes.shapes import MAX_PREFIX, Shapes
from vdiag.logs.envelopes.words import HOW_TO_GET, Peeled
from vdiag.logs.text import strip_escapes

__all__ = ["HOW_TO_GET", "Unwrapped", "Unwrapper"]

_DEPTH = 6
_SNIFF_LINES = 400
_RAY = re.compile(
    r"\((?:Ray|(?:\w+)?EngineCoreActor)[\w.]*(?:\([^()]*\))? pid=\d+|\([^()]+ pid=\d+, ip="
)
"""Ray's own prefix, which names an actor; the record grammar reads it."""


@dataclass(slots=True)
class Unwrapped:
    """A line without its envelopes, and what they said; the innermost word wins."""

    text: str
    kinds: list[str] = field(default_factory=list)
    time: str | None = None
    host: str | None = None
    pid: int | None = None
    gap: str | None = None
    lost: int = 0
    stream: str | None = None
    partial: bool = False
    server: str | None = None
    machine: str | None = None
    """The machine whose journal it stands in; ``host`` may be a pod or a container."""
    hidden: bool = False
    """The input shows the text only in another form (as numbers): the scan cannot see it."""
    hole: bool = False
    """NULs stood in it: another process cut the file short while this one wrote on."""
    boundary: bool = False
    """A page's fence: what was open before it is over."""

    def take(self, peeled: Peeled) -> None:
        """Take what one more envelope says."""
        self.text = peeled.text
        self.kinds.append(peeled.kind)
        self.time = peeled.time or self.time
        self.host = peeled.host or self.host
        self.pid = peeled.pid or self.pid
        if peeled.kind.startswith("journald"):
            self.machine = peeled.host
        self.gap, self.lost = peeled.gap or self.gap, peeled.lost or self.lost
        self.server = peeled.server or self.server
        self.hidden = self.hidden or peeled.hidden
        if peeled.stream is not None:
            self.stream, self.partial = peeled.stream, peeled.partial


class Unwrapper:
    """Takes the envelopes off the lines of one input."""

    def __init__(self, *, rewritten: str | None = None) -> None:
        self.kinds: list[str] = []
        """Names of the envelopes met, in the order of their first line."""
        self._shapes = Shapes()
        self._page: Page | None = None
        self._rewritten = rewritten

    @property
    def follows(self) -> bool:
        """Whether every line is needed: fences are no hits."""
        return self._page is not None

    def sniff(self, head: str) -> None:
        """Learn from the beginning of the input, before its first line is read."""
        if is_page(head):
            self._page = Page()
            self._note("markdown")
        lines = head.split("\n")[:_SNIFF_LINES]
        for _ in range(2):  # what stands further in shows once the outer prefix is known
            for line in lines:
                self._unwrap(line)
        while self._shapes.learn_common(self._inner(lines)):
            pass

    def _inner(self, lines: list[str]) -> list[str]:
        """Return the texts inside, of a page those in its fences."""
        texts = [one.text for line in lines for one in self._unwrap(line)]
        if self._page is None:
            return texts
        page = Page()
        return [text for text in texts if page.inside(text)]

    def unwrap(self, line: str) -> list[Unwrapped]:
        """Return the lines inside of one physical line; none where it is a page's prose."""
        found = []
        for one in self._unwrap(line):
            for kind in one.kinds:
                self._note(kind)
            if one.text.startswith("(") and _RAY.match(one.text):
                self._note("ray")
            if self._page is not None:
                inside = self._page.inside(one.text)
                if inside is None:
                    one.text, one.boundary = "", True
                elif not inside and not self._shapes.is_record(one.text):
                    continue
            found.append(one)
        return found

    def peek(self, line: str) -> list[Unwrapped]:
        """Return the lines inside of one, without taking it: for a line read again."""
        return self._unwrap(line)

    def _unwrap(self, line: str) -> list[Unwrapped]:
        text = strip_escapes(line)
        hole = "\0\0\0\0" in text
        if "\0" in text:
            text = text.replace("\0", "")
        out = Unwrapped(text, hole=hole)
        return self._off(out)

    def inside(self, joined: Unwrapped) -> list[Unwrapped]:
        """Take off what a record shows only once its parts are together."""
        joined.stream, joined.partial = None, False
        return self._off(joined)

    def _off(self, out: Unwrapped) -> list[Unwrapped]:
        for _ in range(_DEPTH):
            peeled = self._peel(out.text)
            if peeled is None and (self._learn_json(out.text) or self._shapes.learn(out.text)):
                peeled = self._shapes.peel(out.text)
            if peeled is None:
                break
            out.take(peeled)
            if peeled.gap or peeled.partial:
                break
            if "\n" in peeled.text:  # a shipper joined the lines of a traceback
                return self._several(out)
            out.text = strip_escapes(out.text)
        return [out]

    def _several(self, outer: Unwrapped) -> list[Unwrapped]:
        found = []
        for line in outer.text.split("\n"):
            for one in self._unwrap(line):
                one.kinds = outer.kinds + one.kinds
                one.time = one.time or outer.time
                one.host = one.host or outer.host
                one.pid = one.pid or outer.pid
                one.machine = one.machine or outer.machine
                one.server = one.server or outer.server
                found.append(one)
        return found

    def _learn_json(self, text: str) -> bool:
        """Learn a prefix from a shipper's JSON line behind it: a quote, a stamp."""
        start = text.find('{"', 1, MAX_PREFIX)
        if start < 0 or containers.from_json(text[start:]) is None:
            return False
        return self._shapes.learn_before(text[:start])

    def _peel(self, text: str) -> Peeled | None:
        first = text[:1]
        if first == "{":
            bare = text.rstrip()
            return containers.from_json(bare) if bare.endswith("}") else None
        peeled = None
        if first.isdigit():
            peeled = journald.peel(text) or containers.stamped(text)
        elif first.isalpha():
            peeled = journald.peel(text) or containers.compose(text)
        elif first == "[":
            peeled = containers.kubectl(text)
        if peeled is not None and peeled.kind.startswith("journald") and self._rewritten:
            peeled.kind = self._rewritten
        if peeled is None and not self._shapes.empty:
            peeled = self._shapes.peel(text)
        return peeled

    def _note(self, kind: str) -> None:
        if kind not in self.kinds:
            self.kinds.append(kind)
