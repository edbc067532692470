"""Where one life of a server ends and the next begins, told from what was read so far."""

from __future__ import annotations

from vdiag.engine.observation import Observation, RunData, Sighting

_SAME_START_SECONDS = 5
_LATER_SECONDS = 120
"""Longer than any drain at shutdown that is not told to take its time."""
_OTHER_DAY_SECONDS = 86_400


def is_later(run: RunData, at: Sighting) -> bool:
    """Tell whether a record is of another life, whose start is not in the log.

    The run is over, and a process that it never had writes well before or after its end.
    """
    over = run.end or (run.stop if not run.failed else None)
    if over is None or at.process is None or at.process in run.processes:
        return False
    if over.seconds is None or at.seconds is None:
        return False
    return abs(at.seconds - over.seconds) > _LATER_SECONDS


def is_quoted(run: RunData, at: Sighting) -> bool:
    """Tell whether a record in another excerpt of a page is of somebody else's log.

    The page's own log, with its start and its failure, stands before; the record is of a process
    that it never had, and of well before its start, or of another day.
    """
    if not run.failed or run.banner is None or run.first is None or run.last is None:
        return False
    if at.process is None or at.process in run.processes or at.seconds is None:
        return False
    start, last = run.first.seconds, run.last.seconds
    if start is None or last is None:
        return False
    return at.seconds < start - _LATER_SECONDS or at.seconds > last + _OTHER_DAY_SECONDS


def is_before_banner(run: RunData) -> bool:
    """Tell whether what was read is a start's own: imports log before the banner."""
    return (
        run.kind == "server"
        and run.banner is None
        and not run.failed
        and run.stop is None
        and run.end is None
        and _only_startup(run)
        and not any(block.raised for block in run.blocks if block.first.level != "WARNING")
    )


def is_same_start(run: RunData, at: Sighting) -> bool:
    """Tell whether a banner only repeats the one that opened the run."""
    if run.banner is None or run.failed or run.end is not None:
        return False
    near = (
        at.seconds is None
        or run.banner.seconds is None
        or abs(at.seconds - run.banner.seconds) <= _SAME_START_SECONDS
    )
    return run.banner.process is at.process and near and _only_startup(run)


def is_new_engine(run: RunData, at: Sighting) -> bool:
    """Tell whether an engine's first line starts a run of its own, without a banner."""
    if run.kind == "bench":
        return True
    if run.end is None and not run.failed:
        role = at.process.role if at.process else "unknown"
        # The engine's own line comes after its front end's; a second front end is new.
        return run.kind == "offline" and role != "engine" and run.served
    return at.process not in run.processes and run.banner is None


def is_beside(run: RunData, observation: Observation) -> bool:
    """Tell whether an environment block or a kernel line stands after a run that is over.

    It waits for the run that follows, and goes to this one where none does. A kernel line after
    a crash is about the crash.
    """
    beside = observation.signal.beside and observation.at.process is None
    if not beside or run.kind == "bench":
        return False
    if run.failed:
        return observation.signal.kind == "fact"
    return run.end is not None or run.stop is not None


def _only_startup(run: RunData) -> bool:
    return all(phase == "startup" for _, phase, _, _ in run.marks)
