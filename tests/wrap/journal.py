"""A real journal: made by systemd-journal-remote, printed by journalctl.

On Debian: packages `systemd` and `systemd-journal-remote`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .journald import entries, journald

_REMOTES = ("/usr/lib/systemd/systemd-journal-remote", "/lib/systemd/systemd-journal-remote")
_ENV = {"PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def missing() -> str | None:
    """Return what is not installed, or None."""
    if not shutil.which("journalctl"):
        return "journalctl is not installed"
    if not _remote():
        return "systemd-journal-remote is not installed"
    return None


def make(log: bytes, folder: Path) -> Path:
    """Write a journal of a log, one entry a line, into a folder; return its file."""
    assert entries(log), "an empty log makes no journal"
    stream, file = folder / "log.export", folder / "log.journal"
    stream.write_bytes(journald(log, form="export"))
    _run([str(_remote()), f"--output={file}", str(stream)])
    return file


def show(file: Path, form: str, *, all: bool = False) -> bytes:
    """Return what journalctl prints of a journal."""
    return _run(
        ["journalctl", "--quiet", "--no-pager", "--utc", f"--file={file}", f"--output={form}"]
        + (["--all"] if all else [])
    )


def _remote() -> str | None:
    return next((path for path in _REMOTES if Path(path).exists()), None)


def _run(command: list[str]) -> bytes:
    done = subprocess.run(command, env=_ENV, capture_output=True, check=False, timeout=60)
    assert not done.returncode, (command, done.stderr.decode("utf-8", "replace"))
    return done.stdout
