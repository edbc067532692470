r"""What systemd-journald keeps of a service's output and what journalctl prints of it.

Formats: journalctl(1) `--output` and `--all`; systemd.journal-fields(7); "Journal Export
Formats" and "Journal JSON Format" (systemd documentation); journald.conf(5) `LineMax=48K` and
`RateLimitBurst=`. By systemd 252 (`src/shared/logs-show.c`), checked against the real program in
`tests/logs/test_real_journal.py`:

* journald ends a message at `\n`, at NUL or at 48 KiB, drops white space at its end (so `\r`) and
  a message that is then empty;
* text formats show a tab as eight spaces, leave out colours, and put `[N blob data]` for a message
  with other unprintable bytes; with `--all` they print the bytes;
* `json` gives null for a field of 4 KiB or more unless `--all`, and an array of byte values for
  unprintable ones; `export` frames those with a 64-bit little-endian length;
* `cat` prints the bytes, always.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from .lines import joined, lines

LINE_MAX = 48 * 1024
JSON_THRESHOLD = 4096
HOST, UNIT, IDENTIFIER = "node7", "vllm.service", "vllm"
BOOT = "fedcba9876543210fedcba9876543210"
SHORT = {
    "short": "%b %d %H:%M:%S",
    "short-iso": "%Y-%m-%dT%H:%M:%S+0000",
    "short-iso-precise": "%Y-%m-%dT%H:%M:%S.%f+0000",
    "short-full": "%a %Y-%m-%d %H:%M:%S UTC",
    "with-unit": "%a %Y-%m-%d %H:%M:%S UTC",
}
FORMATS = (*SHORT, "json", "export", "cat", "verbose")
_COLOUR = re.compile(rb"\x1b\[[\d;]*m")
_END = b" \t\n\r"


@dataclass(frozen=True)
class Entry:
    """One journal entry; `fields` are all but its message and addresses."""

    when: datetime
    pid: int
    message: bytes
    fields: tuple[tuple[str, str], ...]

    @property
    def micros(self) -> int:
        """Return the time in microseconds since 1970."""
        return int(self.when.replace(tzinfo=UTC).timestamp()) * 1_000_000 + self.when.microsecond

    @property
    def identifier(self) -> str:
        """Return what stands before the pid in the text formats."""
        return dict(self.fields)["SYSLOG_IDENTIFIER"]

    @property
    def unit(self) -> str:
        """Return what `with-unit` shows."""
        return dict(self.fields).get("_SYSTEMD_UNIT", self.identifier)


def entries(log: bytes, *, suppress: tuple[int, int] | None = None) -> list[Entry]:
    """Return what journald keeps; `suppress` are the entries lost to its rate limit."""
    out = []
    for line in lines(log):
        for part in line.data.split(b"\0"):
            for at in range(0, len(part) or 1, LINE_MAX):
                message = part[at : at + LINE_MAX].rstrip(_END)
                if message.strip(_END):
                    out.append(Entry(line.when, line.pid, message, _service(line.pid)))
    if suppress:
        first, last = suppress
        lost = out[first:last]
        text = f"Suppressed {len(lost)} messages from {UNIT}".encode()
        out[first:last] = [Entry(lost[-1].when, 311, text, _JOURNALD)]
    return out


def journald(
    log: bytes,
    *,
    form: str = "short",
    all: bool = False,
    suppress: tuple[int, int] | None = None,
) -> bytes:
    """Return what `journalctl --utc -o FORM` prints of a log; `all` is its --all."""
    kept = entries(log, suppress=suppress)
    if form in SHORT:
        return joined([_short(one, form, all) for one in kept])
    if form == "cat":
        return joined([one.message for one in kept])
    writer = {"json": _json, "export": _export, "verbose": _verbose}[form]
    return b"".join(writer(number, one, all) for number, one in enumerate(kept, 1))


def printable(data: bytes) -> bool:
    """Say whether systemd takes it for text: UTF-8 without control characters but tab."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any((c < " " and c != "\t") or "\x7f" <= c <= "\x9f" for c in text)


def blob(size: int) -> bytes:
    """Return the note that stands for an unprintable message."""
    shown = f"{size}B" if size < 1024 else f"{size // 1024}.{size * 10 // 1024 % 10}K"
    return f"[{shown} blob data]".encode()


def _short(one: Entry, form: str, all: bool) -> bytes:
    name = one.unit if form == "with-unit" else one.identifier
    text = one.message
    if not all:
        text = _COLOUR.sub(b"", text).replace(b"\t", b" " * 8)
        text = text if printable(text) else blob(len(text))
    return f"{one.when:{SHORT[form]}} {HOST} {name}[{one.pid}]: ".encode() + text


def _addresses(number: int, one: Entry) -> dict[str, str]:
    monotonic = number * 1000 + 7_000_000_000
    return {
        "__CURSOR": f"s=aaaabbbbccccddddeeeeffff00001111;i={number:x};b={BOOT};m={monotonic:x};"
        f"t={one.micros:x};x={one.micros * 2654435761 % 2**64:x}",
        "__REALTIME_TIMESTAMP": str(one.micros),
        "__MONOTONIC_TIMESTAMP": str(monotonic),
    }


def _json(number: int, one: Entry, all: bool) -> bytes:
    message: object = one.message
    if not all and len(b"MESSAGE=" + one.message) >= JSON_THRESHOLD:
        message = None
    elif printable(one.message):
        message = one.message.decode()
    else:
        message = list(one.message)
    # Field order is that of a hash table in journalctl; the message stands anywhere.
    fields = [*_addresses(number, one).items(), *one.fields]
    fields.insert(number * 7 % len(fields), ("MESSAGE", message))
    return json.dumps(dict(fields), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _export(number: int, one: Entry, all: bool) -> bytes:
    rows = [f"{k}={v}".encode() for k, v in (*_addresses(number, one).items(), *one.fields)]
    if printable(one.message):
        rows.append(b"MESSAGE=" + one.message)
    else:
        rows.append(b"MESSAGE\n" + len(one.message).to_bytes(8, "little") + one.message)
    return joined([*rows, b""])


def _verbose(number: int, one: Entry, all: bool) -> bytes:
    cursor = _addresses(number, one)["__CURSOR"]
    text = one.message if all or printable(one.message) else blob(len(one.message))
    rows = [f"    {k}={v}".encode() for k, v in one.fields]
    head = f"{one.when:%a %Y-%m-%d %H:%M:%S.%f} UTC [{cursor}]".encode()
    return joined([head, *rows, b"    MESSAGE=" + text])


def _service(pid: int) -> tuple[tuple[str, str], ...]:
    return (
        ("_BOOT_ID", BOOT),
        ("_TRANSPORT", "stdout"),
        ("PRIORITY", "6"),
        ("SYSLOG_FACILITY", "3"),
        ("SYSLOG_IDENTIFIER", IDENTIFIER),
        ("_STREAM_ID", "7b8449844df8432ebed4589d410bce7d"),
        ("_UID", "1000"),
        ("_GID", "1000"),
        ("_COMM", "vllm"),
        ("_EXE", "/usr/bin/python3.12"),
        ("_CMDLINE", "/opt/venv/bin/python /opt/venv/bin/vllm serve --config /etc/vllm.yaml"),
        ("_SYSTEMD_CGROUP", "/system.slice/vllm.service"),
        ("_SYSTEMD_UNIT", UNIT),
        ("_MACHINE_ID", "0123456789abcdef0123456789abcdef"),
        ("_HOSTNAME", HOST),
        ("_RUNTIME_SCOPE", "system"),
        ("_PID", str(pid)),
    )


_JOURNALD = (
    ("_BOOT_ID", BOOT),
    ("_TRANSPORT", "driver"),
    ("PRIORITY", "5"),
    ("SYSLOG_IDENTIFIER", "systemd-journald"),
    ("MESSAGE_ID", "a596d6fe7bfa4994828e72309e95d61e"),
    ("_COMM", "systemd-journal"),
    ("_HOSTNAME", HOST),
    ("_PID", "311"),
)
