r"""What happens to a file's bytes: encodings, line ends, colours, holes.

UTF-16 with a byte order mark and `\r\n` is what Windows PowerShell's `>` writes (about_Redirection,
"Out-File"); its reader ends a line at a lone `\r` too. `\n` becomes `\r\n` on a terminal
(termios(3), ONLCR), so in script(1) and `ssh -t`. NUL bytes fill what was never written: after a
power cut (delayed allocation), or before the write position of a file that logrotate's
copytruncate has emptied.
"""

from __future__ import annotations

import codecs
import random
import re

from .lines import fault

_LEVEL = re.compile(rb"(?:^|[) ])(DEBUG|INFO|WARNING|ERROR|CRITICAL)[: ]")
_ANSI = {b"DEBUG": b"37", b"INFO": b"32", b"WARNING": b"33", b"ERROR": b"31", b"CRITICAL": b"35"}
_ACCESS = re.compile(rb'INFO:     \S+ - "')
_PREFIX = re.compile(rb"\(\w+ pid=\d+\) [A-Z]+ ")


def crlf(log: bytes) -> bytes:
    r"""Let each line end with `\r\n`, as through a terminal."""
    return log.replace(b"\n", b"\r\n")


def utf16(log: bytes, *, order: str = "le", powershell: bool = False) -> bytes:
    """Encode as UTF-16 of that byte order, with a byte order mark."""
    text = log.decode("utf-8", "replace")
    if powershell:
        text = re.sub(r"\r\n|\r|\n", "\r\n", text)
    mark = codecs.BOM_UTF16_LE if order == "le" else codecs.BOM_UTF16_BE
    return mark + text.encode(f"utf-16-{order}")


def utf8_mark(log: bytes) -> bytes:
    """Put a UTF-8 byte order mark first."""
    return codecs.BOM_UTF8 + log


def invalid_utf8(log: bytes, *, seed: int = 0) -> bytes:
    """Cut characters of bars, end access lines with stray bytes, add junk between records."""
    rng = random.Random(seed)  # noqa: S311
    out = []
    for number, line in enumerate(log.split(b"\n")):
        if b"\r" in line.rstrip(b"\r"):
            line = line.replace("█".encode(), b"\xe2\x96", 1)
        elif _ACCESS.search(line):
            line += rng.choice([b"\xff\xfe", b"\xc3", b"\x80\x80", b"\xf0\x9f"])
        if number % 7 == 6 and _PREFIX.match(line):
            out.append(bytes(rng.randint(0x80, 0xFF) for _ in range(rng.randint(1, 40))))
        out.append(line)
    return b"\n".join(out)


def coloured(log: bytes) -> bytes:
    """Colour each whole line by its level, as log viewers do."""
    out = []
    for line in log.split(b"\n"):
        found = _LEVEL.search(line[:200])
        body = line.rstrip(b"\r")
        colour = _ANSI[found[1]] if found else None
        out.append(b"\x1b[%bm%b\x1b[0m" % (colour, body) + line[len(body) :] if colour else line)
    return b"\n".join(out)


def grep_coloured(log: bytes) -> bytes:
    """Mark words as `grep --color=always -E '^|ERROR|WARNING'` does: colours and EL."""
    return re.sub(rb"ERROR|WARNING", b"\x1b[01;31m\x1b[K\\g<0>\x1b[m\x1b[K", log)


def nul_hole(log: bytes) -> bytes:
    """Put a hole before the first error record, or in the middle; nothing is lost."""
    at = fault(log)
    return log[:at] + _hole(log) + log[at:]


def nul_front(log: bytes) -> bytes:
    """Put a hole before the first line, as copytruncate leaves it."""
    return 3 * _hole(log) + log


def nul_tail(log: bytes) -> bytes:
    """Put a hole behind the last line, as a power cut leaves it."""
    return log + _hole(log)


def nul_instead(log: bytes) -> bytes:
    """Overwrite the access lines with NUL bytes, their newlines too: they are lost."""
    return b"".join(
        b"\0" * len(line) if _ACCESS.search(line) else line
        for line in log.splitlines(keepends=True)
    )


def _hole(log: bytes) -> bytes:
    """Return a page of NUL bytes, or a sector where the log itself is small."""
    return b"\0" * (4096 if len(log) > 4 * 4096 else 512)
