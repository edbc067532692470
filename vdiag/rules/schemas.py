"""JSON Schemas of rule files, for editors: made from the authoring schema and its comments."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from typing import Any

from pydantic import BaseModel, Field

from vdiag.rules import schema
from vdiag.rules.schema import Diagnosis, FactSpec, PackInfo, Release, Signal, Strict, Symptom

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class CaseSpec(Strict):
    """One sample of a rule: a prelude up to a stage, and the lines of the failure."""

    name: str
    """Unique within the rule."""
    about: str
    """What it shows, in one sentence."""
    source: str
    """Where the block's texts come from: ``vllm/path.py:line (release)``."""
    prelude: str | None = None
    """``NAME:STAGE`` of samples/preludes: the lines in front of the block."""
    block: str
    """The lines that the failure prints, as they stand in a log."""
    expect: dict[str, Any]
    """What the report must say; the keys are those of samples/README.md."""


class Cases(Strict):
    """The samples of one rule: ``samples/rules/<family>/<id>.yaml``."""

    hits: list[CaseSpec] = Field(default_factory=list)
    """Logs that the rule must find."""
    near_misses: list[CaseSpec] = Field(default_factory=list)
    """Logs that look alike and that it must not find."""


class SignalsFile(Strict):
    """Named patterns: the lines that facts and rules are about."""

    signals: list[Signal]


class FactsFile(Strict):
    """Lasting properties of a run, and the signals that state them."""

    facts: list[FactSpec]


class ReleasesFile(Strict):
    """What a released vLLM implies."""

    releases: list[Release]


def _kinds() -> dict[str, tuple[type[BaseModel], str]]:
    """Return, for each kind of file, its model and where such files lie."""
    return {
        "pack": (PackInfo, "pack.yaml"),
        "signal": (SignalsFile, "signals/*.yaml"),
        "fact": (FactsFile, "facts/*.yaml"),
        "release": (ReleasesFile, "releases.yaml"),
        "symptom": (Symptom, "symptoms/*.yaml"),
        "diagnosis": (Diagnosis, "diagnoses/<family>/<id>.yaml"),
        "case": (Cases, "samples/rules/<family>/<id>.yaml"),
    }


KINDS = ("pack", "signal", "fact", "release", "symptom", "diagnosis", "case")
"""The kinds of rule files, in the order of a pack's making."""


def json_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of rule file, with the comments of every key."""
    model, where = _kinds()[kind]
    made = model.model_json_schema()
    comments = _comments()
    for name, part in [(model.__name__, made), *made.get("$defs", {}).items()]:
        for key, said in comments.get(name, {}).items():
            if key in part.get("properties", {}):
                part["properties"][key]["description"] = said
        if "description" in part:
            part["description"] = _plain(part["description"])
    return {"$schema": _DIALECT, "title": f"vdiag rules: {where}"} | {
        key: value for key, value in made.items() if key != "title"
    }


@cache
def _comments() -> dict[str, dict[str, str]]:
    """Return the strings that follow the fields of every class, by class and field."""
    out: dict[str, dict[str, str]] = {}
    for module in (schema, sys.modules[__name__]):
        for node in ast.parse(inspect.getsource(module)).body:
            if not isinstance(node, ast.ClassDef):
                continue
            fields = out.setdefault(node.name, {})
            for one, after in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(one, ast.AnnAssign)
                    and isinstance(one.target, ast.Name)
                    and isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                    and isinstance(after.value.value, str)
                ):
                    fields[one.target.id] = _plain(after.value.value)
    return out


def _plain(text: str) -> str:
    """Return a docstring as running text."""
    return re.sub(r"\s+", " ", text.replace("``", "`")).strip()
