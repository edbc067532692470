"""The literal database: compiled once for a machine, then read from the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import platform
from pathlib import Path
from types import ModuleType
from typing import Any

from vdiag.rules import cache


def load(literals: list[bytes]) -> Any:  # noqa: ANN401  # the binding has no types
    """Return a database that finds all literals; raises ImportError without hyperscan's wheel."""
    import hyperscan

    place = cache.directory()
    file = place / f"literals-{_key(literals, hyperscan)}.bin" if place is not None else None
    if file is not None:
        kept = cache.read_own(file)
        if kept is not None:
            with contextlib.suppress(hyperscan.error):  # damaged, or of another processor
                database = hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)
                database.scratch = hyperscan.Scratch(database)
                return database
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=literals,
        ids=list(range(len(literals))),
        elements=len(literals),
        flags=[0] * len(literals),
        literal=True,
    )
    if file is not None:
        cache.write(file, hyperscan.dumpb(database))
    return database


def _key(literals: list[bytes], hyperscan: ModuleType) -> str:
    """Name the literals, the library and the processor: a database fits only these."""
    digest = hashlib.sha256(b"\0".join(literals))
    digest.update(f"{getattr(hyperscan, '__version__', '')} {platform.machine()}".encode())
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_bytes().split(b"\n\n", 1)[0].split(b"\n")
        digest.update(
            b"".join(line for line in lines if line[:5] in (b"flags", b"Featu", b"model"))
        )
    return digest.hexdigest()[:24]
