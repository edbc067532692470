"""Layers import only from layers to their left."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vdiag"
ALLOWED = {
    "logs": {"logs"},
    "rules": {"logs", "rules"},
    "engine": {"logs", "rules", "engine"},
    "report": {"report", "rules"},  # rules: for `explain`, which prints a rule
    "redact": {"redact", "report"},
    "ruletest": {"logs", "rules", "engine", "report", "ruletest"},
    "cli": {"logs", "rules", "engine", "report", "redact", "ruletest", "cli"},
}
LEAVES = {"vdiag", "vdiag.errors", "vdiag.report.model"}
"""Modules that import nothing of vdiag's, so that any layer may import them."""


def imported(path):
    """Yield the vdiag modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("vdiag"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vdiag"):
            if node.module in ("vdiag.engine", "vdiag.logs", "vdiag.rules", "vdiag.report"):
                yield from (f"{node.module}.{name.name}" for name in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_looks_only_to_its_left(layer):
    """Nothing imports from a layer to its right, but for the leaves."""
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in sorted((PACKAGE / layer).rglob("*.py"))
        for name in imported(path)
        if name not in LEAVES and name.split(".")[1] not in ALLOWED[layer]
    ]

    assert wrong == []


def test_the_report_model_is_a_leaf():
    """The model may be imported by all because it imports nothing."""
    assert list(imported(PACKAGE / "report" / "model.py")) == []


def test_renderers_do_not_read_rules_or_logs():
    """What a renderer prints must be in the report."""
    renderers = ("terminal", "markdown", "json", "facts", "screen", "story", "overview")

    for name in renderers:
        modules = set(imported(PACKAGE / "report" / f"{name}.py"))
        assert not [m for m in modules if m.split(".")[1] in ("rules", "engine", "logs")], name
