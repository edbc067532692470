"""A small pack over the built-in one, to break in tests."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

SIGNAL: dict[str, Any] = {
    "id": "cache.lost",
    "title": "The shared cache lost its peer",
    "literals": ["shared cache lost its peer"],
    "patterns": [r"^(?:RuntimeError: )?shared cache lost its peer (?P<peer>\d+)\b"],
    "levels": ["ERROR", "raw"],
    "types": {"peer": "int"},
    "source": "vllm/some/cache.py:1 (0.33.0)",
    "samples": ["RuntimeError: shared cache lost its peer 3 of 8"],
    "not_samples": ["why is the shared cache lost its peer 3"],
}

DIAGNOSIS: dict[str, Any] = {
    "id": "cache-peer-lost",
    "title": "The shared cache lost a peer",
    "family": "cache",
    "severity": "run",
    "signature": [{"event": "cache.lost"}],
    "conditions": [
        {
            "text": "the tensor parallel group has more than one rank",
            "kind": "state",
            "specific": True,
            "when": {"fact": "parallel.tp", "test": {"gt": 1}},
        }
    ],
    "explains": ["sym-engine-fatal"],
    "summary": "the shared cache lost peer {peer} on {faulting}",
    "quick_conclusion": "A peer is gone.",
    "applies_to": "all",
    "fix": [
        {"id": "restart", "kind": "workaround", "text": "Restart it", "always": "it is gone"},
    ],
    "caveats": {"does_not_prove": "Why the peer went."},
    "scenario": "Under load.",
    "original_error_text": "shared cache lost its peer 3",
    "cause": "The peer went away.",
    "what_to_check": ["dmesg"],
    "steps": ["restart"],
    "verification": {"text": "It runs."},
    "references": [{"ref": "vllm-project/vllm#1", "note": "the report"}],
}

RECORD = "(EngineCore pid=12) {level} 12-01 13:11:45 [cache.py:1] {text}\n"
CASES: dict[str, Any] = {
    "hits": [
        {
            "name": "plain",
            "about": "the engine dies of it",
            "source": "vllm/some/cache.py:1 (0.33.0)",
            "prelude": "gpu_tp8_0330:serving",
            "block": RECORD.format(level="ERROR", text="shared cache lost its peer 3")
            + RECORD.format(level="ERROR", text="EngineCore encountered a fatal error."),
            "expect": {"root": "cache-peer-lost"},
        }
    ],
    "near_misses": [
        {
            "name": "asked",
            "about": "a line that quotes it",
            "source": "vllm/some/cache.py:1 (0.33.0)",
            "prelude": "gpu_tp8_0330:serving",
            "block": RECORD.format(level="INFO", text="the shared cache lost its peer 3 times"),
            "expect": {"status": "clean"},
        }
    ],
}


def parts() -> dict[str, Any]:
    """Return the files of the pack as data, by path, to be changed and written."""
    return copy.deepcopy(
        {
            "pack.yaml": {"name": "small", "version": "1"},
            "signals/cache.yaml": {"signals": [SIGNAL]},
            "diagnoses/cache/cache-peer-lost.yaml": DIAGNOSIS,
            "samples/rules/cache/cache-peer-lost.yaml": CASES,
        }
    )


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write a pack and return its folder; a text is written as it is."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = data if isinstance(data, str) else yaml.safe_dump(data, sort_keys=False, width=1000)
        path.write_text(text, encoding="utf-8")
    return folder
