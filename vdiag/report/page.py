"""A page of styled lines that is written plain or in colour.

The layout is made once, in spans of (text, style); colour only paints it. rich is imported
for that alone, because it costs more than a whole plain report.
"""

from __future__ import annotations

from typing import Literal, TextIO

from vdiag.report.escape import flat, visible
from vdiag.report.layout import ELLIPSIS, cells, clip, pad

Style = Literal["", "bold", "dim", "good", "bad", "warn", "code"]
Span = tuple[str, Style]

LABEL = 11
"""Cells of the column that the labels stand in."""
PROSE = 100
"""Prose is not set wider than this, whatever the terminal."""
_PAINT: dict[Style, str] = {
    "bold": "bold",
    "dim": "dim",
    "good": "bold green",
    "bad": "bold red",
    "warn": "bold yellow",
    "code": "cyan",
}


class Page:
    """Lines of a report, with a column of labels on the left.

    ``tight`` says how much the parts must save: 0 is roomy, 4 is one screen at any cost.
    """

    def __init__(self, width: int, *, tight: int = 0) -> None:
        self.width = max(width, 40)
        self.tight = tight
        self.lines: list[list[Span]] = []

    @property
    def prose(self) -> int:
        """Cells for prose beside the labels."""
        return min(self.width, PROSE) - LABEL

    @property
    def height(self) -> int:
        """Return the rows that the page takes on a terminal of its width."""
        sizes = (sum(cells(text) for text, _ in spans) for spans in self.lines)
        return sum(max(1, -(-size // self.width)) for size in sizes)

    def budget(self, *lines: int) -> int:
        """Return the number that goes with how tight the page is; the first is roomy."""
        return lines[min(self.tight, len(lines) - 1)]

    def line(self, *spans: Span) -> None:
        """Add a line as it is."""
        self.lines.append([span for span in spans if span[0]])

    def blank(self) -> None:
        """Add an empty line, unless one stands there or the page has no room for it."""
        if self.lines and self.lines[-1] and self.tight < 3:
            self.lines.append([])

    def entry(
        self, label: str, text: str, *, lead: Span | None = None, lines: int | None = None
    ) -> None:
        """Add prose beside a label, at most ``lines`` lines of it.

        ``lead`` is a styled beginning (``confirmed:``).
        """
        text = flat(text)
        if lead:
            text = f"{lead[0]} {text}"
        for index, part in enumerate(clip(text, self.prose, lines)):
            left: Span = (pad(label if index == 0 else "", LABEL), "bold")
            if index == 0 and lead and part.startswith(lead[0]):
                self.line(left, lead, (part[len(lead[0]) :], ""))
            else:
                self.line(left, (part, ""))

    def command(self, label: str, text: str) -> None:
        """Add a command on a line of its own. It is never cut or wrapped: people copy it."""
        for index, part in enumerate(text.strip().splitlines()):
            self.line((pad(label if index == 0 else "", LABEL), "bold"), (visible(part), "code"))

    def write(self, stream: TextIO, *, color: bool) -> None:
        """Write the page. Characters that the stream cannot encode are shown by their code."""
        paint = _painter() if color else None
        for spans in self.lines:
            text = "".join(paint(span) if paint else span[0] for span in _stripped(spans))
            stream.write(encodable(text, getattr(stream, "encoding", None)) + "\n")


def _stripped(spans: list[Span]) -> list[Span]:
    """Return the spans without blanks at the end of the line."""
    kept = list(spans)
    while kept:
        text, style = kept[-1]
        if text.rstrip(" "):
            return [*kept[:-1], (text.rstrip(" "), style)]
        kept.pop()
    return kept


def encodable(text: str, encoding: str | None) -> str:
    """Return the text in what the encoding can say, ``...`` for the ellipsis."""
    if encoding is None:
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace(ELLIPSIS, "...")
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return text
    return text


class _Painter:
    """Paints spans through rich's styles: no markup is ever parsed."""

    def __init__(self) -> None:
        from rich.color import ColorSystem
        from rich.style import Style as RichStyle

        self._system = ColorSystem.STANDARD
        self._styles = {name: RichStyle.parse(text) for name, text in _PAINT.items()}

    def __call__(self, span: Span) -> str:
        """Return the span with its escape sequences."""
        text, style = span
        if not style:
            return text
        return self._styles[style].render(text, color_system=self._system)


def _painter() -> _Painter:
    return _Painter()
