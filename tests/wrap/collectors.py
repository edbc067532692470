"""What log stores and shippers hand back: Loki, Grafana, Fluent Bit, Vector, plain JSON.

Formats: logcli (`grafana/loki` `pkg/logcli/output`: `jsonl.go`; `default.go`, which trims the
line at both ends and prints RFC 3339 seconds and the labels); Grafana Explore, "Download logs",
txt (query data, two blank lines, then ISO time, a tab, the line); Fluent Bit manual, "JSON lines"
(`date` in seconds; the Docker parser leaves the newline in `log`; the kubernetes filter's map);
Vector documentation, `file` and `kubernetes_logs` sources with the json codec (keys sorted);
slog, zap and their like (`msg`).
"""

from __future__ import annotations

import json
from datetime import UTC

from .kubernetes import POD
from .lines import Line, joined, lines, rfc3339, rfc3339_trimmed

_LABELS = {"app": "vllm", "namespace": "inference", "pod": POD, "stream": "stdout"}


def loki_jsonl(log: bytes) -> bytes:
    """Return what `logcli query --forward -o jsonl` prints."""
    return _objects(
        log,
        lambda one: {"labels": _LABELS, "line": _text(one), "timestamp": rfc3339_trimmed(one)},
        go=True,
    )


def logcli(log: bytes, *, labels: bool = True) -> bytes:
    """Return what `logcli query --forward` prints; without labels, as with --no-labels."""
    shown = f'{{app="vllm", pod="{POD}"}} ' if labels else ""
    return joined(
        [
            f"{one.when:%Y-%m-%dT%H:%M:%S}Z {shown}{_text(one).strip()}".encode()
            for one in lines(log)
        ]
    )


def grafana_txt(log: bytes) -> bytes:
    """Return the text file that Grafana Explore offers for download."""
    rows = lines(log)
    head = f'Common labels: {json.dumps(_LABELS)}\nLine limit: "5000 ({len(rows)} returned)"\n\n\n'
    return head.encode() + joined(
        [
            f"{one.when:%Y-%m-%dT%H:%M:%S}.{one.when.microsecond // 1000:03d}Z\t".encode()
            + one.data
            for one in rows
        ]
    )


def fluent_bit(log: bytes, *, newline: bool = True) -> bytes:
    """Return what Fluent Bit's json_lines format gives for a pod's log."""
    pod = {"pod_name": POD, "namespace_name": "inference", "container_name": "vllm"}
    return _objects(
        log,
        lambda one: {
            "date": _seconds(one),
            "log": _text(one) + ("\n" if newline else ""),
            "stream": one.stream,
            "time": rfc3339(one),
            "kubernetes": {**pod, "labels": {"app": "vllm"}, "host": "node7"},
        },
        ascii=True,
    )


def vector(log: bytes, *, pod: bool = False) -> bytes:
    """Return what Vector's json codec gives for a file, or for a pod's log."""
    whence = (
        {
            "kubernetes": {"container_name": "vllm", "pod_name": POD, "pod_namespace": "inference"},
            "source_type": "kubernetes_logs",
            "stream": "stdout",
        }
        if pod
        else {"host": "node7", "source_type": "file"}
    )
    return _objects(
        log,
        lambda one: dict(
            sorted(
                {
                    **whence,
                    "file": "/var/log/vllm.log",
                    "message": _text(one),
                    "timestamp": rfc3339_trimmed(one),
                }.items()
            )
        ),
    )


def json_msg(log: bytes, *, key: str = "msg") -> bytes:
    """Return one object a line with time, the wrapper's own level and the text."""
    return _objects(
        log, lambda one: {"time": rfc3339_trimmed(one), "level": "info", key: _text(one)}
    )


def _objects(log, one, *, go=False, ascii=False):
    out = []
    for line in lines(log):
        text = json.dumps(one(line), ensure_ascii=ascii, separators=(",", ":"))
        if go:
            for char in "<>&":
                text = text.replace(char, f"\\u{ord(char):04x}")
        out.append(text.encode())
    return joined(out)


def _text(line: Line) -> str:
    return line.data.decode("utf-8", "replace")


def _seconds(line: Line) -> float:
    return line.when.replace(tzinfo=UTC).timestamp()
