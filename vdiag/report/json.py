"""The report as JSON, by the contract: its field order, its names, nothing else.

pydantic is not needed to write it (see :mod:`vdiag.report.schema` for the schema).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass
from typing import Any

from vdiag.report.escape import is_hidden
from vdiag.report.model import Report

_OUTSIDE_ASCII = re.compile(r"[^\x00-\x7e]")


def plain(value: Any) -> Any:  # noqa: ANN401  # any JSON value, by its nature
    """Return a dataclass as a dict in the order of its fields, lists and dicts likewise.

    Numbers that JSON cannot say (infinities, NaN) become null.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_dict(report: Report) -> dict[str, Any]:
    """Return the report as the contract's object, ``schema_version`` first."""
    data = plain(report)
    return {"schema_version": data.pop("schema_version"), **data}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if not is_hidden(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(*[iter(units)] * 2, strict=True))


def dumps(data: Any) -> str:  # noqa: ANN401  # any JSON value, by its nature
    r"""Return indented JSON with a newline at its end.

    Text stays as it is, except what steers a display or is drawn as nothing: that is
    written as ``\uXXXX``, which reads back as the same text.
    """
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    return _OUTSIDE_ASCII.sub(_escape, text) + "\n"


def render(report: Report) -> str:
    """Return the report as one JSON object; the same report gives the same bytes."""
    return dumps(to_dict(report))
