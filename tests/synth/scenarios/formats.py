"""The flagship in other clothes: JSON, colours, journald."""

from __future__ import annotations

from dataclasses import replace

from ..release import V0330
from ..sample import Expect, scenario
from ..server import Server
from ..writer import Log, journald_short
from .common import BACKEND, SPILL, confirmed, crash


@scenario("flagship/timeout_033_json")
def timeout_json() -> tuple[Log, Expect]:
    """0.33.0 with `--logging-config` formatter json: the CUDA text stands in `exc_info` only."""
    log = crash(Server(), [5, 0], style="json")
    return log, confirmed(
        ["Worker_TP5", "Worker_TP0"],
        symptoms={"sym-rpc-timeout": 1, "sym-async-output": 2},
        evidence=["Worker_TP5…exc_info…unspecified launch failure", BACKEND, SPILL],
    )


@scenario("flagship/timeout_033_colour")
def timeout_colour() -> tuple[Log, Expect]:
    """0.33.0 on a terminal: ANSI colours round prefix, level, time and location."""
    log = crash(Server(), [5, 3], style="color")
    return log, confirmed(
        ["Worker_TP5", "Worker_TP3"], symptoms={"sym-rpc-timeout": 1, "sym-async-output": 2}
    )


@scenario("flagship/timeout_033_journald")
def timeout_journald() -> tuple[str, Expect]:
    """0.33.0 through `journalctl -o short`: envelopes, no CR, bars as `[N blob data]` gaps."""
    log = Log(V0330)
    log.redraws = 47
    crash(Server(), [5], log=log)
    return journald_short(log), confirmed(
        ["Worker_TP5"], symptoms={"sym-rpc-timeout": 1, "sym-async-output": 1}
    )


@scenario("flagship/timeout_033_glued_bars")
def timeout_glued() -> tuple[Log, Expect]:
    """0.33.0: bars without a newline are glued to the backend record and to TP5's error."""
    log = crash(Server(), [5])
    bars = [line for line in log.lines if line.data.startswith("\r")]
    for bar, text in zip(bars, ("with backend=mnnvl", "Error getting async"), strict=False):
        log.lines.remove(bar)
        at = next(i for i, line in enumerate(log.lines) if text in line.data)
        log.lines[at] = replace(log.lines[at], data=bar.data.rstrip("\n") + log.lines[at].data)
    return log, confirmed(["Worker_TP5"], symptoms={"sym-rpc-timeout": 1, "sym-async-output": 1})


@scenario("flagship/timeout_033_lf_only")
def timeout_lf() -> tuple[str, Expect]:
    """0.33.0, copied through an editor: no CR, no trailing newline."""
    text = crash(Server(), [5, 1]).text().replace("\r\n", "\n").rstrip("\n")
    return text, confirmed(
        ["Worker_TP5", "Worker_TP1"], symptoms={"sym-rpc-timeout": 1, "sym-async-output": 2}
    )
