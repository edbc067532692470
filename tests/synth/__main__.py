"""Rewrite the generated logs and expectations below `samples/`."""

from __future__ import annotations

import sys
from pathlib import Path

from . import SCENARIOS, build

ROOT = Path(__file__).resolve().parents[2] / "samples"


def main() -> int:
    """Write every sample; say how many and how large."""
    total = 0
    for name in SCENARIOS:
        for path, data in build(name).files().items():
            target = ROOT / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            total += len(data)
    sys.stdout.write(f"{len(SCENARIOS)} samples, {total:,} bytes below {ROOT}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
