"""Adds to every signal the look-alikes that its captures lack.

``python -m tests.rules.suggest`` takes each capture that can be widened unnoticed and writes a
sample with another value in its place under ``not_samples``; read them before you commit them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.rules.mutants import all_captures, foreign_text, unkilled_signals, widened
from vdiag.rules.pack import Pack, builtin_dir, load
from vdiag.rules.schema import Signal

_LINE = re.compile(r"(?P<id>\S+): widen (?P<capture>\w+) in (?P<key>\w+) (?P<index>\d+)")


def suggestions(pack: Pack) -> dict[str, list[str]]:
    """Return, for each signal, texts that it does not match and a wider one would."""
    out: dict[str, list[str]] = {}
    for line in unkilled_signals(pack, all_captures(pack)):
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        signal = pack.signals[found["id"]]
        key, index = found["key"], int(found["index"]) - 1
        texts = [*getattr(signal, key)]
        texts[index] = next(
            wider for name, wider in widened(texts[index]) if name == found["capture"]
        )
        text = foreign_text(signal, signal.model_copy(update={key: texts}), found["capture"])
        known = out.setdefault(signal.id, [])
        if text is not None and text not in known:
            known.append(text)
    return out


def insert(source: str, signal: Signal, texts: list[str]) -> str:
    """Return a signals file with more ``not_samples`` for one of its signals."""
    lines = source.split("\n")
    start = next(
        at
        for at, line in enumerate(lines)
        if re.fullmatch(rf"  - id: {re.escape(signal.id)}", line)
    )
    stop = next(
        (at for at in range(start + 1, len(lines)) if re.match(r"  - id: |  # ---|\S", lines[at])),
        len(lines),
    )
    while not lines[stop - 1].strip():
        stop -= 1
    new = [f"      - {json.dumps(text, ensure_ascii=False)}" for text in texts]
    heads = [at for at in range(start, stop) if lines[at].startswith("    not_samples:")]
    if not heads:
        lines[stop:stop] = ["    not_samples:", *new]
        return "\n".join(lines)
    inline = re.fullmatch(r"    not_samples: \[(.*)\]", lines[heads[0]])
    at = heads[0] + 1
    if inline:
        lines[heads[0]] = "    not_samples:"
        new.insert(0, f"      - {inline.group(1)}")
    while at < stop and lines[at].startswith("      - "):
        at += 1
    lines[at:at] = new
    return "\n".join(lines)


def main() -> None:
    """Write the suggestions into the built-in signals."""
    pack = load()
    for id, texts in suggestions(pack).items():
        path = Path(builtin_dir()) / pack.places[f"signal {id}"].rpartition(":")[0]
        source = path.read_text(encoding="utf-8")
        path.write_text(insert(source, pack.signals[id], texts), encoding="utf-8")


if __name__ == "__main__":
    main()
