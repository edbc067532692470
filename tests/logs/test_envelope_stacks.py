"""Any sample in any stack of envelopes that tools build gives the verdict of the bare sample."""

import functools

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.expectation import SAMPLES, samples
from tests.logs.told import analyze
from tests.wrap import stack
from tests.wrap.catalogue import BYTES, COLLECTORS, LAUNCHERS, PEOPLE

TOO_LARGE = 80_000
OWN_ENVELOPE = ("real/journald/", "real/wrapped/", "xid/")
"""Kernel lines are of a journal too."""

LOGS = [
    log
    for log in samples()
    if log.stat().st_size < TOO_LARGE
    and not log.relative_to(SAMPLES).as_posix().startswith(OWN_ENVELOPE)
    and "journald" not in log.name
]
WRITTEN = {name: BYTES[name] for name in ("coloured", "invalid-utf-8")}
STORED = {name: BYTES[name] for name in BYTES if name not in (*WRITTEN, "grep-coloured")}
# logcli drops indentation, which alone tells where an unprefixed traceback ends.
SHIPPED = {name: wrap for name, wrap in COLLECTORS.items() if not name.startswith("logcli")}


@st.composite
def stacks(draw):
    """Draw writers from the server outwards: its text, launcher, collector, person or file."""
    layers = [WRITTEN, LAUNCHERS, SHIPPED]
    names = [draw(st.sampled_from([None, *layer])) for layer in layers]
    # The lengths that frame an export's binary fields count the bytes as journalctl wrote them.
    outer = {} if names[-1] == "journald-export-all" else PEOPLE | STORED
    names.append(draw(st.sampled_from([None, *outer])))
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


@given(log=st.sampled_from(LOGS), wrapped=stacks())
@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # the names say enough; making an example smaller takes minutes
    suppress_health_check=list(HealthCheck),
)
def test_no_stack_of_envelopes_changes_a_verdict(log, wrapped):
    """Status and root are those of the bare log."""
    name, wrap = wrapped

    assert (name, *_verdict(wrap(log.read_bytes()))) == (name, *verdict(log))
