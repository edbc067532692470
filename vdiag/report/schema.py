"""The JSON Schema of the report, and the check of a report against it.

pydantic reads the dataclasses of :mod:`vdiag.report.model`, so there is one definition.
Only ``vdiag schema`` and tests need this module; importing pydantic takes longer than
analysing a small log.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from vdiag.report.model import SCHEMA_VERSION, Report


@cache
def _adapter() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what ``vdiag analyze --format json`` prints."""
    schema = _adapter().json_schema(mode="serialization")
    schema["properties"]["schema_version"] = {
        **schema["properties"]["schema_version"],
        "const": SCHEMA_VERSION,
    }
    schema["required"] = ["schema_version", *schema["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "vdiag report",
        **{key: item for key, item in schema.items() if key != "title"},
    }


def validate(data: object) -> Report:
    """Return the report that a parsed JSON object holds.

    Fields that a newer vdiag added are ignored.

    Raises:
        pydantic.ValidationError: A field is missing or has the wrong type.

    """
    return _adapter().validate_python(data)
