"""The words that the reports share: verdicts, times, places, topology."""

from __future__ import annotations

from typing import Literal

from vdiag.report.model import Evidence, Fact, JSONValue, Remedy, Run, Verdict

VERDICT_WORDS: dict[str, str] = {
    "confirmed": "confirmed",
    "probable": "probable",
    "unexplained": "unexplained",
    "symptom-only": "symptom only",
    "at-risk": "at risk",
    "clean": "clean",
    "no-vllm": "nothing of vLLM's",
}
OUTCOMES: dict[str, str] = {
    "crashed": "crashed",
    "failed-to-start": "failed to start",
    "hung": "hung",
    "stopped": "stopped on request",
    "running": "up at the end of the log",
    "unknown": "end not known",
}
SEVERITIES: dict[str, str] = {
    "start": "the server does not start",
    "run": "the engine dies while serving",
    "hang": "the server hangs",
    "wrong": "wrong output without an error",
    "req": "single requests fail",
    "perf": "slow, nothing fails",
}
APPLIES: dict[str, str] = {
    "yes": "applies",
    "no": "does not apply",
    "unknown": "cannot tell whether it applies",
}
CUT_STREAMS = "Streams begun with 200 were cut; bench clients count them as success."

Tone = Literal["good", "bad", "warn"]


def tone(status: str) -> Tone:
    """Return how a verdict should look."""
    if status == "clean":
        return "good"
    return "bad" if status in ("confirmed", "probable", "unexplained") else "warn"


def plural(count: int, noun: str) -> str:
    """Return ``1 line``, ``2 lines``, ``2 processes``."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{count} {noun[:-1]}ies"
    return f"{count} {noun}es" if noun.endswith(("s", "cho")) else f"{count} {noun}s"


def duration(seconds: int) -> str:
    """Return whole seconds as ``31 s``, ``5 min 2 s``, ``2 h 5 min``."""
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def clock(time: str, before: str | None) -> str:
    """Return a time stamp, without its date where ``before`` has the same one."""
    date, separator, hour = time.replace("T", " ").rpartition(" ")
    if before and separator and before.replace("T", " ").rpartition(" ")[0] == date:
        return hour
    return time


def value(value: JSONValue) -> str:
    """Return a fact's value as the report prints it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def place(evidence: Evidence, *, named: bool) -> str:
    """Return ``line 103``, or ``server.log:103`` where several inputs were read."""
    return f"{evidence.input}:{evidence.line}" if named else f"line {evidence.line}"


def because(text: str) -> str:
    """Return a reason without a leading "because" and without its full stop."""
    text = text.strip().rstrip(".")
    return text.removeprefix("because ").removeprefix("Because ")


def sentence(text: str) -> str:
    """Return the text with a full stop at its end, unless it has an end already."""
    text = text.strip()
    return text if not text or text[-1] in ".!?:;。" else f"{text}."


def applies(remedy: Remedy) -> str:
    """Return ``Applies, because …`` for a remedy."""
    word = APPLIES[remedy.applies]
    head = word[0].upper() + word[1:]
    why = because(remedy.why)
    if not why:
        return f"{head}."
    return f"{head}: {why}." if remedy.applies == "unknown" else f"{head}, because {why}."


def verdict_line(verdict: Verdict) -> str:
    """Return a verdict as ``confirmed: <id>`` or ``clean``."""
    word = VERDICT_WORDS[verdict.status]
    return f"{word}: {verdict.root}" if verdict.root else word


def _known(run: Run, name: str) -> JSONValue:
    fact: Fact | None = run.facts.get(name)
    return fact.value if fact else None


def topology(run: Run) -> str | None:
    """Return ``TP 8 on one node, PP 2`` as far as the log says."""
    sizes = [(name, _known(run, f"parallel.{name}")) for name in ("tp", "pp", "dp")]
    parts = [
        f"{name.upper()} {size}"
        for name, size in sizes
        if size is not None and (name == "tp" or size != 1)
    ]
    multi = _known(run, "parallel.multi_node")
    if isinstance(multi, bool) and sizes[0][1] not in (None, 1):
        parts[0] += " over several nodes" if multi else " on one node"
    return ", ".join(parts) or None


def what_ran(run: Run) -> str:
    """Return version, model, topology and GPU of a run in one clause."""
    version = _known(run, "vllm.version")
    if run.kind == "bench":
        name = "vllm bench client"
    else:
        name = f"vLLM {version}" if version else "vLLM (version not in this log)"
    commit = _known(run, "vllm.commit")
    if commit and str(commit) not in name:
        name += f" ({commit})"
    model = _known(run, "model.name")
    gpu = _known(run, "gpu.name")
    return ", ".join(str(part) for part in (name, model, topology(run), gpu) if part)


def life(run: Run) -> str:
    """Return when a run started, was ready and died, and how long after."""
    parts: list[str] = []
    last = None
    if run.coverage.startup == "missing":
        parts.append("start-up not in this log")
    for word, time in (("started", run.started), ("ready", run.ready)):
        if time and not (word == "started" and run.ready and run.kind == "bench"):
            parts.append(f"{word} {clock(time, last)}")
            last = time
    fault = run.failed_at
    if fault:
        text = f"first fault {clock(fault, last)}"
        if run.seconds_to_failure is not None:
            since = "ready" if run.ready else "the start"
            text += f" ({duration(run.seconds_to_failure)} after {since})"
        parts.append(text)
        last = fault
    if run.seconds_to_notice:
        parts.append(f"noticed {duration(run.seconds_to_notice)} later")
    dead = run.outcome in ("crashed", "failed-to-start", "hung")
    if run.ended and run.ended != fault:
        ended = "died" if dead else "stopped" if run.outcome == "stopped" else "last line"
        parts.append(f"{ended} {clock(run.ended, last)}")
    return ", ".join(parts)
