"""Prefixes that only what follows them shows to be prefixes: learned, then taken off.

``3: `` is srun's label where a vLLM record follows it, and text where none does. So a short
text in front of a vLLM record teaches its *shape* (digits count as any digits, blanks as any
blanks); from then on the shape is taken off every line that begins with it: off tracebacks,
environment blocks and kernel lines, which carry no prefix of vLLM's own.
"""

from __future__ import annotations

import re

from vdiag.logs import clock
from vdiag.logs.envelopes.words import Peeled

_RECORD = re.compile(
    r"\((?:APIServer|ApiServer|EngineCore|Worker|VllmWorker|RayWorker|MainProcess|DPCoordinator"
    r"|VLLM_DP_Coordinator|CPUWorker)[^()]{0,60}(?:\([^()]*\)[^()]{0,20})?"
    r"pid=\d+(?:, ip=[^()\s]+)?\) "
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? "
    r"(?:\[[^\]\s:]+:\d+\]|[\w./-]+\.py:\d+\])"
    r'|\{"\w+": ?".{0,80}"levelname": ?"'
    # Other collectors' own lines, which a page or a person may have indented or quoted.
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w.@-]+\[\d+\]: "
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z std(?:out|err) [PF] "
    r"|\[pod/[^\s\]]+\] "
)
"""What a line of vLLM's begins with, the collector's prefix apart."""
MAX_PREFIX = 96
_MAX_SHAPES = 16
_COMMON = 3
"""Lines that must share a prefix where no record shows it to be one."""
_CODE_BLOCK = 10
"""Lines that make an indented code block where none of them is a record."""
_INDENTED = 3
"""Records that must show an indentation before it counts as one."""
_NAMED = (
    ("torchrun", re.compile(r"\[(?:rank|default)\d+\]: ?")),
    ("srun", re.compile(r" *\d+: ")),
    ("docker-compose", re.compile(r"[\w.-]+ +\| ")),
    ("quote", re.compile(r"(?:> ?)+")),
    ("indent", re.compile(r"(?: {2,8}|\t)")),
    (
        "timestamps",
        re.compile(
            r"\[?(?:\d{4}-\d\d-\d\d[T ]|\d{4}/\d\d/\d\d |[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d"
            r"(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? *(?:[|:-] *)?"
        ),
    ),
    (
        "host-prefix",
        re.compile(r"(?!(?:DEBUG|INFO|WARNING|ERROR)\b)(?P<host>[A-Za-z0-9][\w.-]*)(?:: |\t| : )"),
    ),
)
_LIBRARY = re.compile(
    r"[\d-]{10}[ T][\d:.,]{8,15}"
    r"(?: - (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) - |\t(?:INFO|WARNING|ERROR) )"
)
"""A library's own stamp and level, which are no prefix: FlashInfer's, Ray's."""


class Shapes:
    """The prefixes learned from one input."""

    def __init__(self) -> None:
        self._known: list[tuple[str, re.Pattern[str]]] = []
        self._seen: set[str] = set()
        self._indents: dict[str, int] = {}

    @property
    def empty(self) -> bool:
        """Whether nothing was learned yet."""
        return not self._known

    def learn_common(self, lines: list[str]) -> bool:
        """Learn a prefix that all lines share; tell whether there is one.

        A bench client's output behind ``[rank0]: `` holds no record that would show it.
        """
        lines = [line for line in lines if line.strip()]
        block = _code_block(lines)
        if block and self._add(block):
            return True
        if len(lines) < _COMMON:
            return False
        for kind, pattern in _NAMED:
            if kind == "indent":
                continue
            found = [pattern.match(line) for line in lines]
            prefixes = {re.sub(r"\d+", "0", one[0]) for one in found if one}
            same = len(prefixes) == 1 or kind == "timestamps"
            first = found[0]
            if first is not None and all(found) and same and self._add(first[0]):
                return True
        return False

    @staticmethod
    def is_record(line: str) -> bool:
        """Tell whether a line begins as vLLM's own do."""
        return _RECORD.match(line) is not None

    def learn(self, line: str) -> bool:
        """Learn from what stands in front of a vLLM record; tell whether that is new."""
        if line.startswith("(") and _RECORD.match(line):  # nearly every line
            self._indents[""] = 1
            return False
        record = _RECORD.search(line, 0, MAX_PREFIX + 120)
        if record is None or record.start() > MAX_PREFIX:
            return False
        return self.learn_before(line[: record.start()])

    def learn_before(self, prefix: str) -> bool:
        """Learn what stands in front of a line that is plain by itself."""
        if not prefix.strip():
            return self._indented(prefix)
        return self._add(prefix)

    def _indented(self, blanks: str) -> bool:
        """Count an indentation: one of a page's code block stands before every record."""
        self._indents[blanks] = self._indents.get(blanks, 0) + 1
        if not blanks or self._indents.get("") or self._indents[blanks] < _INDENTED:
            return False
        return self._add(blanks)

    def _add(self, prefix: str) -> bool:
        key = re.sub(r"\d+", "0", re.sub(r"\s+", " ", prefix))
        if key in self._seen or len(self._known) >= _MAX_SHAPES or "%|" in prefix or '{"' in prefix:
            return False
        self._seen.add(key)
        for kind, pattern in _NAMED:
            if pattern.fullmatch(prefix):
                self._known.append((kind, self._widened(kind, prefix, pattern)))
                return True
        if prefix.startswith("(") or not prefix.strip():
            return False  # a process prefix that the grammar reads, or nothing
        self._known.append(("prefix", re.compile(_shape(prefix) + r"(?P<text>.*)", re.S)))
        return True

    @staticmethod
    def _widened(kind: str, prefix: str, pattern: re.Pattern[str]) -> re.Pattern[str]:
        """Return the pattern for this prefix and those of its siblings."""
        if kind == "indent":
            return re.compile(re.escape(prefix) + r"(?P<text>.*)", re.S)
        if kind == "docker-compose":  # a service's name may be any word; its column is not
            return re.compile(r"(?P<host>[\w.-]+) +\|(?: (?P<text>.*)|$)", re.S)
        if kind == "quote":
            return re.compile(rf"(?:> ?){{{prefix.count('>')}}}(?P<text>.*)", re.S)
        if kind == "host-prefix":
            named = pattern.fullmatch(prefix)
            host = re.sub(r"\d+", r"\\d+", re.escape(named["host"] if named else prefix))
            rest = re.escape(prefix[prefix.find(":") if ":" in prefix else -1 :]).replace(
                r"\ ", " ?"
            )
            return re.compile(rf"(?P<host>{host})\s*{rest}(?P<text>.*)", re.S)
        if kind == "torchrun":  # with or without a blank, as the template has it
            blank = "(?: |$)" if prefix.endswith(" ") else ""
            return re.compile(rf"\[(?:rank|default)\d+\]:{blank}(?P<text>.*)", re.S)
        if kind == "srun":
            return re.compile(r" *\d+:(?: (?P<text>.*)|$)", re.S)
        return re.compile(pattern.pattern + r"(?P<text>.*)", re.S)

    def peel(self, line: str) -> Peeled | None:
        """Take a learned prefix off; None where the line has none."""
        for kind, pattern in self._known:
            match = pattern.match(line)
            if match is None:
                continue
            text = match["text"] or ""
            if kind == "timestamps" and _LIBRARY.match(line):
                continue
            groups = match.groupdict()
            host = groups.get("host")
            return Peeled(
                text=text,
                kind=kind,
                time=clock.normalise(line[:40]) if kind in ("timestamps", "prefix") else None,
                host=host,
                server=host if kind == "docker-compose" else None,
            )
        return None


def _code_block(lines: list[str]) -> str | None:
    """Return the indentation of a comment's code block: all its lines have it, prose has none."""
    for indent in ("    ", "\t"):
        own = [index for index, line in enumerate(lines) if line.startswith(indent)]
        if len(own) < _CODE_BLOCK or own[-1] - own[0] != len(own) - 1:
            continue
        if not lines[own[0]][len(indent)].isspace():
            return indent
    return None


def _shape(prefix: str) -> str:
    r"""Return a pattern for a prefix: digits stand for any digits, blanks for any blanks."""
    parts = []
    for part in re.findall(r"\d+|\s+|[^\d\s]+", prefix):
        if part.isdigit():
            parts.append(r"\d+")
        elif part.isspace():
            parts.append(r"\s+")
        else:
            parts.append(re.escape(part))
    shape = "".join(parts)
    # Where the line is empty, the collector's last blank may be gone.
    return shape.removesuffix(r"\s+") + r"(?:\s+|$)" if shape.endswith(r"\s+") else shape
