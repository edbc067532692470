"""Write vLLM log lines in the styles that vLLM writes them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from .release import Release

_LEVEL_COLOUR = {"DEBUG": 37, "INFO": 32, "WARNING": 33, "ERROR": 31, "CRITICAL": 35}


@dataclass(frozen=True)
class Proc:
    """A process: its name in the prefix, its pid and its multiprocessing name."""

    name: str
    pid: int
    mp_name: str = "MainProcess"

    def named(self, name: str) -> Proc:
        """Return the same process under another name (`Worker` becomes `Worker_TP1`)."""
        return Proc(name, self.pid, self.mp_name)


@dataclass(frozen=True)
class Line:
    """One physical line, terminator included, with what a collector would know of it."""

    when: datetime
    pid: int
    data: str


class Log:
    """Collect the lines of one or several processes in the order they reach the stream."""

    def __init__(self, release: Release, style: str = "plain", start: str = "10:00:00") -> None:
        """Start an empty log; `style` is plain, color or json."""
        self.release = release
        self.style = style
        self.now = datetime.fromisoformat(f"2026-12-01T{start}")
        self.rng = random.Random(f"{release.version}/{style}/{start}")  # noqa: S311
        self.lines: list[Line] = []
        self.redraws = 3
        """How often a bar is drawn again."""

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def record(
        self, proc: Proc, level: str, site: str, message: str, exc: Iterable[str] = ()
    ) -> None:
        """Write one log record; `exc` holds the lines of its traceback."""
        self.lines.extend(self.render(proc, level, site, message, list(exc)))

    def render(self, proc: Proc, level: str, site: str, message: str, exc: list[str]) -> list[Line]:
        """Return the physical lines of one record without writing them."""
        path, number = self.release.at(site)
        if self.style == "json":
            return [self._line(proc, self._json(proc, level, path, message, exc) + "\n")]
        prefix = self._prefix(proc, level, path.rpartition("/")[2], number)
        texts = [*message.split("\n"), *exc]
        ends = ["\r\n"] * (len(texts) - 1) + ["\n"]
        return [self._line(proc, prefix + t + e) for t, e in zip(texts, ends, strict=True)]

    def interleave(self, *records: list[Line]) -> None:
        """Write several rendered records at once, their lines mixed; the first stays ahead."""
        queues = [list(lines) for lines in records if lines]
        while queues:
            take = self.rng.randint(1, 4)
            for queue in queues:
                self.lines.extend(queue[:take])
                del queue[:take]
            queues = [q for q in queues if q]

    def raw(self, text: str, proc: Proc | None = None) -> None:
        """Write text printed from Python outside logging; hooked releases prefix it."""
        owner = proc or Proc("", 0)
        for part in text.split("\n"):
            hooked = self.release.hook and proc is not None
            self.lines.append(self._line(owner, self._hook(owner, part) if hooked else part + "\n"))

    def native(self, text: str, pid: int = 0) -> None:
        """Write text of C or C++ code or of another program: never prefixed."""
        self.lines.extend(self._line(Proc("", pid), part + "\n") for part in text.split("\n"))

    def bar(self, proc: Proc, title: str, total: int) -> None:
        """Write a tqdm bar: states separated by carriage returns, one newline at the end."""
        states = [total * i // self.redraws for i in range(self.redraws + 1)]
        bars = "".join(
            f"\r{title}: {100 * n // total:3d}%|{'█' * (10 * n // total):<10}| {n}/{total}"
            f" [00:{i:02d}<00:{self.redraws - i:02d}, {9.4 + i:5.2f}it/s]"
            for i, n in enumerate(states)
        )
        self.raw(bars, proc)

    def text(self) -> str:
        """Return the whole log."""
        return "".join(line.data for line in self.lines)

    def _line(self, proc: Proc, data: str) -> Line:
        return Line(self.now, proc.pid, data)

    def _hook(self, proc: Proc, text: str) -> str:
        return f"({proc.name} pid={proc.pid}) {text}\n"

    def _prefix(self, proc: Proc, level: str, file: str, number: int) -> str:
        stamp = self.now.strftime("%m-%d %H:%M:%S")
        name = f"({proc.name} pid={proc.pid})"
        if self.style != "color":
            return f"{name} {level} {stamp} [{file}:{number}] "
        return (
            f"\x1b[0;36m{name}\x1b[0;0m \x1b[{_LEVEL_COLOUR[level]}m{level}\x1b[0m "
            f"\x1b[90m{stamp}\x1b[0m \x1b[90m[{file}:{number}]\x1b[0m "
        )

    def _json(self, proc: Proc, level: str, path: str, message: str, exc: list[str]) -> str:
        millis = self.rng.randint(0, 999)
        body = {
            "asctime": f"{self.now:%Y-%m-%d %H:%M:%S},{millis:03d}",
            "levelname": level,
            "name": "vllm." + path.removesuffix(".py").replace("/", "."),
            "processName": proc.mp_name,
            "process": proc.pid,
            "message": message,
        }
        if exc:
            body["exc_info"] = "\n".join(exc)
        return json.dumps({**body, "vllm_process_name": proc.name})


def journald_short(log: Log, unit: str = "vllm", host: str = "node7") -> str:
    """Return the log as `journalctl -o short` prints it: no CR, no blank lines, bars as blobs."""
    out = []
    for line in log.lines:
        text = line.data.rstrip("\r\n")
        kernel = text.startswith("kernel: ")
        if "\r" in text:
            size = len(text.encode())
            text = f"[{size}B blob data]" if size < 1024 else f"[{size / 1024:.1f}K blob data]"
        if not text.strip():
            continue
        source = "" if kernel else f"{unit}[{line.pid}]: "
        out.append(f"{line.when:%b %d %H:%M:%S} {host} {source}{text.rstrip()}\n")
    return "".join(out)
