"""A GitHub issue or comment: which of its lines are a log's.

In a page with fences the prose around them is no log: a title that quotes ``CUDA error:
unspecified launch failure`` is no crash. Inside of fences and of ``<details>`` everything
counts; outside only a line that is itself a vLLM record does (a log pasted without a fence).
"""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_FOLDING = re.compile(r" {0,3}(?:<details|</details>|<summary)")
_PAGE = re.compile(r"(?m)^(?:> ?)*(?:#{1,6} \S|<details|</details>|<summary|- \[[ x]\] |\*\*\S)")
_FENCED = re.compile(r"(?m)^(?:> ?)* {0,3}(?:`{3,}|~{3,})[\w+-]* *\r?$")


def is_page(head: str) -> bool:
    """Tell whether a text's beginning is a Markdown page with fences or foldings."""
    fences = len(_FENCED.findall(head))
    marks = _PAGE.findall(head)
    return bool(fences and (marks or _FENCED.search(head[:400]))) or any(
        mark.startswith(("<details", "<summary")) for mark in marks
    )


class Page:
    """Follows the fences of a page, line by line."""

    def __init__(self) -> None:
        self._mark: str | None = None
        self._folded = 0

    def inside(self, line: str) -> bool | None:
        """Take one line: True inside, False outside, None where it is a fence or a tag."""
        match = _FENCE.match(line.rstrip("\r"))
        if match is None:
            if self._mark is None and _FOLDING.match(line):
                self._folded += line.count("<details") - line.count("</details>")
                return None
            return self._mark is not None or self._folded > 0
        mark = match["mark"]
        if self._mark is None:
            self._mark = mark
            return None
        if mark[0] == self._mark[0] and len(mark) >= len(self._mark) and not match["info"].strip():
            self._mark = None
            return None
        return True
