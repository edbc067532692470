"""The files of a pack: plain YAML files inside one folder, in a fixed order, within limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from vdiag.errors import PackError

MAX_FILE = 1 << 20
"""Bytes of a file; the longest built-in rule has 30 KiB."""
MAX_FILES = 5_000
MAX_PACK = 32 << 20
"""Bytes of all files together."""

NOT_RULES = ("samples", "docs")
"""Folders of a pack that hold no rules."""


def pack_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path below the folder with ``/``, content) of every rule file, by path.

    Hidden names are skipped. A link is followed where it stays inside the folder (a mounted
    ConfigMap is made of such links) and refused where it leads out of it.
    """
    if not (folder / "pack.yaml").is_file():
        raise PackError(f"{folder}: no rule pack here (no pack.yaml)")
    total = 0
    for count, (name, path) in enumerate(sorted(_walk(folder, folder.resolve(), "", ())), 1):
        if count > MAX_FILES:
            raise PackError(f"{folder}: holds more than {MAX_FILES:,} rule files")
        raw = _read(folder, name, path)
        total += len(raw)
        if total > MAX_PACK:
            raise PackError(f"{folder}: its rule files are larger than {MAX_PACK >> 20} MiB")
        yield name, raw


def _walk(
    folder: Path, root: Path, below: str, above: tuple[Path, ...]
) -> Iterator[tuple[str, Path]]:
    here = folder / below
    try:
        entries = sorted(os.listdir(here))  # noqa: PTH208  # names alone are wanted
        real_here = here.resolve()
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a loop of links"
        raise PackError(f"{here}: cannot read: {reason}") from error
    if real_here in above:
        raise PackError(f"{here}: a link that leads back to {real_here}")
    for entry in entries:
        if entry.startswith("."):
            continue
        name = f"{below}/{entry}" if below else entry
        if not below and entry in NOT_RULES:
            continue
        path = folder / name
        if path.is_symlink() and not _inside(path, root):
            raise PackError(f"{path}: a link that leads out of the pack")
        if path.is_dir():
            yield from _walk(folder, root, name, (*above, real_here))
        elif entry.endswith(".yaml"):
            yield name, path
        elif entry.endswith(".yml"):
            raise PackError(f"{path}: name it {Path(entry).stem}.yaml; .yml is not read")


def _inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # a dangling link, a loop
        return False


def _read(folder: Path, name: str, path: Path) -> bytes:
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise PackError(f"{path}: is no plain file")
        if state.st_size > MAX_FILE:
            raise PackError(f"{path}: larger than 1 MiB; a rule file is text written by hand")
        with path.open("rb") as file:
            return file.read(MAX_FILE)
    except OSError as error:
        raise PackError(f"{path}: cannot read: {error.strerror}") from error
