"""Docker, CRI, compose, kubectl, and the JSON lines of log shippers.

The formats: Docker's json-file driver (a record over 16 KiB is split; only its last part ends
in a newline), the CRI log format (``stamp stream P|F text``, ``P`` for a part), ``docker
compose logs``, ``kubectl logs --prefix``, and the JSON that Loki, Fluent Bit and Vector write
(the message in ``line``, ``log``, ``message`` or ``msg``) or a cloud exports (``textPayload``;
a message that was JSON itself stands as an object in ``jsonPayload``).
"""

from __future__ import annotations

import json
import re

from vdiag.logs import clock
from vdiag.logs.envelopes import journald
from vdiag.logs.envelopes.words import Peeled

_STAMP = r"(?P<stamp>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_CRI = re.compile(
    _STAMP + r" (?P<stream>stdout|stderr) (?P<tag>[PF])(?::\S+)?(?: (?P<text>.*)|$)", re.S
)
_BARE = re.compile(_STAMP + r"(?:[ \t](?P<text>.*)|$)", re.S)
_KUBECTL = re.compile(
    r"\[(?P<name>(?:pod|job|deployment|statefulset)/[^\s\]]+)\](?: (?P<text>.*)|$)", re.S
)
_COMPOSE = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*-\d+) +\|(?: (?P<text>.*)|$)", re.S)
_LOGCLI = re.compile(_STAMP + r"[ \t]\{(?P<labels>[^{}]*)\}[ \t](?P<text>.*)", re.S)
_EPOCH = re.compile(
    r"(?P<epoch>1\d{18})[ \t](?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)[ \t])?(?P<text>.*)", re.S
)
_POD_LABEL = re.compile(r'\b(?:pod|pod_name|container_name|container|instance)="([^"]*)"')
_KEYS = ("log", "message", "msg", "line", "body", "textPayload", "_raw", "content")
_OBJECTS = ("jsonPayload", "log", "message", "event", "result", "log_processed", "attributes")
"""Keys under which a shipper puts a message that it parsed, or the whole entry."""
_TIMES = ("time", "timestamp", "@timestamp", "ts", "date", "_time")
_HOSTS = ("pod_name", "pod", "host", "hostname", "node_name", "container_name", "container")
_VLLM_KEYS = ("levelname", "vllm_process_name")


def stamped(line: str) -> Peeled | None:
    """Take off what begins with a stamp that has a zone: CRI, logcli, or the stamp alone."""
    cri = _CRI.match(line)
    if cri:
        return Peeled(
            text=cri["text"] or "",
            kind="cri",
            time=clock.normalise(cri["stamp"]),
            stream=f"cri-{cri['stream']}",
            partial=cri["tag"] == "P",
        )
    logcli = _LOGCLI.match(line)
    if logcli:
        pod = _POD_LABEL.search(logcli["labels"])
        return Peeled(
            text=logcli["text"],
            kind="loki",
            time=clock.normalise(logcli["stamp"]),
            host=pod[1] if pod else None,
            server=pod[1] if pod else None,
        )
    epoch = _EPOCH.match(line)
    if epoch:
        return Peeled(
            text=epoch["text"],
            kind="loki",
            time=clock.from_epoch(int(epoch["epoch"]), per_second=1_000_000_000),
        )
    bare = _BARE.match(line)
    if bare:
        return Peeled(
            text=bare["text"] or "", kind="timestamps", time=clock.normalise(bare["stamp"])
        )
    return None


def kubectl(line: str) -> Peeled | None:
    """Take off ``[pod/NAME/CONTAINER] ``."""
    match = _KUBECTL.match(line)
    if not match:
        return None
    name = match["name"].partition("/")[2]
    return Peeled(
        text=match["text"] or "",
        kind="kubectl-prefix",
        host=name.partition("/")[0],
        server=name,
    )


def compose(line: str) -> Peeled | None:
    """Take off ``name-1  | ``."""
    match = _COMPOSE.match(line)
    if not match:
        return None
    return Peeled(
        text=match["text"] or "", kind="docker-compose", host=match["name"], server=match["name"]
    )


def from_json(line: str) -> Peeled | None:
    """Take the message out of a shipper's JSON line; None where it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or any(key in record for key in _VLLM_KEYS):
        return None
    if "MESSAGE" in record and ("__REALTIME_TIMESTAMP" in record or "_PID" in record):
        return journald.from_json(record)
    text = _text(record)
    if text is None:
        return None
    time = _time(record)
    if set(record) <= {"log", "stream", "time", "attrs"} and "stream" in record:
        return Peeled(
            text=text.removesuffix("\n"),
            kind="docker-json",
            time=time,
            stream=f"docker-{record['stream']}",
            partial=not text.endswith("\n"),
        )
    host = _host(record)
    return Peeled(
        text=text.removesuffix("\n"), kind="json-lines", time=time, host=host, server=_pod(record)
    )


def _text(record: dict[str, object]) -> str | None:
    """Return a shipper's message; what it had parsed as vLLM's own JSON is written again."""
    for key in _KEYS:
        value = record.get(key)
        if isinstance(value, str):
            return value
    for key in _OBJECTS:
        inner = record.get(key)
        if not isinstance(inner, dict):
            continue
        if any(name in inner for name in _VLLM_KEYS):
            return json.dumps(inner)
        for name in _KEYS:
            if isinstance(inner.get(name), str):
                return str(inner[name])
    return None


_DOCKER_END = re.compile(rb'(?P<newline>\\n)?","stream":"(?P<stream>\w+)"[^"].*\}\s*$')


def is_docker_part(end: bytes, stream: str) -> bool:
    """Tell from the end of a json-file line whether its record goes on in the next one.

    Docker ends a whole record in an escaped newline.
    """
    match = _DOCKER_END.search(end)
    return bool(
        match
        and not match["newline"]
        and stream == f"docker-{match['stream'].decode()}"
        and b'"time":"' in match[0]
        and b'\\"' not in match[0]
    )


def _time(record: dict[str, object]) -> str | None:
    for key in _TIMES:
        value = record.get(key)
        if isinstance(value, str) and (stamp := clock.normalise(value)):
            return stamp
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            stamp = clock.from_epoch(value)
            if stamp:
                return stamp
    return None


def _labels(record: dict[str, object]) -> list[dict[str, object]]:
    """Return the objects that may name the writer: the record, its labels, its pod."""
    inner = [record.get(key) for key in ("kubernetes", "labels", "stream", "metadata")]
    return [record, *(one for one in inner if isinstance(one, dict))]


def _host(record: dict[str, object]) -> str | None:
    for labels in _labels(record):
        for key in _HOSTS:
            value = labels.get(key)
            if isinstance(value, str) and value:
                return value
    return None


def _pod(record: dict[str, object]) -> str | None:
    for labels in _labels(record):
        for key in ("pod_name", "pod"):
            value = labels.get(key)
            if isinstance(value, str) and value:
                return value
    return None
