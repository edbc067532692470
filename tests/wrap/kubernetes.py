"""What kubectl and stern print of a pod's log.

Formats: `kubectl logs --help` (`--prefix`: source pod and container, `--timestamps`), prefix
`[pod/NAME/CONTAINER] `, the time after it; the kubelet has joined partial records by then.
stern's README, "Templates": the default template prints `pod container message`, coloured on a
terminal; `-o json` prints `message`, `nodeName`, `namespace`, `podName`, `containerName`.
"""

from __future__ import annotations

import json

from .lines import joined, lines, rfc3339

POD = "vllm-7d9c6b5f4-x2x9k"


def kubectl(log: bytes, *, prefix: bool = False, stamps: bool = False) -> bytes:
    """Return what `kubectl logs` prints with --prefix, --timestamps or both."""
    return joined(
        [
            (f"[pod/{POD}/vllm] " if prefix else "").encode()
            + (rfc3339(one) + " " if stamps else "").encode()
            + one.data
            for one in lines(log)
        ]
    )


def stern(log: bytes, *, colour: bool = False, stamps: bool = False) -> bytes:
    """Return what `stern` prints with its default template."""
    pod, box = (f"\x1b[95m{POD}\x1b[0m", "\x1b[35mvllm\x1b[0m") if colour else (POD, "vllm")
    return joined(
        [
            f"{pod} {box} {rfc3339(one) + ' ' if stamps else ''}".encode() + one.data
            for one in lines(log)
        ]
    )


def stern_json(log: bytes) -> bytes:
    """Return what `stern -o json` prints."""
    return joined(
        [
            json.dumps(
                {
                    "message": one.data.decode("utf-8", "replace"),
                    "nodeName": "node7",
                    "namespace": "inference",
                    "podName": POD,
                    "containerName": "vllm",
                },
                ensure_ascii=False,
                separators=(",", ":"),
            ).encode()
            for one in lines(log)
        ]
    )
