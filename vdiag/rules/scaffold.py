"""Writes the skeleton of a rule: everything is there, every TODO is a question to answer."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from vdiag.errors import PackError
from vdiag.rules.pack import load_with, pack_name, samples_dir
from vdiag.rules.packs import BUILTIN

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def new_rule(folder: Path, id: str, family: str) -> list[Path]:
    """Write the files of a new rule into a pack and return their paths.

    A folder without a pack becomes one. Raises PackError where the id is bad or taken, or
    where a file is there already; then nothing is written.
    """
    for name, value in (("id", id), ("family", family)):
        if not _ID.fullmatch(value):
            raise PackError(f"the {name} {value!r} is not of the form lower-case-words")
    texts: dict[Path, str] = {}
    new_pack = not (folder / "pack.yaml").is_file()
    if new_pack:
        name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "private"
        name = "private" if name == BUILTIN else name
        texts[folder / "pack.yaml"] = _PACK.substitute(name=name)
        samples = folder / "samples"
    else:
        pack = load_with([] if pack_name(folder) == BUILTIN else [folder])
        if id in pack.diagnoses or id in pack.symptoms:
            raise PackError(f"the id {id!r} is taken; vdiag rules list shows all ids")
        samples = samples_dir(folder) or folder / "samples"
    signal = f"{family}.{id}".replace("-", "_")
    values = {"id": id, "family": family, "signal": signal}
    texts[folder / "signals" / f"{id.replace('-', '_')}.yaml"] = _SIGNAL.substitute(values)
    texts[folder / "diagnoses" / family / f"{id}.yaml"] = _DIAGNOSIS.substitute(values)
    texts[samples / "rules" / family / f"{id}.yaml"] = _CASES.substitute(values)
    for path in texts:
        if path.exists():
            raise PackError(f"{path}: is there already; nothing was written")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PackError(f"{path}: cannot write: {error.strerror}") from error
    return list(texts)


_PACK = Template("""\
# A pack of rules. Use it with: vdiag analyze --rules THIS_FOLDER server.log
name: $name
version: "1"
# Ids of built-in signals, facts and rules that this pack replaces; without an entry here a
# second definition is refused.
overrides: []
""")

_SIGNAL = Template("""\
# The lines that the rule waits for. `vdiag rules schema signal` explains every key.
signals:
  - id: $signal
    title: TODO what the line says, in a few words
    # The scan finds lines by these texts: 8 characters or more, ASCII, without quotes. One of
    # them must stand in every text that a pattern matches (lint proves it).
    literals: ["TODO the constant part of the message"]
    # Searched in the text after the log prefix; from the program's format string, with what
    # varies as a pattern. Captures are (?P<name>...); bound what repeats (\\S{1,200}, .{0,240}).
    patterns:
      - '^(?:RuntimeError: )?TODO the constant part of the message'
    # Of records in which it counts; `raw` is a line without a level.
    levels: [ERROR, raw]
    source: "TODO vllm/path.py:line (release)"
    samples:
      - "RuntimeError: TODO the constant part of the message"
    not_samples:
      - "TODO a line that looks alike and means something else"
""")

_DIAGNOSIS = Template("""\
# `vdiag rules schema diagnosis` explains every key; docs/writing-rules.md takes you through.
id: $id
title: TODO what is wrong, never what fixes it
family: $family
# start: it does not start; run: it dies while serving; hang; wrong: wrong output; req: single
# requests fail; perf: it is slow.
severity: run

# What happened: one of these events was seen.
signature:
  - event: $signal
    # phase: [serving]
    # where: [{capture: name, test: {equals: value}}]

# What must hold besides. kinds: `state` (configuration) and `trigger` (momentary) must be true,
# `must_clear` and `open` must not, `support` is shown and decides nothing.
conditions: []
#  - text: the tensor parallel group has more than one rank
#    kind: state
#    specific: true          # true on few servers, so it speaks for the rule
#    when: {fact: parallel.tp, test: {gt: 1}}
#    find_out: "grep -m1 -o 'tensor_parallel_size=[0-9]*' server.log"

# Symptoms and diagnoses that this one accounts for.
explains: [sym-worker-exception, sym-engine-fatal, sym-engine-dead, sym-api-500]

summary: "TODO one sentence for the verdict; {faulting} names the processes"

quick_conclusion: TODO what to know if one reads only this
applies_to: TODO versions, hardware and set-ups
fix:
  - id: first-remedy
    kind: fix # workaround, fix, mitigation or diagnostic
    text: TODO what to do
    command: "TODO the exact command"
    where: TODO where it is set
    always: TODO why it applies; or give `when:` and `never_when:` conditions
    cost: TODO what it costs
    verify: TODO what the next start must print
caveats:
  does_not_prove: TODO what the match leaves open
  # not_established: what nobody has shown
scenario: TODO how people meet it
original_error_text: |-
  TODO the lines as they are printed
cause: TODO why it happens
what_to_check:
  - TODO a command and what it tells
steps:
  - TODO what to do first
verification:
  text: TODO how one knows that it is gone
  must_appear:
    - text: the server is ready
      when: {event: life.ready}
  must_not_appear:
    - text: the error
      when: {event: $signal, absent: "false"}
references: []
#  - ref: vllm-project/vllm#12345
#    note: what it says
""")

_CASES = Template("""\
# Logs that the rule must find, and logs that look alike and that it must not. `expect` has the
# keys of samples/README.md. A prelude (samples/preludes) puts a real start-up in front:
# prelude: h200_tp1_0251:serving
hits:
  - name: plain
    about: TODO what this log shows
    source: "TODO vllm/path.py:line (release)"
    block: |
      (EngineCore pid=1012) ERROR 12-01 13:11:45 [core.py:345] TODO the constant part of the message
    expect: {root: $id}
near_misses:
  - name: look-alike
    about: TODO what it looks like, and what it is
    source: "TODO vllm/path.py:line (release)"
    block: |
      (EngineCore pid=1012) INFO 12-01 13:11:45 [core.py:345] TODO a line that looks alike
    expect: {}
""")
