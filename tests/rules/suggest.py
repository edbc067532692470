"""Adds to every signal what can be worked out of what lint and the mutants ask for.

``python -m tests.rules.suggest`` writes into the built-in signals

- for a capture that can be widened unnoticed, a sample with another value in its place under
  ``not_samples``;
- for a relayed pattern without a sample, the shortest text that it matches;
- for a slow pattern, the same pattern with bounded repetitions, where that makes it quick and
  changes no sample.

Read them before you commit them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import regex
import yaml

from tests.rules.mutants import all_captures, captures, foreign_text, unkilled_signals, widened
from vdiag.engine.compiled import CompiledSignal
from vdiag.rules.lint.backtracking import slowness
from vdiag.rules.lint.literals import text_without
from vdiag.rules.lint.syntax import Alphabet, Unparsed, parse
from vdiag.rules.pack import load
from vdiag.rules.packs import Pack, builtin_dir
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


_BOUNDS = (
    (r"\.\*", ".{0,240}"),
    (r"\.\+", ".{1,240}"),
    (r"\\S\+", r"\\S{1,200}"),
    (r"\\S\*", r"\\S{0,200}"),
    (r"\\d\+", r"\\d{1,20}"),
    (r"\\w\+", r"\\w{1,80}"),
    (r"\\w\*", r"\\w{0,80}"),
    (r"\\s\+", r"\\s{1,20}"),
    (r"\\s\*", r"\\s{0,20}"),
    (r"\]\+", "]{1,200}"),
    (r"\]\*", "]{0,200}"),
)
"""Unbounded repetitions, and what bounds them; vLLM's lines are longer only in what they quote."""


def bounded(signal: Signal) -> dict[str, str]:
    """Return slow patterns of a signal, each with a quick one that takes the same samples."""
    out = {}
    for key in ("patterns", "relayed"):
        for index, text in enumerate(getattr(signal, key)):
            quick = re.sub(r"\.\*$", "", text)
            for loose, bound in _BOUNDS:
                if _slow(signal, quick):
                    quick = re.sub(rf"(?<!\\\\){loose}(?![+])", bound, quick)
            texts = [*getattr(signal, key)]
            texts[index] = quick
            mutant = signal.model_copy(update={key: texts})
            better = _slow(signal, text) and not _slow(signal, quick)
            if better and captures(mutant) == captures(signal):
                out[text] = quick
    return out


def _slow(signal: Signal, text: str) -> bool:
    alphabet = Alphabet([text, *signal.literals])
    try:
        return slowness(parse(text, alphabet), alphabet) is not None
    except Unparsed:
        return False


def shortest(signal: Signal) -> list[str]:
    """Return a text for each relayed pattern that no sample matches."""
    out = []
    for text in signal.relayed:
        if any(regex.search(text, sample) for sample in signal.samples):
            continue
        alphabet = Alphabet([text])
        found = text_without(parse(text, alphabet), [], alphabet)
        if found and CompiledSignal(signal, list(signal.literals)).match(found):
            out.append(found)
    return out


def insert(source: str, signal: Signal, texts: list[str], key: str = "not_samples") -> str:
    """Return a signals file with more ``not_samples`` (or ``samples``) for one of its signals."""
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
    heads = [at for at in range(start, stop) if lines[at].startswith(f"    {key}:")]
    if not heads:
        lines[stop:stop] = [f"    {key}:", *new]
        return "\n".join(lines)
    inline = re.fullmatch(rf"    {key}: \[(.*)\]", lines[heads[0]])
    at = heads[0] + 1
    if inline:
        lines[heads[0]] = f"    {key}:"
        known = yaml.safe_load(f"[{inline.group(1)}]")
        new = [f"      - {json.dumps(text, ensure_ascii=False)}" for text in known] + new
    while at < stop and lines[at].startswith("      - "):
        at += 1
    lines[at:at] = new
    return "\n".join(lines)


def main() -> None:
    """Write the suggestions into the built-in signals."""
    pack = load()
    look_alikes = suggestions(pack)
    for id, signal in pack.signals.items():
        path = Path(builtin_dir()) / pack.places[f"signal {id}"].rpartition(":")[0]
        before = source = path.read_text(encoding="utf-8")
        if look_alikes.get(id):
            source = insert(source, signal, look_alikes[id])
        if more := shortest(signal):
            source = insert(source, signal, more, "samples")
        for slow, quick in bounded(signal).items():
            source = source.replace(slow.replace("'", "''"), quick.replace("'", "''"))
        if source != before:
            path.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
