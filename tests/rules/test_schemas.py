"""The JSON Schemas for editors: current, and true of the built-in rules' keys.

``python -m tests.rules.test_schemas`` writes ``docs/schemas`` again.
"""

import json

import pytest
import yaml

from tests.expectation import SAMPLES
from vdiag.rules.packs import builtin_dir
from vdiag.rules.schemas import KINDS, json_schema

FOLDER = SAMPLES.parent / "docs" / "schemas"
FILES = {
    "pack": "pack.yaml",
    "signal": "signals/*.yaml",
    "fact": "facts/*.yaml",
    "release": "releases.yaml",
    "symptom": "symptoms/*.yaml",
    "diagnosis": "diagnoses/*/*.yaml",
}


def text(kind):
    """Return a schema as its file holds it."""
    return json.dumps(json_schema(kind), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schema_is_current(kind):
    """An editor sees the schema that the loader uses: `python -m tests.rules.test_schemas`."""
    assert (FOLDER / f"{kind}.schema.json").read_text(encoding="utf-8") == text(kind)


def test_no_other_schema_lies_there():
    """A schema that nothing writes would grow old."""
    assert {path.name for path in FOLDER.iterdir()} == {f"{kind}.schema.json" for kind in KINDS}


@pytest.mark.parametrize("kind", FILES)
def test_every_key_of_the_builtin_rules_is_in_the_schema(kind):
    """What rules say is what the schema lets them say, at every depth."""
    schema = json_schema(kind)
    for path in builtin_dir().glob(FILES[kind]):
        check(yaml.safe_load(path.read_text(encoding="utf-8")), schema, schema, str(path))


def check(data, schema, root, where):
    """Follow data and schema together; keys that the schema does not list fail."""
    arms = [resolved(arm, root) for arm in (schema, *schema.get("anyOf", ()))]
    if isinstance(data, dict):
        known = {}
        for arm in arms:
            known.update(arm.get("properties", {}))
        free = any(isinstance(arm.get("additionalProperties"), dict) for arm in arms)
        assert free or set(data) <= set(known), (where, set(data) - set(known))
        for key, value in data.items():
            if key in known:
                check(value, resolved(known[key], root), root, f"{where}.{key}")
    elif isinstance(data, list):
        for arm in arms:
            for value in data if "items" in arm else ():
                check(value, resolved(arm["items"], root), root, where)


def resolved(schema, root):
    """Return a schema, or the one that it refers to."""
    ref = schema.get("$ref")
    return {**root["$defs"][ref.rpartition("/")[2]], **schema} if ref else schema


@pytest.mark.parametrize("kind", ["signal", "diagnosis"])
def test_an_editor_can_explain_the_keys(kind):
    """Comments of the authoring schema come through as descriptions."""
    definitions = json_schema(kind)["$defs"].values()
    told = [
        part["description"]
        for one in definitions
        for part in one.get("properties", {}).values()
        if "description" in part
    ]

    assert len(told) > 10
    assert not [said for said in told if "\n" in said or "``" in said]


def main():
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for kind in KINDS:
        (FOLDER / f"{kind}.schema.json").write_text(text(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
