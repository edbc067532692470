"""Put a log into what collectors, launchers and people put around it.

Each writer takes a whole log as bytes and returns what a tool would have printed or stored for
it, by the tool's documented format. Writers know nothing of the reader that they test; the real
`journalctl` (:mod:`tests.wrap.journal`) checks those of journald.

Writers nest where the tools do: :func:`stack` gives the innermost first, as the log meets them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

Wrapper = Callable[[bytes], bytes]


def stack(*wrappers: Wrapper) -> Wrapper:
    """Return one writer that applies several, the innermost first."""
    return lambda log: reduce(lambda data, wrapper: wrapper(data), wrappers, log)
