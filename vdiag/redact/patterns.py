r"""What is a secret: by its name, by its shape, by where it stands.

Data for :mod:`vdiag.redact.engine`. A pattern names the kind of token that replaces the
match (``secret`` becomes ``<secret-1>``); where it has a group ``secret``, only that group
is replaced. ``keep`` decides on look-alikes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of secret and how to find it."""

    kind: str
    name: str
    regex: re.Pattern[str]
    keep: Callable[[re.Match[str], str], bool] = lambda _match, _value: False
    """Tells that a match (and the value in it) is no secret after all."""
    canonical: Callable[[str], str] = str
    """Two values with one canonical form get the same token."""


_PLACEHOLDER = re.compile(
    r"""(?:none|null|true|false|empty|\*+|x{3,}|\.{3}|…|<.*>?|\[.*\]|\$\{?\w+\}?|%\w+%?|\{.*\}?|
    your[-_ ].*|redacted|secretstr.*)$""",
    re.IGNORECASE | re.VERBOSE,
)
_PROSE = re.compile(
    r"(?:and|argument|auth|authentication|based|expected|flag|for|headers?|in|invalid|is|it"
    r"|missing|must|not|of|on|option|or|required|set|should|that|the|this|to|tokens?|was|with)$",
    re.IGNORECASE,
)

SENSITIVE_NAME = (
    r"(?:[A-Za-z0-9]{1,30}[-_.]){0,4}?"
    r"(?:(?:api|access|secret|auth|private|signing|encryption|account|master|shared|license)[-_]?"
    r"(?:access[-_]?)?key(?:[-_]?id)?"
    r"|(?:hf|hub|auth|access|refresh|bearer|api|gh|github|gitlab|slack|wandb|session|security|"
    r"service|user|admin|client|deploy|personal|bot|csrf|jwt|oauth|login|registry|id)[-_]?token"
    r"|client[-_]?secret|secret|passwd|password|passphrase|pwd|credentials?)"
)
"""Names whose value is a secret. Tokens of a tokenizer (``eos_token``) are none of them."""
ENV_NAME = r"[A-Z][A-Z0-9_]{0,40}(?:_TOKEN|_SECRET|_PASSWORD|_PASSWD|_APIKEY|_API_KEY|_ACCESS_KEY)"
_TOKENIZER = re.compile(r"(?:^|_)(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK|IMAGE|STOP|SPECIAL)_TOKEN$")

_NAMED = re.compile(rf"(?:{SENSITIVE_NAME})$", re.IGNORECASE)
_NAMED_ENV = re.compile(rf"{ENV_NAME}$")

_QUOTED = r"(?P<quote>\\*['\"])(?P<secret>(?:(?!(?P=quote)).)+)(?P=quote)"


def names_secret(name: str) -> bool:
    """Tell whether a variable or an option of this name holds a secret."""
    name = name.lstrip("-")
    last = name.rsplit(".", 1)[-1]
    if _TOKENIZER.search(last):
        return False
    return bool(_NAMED_ENV.match(last) or _NAMED.match(last.replace("-", "_")))


def _no_secret(match: re.Match[str], value: str) -> bool:
    text = value.strip()
    groups = match.re.groupindex
    name = match.group("name") if "name" in groups else ""
    if _TOKENIZER.search(name or ""):
        return True
    if not text or _PLACEHOLDER.match(text):
        return True
    if "spaced" in groups and match.group("spaced") is not None:
        return bool(_PROSE.match(text)) or text.startswith("-")
    return False


def _numeric(match: re.Match[str], value: str) -> bool:
    return _no_secret(match, value) or len(value) < 8 or value.isdigit() or value.isalpha()


_VERSION_BEFORE = re.compile(
    r"(?:[=<>~!]=|[<>]|version\w*['\"]?[\s:=(v'\"]*|\bv|\brev\w*[\s:=]+|\brelease\s+|-|\+|/"
    r"|\b(?:nvidia|cu(?:da|dnn|blas|fft|rand|solver|sparse)|nccl|nvjitlink|nvshmem|cutlass)"
    r"[\w-]*\s+|^\[(?:conda|pip3?)\]\s.*)$",
    re.IGNORECASE,
)
_KEPT_V4 = [
    ipaddress.ip_network(text)
    for text in ("0.0.0.0/8", "127.0.0.0/8", "192.0.2.0/24", "198.51.100.0/24",
                 "203.0.113.0/24", "255.0.0.0/8")
]  # fmt: skip
_KEPT_V6 = [ipaddress.ip_network(text) for text in ("2001:db8::/32", "::/96")]


def _no_address(match: re.Match[str], value: str) -> bool:
    try:
        address = ipaddress.IPv4Address(value)
    except ValueError:
        return True
    if any(address in network for network in _KEPT_V4):
        return True
    before = match.string[max(0, match.start() - 60) : match.start()]
    if before.endswith("//"):
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


def _shape(name: str, regex: str) -> Pattern:
    return Pattern("secret", name, re.compile(regex))


def _named(name: str, regex: str, *, strict: bool = False) -> Pattern:
    return Pattern("secret", name, re.compile(regex), _numeric if strict else _no_secret)


_SPELLED = rf"(?P<name>(?:(?i:{SENSITIVE_NAME})|{ENV_NAME}))"
_ASSIGN = r"\\*['\"]?\s*(?:=|:)\s*(?:SecretStr\()?b?"
_OPTION = rf"--(?P<name>(?i:{SENSITIVE_NAME}))"

SHAPES: list[Pattern] = [
    Pattern(
        "secret",
        "private-key",
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)",
            re.DOTALL,
        ),
    ),
    _shape("private-key-body", r"^(?=.*[A-Z])(?=.*[g-z])[A-Za-z0-9+/]{64}$"),
    _shape("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    _shape("hugging-face", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{16,}"),
    _shape("openai", r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}"),
    _shape("aws-key-id", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _shape("github", r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    _shape("gitlab", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    _shape("slack", r"\bxox[a-z]-[A-Za-z0-9-]{10,}"),
    _shape("google", r"\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,})"),
    _shape("nvidia", r"\bnvapi-[A-Za-z0-9_-]{20,}"),
]
PLACES: list[Pattern] = [
    _named("url-password", r"://[^/\s:@'\"]*:(?P<secret>[^/\s@'\"]+)@"),
    _named("url-token", r"://(?P<secret>[^/\s:@'\"]{16,})@"),
    _named(
        "query",
        r"[?&;](?P<name>(?i:x-(?:amz|goog)-(?:signature|credential|security-token)|sig|signature"
        r"|awsaccesskeyid|googleaccessid|access_token|id_token|token|api[-_]?key|key|policy"
        r"|key-pair-id|password|secret))=(?P<secret>[^&\s'\"<>]+)",
    ),
    _named(
        "authorization",
        r"(?i:authorization\\*['\"]?\s*[:=,]\s*(?:b(?=\\*['\"]))?\\*['\"]?(?:(?:bearer|basic|token|digest)\s+)?)"
        r"(?P<secret>[^\s'\",\\<>]+)",
    ),
    _named("bearer", r"(?i:\bbearer)\s+(?P<secret>(?=\S*\d)[A-Za-z0-9._~+/=-]{8,})"),
    _named("option-quoted", rf"{_OPTION}\\*['\"]?\s*(?:=|,|\s)\s*{_QUOTED}"),
    _named("option", rf"{_OPTION}(?:=|(?P<spaced>\s+))(?P<secret>[^\s'\"<>]+)"),
    _named("assigned-quoted", rf"(?<![A-Za-z0-9]){_SPELLED}{_ASSIGN}{_QUOTED}"),
    _named(
        "assigned",
        rf"(?<![A-Za-z0-9]){_SPELLED}{_ASSIGN}(?P<secret>[^\s'\",;()\[\]{{}}&|<>\\]+)",
    ),
    _named(
        "token",
        r"(?<![\w-])\\*['\"]?(?P<name>(?i:token))\\*['\"]?\s*[:=]\s*b?\\*['\"]?"
        r"(?P<secret>[^\s'\",;()\[\]{}<>\\]+)",
        strict=True,
    ),
]
LISTS = re.compile(rf"(?<![A-Za-z0-9]){_SPELLED}\\*['\"]?\s*[:=]\s*\[(?P<items>[^\]]*)\]")
"""``api_key=['a', 'b']``: every quoted item is a secret."""
ITEM = re.compile(r"(?P<quote>\\*['\"])(?P<secret>(?:(?!(?P=quote)).)+)(?P=quote)")
MORE = re.compile(
    rf"{_OPTION}\s+(?:<secret-\d+>\s+)+(?P<secret>(?=[^\s-]*\d)[^\s'\"<>-][^\s'\"<>]{{7,}})"
)
"""``--api-key <secret-1> b2``: the option takes several values."""
ADDRESSES: list[Pattern] = [
    Pattern(
        "ip",
        "ipv6",
        re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)"),
        _no_address6,
        _canonical6,
    ),
    Pattern(
        "ip",
        "ipv4",
        re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d|-\w*\d)"),
        _no_address,
    ),
]
DEFAULT: list[Pattern] = [*SHAPES, *PLACES, *ADDRESSES]
