"""Every kind that is replaced, in the order in which they are looked for.

What holds other kinds comes first: a prompt is one token, whatever stands in it.
"""

from __future__ import annotations

from vdiag.redact.identity import IDENTITIES
from vdiag.redact.models import IDS, PATHS
from vdiag.redact.network import ADDRESSES, HOSTS
from vdiag.redact.pattern import Finder
from vdiag.redact.prompts import PROMPTS
from vdiag.redact.secrets import PLACES, SHAPES

DEFAULT: list[Finder] = [*PROMPTS, *SHAPES, *PLACES, *PATHS, *IDENTITIES, *ADDRESSES, *HOSTS]
WITH_MODELS: list[Finder] = [
    *PROMPTS,
    *SHAPES,
    *PLACES,
    *PATHS,
    *IDS,
    *IDENTITIES,
    *ADDRESSES,
    *HOSTS,
]
"""Public model ids are replaced, too."""
KINDS: dict[str, str] = {
    "secret": "keys, tokens, passwords",
    "prompt": "prompts and completions",
    "params": "request parameters",
    "tokens": "token ids",
    "model": "model paths",
    "email": "e-mail addresses",
    "user": "user names",
    "host": "host names",
    "ip": "IP addresses",
    "mac": "MAC addresses",
    "uuid": "GPU and system UUIDs",
}
"""What each kind is called, in the order in which they are listed."""
