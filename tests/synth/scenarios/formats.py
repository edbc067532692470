"""The flagship in other clothes: JSON, colours, journald."""

from __future__ import annotations

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
    log = crash(Server(), [5])
    return journald_short(log), confirmed(
        ["Worker_TP5"], symptoms={"sym-rpc-timeout": 1, "sym-async-output": 1}
    )
