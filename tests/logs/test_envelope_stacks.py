"""Any sample in any stack of envelopes that tools build gives the verdict of the bare sample."""

import functools
import os
import random

from tests.expectation import SAMPLES, samples
from tests.logs.told import analyze
from tests.wrap import stack
from tests.wrap.catalogue import BYTES, COLLECTORS, LAUNCHERS, PEOPLE

TOO_LARGE = 80_000
OWN_ENVELOPE = ("real/journald/", "real/wrapped/", "xid/")
"""Kernel lines are of a journal too."""
STACKS = 100
SEED = int(os.environ.get("VDIAG_STACK_SEED", "1"))
"""One seed, so that a run says the same everywhere; another one is for looking further."""

LOGS = [
    log
    for log in samples()
    if log.stat().st_size < TOO_LARGE
    and not log.relative_to(SAMPLES).as_posix().startswith(OWN_ENVELOPE)
    and "journald" not in log.name
    and b" pid=" in log.read_bytes()  # without a record nothing shows a prefix to be one
]
WRITTEN = {name: BYTES[name] for name in ("coloured", "invalid-utf-8")}
STORED = {name: BYTES[name] for name in BYTES if name not in (*WRITTEN, "grep-coloured")}
# logcli drops indentation, which alone tells where an unprefixed traceback ends.
SHIPPED = {name: wrap for name, wrap in COLLECTORS.items() if not name.startswith("logcli")}


def stacks(chance):
    """Choose writers from the server outwards: its text, launcher, collector, person or file."""
    layers = [WRITTEN, LAUNCHERS, SHIPPED]
    names = [chance.choice([None, *layer]) for layer in layers]
    # The lengths that frame an export's binary fields count the bytes as journalctl wrote them.
    outer = {} if names[-1] == "journald-export-all" else PEOPLE | STORED
    names.append(chance.choice([None, *outer]))
    wraps = [
        layer[name] for layer, name in zip([*layers, outer], names, strict=True) if name is not None
    ]
    return " in ".join(name for name in names if name) or "bare", stack(*wraps)


@functools.cache
def verdict(log):
    """Return the verdict of the bare sample."""
    return _verdict(log.read_bytes())


def _verdict(data):
    found = analyze(data).verdict
    return found.status, found.root


def test_no_stack_of_envelopes_changes_a_verdict():
    """Status and root are those of the bare log, whatever a log was wrapped in on its way."""
    chance = random.Random(SEED)  # noqa: S311  # chooses tests, not keys
    wrong = []
    for _ in range(STACKS):
        log = chance.choice(LOGS)
        name, wrap = stacks(chance)
        found = _verdict(wrap(log.read_bytes()))
        if found != verdict(log):
            wrong.append((log.name, name, found, verdict(log)))

    assert wrong == []
