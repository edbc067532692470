"""Reads the options of a command line as people paste it, without running anything."""

from __future__ import annotations

import re

from vdiag.logs import pyrepr

_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""")
_QUOTED = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""")
_SHORT = {
    "-tp": "tensor_parallel_size",
    "-pp": "pipeline_parallel_size",
    "-dp": "data_parallel_size",
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MAX_OPTIONS = 200


def parse(text: str) -> dict[str, pyrepr.Value]:
    """Return options by their name with underscores; one without a value is True.

    ``--no-x`` gives ``x: False``. Words that are no options are left out, and so is what stands
    behind a comment, a pipe or a redirection.
    """
    out: dict[str, pyrepr.Value] = {}
    name: str | None = None
    for found in _WORD.finditer(text):
        raw = found[0]
        if raw in ("|", "||", "&&", ";", "&") or raw.startswith(("#", ">", "2>", "<")):
            break
        word = _QUOTED.sub(lambda match: match[1] or match[2] or match[3] or "", raw)
        option, equals, value = word.partition("=")
        if (raw.startswith("--") and len(option) > 2) or option in _SHORT:
            name = _SHORT.get(option, option.lstrip("-").replace("-", "_"))
            out[name] = _value(value) if equals else True
            if not equals and name.startswith("no_"):
                out[name.removeprefix("no_")] = False
                del out[name]
            if equals or option.startswith("--no-"):
                name = None
        elif name is not None and (not raw.startswith("-") or _NUMBER.fullmatch(word)):
            out[name], name = _value(word), None
        else:
            name = None
        if len(out) >= _MAX_OPTIONS:
            break
    return out


def _value(word: str) -> pyrepr.Value:
    if re.fullmatch(r"-?\d{1,18}", word):
        return int(word)
    if _NUMBER.fullmatch(word):
        return float(word)
    return word
