"""Credentials: by their name, by their shape, by where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vdiag.redact.pattern import PLACEHOLDER, QUOTED, Finder, Match, Pattern, windows
from vdiag.redact.views import View

_PROSE = re.compile(
    r"(?:and|argument|auth|authentication|based|expected|flag|for|has|headers?|in|invalid|is|it"
    r"|missing|must|not|of|on|option|or|required|set|should|that|the|this|to|tokens?|was|with)$",
    re.IGNORECASE,
)
SENSITIVE_NAME = (
    r"(?:(?:api|access|secret|auth|private|signing|encryption|account|master|shared|license"
    r"|sharedaccess|subscription)[-_]?(?:access[-_]?)?key(?:[-_]?id)?"
    r"|(?:hf|hub|auth|access|refresh|bearer|api|gh|github|gitlab|slack|wandb|session|security|"
    r"service|user|admin|client|deploy|personal|bot|csrf|xsrf|jwt|oauth|login|registry|id|sas"
    r"|huggingface|huggingfacehub|huggingfacehub[-_]api|openai|azure|gcp|google)[-_]?token"
    r"|client[-_]?secret|secret|passwd|password|passphrase|pwd|credentials?)"
)
"""What names of secrets end in. Tokens of a tokenizer (``eos_token``) are none of them."""
ENV_NAME = (
    r"[A-Z][A-Z0-9_]{0,40}(?:_TOKEN|_SECRET|_PASSWORD|_PASSWD|_PASS|_APIKEY|_API_KEY|_ACCESS_KEY"
    r"|_SECRET_KEY|_CREDENTIALS?|_PAT)"
)
_TOKENIZER = re.compile(
    r"(?:^|_)(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK|IMAGE|VIDEO|AUDIO|STOP|START|END|SPECIAL|NEXT|LAST"
    r"|FIRST|PER|DECODER)_TOKEN$",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"(?:^|_)(?:{SENSITIVE_NAME})$", re.IGNORECASE)
_NAMED_ENV = re.compile(rf"{ENV_NAME}$")
_NAME_HINTS = (
    "key",
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "credential",
    "_pass",
    "_pat",
)


def names_secret(name: str) -> bool:
    """Tell whether a variable or an option of this name holds a secret."""
    name = name.lstrip("-")
    last = name.rsplit(".", 1)[-1]
    if _TOKENIZER.search(last):
        return False
    return bool(_NAMED_ENV.match(last) or _NAMED.search(last.replace("-", "_")))


def _no_secret(match: re.Match[str], value: str) -> bool:
    text = value.strip()
    groups = match.re.groupindex
    name = match.group("name") if "name" in groups else ""
    if _TOKENIZER.search(name or ""):
        return True
    if not text or PLACEHOLDER.match(text):
        return True
    if "spaced" in groups and match.group("spaced") is not None:
        return bool(_PROSE.match(text)) or text.startswith("-")
    return False


def _numeric(match: re.Match[str], value: str) -> bool:
    return _no_secret(match, value) or len(value) < 8 or value.isdigit() or value.isalpha()


def _shape(name: str, regex: str, *hints: str) -> Pattern:
    return Pattern("secret", name, re.compile(regex), hints=hints)


def _named(name: str, regex: str, *hints: str, strict: bool = False) -> Pattern:
    keep = _numeric if strict else _no_secret
    return Pattern("secret", name, re.compile(regex), keep, hints=hints)


_SPELLED = rf"(?P<name>(?:(?i:{SENSITIVE_NAME})|{ENV_NAME}))"
_ASSIGN = r"\\{0,8}['\"]?[ \t]*(?:=|:|=>)[ \t]*(?:SecretStr\()?[bru]?"
_OPTION = rf"--(?P<name>(?:[A-Za-z0-9]{{1,30}}[-_.]){{0,4}}?(?i:{SENSITIVE_NAME}))"
_HERE = r"(?<![A-Za-z0-9])"
_JSON_AMP = r"(?:[?&;]|\\u0026|&amp;|%26)"


class PrivateKey:
    """A private key on one line, or as far as the text has it."""

    kind = "secret"
    hints = ("private key",)
    begin = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
    end = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")

    def find(self, view: View) -> Iterator[Match]:
        """Yield every key; one whose end is missing goes to the end of its string."""
        text, at = view.text, 0
        while begin := self.begin.search(text, at):
            end = self.end.search(text, begin.end())
            if end:
                at = end.end()
            elif view.is_json and (quote := re.compile(r'(?<!\\)"').search(text, begin.end())):
                at = quote.start()
            else:
                at = len(text)
            yield begin.start(), at, text[begin.start() : at]


class Values:
    """The values that stand in a list behind a name: ``api_key=['a', 'b']``."""

    kind = "secret"
    hints = _NAME_HINTS
    _list = re.compile(
        rf"{_HERE}{_SPELLED}\\{{0,8}}['\"]?[ \t]*[:=][ \t]*\[(?P<items>[^\]\n]*)(?:\]|$)"
    )
    _item = re.compile(QUOTED)

    def find(self, view: View) -> Iterator[Match]:
        """Yield every quoted item of such a list."""
        for start, end, following in windows(view.text):
            for match in self._list.finditer(view.text, start, end):
                if match.start() >= following and following != end:
                    break
                if _TOKENIZER.search(match["name"]):
                    continue
                for item in self._item.finditer(view.text, *match.span("items")):
                    if not PLACEHOLDER.match(item["secret"]):
                        yield *item.span("secret"), item["secret"]


class Options:
    """Every value of an option that takes several: ``--api-key a1 b2``."""

    kind = "secret"
    hints = _NAME_HINTS
    _option = re.compile(rf"{_OPTION}[ \t]+")
    _value = re.compile(r"(?P<secret>[^\s'\"<>-][^\s'\"<>]*)[ \t]*")

    def find(self, view: View) -> Iterator[Match]:
        """Yield the second and further values; a further one is long and holds a digit."""
        for match in self._option.finditer(view.text):
            first = self._value.match(view.text, match.end())
            if first is None or _PROSE.match(first["secret"]):
                continue
            at = first.end()
            while (more := self._value.match(view.text, at)) and len(more["secret"]) >= 8:
                if not any(char.isdigit() for char in more["secret"]):
                    break
                yield *more.span("secret"), more["secret"]
                at = more.end()


SHAPES: list[Finder] = [
    PrivateKey(),
    _shape("private-key-body", r"(?m)^(?=.*[A-Z])(?=.*[g-z])[A-Za-z0-9+/]{64}\r?$"),
    _shape(
        "jwt",
        r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
        "eyj",
    ),
    _shape(
        "hugging-face",
        r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,})",
        "hf_",
        "api_org_",
    ),
    _shape(
        "openai", r"(?<![A-Za-z0-9])sk-(?:(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}|[A-Za-z]{20,})", "sk-"
    ),
    _shape(
        "aws-key-id",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![A-Za-z0-9])",
        "akia",
        "asia",
        "abia",
        "acca",
    ),
    _shape(
        "github",
        r"(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        "gho_",
        "ghp_",
        "ghr_",
        "ghs_",
        "ghu_",
        "github_pat_",
    ),
    _shape(
        "gitlab", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat)-[A-Za-z0-9_-]{16,}", "gl"
    ),
    _shape(
        "slack",
        r"(?<![A-Za-z0-9])(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})",
        "xox",
        "xapp-",
    ),
    _shape(
        "webhook",
        r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks)/(?P<secret>[A-Za-z0-9_/-]{16,})",
        "hooks.slack",
        "/webhooks/",
    ),
    _shape(
        "google",
        r"(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{35,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})",
        "aiza",
        "ya29.",
        "gocspx-",
        "1//0",
    ),
    _shape("azure-client", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,}", "q~"),
    _shape("azure-key", r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{86}==", "=="),
    _shape("nvidia", r"(?<![A-Za-z0-9])nvapi-[A-Za-z0-9_-]{20,}", "nvapi-"),
    _shape(
        "vendor",
        r"(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{50,}|dckr_pat_[A-Za-z0-9_-]{20,}"
        r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
        r"|gsk_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}"
        r"|hv[sb]\.[A-Za-z0-9_-]{20,}|do[opr]_v1_[a-f0-9]{40,}|dapi[a-f0-9]{32}"
        r"|wandb_v1_[A-Za-z0-9_]{20,}|AGE-SECRET-KEY-1[0-9A-Z]{40,}|sk-ant-[A-Za-z0-9_-]{16,}"
        r"|\d{8,10}:AA[A-Za-z0-9_-]{33})",
        "npm_",
        "pypi-",
        "dckr_pat_",
        "k_live_",
        "k_test_",
        "sg.",
        "gsk_",
        "r8_",
        "pplx-",
        "xai-",
        "hvs.",
        "hvb.",
        "_v1_",
        "dapi",
        "age-secret",
        "sk-ant",
        ":aa",
    ),
]
PLACES: list[Finder] = [
    _named("url-password", r":\\?/\\?/[^/\s:@'\"]*:(?P<secret>[^/\s'\"<>]+)@", "@"),
    _named("url-token", r":\\?/\\?/(?P<secret>[^/\s:@'\"<>]{12,})@", "@"),
    _named(
        "query",
        rf"{_JSON_AMP}(?P<name>(?i:x-(?:amz|goog|oss|cos)-(?:signature|credential|security-token)"
        r"|sig|signature|sign|awsaccesskeyid|ossaccesskeyid|googleaccessid|(?:access|id|auth|hf|api)[-_]?token|token"
        r"|api[-_]?key|key|policy|key-pair-id|password|passwd|secret|client_secret|subscription-key))"
        r"=(?P<secret>[^&\s'\"<>\\]+)",
        "sig",
        "key",
        "token",
        "credential",
        "accessid",
        "policy",
        "passw",
        "secret",
    ),
    _named(
        "authorization",
        r"(?i:authorization\\{0,8}['\"]?[ \t]*[:=,][ \t]*(?:b(?=\\{0,8}['\"]))?\\{0,8}['\"]?"
        r"(?:(?:bearer|basic|token|digest|apikey|negotiate)[ \t]+)?)(?P<secret>[^\s'\",\\<>]+)",
        "authorization",
    ),
    _named(
        "cookie",
        r"(?i:\b(?:set-)?cookie\\{0,8}['\"]?[ \t]*[:=,][ \t]*b?\\{0,8}['\"]?)"
        r"(?P<secret>[^\s'\"\\<>]+=[^'\"\\<>\r\n]+)",
        "cookie",
    ),
    _named("bearer", r"(?i:\bbearer)[ \t]+(?P<secret>(?=\S*\d)[A-Za-z0-9._~+/=-]{8,})", "bearer"),
    _named(
        "option-quoted", rf"{_OPTION}\\{{0,8}}['\"]?[ \t]*(?:=|,|[ \t])[ \t]*{QUOTED}", *_NAME_HINTS
    ),
    _named(
        "secret-option",
        rf"{_OPTION}(?:=|(?P<spaced>[ \t]+))(?P<secret>[^\s'\"<>]+)",
        *_NAME_HINTS,
    ),
    _named("assigned-quoted", rf"{_HERE}{_SPELLED}{_ASSIGN}{QUOTED}", *_NAME_HINTS),
    _named(
        "assigned",
        rf"{_HERE}{_SPELLED}{_ASSIGN}(?P<secret>[^\s'\",;()\[\]{{}}&|<>\\]+)",
        *_NAME_HINTS,
    ),
    _named(
        "token",
        r"(?<![\w-])\\{0,8}['\"]?(?P<name>(?i:token))\\{0,8}['\"]?[ \t]*[:=][ \t]*b?\\{0,8}['\"]?"
        r"(?P<secret>[^\s'\",;()\[\]{}<>\\]+)",
        "token",
        strict=True,
    ),
    _named("signature", r"(?i:\bsignature)=(?P<secret>[A-Za-z0-9+/%=_-]{20,})", "signature"),
    _named("netrc", r"\blogin[ \t]+\S+[ \t]+password[ \t]+(?P<secret>[^\s'\"<>]+)", "password"),
    _named(
        "curl-user",
        r"\bcurl\b.{0,500}? (?:-u|--user)[ =]*['\"]?(?P<secret>[^\s:'\"<>]+:[^\s'\"<>]+)",
        "curl",
    ),
    _named(
        "said",
        r"(?i:\b(?:token|secret|password|api[ -]key(?: provided| is)?):? \\{0,8}['\"]|\bapi[ -]key"
        r" (?:provided|is):? )(?P<secret>(?=[^\s'\"]*\d)(?=[^\s'\"]*[A-Za-z])[^\s'\"<>\\]{10,})",
        "token",
        "secret",
        "password",
        "key",
    ),
    Values(),
    Options(),
]
