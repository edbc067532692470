"""Compose vLLM server logs from its format strings, each with the report expected of it.

`python -m tests.synth` rewrites the generated part of `samples/`; everything is deterministic.
The expectations follow the knowledge about vLLM and the report contract, not the rules.
"""

from . import scenarios as scenarios
from .sample import SCENARIOS, Sample, build

__all__ = ["SCENARIOS", "Sample", "build"]
