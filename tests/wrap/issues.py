r"""A log in a GitHub issue, by GitHub Flavored Markdown (spec: fenced and indented code, quotes).

The headings are those of vLLM's bug form (`.github/ISSUE_TEMPLATE/400-bug-report.yml`); its
environment is collect_env's output in a `<details>` block. A browser's text area turns `\r\n`
and a lone `\r` into `\n` (HTML, "API value" of textarea).
"""

from __future__ import annotations

import re

from .lines import fault

_AGREED = (
    "### Before submitting a new issue...\n\n"
    "- [x] Make sure you already searched for relevant issues, and asked the chatbot living at the "
    "bottom right corner of the [documentation page](https://docs.vllm.ai/en/latest/), which can "
    "answer lots of frequently asked questions.\n"
)


def bug_form(
    log: bytes,
    *,
    fence: str = "```text",
    pasted: bool = False,
    cut: bool = False,
    prose: str = "It ran for a while and then all requests hung. Full log:",
    between: str = "A few minutes later this came:",
    libraries: tuple[str, ...] = (),
) -> bytes:
    """Return an issue of vLLM's bug form with the log in a fence, or with `cut` in two.

    `libraries` are `name==version` of pip's list in the environment.
    """
    text = _as_pasted(log) if pasted else log
    parts = _halves(text) if cut else [text]
    close = re.match(r"[`~]+", fence)[0]
    body = f"\n{between}\n\n".encode().join(
        f"{fence}\n".encode()
        + part
        + (b"" if part.endswith(b"\n") else b"\n")
        + f"{close}\n".encode()
        for part in parts
    )
    return (
        b"### Your current environment\n\n"
        b"<details>\n<summary>The output of <code>python collect_env.py</code></summary>\n\n"
        + _environment(libraries)
        + b"\n</details>\n\n### \xf0\x9f\x90\x9b Describe the bug\n\n"
        + f"{prose}\n\n".encode()
        + body
        + b"\nI start it like this:\n\n```bash\nvllm serve /models/m\n```\n\n"
        + _AGREED.encode()
    )


def quoted(log: bytes, *, fenced: bool = False) -> bytes:
    """Return a reply that quotes the log line by line and asks something below it."""
    text = _as_pasted(log)
    if fenced:
        text = b"```\n" + text + b"```\n"
    lines = text.removesuffix(b"\n").split(b"\n")
    return (
        b"".join(b"> " + line + b"\n" if line else b">\n" for line in lines)
        + b"\nThanks for the log. Does `torch.OutOfMemoryError: CUDA out of memory` show up in any "
        b"other run? Please also attach the output of `nvidia-smi`.\n"
    )


def indented(log: bytes) -> bytes:
    """Return a comment with the log as indented code."""
    lines = _as_pasted(log).removesuffix(b"\n").split(b"\n")
    return (
        b"Same here on our cluster. This is everything the server wrote:\n\n"
        + b"".join(b"    " + line + b"\n" for line in lines)
        + b"\nIs there a workaround?\n"
    )


def _as_pasted(log: bytes) -> bytes:
    return log.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _halves(log: bytes) -> list[bytes]:
    """Cut before the first error record, else in the middle: never inside a message."""
    at = fault(log)
    return [log[:at], log[at:]]


def _environment(libraries: tuple[str, ...]) -> bytes:
    rule = "=" * 30
    versions = "".join(f"[pip3] {name}\n" for name in libraries)
    return (
        "```text\nCollecting environment information...\n"
        f"{rule}\n        System Info\n{rule}\n"
        "OS                           : Ubuntu 22.04.5 LTS (x86_64)\n"
        "GCC version                  : (Ubuntu 11.4.0-1ubuntu1~22.04.2) 11.4.0\n\n"
        f"{rule}\nVersions of relevant libraries\n{rule}\n{versions}```\n"
    ).encode()
