"""Reads Python reprs as vLLM prints them, without evaluating anything.

``non-default args: {...}``, ``with config: k=v, k=v`` and ``Namespace(...)`` hold dicts,
lists, tuples, strings, numbers, calls such as ``KVTransferConfig(kv_connector='x')``, enum
reprs such as ``<CUDAGraphMode.FULL: 3>`` and names such as ``torch.bfloat16``. A text that
ends early (a cut line) gives what was read so far.
"""

from __future__ import annotations

import re

Value = bool | int | float | str | None | list["Value"] | dict[str, "Value"]

_MAX_DEPTH = 40
_MAX_DIGITS = 24
_SPACE = re.compile(r"\s*")
_STRING = re.compile(
    r"(?:[rbuRBU]{0,2})(?:'((?:[^'\\]|\\.)*)(?:'|$)|\"((?:[^\"\\]|\\.)*)(?:\"|$))", re.S
)
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+)(?![\w.])")
_NAME = re.compile(r"[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?")
_ANGLE = re.compile(r"<([^<>]*(?:<[^<>]*>[^<>]*)*)>?")
_BARE = re.compile(r"[^,)\]}]*")
_ESCAPE = re.compile(r"\\(.)", re.S)
_WORDS: dict[str, Value] = {
    "True": True,
    "False": False,
    "None": None,
    "true": True,
    "false": False,
    "null": None,
}


def parse(text: str) -> Value:
    """Parse one value, or ``k=v, k=v`` (returned as a dict).

    Never raises: what cannot be read is kept as text, what is missing is left out.
    """
    reader = _Reader(text)
    reader.space()
    if re.match(r"[A-Za-z_]\w*=", text[reader.at :]):
        return reader.pairs("")
    return reader.value(0)


def dig(value: Value, path: list[str]) -> tuple[bool, Value]:
    """Follow keys into nested dicts, reading JSON and repr strings on the way.

    Returns (found, value).
    """
    for key in path:
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            value = parse(value)
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


def flat(value: Value) -> str:
    """Return a text that holds every key and every value, to search in."""
    if isinstance(value, dict):
        return " ".join(f"{key}={flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(flat(item) for item in value)
    return str(value)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        if match:
            self.at = match.end()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Value:
        self.space()
        char = self.peek()
        if depth > _MAX_DEPTH or not char:
            self.at = len(self.text)
            return None
        if char == "{":
            return self.mapping(depth)
        if char in "[(":
            return self.sequence("]" if char == "[" else ")", depth)
        if char in "'\"":
            return self.string()
        if char == "<":
            return self.angle()
        number = _NUMBER.match(self.text, self.at)
        if number and len(number.group()) <= _MAX_DIGITS:
            self.at = number.end()
            return _number(number.group())
        name = _NAME.match(self.text, self.at)
        if name:
            return self.named(name, depth)
        bare = _BARE.match(self.text, self.at)
        end = bare.end() if bare else self.at
        found = self.text[self.at : end].strip()
        self.at = max(end, self.at + 1)
        return found

    def string(self) -> Value:
        match = _STRING.match(self.text, self.at)
        if not match:
            self.at += 1
            return ""
        self.at = match.end()
        body = match.group(1) if match.group(1) is not None else match.group(2)
        return _ESCAPE.sub(lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), body)

    def angle(self) -> str:
        match = _ANGLE.match(self.text, self.at)
        if not match:
            self.at += 1
            return "<"
        self.at = match.end()
        inner = match.group(1)
        enum = re.match(r"([A-Za-z_][\w.]*): ", inner)
        return enum.group(1) if enum else inner

    def named(self, match: re.Match[str], depth: int) -> Value:
        word = match.group()
        prefixed = _STRING.match(self.text, self.at)
        if prefixed and len(word) <= 2 and self.text[match.end() : match.end() + 1] in "'\"":
            return self.string()
        self.at = match.end()
        if self.peek() == "(":
            self.at += 1
            return {"__name__": word, **self.pairs(")", depth + 1)}
        return _WORDS.get(word, word)

    def mapping(self, depth: int) -> Value:
        self.at += 1
        out: dict[str, Value] = {}
        items: list[Value] = []
        while True:
            self.space()
            if not self.peek():
                break
            if self.peek() == "}":
                self.at += 1
                break
            start = self.at
            key = self.value(depth + 1)
            self.space()
            if self.peek() == ":":
                self.at += 1
                out[str(key)] = self.value(depth + 1)
            else:
                items.append(key)
            self.space()
            if self.peek() == "," or self.at == start:
                self.at += 1
        return items if items and not out else out

    def sequence(self, close: str, depth: int) -> Value:
        self.at += 1
        out: list[Value] = []
        while True:
            self.space()
            if not self.peek():
                break
            if self.peek() == close:
                self.at += 1
                break
            start = self.at
            out.append(self.value(depth + 1))
            self.space()
            if self.peek() == "," or self.at == start:
                self.at += 1
        return out

    def pairs(self, close: str, depth: int = 0) -> dict[str, Value]:
        out: dict[str, Value] = {}
        place = 0
        while True:
            self.space()
            if not self.peek():
                break
            if close and self.peek() == close:
                self.at += 1
                break
            start = self.at
            key = re.compile(r"([A-Za-z_]\w*)=").match(self.text, self.at)
            if key:
                self.at = key.end()
                out[key.group(1)] = self.value(depth + 1)
            else:
                out[str(place)] = self.value(depth + 1)
                place += 1
            self.space()
            if self.peek() == ",":
                self.at += 1
            elif not close or self.peek() != close:
                # A value of a shape unknown here (``a | b``): skip to the next comma.
                rest = _BARE.match(self.text, self.at)
                self.at = max(rest.end() if rest else self.at, start + 1)
                if self.peek() == ",":
                    self.at += 1
        return out


def _number(text: str) -> int | float:
    clean = text.replace("_", "")
    try:
        return int(clean)
    except ValueError:
        return float(clean)
