"""The report: one documented model of everything vdiag has to say.

Plain dataclasses, because building a report must not import pydantic (it costs more time
than analysing a small log). pydantic reads the same classes when a JSON Schema is asked
for or a report is validated (see :mod:`vdiag.report.schema`), so there is one definition.

Field names and meanings are a contract with tools outside; fields may be added, none may
be renamed or dropped without a new ``schema_version``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

SCHEMA_VERSION = 1

Truth = Literal["true", "false", "unknown"]
Basis = Literal["stated", "inferred"]
JSONValue = bool | int | float | str | None
VerdictStatus = Literal[
    "confirmed", "probable", "unexplained", "symptom-only", "at-risk", "clean", "no-vllm"
]
FindingStatus = Literal["confirmed", "probable", "at-risk"]
Role = Literal["root", "symptom", "risk", "advice"]
Severity = Literal["start", "run", "hang", "wrong", "req", "perf"]
Outcome = Literal["crashed", "failed-to-start", "hung", "stopped", "running", "unknown"]
Coverage = Literal["seen", "partial", "missing"]
RemedyKind = Literal["workaround", "fix", "mitigation", "diagnostic"]


@dataclass(slots=True)
class Evidence:
    r"""One line of an input.

    ``line`` counts ``\n`` from 1 in the decompressed input. ``text`` is the physical line
    (of a JSON record: the line inside the field) without envelope, prefix, colour and
    carriage returns, at most 4 KiB.
    """

    input: str
    line: int
    text: str
    process: str | None = None
    pid: int | None = None
    time: str | None = None
    focus: int | None = None
    """Where in ``text`` the part that matters begins, in a line that says much else."""


@dataclass(slots=True)
class Gap:
    """A place where the log is known to lack lines, and the command that gets them."""

    line: int
    kind: str
    """``blob-data``, ``null-message``, ``suppressed``, ``cut-beginning``."""
    text: str
    count: int = 1
    how_to_get: str | None = None


@dataclass(slots=True)
class Part:
    """A file of a rotated log that was read as one input with the others."""

    name: str
    first_line: int
    """The number, in the joined input, of the file's first line."""
    lines: int
    """Its last line has the number ``first_line + lines - 1``, also without a newline."""
    compression: str | None = None


@dataclass(slots=True)
class Input:
    """One named stream of bytes that was read."""

    name: str
    bytes: int
    """Of text: unpacked and in UTF-8."""
    lines: int
    compression: str | None = None
    """What it was packed with, the innermost first: ``gzip``, ``tar+gzip``, ``gzip+zip``."""
    encoding: str = "utf-8"
    """As it lay there: ``utf-8``, ``utf-16`` or ``utf-32``."""
    envelopes: list[str] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    complete: bool = True
    """False where reading ended before the log did; ``problems`` says why."""
    parts: list[Part] = field(default_factory=list)
    """The files of a rotated log, oldest first; empty where the input is one file."""


@dataclass(slots=True)
class RulePack:
    """A set of rule files: its name, version and the digest of its content."""

    name: str
    version: str
    digest: str


@dataclass(slots=True)
class Rules:
    """The packs in force and how many diagnoses and symptoms they hold."""

    packs: list[RulePack]
    count: int


@dataclass(slots=True)
class Tool:
    """Which vdiag made the report."""

    version: str
    rules: Rules


@dataclass(slots=True)
class Verdict:
    """The answer in one sentence. ``run`` is the id of the run it speaks of."""

    status: VerdictStatus
    root: str | None
    run: int | None
    summary: str
    input: str | None = None
    """Name of the input this verdict is for; null in the report's overall verdict."""
    same_in: list[int] = field(default_factory=list)
    """Ids of the runs of this input with the same diagnosis, ``run`` among them: a crash loop
    is one entry with a count."""


@dataclass(slots=True)
class Process:
    """A process of the server, by (host, pid), under its latest name."""

    name: str
    pid: int | None
    host: str | None
    role: str
    """``api``, ``engine``, ``worker``, ``coordinator``, ``main``, ``bench`` or ``unknown``."""
    ranks: dict[str, int]
    phase: str | None
    last: Evidence | None


@dataclass(slots=True)
class Conflict:
    """Another value that the same run stated for a fact."""

    value: JSONValue
    evidence: list[Evidence]


@dataclass(slots=True)
class Fact:
    """A lasting property of a run: what it resolved to, and how that is known."""

    value: JSONValue
    basis: Basis
    evidence: list[Evidence]
    conflicts: list[Conflict] = field(default_factory=list)
    reason: str | None = None
    """For an inferred value: the reasoning."""
    asked: JSONValue = None
    """What the operator asked for, where the log says so."""
    asked_evidence: list[Evidence] = field(default_factory=list)
    title: str | None = None
    group: str | None = None


@dataclass(slots=True)
class FirstFailure:
    """The first exception of a run, over all processes, that is no echo of another."""

    type: str
    message: str
    process: str | None
    pid: int | None
    frame: str | None
    phase: str | None
    count: int
    """How many processes raised it."""
    evidence: list[Evidence]
    echoes: int = 0
    """How many blocks elsewhere only repeat it or follow from it."""
    explained_by: str | None = None
    """The diagnosis whose evidence stands in the same message, on whichever of its lines."""


@dataclass(slots=True)
class Condition:
    """One condition of a rule, evaluated over a run."""

    kind: Literal["precondition", "exclusion", "support"]
    text: str
    truth: Truth
    basis: Basis | None
    evidence: list[Evidence]
    how_to_find_out: str | None = None
    subkind: str | None = None
    """Preconditions: ``state`` or ``trigger``; exclusions: ``must_clear`` or ``open``."""
    specific: bool = False
    note: str | None = None
    """Why it is so, or what this truth value leaves open."""


@dataclass(slots=True)
class Remedy:
    """Something to do, and whether it applies to this run."""

    text: str
    command: str | None
    applies: Literal["yes", "no", "unknown"]
    why: str
    cost: str | None = None
    verify: str | None = None
    kind: RemedyKind = "workaround"
    where: str | None = None
    """Where to set it: the unit, container or shell that starts vLLM."""
    id: str | None = None


@dataclass(slots=True)
class NotAFix:
    """Advice that people meet elsewhere and that does not help here."""

    text: str
    why: str
    tried: bool = False
    """The log shows that it is already in force."""
    evidence: list[Evidence] = field(default_factory=list)


@dataclass(slots=True)
class Reference:
    """An issue, pull request, release or document, with what it says."""

    ref: str
    note: str


@dataclass(slots=True)
class Finding:
    """A rule applied to a run, with a status and its proof."""

    id: str
    title: str
    family: str
    role: Role
    status: FindingStatus
    severity: Severity
    summary: str
    cause: str
    does_not_prove: str
    conditions: list[Condition]
    evidence: list[Evidence]
    count: int
    explains: list[str]
    explained_by: str | None
    remedies: list[Remedy]
    affected: str | None
    fixed_in: str | None
    references: list[Reference]
    not_a_fix: list[NotAFix] = field(default_factory=list)
    not_established: str | None = None
    faulting: list[str] = field(default_factory=list)
    """The processes the signature was seen in, in order of their first sighting."""
    last: Evidence | None = None
    """The last line of the finding, where ``evidence`` does not hold it."""
    next_step: str | None = None
    fatal: bool | None = None
    """Of a symptom: whether it says that a process ended, or is a mere notice."""
    of_signature: int | None = None
    """How many of ``evidence``, from the front, are lines of the signature; the others are
    those of its conditions, most telling first. Null: all are."""


@dataclass(slots=True)
class Considered:
    """A diagnosis whose signature matched but that is no finding."""

    id: str
    status: Literal["ruled-out", "open"]
    because: str
    conditions: list[Condition]
    title: str = ""


@dataclass(slots=True)
class Unexplained:
    """A template of error or warning records that no rule knows, counted in blocks."""

    template: str
    level: str
    count: int
    first: Evidence


@dataclass(slots=True)
class CoverageMap:
    """Which parts of a run's life the log shows."""

    startup: Coverage
    serving: Coverage
    end: Coverage


@dataclass(slots=True)
class Run:
    """One life of a server, an offline engine or a bench client."""

    id: int
    kind: Literal["server", "offline", "bench"]
    inputs: list[str]
    outcome: Outcome
    phase: str | None
    started: str | None
    ready: str | None
    ended: str | None
    coverage: CoverageMap
    processes: list[Process]
    facts: dict[str, Fact]
    first_failure: FirstFailure | None
    findings: list[Finding]
    considered: list[Considered]
    unexplained: list[Unexplained]
    verdict: Verdict | None = None
    """The verdict of this run alone."""
    aftermath_of: int | None = None
    """The id of an earlier run whose crash explains this failed start."""
    quoted: bool = False
    """An excerpt of somebody else's log, quoted in a page about another run."""
    failed_at: str | None = None
    """Time stamp of the first failure."""
    seconds_to_failure: int | None = None
    """Whole seconds from ready (else from the start) to the first failure."""
    seconds_to_notice: int | None = None
    """Whole seconds from the first failure to the engine's own fatal line."""
    last_healthy: Evidence | None = None
    stalled: Evidence | None = None
    """The last statistics, where they show running requests and no tokens."""
    next_evidence: list[str] = field(default_factory=list)
    """What to collect next, with commands, where the verdict leaves the cause open."""

    @property
    def failure_key(self) -> Hashable:
        """What runs share that failed in the same way."""
        status, root = (self.verdict.status, self.verdict.root) if self.verdict else (None, None)
        first = self.first_failure
        failure = (first.type, first.message) if first and root is None else None
        return (tuple(self.inputs), self.outcome, status, root, failure)


@dataclass(slots=True)
class Redaction:
    """Whether secrets were replaced in this report, and how many of each kind."""

    applied: bool = False
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Stats:
    """How the input was scanned."""

    hits: int
    matcher: str


@dataclass(slots=True)
class Report:
    """The whole report of one call."""

    vdiag: Tool
    inputs: list[Input]
    verdict: Verdict
    verdicts: list[Verdict]
    runs: list[Run]
    redaction: Redaction
    stats: Stats
    notes: list[str] = field(default_factory=list)
    """What folders and archives held beside the inputs, one line each."""
    schema_version: int = SCHEMA_VERSION

    def run(self, id: int | None) -> Run | None:
        """Return the run with this id, or None."""
        return next((run for run in self.runs if run.id == id), None)
