"""Models: private paths, and public ids where they are to be hidden too.

``org/name`` is an id on the hub and stays. What starts with a slash, a dot or a scheme, or
has more than two parts, is a place in somebody's storage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vdiag.redact.pattern import PLACEHOLDER, Finder, Match, Pattern
from vdiag.redact.views import View

_NAMES = (
    r"(?:model(?:_tag|_path|_dir|_id|_name|_name_or_path)?|tokenizer(?:_path)?|served_model_name"
    r"|hf_config_path|generation_config|draft_model|draft_model_path|speculative_model|adapter_path"
    r"|local_path|lora_path|lora_local_path|lora_name|path|chat_template|model_weights|weights"
    r"|download_dir|checkpoint|checkpoint_dir|root|parent)"
)
_NAMES = f"(?i:{_NAMES})"
_VALUE = r"(?P<secret>[^\s'\",;()\[\]{}<>\\]*[^\s'\",;()\[\]{}<>\\.])"
_IS_PATH = re.compile(r"(?:/|\.{1,2}/|~|[A-Za-z]:[\\/]|[a-z0-9+]{2,10}://)")
_HUB = re.compile(r"(?:[\w][\w.-]{0,95}/)?[\w][\w.-]{0,95}$")
_OWN = re.compile(
    r"/(?:usr|opt|lib|lib64|proc|sys|dev|etc|bin|v\d|tmp/?$|opt/venv)(?:/|$)|/(?:v\d|health|metrics|ping|docs|"
    r"openapi\.json|tokenize|detokenize|load|version|invocations|server_info|pooling|score|rerank|classify)\b"
)
"""Paths of the installation and of the HTTP server, no place of models."""
_PACKAGE = re.compile(r"/(?:site|dist)-packages/|\.py$|\.so(?:\.\d+)*$|/vllm/")
_CACHE = re.compile(
    r"/models--[\w.-]+--[\w.-]+(?:/|$)|/\.cache/(?!huggingface)|/\.triton/|/torch_compile_cache/"
)


def _public(match: re.Match[str], value: str) -> bool:
    """Tell whether a value in the place of a model is no private path."""
    value = value.rstrip(".")
    if PLACEHOLDER.match(value) or _PACKAGE.search(value):
        return True
    if _CACHE.search(value):
        return True  # the hub's cache spells the public id
    if re.match(r"https?://(?:[\w-]+\.)*(?:huggingface\.co|hf\.co|modelscope\.cn)/", value):
        return True
    if value.startswith("/") and match.re is not _BANNER and _OWN.match(value):
        return True
    return not _IS_PATH.match(value) and (value.count("/") < 2 or not re.match(r"\w", value))


def _placeholder(_match: re.Match[str], value: str) -> bool:
    return bool(PLACEHOLDER.match(value)) or value.startswith("<") or not _HUB.match(value)


_SAID = r"(?<!\w)(?:model   |serving model |load(?:ing)? model (?:from )?|downloading weights for )"
_BANNER = re.compile(rf"{_SAID}{_VALUE}(?=[\s,'\"]|$|\.\.\.)")


def _no_weights(_match: re.Match[str], value: str) -> bool:
    return bool(_PACKAGE.search(value) or _OWN.match(value) or _CACHE.search(value))


_FILES = (
    r"(?:[\w.-]+\.(?:safetensors(?:\.index\.json)?|gguf|ggml|pt|pth|ckpt|jinja2?|tiktoken)"
    r"|pytorch_model[\w.-]*\.bin|(?:generation_|tokenizer_|preprocessor_|adapter_|processor_)?config\.json"
    r"|tokenizer\.(?:json|model)|params\.json|consolidated[\w.-]*|hf_quant_config\.json)"
)


class LoraModules:
    """The paths in ``--lora-modules a=/x b=/y``."""

    kind = "model"
    hints = ("lora-modules", "lora_modules")
    _option = re.compile(r"lora[-_]modules")
    _path = re.compile(r"=(?P<secret>[/~.][^\s'\",;()<>\\]+)")

    def find(self, view: View) -> Iterator[Match]:
        """Yield every path behind the option, as far as one line of options may reach."""
        for option in self._option.finditer(view.text):
            end = view.text.find("\n", option.end())
            last = min(option.end() + 2000, len(view.text) if end < 0 else end)
            for match in self._path.finditer(view.text, option.end(), last):
                yield *match.span("secret"), match["secret"]


PATHS: list[Finder] = [
    Pattern(
        "model",
        "named",
        re.compile(
            rf"(?<![A-Za-z0-9_.-]){_NAMES}\\{{0,8}}['\"]?[ \t]*[=:][ \t]*\[?\\{{0,8}}['\"]?{_VALUE}"
        ),
        _public,
        hints=(
            "model",
            "tokenizer",
            "path",
            "config",
            "template",
            "weights",
            "dir",
            "checkpoint",
            "root",
            "parent",
            "lora",
        ),
    ),
    Pattern(
        "model",
        "option",
        re.compile(
            r"(?:--(?:model|tokenizer|served-model-name|hf-config-path|download-dir|chat-template|speculative-model)"
            r"(?:=|[ \t]+|\\{0,8}['\"], ?\\{0,8}['\"])"
            rf"|\bvllm\\{{0,8}}['\"]?,? +\\{{0,8}}['\"]?"
            rf"(?:serve|bench)\\{{0,8}}['\"]?,? +\\{{0,8}}['\"]?){_VALUE}"
        ),
        _public,
        hints=("--", "serve", "bench"),
    ),
    Pattern("model", "banner", _BANNER, _public, hints=("model", "weights")),
    Pattern(
        "model",
        "weights-file",
        re.compile(
            rf"(?<![\w.~/:-])(?P<secret>(?:~|[A-Za-z]:)?(?:/[\w.@+=-]{{1,120}}){{1,20}}?)/{_FILES}(?![\w-])"
        ),
        _no_weights,
        hints=(
            ".safetensors",
            ".gguf",
            ".ggml",
            ".pt",
            ".ckpt",
            "jinja",
            ".tiktoken",
            ".bin",
            "config.json",
            "tokenizer.",
            "params.json",
            "consolidated",
        ),
    ),
    Pattern(
        "model",
        "hub-complaint",
        re.compile(
            r"(?:Repo id must be in the form[^'\"\n]{0,80}|[Cc]an't load [\w ]{2,40} (?:for|from) "
            r"|No such (?:model|repo) |not a valid (?:JSON|model)[^'\"\n]{0,40}"
            r"|does not appear to have[^'\"\n]{0,60}|local directory specified: )"
            rf"['\"]{_VALUE}"
        ),
        _public,
        hints=("repo", "load", "not a valid", "does not appear", "directory specified"),
    ),
    Pattern(
        "model",
        "weights-complaint",
        re.compile(
            r"(?<![\w.~/:-])(?P<secret>[/~][^\s'\",;()<>`]{1,300})['\"`]? does not appear to have"
            r"|(?:found in directory|model weights (?:with|in)|in the (?:model )?directory)"
            r" ['\"`]?(?P<directory>[/~.][^\s'\",;()<>`]*[^\s'\",;()<>`.])"
        ),
        hints=("does not appear", "directory", "weights"),
    ),
    LoraModules(),
    Pattern(
        "model",
        "bucket",
        re.compile(
            r"(?<![\w+])(?:s3|gs|gcs|az|abfss?|wasbs?|oss|cos|hdfs|nfs|obs|runai)://(?P<secret>[^\s'\",;()\[\]{}<>\\]+)"
        ),
        hints=("://",),
    ),
]
IDS: list[Finder] = [
    Pattern(
        "model",
        "public-id",
        re.compile(
            r"(?:(?<![A-Za-z0-9_.-])(?:model(?:_tag|_id|_name|_name_or_path)?|tokenizer|served_model_name|lora_name"
            r"|draft_model|speculative_model|hf_config_path)"
            r"\\{0,8}['\"]?[ \t]*[=:][ \t]*\[?\\{0,8}['\"]?"
            r"|--(?:model|tokenizer|served-model-name)(?:=|[ \t]+|\\{0,8}['\"], ?\\{0,8}['\"])"
            r"|\bvllm\\{0,8}['\"]?,? +\\{0,8}['\"]?serve\\{0,8}['\"]?,? +\\{0,8}['\"]?"
            rf"|{_SAID}){_VALUE}"
        ),
        _placeholder,
        lambda value: value.rstrip("."),
        hints=("model", "tokenizer", "serve", "weights"),
    ),
    Pattern(
        "model",
        "cached-id",
        re.compile(r"models--(?P<secret>[\w.-]+?--[\w.-]+)"),
        canonical=lambda value: value.replace("--", "/"),
        hints=("models--",),
    ),
    Pattern(
        "model",
        "hub-url",
        re.compile(
            r"(?:huggingface\.co|hf\.co)/(?!docs/|blog/|datasets/|settings|join|spaces/|api/(?!models/))(?:api/models/)?(?P<secret>[\w.-]+/[\w.-]+)"
        ),
        hints=("huggingface.co", "hf.co"),
    ),
]
"""Public ids, for ``--redact-models``."""
