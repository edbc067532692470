"""People and machines by identity: e-mail addresses, user names, GPU and system UUIDs."""

from __future__ import annotations

import re

from vdiag.redact.pattern import PLACEHOLDER, Finder, Pattern

_UNIT = re.compile(
    r".*\.(?:service|socket|timer|slice|scope|target|mount|device|path|so|py|log|json|yaml|git)$",
    re.IGNORECASE,
)

_IN_URL = re.compile(r"://[^/\s]*$")
"""What stands before the host of a URL is no mailbox; it is a credential's business."""


def _no_email(match: re.Match[str], value: str) -> bool:
    if _UNIT.match(value) or _IN_URL.search(
        match.string, max(0, match.start() - 300), match.start()
    ):
        return True
    return value.startswith("git@") and match.string[match.end() : match.end() + 1] == ":"


def _no_user(_match: re.Match[str], value: str) -> bool:
    return bool(PLACEHOLDER.match(value)) or value in (".", "..", "*")


_UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
_USER = r"(?P<secret>[^\s/\\'\",;:<>()\[\]{}|*?]+)"

IDENTITIES: list[Finder] = [
    Pattern(
        "email",
        "email",
        re.compile(
            r"(?<![\w.+/:@%-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}"
            r"[A-Za-z]{2,24}(?![\w@-]|\.\w)"
            r"|(?<=mailto:)[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,200}"
            r"|(?<=[:=/])[A-Za-z][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@-]|\.\w)"
        ),
        _no_email,
        str.lower,
        ("@",),
    ),
    Pattern(
        "user",
        "home",
        re.compile(
            rf"(?:/home/|/Users/|/homes/|(?<![\w.])/users/|[A-Za-z]:\\+Users\\+|[A-Za-z]:/Users/){_USER}"
        ),
        _no_user,
        hints=("/home", "users"),
    ),
    Pattern(
        "user",
        "tilde",
        re.compile(r"(?<![\w~/.])~(?P<secret>[a-z_][\w.-]{0,31})/"),
        _no_user,
        hints=("~",),
    ),
    Pattern(
        "user",
        "login",
        re.compile(
            r"(?<![\w@./:-])(?P<secret>[a-z_][\w.-]{0,31})@[A-Za-z0-9][\w.-]*:"
            r"(?:~|/)[^\s$#]*[$#](?= |$)"
            r"|\b(?:ssh|scp|rsync)\b[^\n]{0,80}? (?P<login>[a-z_][\w.-]{0,31})@"
        ),
        _no_user,
        hints=("@",),
    ),
    Pattern(
        "user",
        "user-variable",
        re.compile(
            r"(?<![A-Za-z0-9])(?:USER|LOGNAME|USERNAME|SUDO_USER|SLURM_JOB_USER|DEBUG_USERNAME)"
            r"\\{0,8}['\"]?[ \t]*[=:][ \t]*\\{0,8}['\"]?(?P<secret>[A-Za-z_][\w.@-]*)"
        ),
        _no_user,
        hints=("user", "logname"),
    ),
    Pattern(
        "uuid",
        "gpu-uuid",
        re.compile(
            r"(?<![A-Za-z0-9-])(?P<secret>(?:MIG-GPU|GPU|MIG)-[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){0,3}"
            r"(?:-[0-9A-Fa-f]{12})?)(?![\w-])"
        ),
        canonical=lambda value: value.lower().removeprefix("mig-"),
        hints=("gpu-", "mig-"),
    ),
    Pattern(
        "uuid",
        "system-uuid",
        re.compile(
            r"(?i:uuid|machine[-_ ]?id|boot[-_ ]?id|system[-_ ]?id|serial(?:[-_ ]?(?:number|no))?)"
            r"\\{0,8}['\"]?[ \t]*[=:#]?[ \t]*\\{0,8}['\"]?"
            rf"(?P<secret>{_UUID}|[0-9A-Fa-f]{{32}}(?![0-9A-Fa-f]))"
        ),
        canonical=lambda value: value.lower().replace("-", ""),
        hints=("uuid", "machine", "boot", "system", "serial"),
    ),
    Pattern(
        "uuid",
        "boot-id",
        re.compile(r"(?<=;b=)(?P<secret>[0-9a-f]{32})(?=;)"),
        hints=(";b=",),
    ),
    Pattern(
        "uuid",
        "serial",
        re.compile(
            r"(?i:\bserial[-_ ]?(?:number|no)?\b)\\{0,8}['\"]?[ \t]*[=:#][ \t]*\\{0,8}['\"]?"
            r"(?P<secret>(?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]{5,})"
        ),
        hints=("serial",),
    ),
]
