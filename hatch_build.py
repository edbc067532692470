"""Puts the built-in rules, checked and compiled, into the wheel, so that no start reads YAML."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileRules(BuildHookInterface):  # type: ignore[misc]  # hatchling has no types
    """Compiles the rules of a wheel; an editable install reads them from the sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the compiled pack beside the rule files."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from vdiag.rules.cache import PRECOMPILED, compiled

        folder = tempfile.mkdtemp(prefix="vdiag-build-")
        file = Path(folder) / PRECOMPILED
        file.write_bytes(compiled([]))
        build_data["force_include"][str(file)] = f"vdiag/_rules/{PRECOMPILED}"
