"""Who wrote a line: processes by (host, pid), their roles and ranks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_RANK = re.compile(r"[_ ](DP|PP|PCP|TP|DCP|EP)(\d+)")
_OLD_RANK = re.compile(r"rank=(\d+)")


def role_of(name: str | None) -> str:
    """Return the role that a process name stands for."""
    if not name:
        return "unknown"
    lower = name.lower()
    for prefix, role in (
        ("apiserver", "api"),
        ("api_server", "api"),
        ("enginecore", "engine"),
        ("worker", "worker"),
        ("vllmworker", "worker"),
        ("rayworker", "worker"),
        ("cpuworker", "worker"),
        ("vllm_dp_coordinator", "coordinator"),
        ("dpcoordinator", "coordinator"),
        ("dpsupervisor", "coordinator"),
        ("mainprocess", "main"),
    ):
        if lower.startswith(prefix):
            return role
    return "unknown"


def ranks_of(name: str) -> dict[str, int]:
    """Return the ranks a name states: ``Worker_PP0_TP5`` → {"pp": 0, "tp": 5}.

    A plain ``Worker`` (TP 1, or before the groups exist) states none.
    """
    ranks = {kind.lower(): int(value) for kind, value in _RANK.findall(name)}
    old = _OLD_RANK.search(name)
    if old:
        ranks["rank"] = int(old.group(1))
    return ranks


@dataclass
class ProcessState:
    """A process under its latest name, as far as the log shows it."""

    name: str
    pid: int | None
    host: str | None
    role: str
    order: int
    ranks: dict[str, int] = field(default_factory=dict)
    phase: str | None = None
    levels: dict[str, set[str]] = field(default_factory=dict)
    """Levels of records seen, by phase."""

    @property
    def label(self) -> str:
        """How reports name it: by its name, with the pid where the name is shared."""
        return self.name

    def rename(self, name: str) -> None:
        """Take the latest name; a less specific one never replaces ranks already known."""
        if name == self.name:
            return
        ranks = ranks_of(name)
        if self.ranks and not ranks and role_of(name) == self.role:
            return
        self.name, self.role, self.ranks = name, role_of(name), ranks or self.ranks
