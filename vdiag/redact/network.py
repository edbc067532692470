"""Addresses and names of machines: IPv4, IPv6, MAC, hosts, nodes and pods."""

from __future__ import annotations

import ipaddress
import re

from vdiag.redact.pattern import ASSIGNED, PLACEHOLDER, Finder, Pattern

_VERSION_BEFORE = re.compile(
    r"(?:[=<>~!]=|[<>]|version\w*['\"]?[\s:=(v'\"]*|\bv|\brev\w*[\s:=]+|\brelease\s+|-|\+|/"
    r"|\b(?:nvidia|cu(?:da|dnn|blas|fft|rand|solver|sparse)|nccl|nvjitlink|nvshmem|cutlass|driver)"
    r"[\w-]*\s+|^\[(?:conda|pip3?)\]\s.*)$",
    re.IGNORECASE,
)
_KEPT_V4 = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "127.0.0.0/8",
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "255.0.0.0/8",
    )
]
_KEPT_V6 = [ipaddress.ip_network(text) for text in ("2001:db8::/32", "3fff::/20", "::/96")]


def _no_address(match: re.Match[str], value: str) -> bool:
    try:
        address = ipaddress.IPv4Address(value)
    except ValueError:
        return True
    if any(address in network for network in _KEPT_V4):
        return True
    before = match.string[max(0, match.start() - 60) : match.start()]
    if before.endswith("//") or (before.endswith("/") and address.is_private):
        return False
    return bool(_VERSION_BEFORE.search(before))


def _no_address6(_match: re.Match[str], value: str) -> bool:
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return True
    groups = [group for group in value.split(":") if group]
    if len(groups) < 4 and not any(len(g) > 2 and any(c.isdigit() for c in g) for g in groups):
        return True  # a slice ([1::2]) or a C++ name (fa::fb)
    return any(address in network for network in _KEPT_V6)


def _canonical6(value: str) -> str:
    return ipaddress.IPv6Address(value).compressed


def _no_mac(_match: re.Match[str], value: str) -> bool:
    return len(set(re.sub(r"[:-]", "", value))) == 1


_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL}){{0,10}}"
_PUBLIC = re.compile(
    r"(?:[\w-]+\.)*(?:github(?:usercontent)?\.com|github\.io|gitlab\.com|huggingface\.co|hf\.co"
    r"|vllm\.ai|pytorch\.org|nvidia\.com|nvcr\.io|python\.org|pypi\.org|pythonhosted\.org"
    r"|pydantic\.dev|ray\.io|apache\.org|wikipedia\.org|arxiv\.org|w3\.org|openai\.com|anthropic\.com"
    r"|readthedocs\.io|readthedocs\.org|kubernetes\.io|docker\.com|docker\.io|quay\.io|ghcr\.io"
    r"|modelscope\.cn|modelscope\.ai|aka\.ms|slack\.com|discord\.com|stackoverflow\.com|microsoft\.com"
    r"|google\.com|googleapis\.com|amazonaws\.com|azure\.com|kernel\.org|debian\.org|ubuntu\.com"
    r"|systemd\.io|freedesktop\.org|gnu\.org|llvm\.org|triton-lang\.org|grafana\.com|prometheus\.io"
    r"|opentelemetry\.io|wandb\.ai|mlflow\.org|jinja\.palletsprojects\.com|tiangolo\.com|rocm\.com"
    r"|amd\.com|intel\.com|json-schema\.org|schema\.org|openapis\.org|flashinfer\.ai|google\.dev"
    r"|x\.com|twitter\.com)",
    re.IGNORECASE,
)
"""Sites that vLLM's and its libraries' own messages point at; a host below one is public."""
_NO_HOST = re.compile(
    r"(?:localhost(?:\.localdomain)?|ip6-\w+|host|hosts|hostname|host_?name|node|nodes|pod|pods|name|self"
    r"|here|local|remote|device|memory|cpu|gpu|cuda|cache|pool|server|client|unknown|any|all|and|or"
    r"|is|not|auto|default|on|of|in|to|for|the|with|from|at|has|this|that|failed|stdin|stdout"
    r"|str|int|bool|optional|tcp|http|https|sock|socket|https?)$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:0x)?[\d.,:_-]+$|\d+(?:\.\d+)*(?:rc|post|dev|a|b)\d*")


def _no_host(_match: re.Match[str], value: str) -> bool:
    return bool(
        PLACEHOLDER.match(value)
        or _NO_HOST.match(value)
        or _NUMBER.match(value)
        or _PUBLIC.fullmatch(value)
    )


def _no_bare_host(match: re.Match[str], value: str) -> bool:
    """Behind a weak name such as ``node=`` only what is spelt like a machine is a host."""
    return _no_host(match, value) or not re.search(r"[\d.-]", value)


def _no_host_port(match: re.Match[str], value: str) -> bool:
    """Tell a host and its port from a file and a line, or an id with a number behind it."""
    last = value.rsplit("-", 1)[-1]
    return (
        _no_host(match, value)
        or not re.search(r"\d", value)
        or bool(re.search(r"\.(?:py|cpp|cc|cu|cuh|h|hpp|c|rs|go|so|pyx|log)$", value))
        or len(last) > 12
    )


def _soft(match: re.Match[str], value: str) -> bool:
    """``.local`` and ``.internal`` end Python names too (``threading.local``)."""
    return _no_host(match, value) or not re.search(r"[\d-]", value)


def _host(name: str, regex: str, *hints: str, keep: object = _no_host) -> Pattern:
    chosen = keep if callable(keep) else _no_host
    return Pattern("host", name, re.compile(regex), chosen, str.lower, hints)


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_STAMP = (
    rf"(?:{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[+-]\d\d:?\d\d|Z)"
    r"|[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Z+\-\d:]{1,8})"
)
_STRONG = (
    r"(?:host_?names?|node_?names?|pod_?names?|nodeName|podName|server_?name|fqdn|_HOSTNAME|HOSTNAME"
    r"|COMPUTERNAME|(?:\w{0,30}_)?(?:HOSTNAME|NODE_?NAME|POD_?NAME|HOST_IP|MASTER_ADDR|NODELIST|NODENAME)"
    r"|master_addr(?:ess)?|head_node(?:_addr(?:ess)?)?|mq_connect_ip|node_ip|rdzv_endpoint"
    r"|data_parallel_address|rpc_host|peer_host|remote_host|kv_ip|rendezvous|coordinator_address)"
)
HOSTS: list[Finder] = [
    _host(
        "collector-host",
        rf"(?m)^(?:<\d+>)?{_STAMP} (?P<secret>[^\s:<>]+) [^\s\[\]:]+(?:\[\d+\])?: ?",
    ),
    _host("kubectl-prefix", r"(?m)^\[?pods?/(?P<secret>[A-Za-z0-9][\w.-]*)/[\w.-]+\]?", "pod"),
    _host(
        "pod-path",
        r"\bpods?/(?P<secret>[a-z0-9][a-z0-9.-]*[a-z0-9])",
        "pod/",
        "pods/",
        keep=_no_bare_host,
    ),
    _host(
        "pod-name",
        r"(?<![\w.-])[a-z][a-z0-9]*(?:-[a-z0-9]+){0,8}-(?=[a-f\d]*\d)[bcdf2456789a-z]{8,10}"
        r"-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])",
        "-",
        keep=lambda match, value: _no_pod(match, value),
    ),
    _host(
        "nccl",
        r"(?<![\w.:-])(?P<secret>[A-Za-z0-9][\w.-]*):\d+:\d+ \[\d+\] NCCL ",
        "nccl",
    ),
    _host(
        "url",
        r"(?:[a-z][a-z0-9+.-]{1,12}|\b)://(?:[^/\s@'\"]*@)?(?P<secret>[A-Za-z0-9][\w.-]*)",
        "://",
        keep=lambda match, value: _no_url_host(match, value),
    ),
    _host("ec2", r"(?<![\w.-])ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[a-z0-9-]+)*(?![\w-])", "ip-"),
    _host(
        "strong-name",
        rf"(?<![A-Za-z0-9])(?i:{_STRONG}){ASSIGNED}(?P<secret>{_NAME}(?:\[[\d,-]+\])?)",
        "host",
        "node",
        "pod",
        "addr",
        "fqdn",
        "computername",
        "_ip",
        "rdzv",
        "endpoint",
        "rendezvous",
        "server",
    ),
    _host(
        "host-name",
        rf"(?<![\w-])(?i:hosts?|peer|remote){ASSIGNED}(?P<secret>{_NAME})(?![\w(])",
        "host",
        "peer",
        "remote",
        keep=_no_bare_host,
    ),
    _host(
        "node-name",
        rf"(?<![\w-])(?i:nodes?){ASSIGNED}(?P<secret>{_NAME})(?![\w(])",
        "node",
        keep=_no_bare_host,
    ),
    _host(
        "option",
        r"--(?:master-addr|data-parallel-address|host|node-ip-address|rdzv[-_]endpoint)"
        rf"(?:=|[ \t]+|\\{{0,8}}['\"], ?\\{{0,8}}['\"])(?P<secret>{_NAME})",
        "--",
    ),
    _host(
        "head-node",
        r"(?i:head node(?: address)?|master address|(?:on|from|to) (?:node|host)) "
        rf"['\"]?(?P<secret>{_NAME})",
        "node",
        "host",
        "master",
        keep=_no_bare_host,
    ),
    _host(
        "bracketed",
        rf"\[(?P<secret>{_LABEL}(?:\.{_LABEL}){{0,10}})\]:\d{{1,5}}\b",
        "]:",
        keep=_no_bare_host,
    ),
    _host(
        "host-port",
        r"(?<![\w./@:-])(?P<secret>[A-Za-z]\w*(?:-\w+)+(?:\.[\w-]+)*):\d{4,5}(?![\w:.-])",
        ":",
        keep=_no_host_port,
    ),
    _host(
        "slurm",
        rf"(?:(?:srun|slurmstepd|slurmd): error: |\b(?:STEP|JOB) [\d.]+ ON )"
        rf"(?P<secret>{_NAME})(?=:| CANC)",
        "srun",
        "slurm",
        " on ",
    ),
    _host(
        "shell-prompt",
        rf"(?<![\w@.-])[A-Za-z_][\w.-]*@(?P<secret>{_NAME}):(?:~|/)[^\s$#]*[$#](?= |$)",
        "@",
    ),
    _host("ssh", rf"\b(?:ssh|scp|rsync)\b[^\n]{{0,80}}? (?:[\w.-]+@)(?P<secret>{_NAME})", "@"),
    _host(
        "domain",
        rf"(?<![\w.@/\\-])(?:{_LABEL}\.){{1,10}}(?i:lan|corp|intranet|intra|localdomain|svc|cluster\.local"
        r"|home\.arpa|example|compute\.internal|c\.[\w-]+\.internal)(?![\w-]|\.\w)",
        ".lan",
        ".corp",
        ".intra",
        ".localdomain",
        ".svc",
        "cluster.local",
        ".arpa",
        ".example",
        ".internal",
    ),
    _host(
        "site",
        rf"(?<![\w.@/\\-])(?:{_LABEL}\.){{1,10}}(?i:com|net|org|edu|gov|mil)(?![\w(-]|\.\w)",
        ".com",
        ".net",
        ".org",
        ".edu",
        ".gov",
        ".mil",
    ),
    _host(
        "local-domain",
        rf"(?<![\w.@/\\-])(?:{_LABEL}\.){{1,10}}(?i:local|internal)(?![\w(-]|\.\w)",
        ".local",
        ".internal",
        keep=_soft,
    ),
]


def _no_pod(_match: re.Match[str], value: str) -> bool:
    middle = value.rsplit("-", 2)[1]
    return not (
        re.search(r"\d", middle)
        and re.fullmatch(r"[a-f0-9]{8,10}|[bcdfghjklmnpqrstvwxz2456789]{8,10}", middle)
    )


def _no_url_host(match: re.Match[str], value: str) -> bool:
    scheme = match.group().partition("://")[0].lower()
    if scheme in ("file", "ipc", "inproc", "s3", "gs", "gcs", "az", "abfs", "hf", "oci", "unix"):
        return True
    return _no_host(match, value.rstrip("."))


_HEX = r"[0-9A-Fa-f]{1,4}"
ADDRESSES: list[Finder] = [
    Pattern(
        "mac",
        "mac",
        re.compile(
            r"(?<![\w:.-])[0-9A-Fa-f]{2}(?P<sep>[:-])(?:[0-9A-Fa-f]{2}(?P=sep)){4}[0-9A-Fa-f]{2}"
            r"(?:(?P=sep)[0-9A-Fa-f]{2}(?P=sep)[0-9A-Fa-f]{2})?"
            r"(?![\w:-]|\.\d)"
        ),
        _no_mac,
        lambda value: value.lower().replace("-", ":"),
    ),
    Pattern(
        "ip",
        "ipv6",
        re.compile(
            rf"(?<![\w:.])(?:(?:{_HEX}:){{7}}{_HEX}|(?:{_HEX}:){{1,7}}:(?:{_HEX}(?::{_HEX}){{0,5}})?"
            rf"|::{_HEX}(?::{_HEX}){{0,6}})(?![\w:]|\.\d)"
        ),
        _no_address6,
        _canonical6,
        (":",),
    ),
    Pattern(
        "ip",
        "ipv4",
        re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d|-\w*\d)"),
        _no_address,
        hints=(".",),
    ),
]
