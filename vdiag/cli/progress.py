"""How far the reading is, on a terminal's standard error, for inputs that take a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from vdiag.logs.sources import Source

_PATIENCE = 1.0
"""Seconds before anything is shown; rich is not imported before."""
_EVERY = 0.1


def watched(sources: Iterator[Source]) -> Iterator[Source]:
    """Yield the sources, and show how far each is while it is read."""
    meter = _Meter()
    try:
        for source in sources:
            source.watch = meter.update
            yield source
    finally:
        meter.close()


class _Meter:
    """A line that appears after a second and is wiped at the end."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._name = ""
        self._began = self._shown = time.monotonic()

    def update(self, source: Source) -> None:
        """Show how much of a source was read."""
        now = time.monotonic()
        if source.name != self._name:
            self._name, self._began = source.name, now if self._progress is None else self._began
        if now - self._began < _PATIENCE or now - self._shown < _EVERY:
            return
        self._shown = now
        if self._progress is None:
            self._progress = _start()
        from vdiag.report.escape import visible

        task = self._progress.task_ids[0]
        self._progress.update(
            task,
            description=visible(source.name),
            completed=source.budget.read or source.size,
            total=source.total,
        )

    def close(self) -> None:
        """Wipe the line."""
        if self._progress is not None:
            self._progress.stop()


def _start() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
    from rich.table import Column

    name = TextColumn(
        "{task.description}",
        markup=False,
        table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
    )
    progress = Progress(
        name,
        BarColumn(bar_width=20),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        expand=True,
        auto_refresh=False,
    )
    progress.add_task("", total=None)
    progress.start()
    return progress
