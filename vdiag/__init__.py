"""vdiag: hand it the log of a broken vLLM server and it names the root cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from vdiag.report.model import Report

__version__ = "0.1.0"

__all__ = ["__version__", "analyze"]


def analyze(
    *inputs: str | os.PathLike[str] | BinaryIO,
    rules: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    names: list[str] | None = None,
) -> Report:
    """Analyse logs and return the report.

    ``inputs`` are paths (``-`` is standard input) or binary streams; ``names`` name the
    streams in the report. ``rules`` are folders with rule packs that add to the built-in
    one, in their order.

    Raises :class:`vdiag.errors.InputError` where an input cannot be read or is no text, and
    :class:`vdiag.errors.PackError` where the rule pack is broken.
    """
    import os
    from pathlib import Path

    from vdiag.engine.diagnose import Engine
    from vdiag.logs.sources import Source, open_path
    from vdiag.rules.pack import load_with

    given_rules = [rules] if isinstance(rules, str | os.PathLike) else rules
    folders = [Path(folder) for folder in given_rules]
    engine = Engine.of(load_with(folders))
    sources = []
    for index, given in enumerate(inputs):
        if isinstance(given, str | os.PathLike):
            sources.append(open_path(os.fspath(given)))
        else:
            name = names[index] if names else getattr(given, "name", None)
            sources.append(Source(str(name or "<stream>"), given))
    return engine.report(sources, __version__)
