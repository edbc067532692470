"""What users sent and models answered: prompts, messages, completions, token ids, parameters.

The forms are those of vLLM's request logger (vllm/entrypoints/logger.py: ``Received request
%s: prompt: %r, params: %s, prompt_token_ids: %s, …``, ``Generated response %s%s: output: %r,
output_token_ids: %s, finish_reason: %s``), of the reprs of its request objects, and of the
OpenAI API's JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vdiag.redact.pattern import PLACEHOLDER, QUOTED, Finder, Match, Pattern
from vdiag.redact.views import View

_UNESCAPED = re.compile(r'(?<!\\)"')
_OPEN, _CLOSE = "([{", ")]}"


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def closing(text: str, at: int, *, is_json: bool = False) -> int:
    """Return where the bracket opened just before ``at`` is closed, else the end of the line.

    Brackets in quotes do not count. In a JSON record the end of the string is an end, too.
    """
    depth, quote = 1, ""
    end = _line_end(text, at)
    while at < end:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if quote:
            if char == quote:
                quote = ""
        elif char in "'\"" and not text[at - 1].isalnum():
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if not depth:
                return at
        at += 1
    if is_json and (found := _UNESCAPED.search(text, at if at < end else 0)):
        return min(end, found.start())
    return end


class Logged:
    """A prompt or an output that vLLM's request logger wrote.

    The text may hold anything, also what looks like its own end. So it goes to the last place
    in the line that can be its end, and to the end of the line where none is left.
    """

    kind = "prompt"

    def __init__(self, label: str, *ends: str) -> None:
        self.hints: tuple[str, ...] = (label,)
        self._start = re.compile(rf"(?<![\w'\"]){label}[ \t]?(?P<open>\\{{0,8}}['\"])")
        self._end = re.compile(rf"\\{{0,8}}['\"](?=, (?:{'|'.join(ends)}): )")

    def find(self, view: View) -> Iterator[Match]:
        """Yield the text between its quotes, at most one a line."""
        text, at = view.text, 0
        while start := self._start.search(text, at):
            line = _line_end(text, start.end())
            ends = [end.start() for end in self._end.finditer(text, start.end(), line)]
            stop = ends[-1] if ends else line
            if not ends and view.is_json:
                quote = _UNESCAPED.search(text, start.end(), line)
                stop = quote.start() if quote else line
            if stop > start.end():
                yield start.end(), stop, text[start.end() : stop]
            at = max(stop, start.end()) + 1


class Bracketed:
    """What stands in the brackets behind a name."""

    def __init__(self, kind: str, name: str, bracket: str, *hints: str) -> None:
        self.kind = kind
        self.hints: tuple[str, ...] = hints
        self._start = re.compile(rf"(?<![A-Za-z0-9]){name}{re.escape(bracket)}")

    def find(self, view: View) -> Iterator[Match]:
        """Yield what is in the brackets, or the rest of the line where they are not closed."""
        text, at = view.text, 0
        while start := self._start.search(text, at):
            end = closing(text, start.end(), is_json=view.is_json)
            value = text[start.end() : end]
            if value.strip() and not PLACEHOLDER.match(value.strip()):
                yield start.end(), end, value
            at = max(end, start.end())


def _no_prompt(match: re.Match[str], value: str) -> bool:
    return bool(PLACEHOLDER.match(value.strip()))


_KEYS = (
    r"(?:prompts?|content|completion|generated_text|output_text|input_text|reasoning(?:_content)?"
    r"|(?:system|user|negative)_prompt|suffix|text|query|instructions?|refusal|arguments|input(?:_value)?|documents?)"
)
_IDS = (
    r"(?:(?:prompt|output|all|new|sampled|input|draft|generated|resumed_req|spec|cached)_?)?"
    r"(?:token_ids|tokens_ids|input_ids)"
)
PROMPTS: list[Finder] = [
    Logged(
        "prompt:",
        "params",
        "sampling_params",
        "prompt_token_ids",
        r"prompt_embeds(?: shape)?",
        "lora_request",
    ),
    Logged("output:", "output_token_ids", "finish_reason"),
    Bracketed("prompt", r"messages\\{0,8}['\"]?[ \t]*[:=][ \t]*", "[", "messages"),
    Bracketed("params", r"(?:Sampling|Pooling|BeamSearch)Params", "(", "params("),
    Bracketed("params", r"(?:sampling|pooling)_params\\{0,8}['\"]?[ \t]*[:=][ \t]*", "{", "params"),
    Bracketed(
        "tokens", rf"{_IDS}\\{{0,8}}['\"]?[ \t]*[:=][ \t]*(?:array\(|tensor\()?", "[", "_ids"
    ),
    Bracketed(
        "prompt",
        r"prompt_embeds\\{0,8}['\"]?[ \t]*[:=][ \t]*(?:tensor|array)",
        "(",
        "prompt_embeds",
    ),
    Bracketed(
        "prompt",
        r"(?:prompts?|content|texts|input|documents|instructions?)\\{0,8}['\"]?[ \t]*[:=][ \t]*",
        "[",
        "prompt",
        "content",
        "texts",
        "input",
        "documents",
        "instruction",
    ),
    Pattern(
        "prompt",
        "data-url",
        re.compile(r"data:[\w/+.-]{3,60}(?:;[\w=.-]{1,40})*;base64,(?P<secret>[A-Za-z0-9+/=_-]+)"),
        hints=(";base64,",),
        whole=True,
    ),
    Pattern(
        "prompt",
        "quoted",
        re.compile(
            rf"(?<![\w.])(?:\\{{0,8}}['\"])?{_KEYS}(?:\\{{0,8}}['\"][ \t]*:|=)[ \t]*{QUOTED}"
        ),
        _no_prompt,
        hints=(
            "prompt",
            "content",
            "completion",
            "text",
            "query",
            "instruction",
            "refusal",
            "reasoning",
            "suffix",
            "arguments",
            "input",
            "document",
        ),
        whole=True,
    ),
]
