"""vdiag: hand it the log of a broken vLLM server and it names the root cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from vdiag.logs.sources import Source
    from vdiag.report.model import Report

__version__ = "0.1.0"

__all__ = ["__version__", "analyze"]


def analyze(
    *inputs: str | os.PathLike[str] | BinaryIO,
    rules: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    names: list[str] | None = None,
) -> Report:
    """Analyse logs and return the report.

    ``inputs`` are paths or binary streams. A path may be a file, packed or not, an archive, a
    folder, a pattern, or ``-`` for standard input; the files of a rotated log are one input.
    ``names`` name the streams in the report. ``rules`` are folders with rule packs that add
    to the built-in one, in their order.

    Raises :class:`vdiag.errors.InputError` where an input cannot be read or is no text, and
    :class:`vdiag.errors.PackError` where the rule pack is broken.
    """
    import os
    from pathlib import Path

    from vdiag.engine.diagnose import Engine, builtin_engine
    from vdiag.rules.cache import load

    given = [rules] if isinstance(rules, str | os.PathLike) else rules
    packs = [Path(folder) for folder in given]
    engine = Engine.of(load(packs)) if packs else builtin_engine()
    return engine.report(_sources(inputs, names), __version__)


def _sources(
    inputs: tuple[str | os.PathLike[str] | BinaryIO, ...], names: list[str] | None
) -> Iterator[Source]:
    """Open paths together, so that a rotated log is seen as one, and streams one by one."""
    import os

    from vdiag.logs.inputs import open_inputs, open_stream

    paths: list[str] = []
    for index, given in enumerate(inputs):
        if isinstance(given, str | os.PathLike):
            paths.append(os.fspath(given))
            continue
        yield from open_inputs(paths)
        paths = []
        name = names[index] if names else getattr(given, "name", None)
        yield from open_stream(str(name or "<stream>"), given)
    yield from open_inputs(paths)
