"""Loads rules fast: the built-in pack as the wheel carries it, else from the user's cache.

What a cache holds is named by the content of the rule files, vdiag's version and the record
format, so that nothing stale is ever read. A cache that is unreadable, damaged, or writable by
somebody else is ignored; one that cannot be written is not missed. Files are written beside and
renamed, so that concurrent starts never see half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import vdiag
from vdiag.rules import records
from vdiag.rules.packs import Pack, builtin_dir

_FORMAT = 1
"""Raised whenever a record's meaning changes within a version."""
PRECOMPILED = "pack.bin"
"""Of the built-in pack, beside its files in the wheel."""
_MAGIC = b"vdiag-rules "


def load(folders: Sequence[Path] = ()) -> Pack:
    """Return the built-in pack and, over it, further ones in the order given.

    Raises PackError where one is broken.
    """
    builtin = builtin_dir()
    if not folders:
        ready = _read(builtin / PRECOMPILED, _stamp(b"wheel"), own=False)
        if ready is not None:
            return ready
    key = _key([builtin, *folders])
    place = directory()
    file = place / f"rules-{key}.bin" if place else None
    if file is not None:
        pack = _read(file, _stamp(key.encode()), own=True)
        if pack is not None:
            return pack
    data = compiled(folders, key.encode())
    if file is not None:
        write(file, data)
    pack = _unpacked(data, _stamp(key.encode()))
    assert pack is not None  # noqa: S101  # just made
    return pack


def compiled(folders: Sequence[Path], key: bytes = b"wheel") -> bytes:
    """Read and check packs the slow way; return them as a cache file's content."""
    from vdiag.rules.pack import load_with

    pack = load_with(folders)
    frozen = {
        "packs": [tuple(ref) for ref in pack.packs],
        "defaults": records.defaults(),
        **{
            name: records.freeze(getattr(pack, name))
            for name in ("signals", "facts", "releases", "symptoms", "diagnoses", "places")
        },
    }
    return _stamp(key) + pickle.dumps(frozen, protocol=5)


def _stamp(key: bytes) -> bytes:
    return _MAGIC + f"{vdiag.__version__} {_FORMAT} ".encode() + key + b"\n"


def _key(folders: Sequence[Path]) -> str:
    """Name the content of packs."""
    from vdiag.rules.files import pack_files

    digest = hashlib.sha256()
    for folder in folders:
        digest.update(f"{folder.resolve()}\0".encode())
        for name, raw in pack_files(folder):
            digest.update(f"{name}\0{len(raw)}\0".encode())
            digest.update(raw)
    return digest.hexdigest()[:24]


def _read(file: Path, stamp: bytes, *, own: bool) -> Pack | None:
    """Return the pack in a file, or None where it is not there, not ours or damaged."""
    data = read_own(file) if own else _bytes(file)
    return _unpacked(data, stamp) if data is not None else None


def read_own(file: Path) -> bytes | None:
    """Return a cache file's content; None where it is missing, or not this user's alone."""
    return _bytes(file, own=True)


def _bytes(file: Path, *, own: bool = False) -> bytes | None:
    try:
        with file.open("rb") as stream:
            if own and not _is_own(os.fstat(stream.fileno())):
                return None
            return stream.read()
    except OSError:
        return None


def _unpacked(data: bytes, stamp: bytes) -> Pack | None:
    if not data.startswith(stamp):
        return None
    try:
        frozen = pickle.loads(data[len(stamp) :])  # noqa: S301  # this user's own, or the wheel's
        records.apply_defaults(frozen.pop("defaults"))
        refs = frozen.pop("packs")
        return Pack.of(refs, **frozen)
    except Exception:  # noqa: BLE001  # a damaged cache is no cache
        return None


def directory() -> Path | None:
    """Return the cache directory, made where it was missing; None where there is none of ours.

    ``VDIAG_CACHE_DIR`` names another one; an empty value turns the cache off.
    """
    given = os.environ.get("VDIAG_CACHE_DIR")
    if given is not None:
        place = Path(given) if given else None
    elif sys.platform == "darwin":
        place = Path.home() / "Library" / "Caches" / "vdiag"
    else:
        base = os.environ.get("XDG_CACHE_HOME")
        with contextlib.suppress(RuntimeError):  # no home directory
            base = base or str(Path.home() / ".cache")
        place = Path(base) / "vdiag" if base else None
    if place is None or not place.is_absolute():
        return None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place if _is_own(place.stat()) else None
    except OSError:
        return None


def _is_own(status: os.stat_result) -> bool:
    """Tell whether a file or folder is this user's and nobody else can write it."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def write(file: Path, data: bytes) -> None:
    """Write a cache file whole or not at all; a cache that cannot be written is not missed."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".vdiag-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.replace(name, file)  # noqa: PTH105  # atomic on every platform
        except OSError:
            os.unlink(name)  # noqa: PTH108
