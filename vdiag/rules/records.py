"""Rules as plain records: what the engine reads when it need not check what was checked before.

A validated pack is frozen into records, one class for each class of the authoring schema, with
the same attributes. They are pickled without pydantic and loaded without importing it, which
alone takes longer than analysing a small log. Attributes at their default are not stored: the
defaults stand in the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


class Record:
    """A rule or a part of one; its attributes are those of the schema's class of this name."""

    def __repr__(self) -> str:
        """Return the class and what was authored."""
        return f"{type(self).__name__}({self.__dict__})"


_NAMES = (
    "Printed",
    "Stated",
    "Signal",
    "Test",
    "Where",
    "Condition",
    "FactSource",
    "Derivation",
    "FactSpec",
    "Release",
    "Alternative",
    "RuleCondition",
    "Reason",
    "RemedySpec",
    "Number",
    "NotAFixSpec",
    "ReferenceSpec",
    "Step",
    "Verification",
    "RiskText",
    "Caveats",
    "Diagnosis",
    "Symptom",
)
CLASSES: dict[str, type[Record]] = {
    name: type(name, (Record,), {"__module__": __name__, "__doc__": f"A frozen ``{name}``."})
    for name in _NAMES
}
globals().update(CLASSES)  # pickle finds them by name

Defaults = dict[str, dict[str, Any]]


def defaults() -> Defaults:
    """Return the default of every attribute that has one, by class, from the schema."""
    from vdiag.rules import schema

    out: Defaults = {}
    for name in _NAMES:
        fields = getattr(schema, name).model_fields
        out[name] = {
            field: freeze(spec.get_default(call_default_factory=True))
            for field, spec in fields.items()
            if not spec.is_required()
        }
    return out


def apply_defaults(values: Defaults) -> None:
    """Give the classes their defaults; the values are shared and must not be changed."""
    for name, fields in values.items():
        for field, value in fields.items():
            setattr(CLASSES[name], field, value)


def freeze(value: Any) -> Any:  # noqa: ANN401  # any value of the schema
    """Return a value with every model in it replaced by its record."""
    if isinstance(value, list):
        return [freeze(one) for one in value]
    if isinstance(value, dict):
        return {key: freeze(one) for key, one in value.items()}
    if hasattr(type(value), "model_fields"):
        return _record(value)
    return value


def _record(model: BaseModel) -> Record:
    record = CLASSES[type(model).__name__]()
    record.__dict__.update(
        {name: freeze(getattr(model, name)) for name in sorted(model.model_fields_set)}
    )
    return record
