"""The journal of a systemd unit, as ``journalctl`` prints it.

One JSON object a line (``-o json``) keeps every field, and with ``--all`` every byte: long
fields are not left out, and a message with unprintable bytes comes as a list of numbers.
``-o export`` keeps as much, but spreads an entry over lines.
"""

from __future__ import annotations

import io
import subprocess
import threading
from typing import IO, TYPE_CHECKING

from vdiag.errors import InputError
from vdiag.logs.limits import Trouble
from vdiag.logs.sources import Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_KEPT = 4096
"""Bytes kept of what journalctl says on standard error."""


def open_journal(unit: str, *, since: str | None = None, until: str | None = None) -> Source:
    """Start ``journalctl`` for a unit and return what it prints as a source.

    Args:
        unit: Name of the unit, as ``journalctl --unit`` takes it.
        since: Time in a form that journalctl knows (``-1h``, ``2026-12-01 10:00``).
        until: The same.

    Raises:
        InputError: There is no journalctl.

    """
    name = f"journal:{unit}"
    command = ["journalctl", f"--unit={unit}", "--output=json", "--all", "--no-pager"]
    command += [f"--since={since}"] if since else []
    command += [f"--until={until}"] if until else []
    try:
        process = subprocess.Popen(  # noqa: S603  # a fixed program, no shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise InputError(
            f"{name}: cannot run journalctl ({(error.strerror or str(error)).lower()}); print the "
            f"journal where systemd runs: journalctl -u {unit} -o json --all > journal.json"
        ) from error
    trouble = Trouble()
    return Source(name, _Printed(process, name, trouble), owned=True, trouble=trouble)


class _Printed(io.RawIOBase):
    """What a journalctl prints; at its end it is asked how it went."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, trouble: Trouble) -> None:
        super().__init__()
        self._process = process
        self._name = name
        self._trouble = trouble
        self._count = 0
        self._ended = False
        self._said = b""
        # Drained beside the reading: a full pipe would stop journalctl.
        self._listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        self._listener.start()

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer as far as one step goes; 0 at the end."""
        if self._ended:
            return 0
        assert self._process.stdout is not None  # noqa: S101  # opened as a pipe
        view = memoryview(buffer).cast("B")
        data = self._process.stdout.read1(len(view))  # type: ignore[attr-defined]
        if not self._count and data.strip() == b"-- No entries --":
            data = b""  # some versions say so on standard output
        view[: len(data)] = data
        self._count += len(data)
        if not data:
            self._ended = True
            self._judge()
        return len(data)

    def _listen(self, stderr: IO[bytes]) -> None:
        while data := stderr.read(_KEPT):
            self._said = (self._said + data)[-_KEPT:]

    def _judge(self) -> None:
        """Raise InputError where nothing came, note it where the rest is missing."""
        status = self._process.wait()
        self._listener.join(timeout=5)
        said = [line.strip() for line in self._said.decode("utf-8", "replace").splitlines()]
        said = [line for line in said if line and not line.startswith("-- No entries")]
        text = said[-1].rstrip(".") if said else f"it ended with status {status}"
        if status:
            if not self._count:
                raise InputError(f"{self._name}: journalctl failed: {text}")
            self._trouble.note(f"journalctl failed after {self._count} bytes: {text}")
        elif not self._count:
            unseen = any("not seeing messages" in line for line in said)
            hint = (
                "this user may not see it: try with sudo, or join the group systemd-journal"
                if unseen
                else "check the unit's name (systemctl list-units), the times, and whether this "
                "user may read the system's journal"
            )
            raise InputError(f"{self._name}: the journal has no entries of this unit; {hint}")

    def close(self) -> None:
        """End journalctl, if it still runs."""
        if not self.closed:
            if self._process.poll() is None:
                self._process.terminate()
                self._process.wait()
            self._listener.join(timeout=5)
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
        super().close()
