r"""What starts several processes and labels their lines: Ray, Slurm, torchrun, parallel, pdsh.

Formats: Ray 2.60 `ray/_private/worker.py:print_worker_logs` (prefix `(Name pid=N, ip=A)`, cyan,
`ip` for other nodes only) and `ray/_private/ray_logging/__init__.py:LogDeduplicator`; its log
monitor drops `\r\n` at line ends. Slurm's srun(1), `--label` ("prepend task number to lines",
as wide as the largest number; some releases fill with zeros). torchrun: `torch/distributed/
elastic/multiprocessing/tail_log.py` (`[default0]:`, `TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE`),
which reads in text mode, so that a lone `\r` ends a line too. parallel(1) `--tag` (argument and a
tab; GNU parallel 20221122 also writes it behind `\r`). pdsh(1) (`host: `).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .lines import Line, before_each, joined, lines

_WORKER = re.compile(rb"^(?:\x1b\[[\d;]*m)*\((?:Ray)?Worker[^()]* pid=(\d+)\)(?:\x1b\[[\d;]*m)* ")
_RANK = re.compile(rb"^(?:\x1b\[[\d;]*m)*\(Worker\w*?_TP(\d+)[^()]* pid=")
_NUMBERS = re.compile(r"(\d+|0x[0-9a-fA-F]+)")
_HINT = (
    " (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see "
    "https://docs.ray.io/en/master/ray-observability/user-guides/configure-logging.html"
    "#log-deduplication for more options.)"
)


def ray(
    log: bytes,
    *,
    ip: str | None = None,
    actor: str = "RayWorkerWrapper",
    colour: bool = True,
    bare: bool = False,
    dedup: bool = False,
) -> bytes:
    """Return a driver's output: the workers' lines with Ray's prefix, its own without.

    `bare` leaves out vLLM's own prefix, as releases whose Ray workers do not write it; `dedup`
    holds back lines that other workers wrote within five seconds.
    """
    printer = _Deduplicator(colour) if dedup else None
    out: list[bytes] = []

    def put(pid: int, data: bytes) -> None:
        name = f"({actor} pid={pid}{f', ip={ip}' if ip else ''})"
        out.append((f"\x1b[36m{name}\x1b[0m " if colour else f"{name} ").encode() + data)

    for line in lines(log):
        found = _WORKER.match(line.data)
        if not found:
            out.append(line.data)
            continue
        data = line.data[found.end() if bare else 0 :].rstrip(b"\r\n")
        if printer is None:
            put(int(found[1]), data)
            continue
        for pid, text in printer.lines(line.when, int(found[1]), data):
            put(pid, text)
    for pid, text in printer.flush() if printer else []:
        put(pid, text)
    return joined(out)


def srun(log: bytes, *, tasks: int = 1, per_rank: bool = False, zeros: bool = False) -> bytes:
    """Return what `srun --label` prints for so many tasks."""
    width = len(str(tasks - 1))

    def label(line: Line) -> bytes:
        task = _rank(line) % tasks if per_rank else 0
        return (f"{task:0{width}d}: " if zeros else f"{task:{width}d}: ").encode()

    return joined([label(one) + one.data for one in lines(log)])


def torchrun(log: bytes, *, template: str = "[default{rank}]:", per_rank: bool = False) -> bytes:
    """Return what `torchrun --tee 3` prints."""
    text = log.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return joined(
        [
            template.format(rank=_rank(one) if per_rank else 0).encode() + one.data
            for one in lines(text)
        ]
    )


def parallel_tag(log: bytes, *, argument: str = "gpu-node1") -> bytes:
    r"""Return what `parallel --tag` prints: the tag stands behind each `\r` too."""
    tag = f"{argument}\t".encode()
    return before_each(log.replace(b"\r", b"\r" + tag), tag.decode())


def pdsh(log: bytes, *, host: str = "node1") -> bytes:
    """Return what `pdsh` prints."""
    return before_each(log, f"{host}: ")


def _rank(line: Line) -> int:
    found = _RANK.match(line.data)
    return int(found[1]) if found else 0


@dataclass
class _State:
    since: datetime
    count: int
    data: bytes
    pid: int
    sources: set[int]


@dataclass
class _Deduplicator:
    """Ray's LogDeduplicator: same words but for those with digits, another source, five seconds."""

    colour: bool
    recent: dict[str, _State] = field(default_factory=dict)
    hinted: bool = False

    def lines(self, now: datetime, pid: int, data: bytes) -> list[tuple[int, bytes]]:
        """Take one line of a worker; return what is printed now."""
        out = []
        key = " ".join(x for x in data.decode("utf-8", "replace").split() if not _NUMBERS.search(x))
        state = self.recent.get(key)
        if not key:
            out.append((pid, data))
        elif state is None:
            self.recent[key] = _State(now, 0, data, pid, {pid})
            out.append((pid, data))
        else:
            state.sources.add(pid)
            if len(state.sources) > 1:
                state.count, state.data, state.pid = state.count + 1, data, pid
            else:
                out.append((pid, data))
        for old in [k for k, s in self.recent.items() if now - s.since >= timedelta(seconds=5)]:
            state = self.recent.pop(old)
            out += self._held(state)
            if state.count > 1:
                self.recent[old] = _State(now, 0, state.data, state.pid, state.sources)
        return out

    def flush(self) -> list[tuple[int, bytes]]:
        """Return what is still held back."""
        return [line for state in self.recent.values() for line in self._held(state)]

    def _held(self, state: _State) -> list[tuple[int, bytes]]:
        if not state.count:
            return []
        if state.count == 1:
            return [(state.pid, state.data)]
        note = f" [repeated {state.count}x across cluster]{'' if self.hinted else _HINT}"
        self.hinted = True
        return [(state.pid, state.data + f"\x1b[32m{note}\x1b[0m".encode())]
