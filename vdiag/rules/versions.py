"""Version comparison as vLLM's and FlashInfer's version strings need it.

A development build counts as its base release (``0.13.0rc2.dev185+gabc`` as ``0.13.0``);
``0.1.dev…`` is a nightly without a base, so it compares with nothing. Commits compare as
prefixes of nine hexadecimal digits or more.
"""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

_COMMIT = re.compile(r"[0-9a-f]{9,40}")
MIN_COMMIT = 9


def base_release(text: str) -> Version | None:
    """Return the release a version counts as, or None for a nightly or no version.

    A post release stays one: FlashInfer ``0.7.2.post1`` is later than ``0.7.2``.
    """
    try:
        version = Version(text.strip().lstrip("v"))
    except InvalidVersion:
        return None
    if version.is_devrelease and version.release[:2] == (0, 1) and not any(version.release[2:]):
        return None
    base = ".".join(str(part) for part in version.release)
    return Version(f"{base}.post{version.post}" if version.post is not None else base)


def in_range(version: str, specifier: str) -> bool | None:
    """Tell whether a version lies in a range; None where it cannot be compared."""
    base = base_release(version)
    if base is None:
        return None
    return SpecifierSet(specifier).contains(base, prereleases=True)


def same_commit(one: str, other: str) -> bool:
    """Tell whether two commit ids agree on nine hexadecimal digits or more."""
    one, other = (text.lower().removeprefix("g") for text in (one, other))
    if not (_COMMIT.fullmatch(one) and _COMMIT.fullmatch(other)):
        return False
    length = min(len(one), len(other))
    return length >= MIN_COMMIT and one[:length] == other[:length]
