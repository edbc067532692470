"""What rule files may say: the authoring schema, checked by pydantic.

A pack is a folder of YAML files::

    pack.yaml            name and version of the pack
    signals/*.yaml       a list under ``signals:``
    facts/*.yaml         a list under ``facts:``
    releases.yaml        what a known release implies
    symptoms/*.yaml      one symptom a file
    diagnoses/<family>/<id>.yaml   one diagnosis a file

Rules are data. They hold patterns and conditions, no code. Unknown keys are refused.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "raw"]
"""``raw`` is a line without a level: uvicorn's banner, tqdm, an unlogged traceback."""

ProcessRole = Literal["api", "engine", "worker", "coordinator", "main", "bench", "unknown"]

Phase = Literal["startup", "loading", "kv-sizing", "capture", "warmup", "serving", "shutdown"]
"""``capture`` is warm-up up to the end of graph capture, graph-memory profiling included;
``warmup`` is what follows capture until the server answers."""

Tells = Literal["start-failed", "serving-failed", "hang", "death", "engine-end", "front-end"]
"""What a symptom's line says of the end: the engine never was ready; it failed while serving;
nobody answered in time; a process is gone without a word; the engine's own last line; the front
end's view of it, which an orderly stop gives too."""

Waivable = Literal[
    "literal",
    "short-literal",
    "slow-pattern",
    "unparsed-pattern",
    "sample",
    "near-miss",
    "unreachable",
    "unused",
]
"""Checks of ``vdiag rules lint`` that a rule may waive; the others know no exception."""

Waivers = dict[Waivable, Annotated[str, Field(min_length=10)]]
"""A check that does not hold here, and the reason."""

Scalar = bool | int | float | str
Id = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[A-Za-z0-9_]+)*$")]


class Strict(BaseModel):
    """Base of every authored object: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Printed(Strict):
    """Where a line is printed, so that its absence can mean "no".

    Without it an unseen line makes nothing false.
    """

    versions: str
    """Range of vLLM releases that print it, as ``>=0.30.0`` or ``>=0.19.1,<0.27``."""
    role: ProcessRole
    phase: Phase
    """The phase that must be wholly in the log."""
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"


class Stated(Strict):
    """A fact named by a capture: ``name: env.{name}``, ``capture: value``."""

    name: str
    capture: str


class Signal(Strict):
    """A named pattern with typed captures."""

    id: Name
    kind: Literal["fact", "event", "noise", "echo", "wrapper", "survivable"] = "event"
    """``fact`` feeds facts; ``event`` is momentary. The others class the *block* that a line
    stands in (its first line or its last exception line), so that it is no failure of its
    own: ``noise`` is benign wherever it stands; ``echo`` says that a partner, a context or
    a connection is gone, which follows from a death or another exception where one exists;
    ``wrapper`` is a text that only passes on another process's failure; ``survivable`` is an
    error after which servers serve (it counts only where this one did not)."""
    title: str
    literals: list[Annotated[str, Field(min_length=4)]]
    """At least one stands in every string that a pattern matches. ASCII, without ``"``,
    ``\\`` and control characters (JSON wrappers escape them); 8 or more where possible."""
    patterns: list[str]
    """Python regular expressions, *searched* in the text after the record's prefix. Anchor
    with ``^``. Named groups are the captures."""
    relayed: list[str] = []
    """Patterns under which *another* process repeats it (``Worker failed with error '…'``).
    Used as evidence only where no process reports it first-hand."""
    levels: list[Level] = []
    """Levels of records in which it counts; empty: any. A traceback line that is logged has
    its record's level; JSON ``exc_info`` lines have their record's level."""
    roles: list[ProcessRole] = []
    types: dict[str, Literal["int", "float", "str", "bool", "gib", "repr", "argv"]] = {}
    """Type of a capture, ``str`` by default. ``int`` drops thousands separators. ``gib`` is a
    size with its unit (``535.12 MiB``, ``512 bytes``) as a number of GiB. ``repr`` is parsed as
    a Python repr (dict, call, or ``k=v, k=v``), ``argv`` as a command line's options
    (``--max-model-len 8`` gives ``max_model_len: 8``); facts reach into both by path."""
    marks: Phase | None = None
    """The phase that the run enters with this line."""
    marks_offline: Phase | None = None
    """The phase that it begins where no API server runs: an offline engine serves as soon as
    it is initialised."""
    boundary: Literal["banner", "init", "ready", "stop", "end", "bench"] | None = None
    """``banner``: a server starts. ``init``: an engine starts (offline use has no banner).
    ``ready``: it serves. ``stop``: somebody asked it to stop. ``end``: it is gone.
    ``bench``: a bench client starts."""
    healthy: Literal["answered", "generating"] | None = None
    """``answered``: requests were being answered. ``generating``: tokens came in the interval
    before it, so that the engine and its workers were alive; a 200 alone says that of the
    front end only, since a stream's status is sent before its first token."""
    stalled: bool = False
    """Statistics that show running requests and no tokens: a long prefill, or a hang."""
    latest: bool = False
    """Of consecutive lines only the last one is read (access lines come by the million)."""
    states: Stated | None = None
    """A fact whose name is in the line itself (environment variables)."""
    printed: Printed | None = None
    beside: bool = False
    """The line is about the machine or the environment and stands beside a server's own log
    (``vllm collect-env``, dmesg)."""
    tells: list[Tells] = []
    """What the line says of the run's end."""
    own: bool = False
    """The text is vLLM's own and of its configuration: where it stands a run stands, even where
    no record is around it."""
    relays: str | None = None
    """The capture that holds another process's error text (``Worker failed with error '…'``)."""
    fatal: str | None = None
    """A line without a traceback that is a failure of its own, reported as an exception of
    this type (``UsageError``); its message is the capture ``text``, else the line."""
    source: str
    """Where the text comes from: ``vllm/v1/engine/core.py:1586 (0.33.0)``."""
    samples: list[str] = Field(min_length=1)
    """Texts (after the prefix) that must match."""
    not_samples: list[str] = []
    """Neighbouring texts that must not match."""
    waivers: Waivers = {}
    """Checks of ``vdiag rules lint`` that do not hold here, each with its reason."""


class Test(Strict):
    """A comparison with one value; exactly one operator is given."""

    equals: Scalar | None = None
    not_equals: Scalar | None = None
    one_of: list[Scalar] | None = None
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    matches: str | None = None
    """A regular expression, searched."""
    in_range: str | None = None
    """A version range. A development build compares by its base release; ``0.1.dev…`` and
    other nightlies are unknown."""
    same_commit: list[str] | None = None
    """Commits, compared as prefixes of 9 hexadecimal digits or more."""
    known: bool | None = None
    """True when the value is known at all."""
    gt_fact: str | None = None
    le_fact: str | None = None
    equals_fact: str | None = None


class Where(Strict):
    """Restricts an event to observations whose capture passes a test."""

    capture: str
    test: Test


class Condition(Strict):
    """A three-valued condition; exactly one of the forms below.

    ``fact`` with ``test``: unknown where the fact is. ``event``: true where seen; false only
    where its signal's ``printed`` proves absence; otherwise unknown. ``signature_phase``: the
    phase in which the signature was first seen; unknown where the phase is. ``run_kind``.
    """

    all: list[Condition] | None = None
    any: list[Condition] | None = None
    negate: Condition | None = None
    fact: str | None = None
    test: Test | None = None
    event: list[str] | str | None = None
    where: list[Where] = []
    phase: list[Phase] = []
    """Only observations made in one of these phases count."""
    roles: list[ProcessRole] = []
    before_signature: bool = False
    after_signature: bool = False
    same_process: bool = False
    """Only observations count that share a process with the signature's evidence: by the
    process that wrote the line, or by a pid that the line names (an Xid does)."""
    same_run: bool = False
    """Only observations count that name (``pid``) a process of the run: a kernel's line names
    any process of the host."""
    within: Annotated[int, Field(gt=0)] | None = None
    """Only observations count whose stamp is at most so many seconds from the signature's."""
    absent: Literal["unknown", "false"] = "unknown"
    """``false``: an unseen event is false in any run (supports, and what must follow)."""
    signature_phase: list[Phase] | None = None
    run_kind: list[Literal["server", "offline", "bench"]] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Condition:
        forms = [
            name
            for name in ("all", "any", "negate", "fact", "event", "signature_phase", "run_kind")
            if getattr(self, name) is not None
        ]
        if len(forms) != 1:
            raise ValueError(f"a condition has exactly one form, this has {forms or 'none'}")
        if (self.fact is None) != (self.test is None):
            raise ValueError("`fact` and `test` go together")
        return self


class FactSource(Strict):
    """A signal that states a fact."""

    signal: str
    path: str | None = None
    """``capture`` or ``capture.key.key`` inside a ``repr`` capture."""
    value: Scalar | None = None
    """A constant instead of a capture."""
    map: dict[str, Scalar] = {}
    """Translates captured text; a text that is not listed is passed through."""
    otherwise: Scalar | None = None
    """The value where ``path`` does not exist in the ``repr`` (the line lists all)."""
    contains: str | None = None
    """With ``value`` and ``path``: states the value where the captured text (or the text of
    the repr at that path) holds this string, and ``otherwise`` where it does not."""
    weak: bool = False
    """Used only where no other source states the fact."""


class Derivation(Strict):
    """A value that follows from other facts. First whose condition is true wins."""

    when: Condition
    value: Scalar | None = None
    from_fact: str | None = None
    product: list[str] | None = None
    """The product of these facts, times ``factor``."""
    factor: float = 1.0
    release: Literal["flashinfer", "torch"] | None = None
    """The version that the run's vLLM release pins, from releases.yaml."""
    because: str
    stated: bool = False
    """The value follows strictly from stated facts, so it counts as stated."""


class FactSpec(Strict):
    """A fact: its name in the contract, where it is stated and how it is derived."""

    name: Name
    title: str
    group: Literal[
        "versions",
        "model",
        "topology",
        "all-reduce",
        "hisparse",
        "engine",
        "kv-cache",
        "gpu",
        "environment",
        "bench",
    ]
    type: Literal["int", "float", "str", "bool"]
    asked: list[FactSource] = []
    sources: list[FactSource] = []
    derive: list[Derivation] = []
    absent: Scalar | None = None
    """The value where every source signal that declares ``printed`` is provably absent."""
    many: Literal["conflict", "first", "last", "max", "all"] = "conflict"
    """Several sightings: ``conflict`` keeps differing ones as conflicts, ``all`` lists them."""
    find_out: str | None = None


class Release(Strict):
    """A released vLLM and what its wheel pins."""

    vllm: str
    commit: str
    torch: str | None
    """None where nobody has read the pin."""
    flashinfer: str | None


class Alternative(Strict):
    """One form of a signature: any of these events."""

    event: list[str] | str
    phase: list[Phase] = []
    """Accepted phases; an unknown phase is accepted."""
    roles: list[ProcessRole] = []
    same_run: bool = False
    """Only observations count that name (``pid``) a process of the run."""
    where: list[Where] = []
    all_facts: list[Condition] = []
    """Further conditions on facts that must be true for this form."""
    ceiling: Literal["probable"] | None = None
    severity: Literal["start", "run", "hang", "wrong", "req", "perf"] | None = None
    """Where this form ends otherwise than the rule's others: a refused flag ends the start, the
    same cause in a request only refuses that."""
    wording: str | None = None
    """How this form is called in sentences: ``unspecified launch failure``."""


class RuleCondition(Strict):
    """A condition of a diagnosis, with the words the report uses for it."""

    text: str
    when: Condition
    kind: Literal["state", "trigger", "must_clear", "open", "support"]
    specific: bool = False
    find_out: str | None = None
    """The command that settles it where it is unknown."""
    if_true: str | None = None
    if_false: str | None = None
    if_unknown: str | None = None


class Reason(Strict):
    """A condition of a remedy, with the clause that the report prints when it decides."""

    when: Condition
    text: str
    """Printed as: applies, because <text> / does not apply, because <text>."""
    find_out: str | None = None


class RemedySpec(Strict):
    """Something to do. Applies where all ``when`` are true and no ``never_when`` is."""

    id: Id
    kind: Literal["workaround", "fix", "mitigation", "diagnostic"]
    text: str
    """``{name}`` is filled in as in a diagnosis' ``summary``, figures of ``numbers`` too."""
    text_otherwise: str | None = None
    """The text where a name in ``text`` has no value; it names nothing that may lack one."""
    command: str | None = None
    """Figures stand in it without thousands separators."""
    command_otherwise: str | None = None
    """The command where a name in ``command`` has no value; without it such a name stands in
    capitals (``--max-model-len ESTIMATED``)."""
    where: str | None = None
    when: list[Reason] = []
    never_when: list[Reason] = []
    cost: str | None = None
    verify: str | None = None
    always: str | None = None
    """Why it applies, where it has no conditions."""


class Number(Strict):
    """A figure computed from captures, facts and earlier figures, for the texts.

    Exactly one operation; it is applied from left to right (``divide: [a, b, c]`` is
    ``a / b / c``). An operand is a name or a constant.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    divide: Annotated[list[str | float], Field(min_length=2)] | None = None
    multiply: Annotated[list[str | float], Field(min_length=2)] | None = None
    subtract: Annotated[list[str | float], Field(min_length=2)] | None = None
    round: Literal["down", "up", "nearest"]
    digits: Annotated[int, Field(ge=0, le=6)] = 0
    """Decimal places; without any the figure is an integer."""
    above: float = 0.0
    """There is no figure where the value is not above this: advice to use 0 helps nobody."""

    @model_validator(mode="after")
    def _one_operation(self) -> Number:
        given = [one for one in (self.divide, self.multiply, self.subtract) if one is not None]
        if len(given) != 1:
            raise ValueError("a number has exactly one of divide, multiply, subtract")
        return self


class NotAFixSpec(Strict):
    """Advice met elsewhere that does not help."""

    text: str
    why: str
    tried_when: Condition | None = None
    """True where the log shows it already in force; then the report says so."""
    only_when: Condition | None = None
    """Listed only where this is not false."""


class ReferenceSpec(Strict):
    """``vllm-project/vllm#47219`` or a URL, and what it says."""

    ref: str
    note: str


class Step(Strict):
    """One test of a verification."""

    text: str
    when: Condition


class Verification(Strict):
    """How one knows that a remedy worked: evaluated on the log of the next run."""

    text: str
    must_appear: list[Step] = []
    must_not_appear: list[Step] = []
    exercised: list[Step] = []
    """What must have happened again, or the clean run proves nothing."""
    at_least: Literal["time-to-crash", "any"] = "any"


class RiskText(Strict):
    """What to say when the state holds and nothing has happened yet. First true one wins."""

    when: Condition | None = None
    text: str


class Caveats(Strict):
    """What the match leaves open, and what nobody has shown."""

    does_not_prove: str
    not_established: str | None = None


class Diagnosis(Strict):
    """A diagnosis: evidence, conditions, remedies, and the ten sections of its text.

    The ten sections, in the field report's order: ``quick_conclusion``, ``applies_to``,
    ``fix``, ``caveats``, ``scenario``, ``original_error_text``, ``cause``,
    ``what_to_check``, ``steps``, ``verification``.
    """

    id: Id
    title: str
    family: Id
    severity: Literal["start", "run", "hang", "wrong", "req", "perf"]
    ceiling: Literal["probable"] | None = None
    aftermath: bool = False
    """A failed start by this soon after a crash is the crash's aftermath."""
    mechanism: bool = False
    """Explains how, never the root."""

    signature: list[Alternative]
    conditions: list[RuleCondition] = []
    numbers: list[Number] = []
    """Figures for the texts, computed from those in the log."""
    explains: list[Id] = []
    """Ids of symptoms and diagnoses whose findings it accounts for."""
    yields_to: list[Id] = []
    """Where one of these is a finding over the same evidence, this one is not."""
    risk: list[RiskText] = []

    summary: str
    """One sentence for the verdict. ``{faulting}``, ``{wording}``, ``{phase}``,
    ``{fact.name}``, captures of the first evidence (``{capture}``) and ``numbers`` are filled
    in."""

    summary_otherwise: str | None = None
    """The sentence where a name in ``summary`` has no value; it names nothing that may lack one."""

    summary_unsure: str | None = None
    """The sentence where a precondition is not known to hold, which ``summary`` asserts."""

    quick_conclusion: str
    applies_to: str
    fix: list[RemedySpec]
    caveats: Caveats
    scenario: str
    original_error_text: str
    cause: str
    what_to_check: list[str]
    steps: list[str]
    verification: Verification

    not_a_fix: list[NotAFixSpec] = []
    affected: str | None = None
    fixed_in: str | None = None
    references: list[ReferenceSpec] = []
    samples: list[str] = []
    """Paths under samples/ of logs that this rule must find."""
    near_misses: list[str] = []
    """Paths under samples/ of logs that look alike and that it must not find."""
    waivers: Waivers = {}
    """Checks of ``vdiag rules lint`` that do not hold here, each with its reason."""


class Symptom(Strict):
    """A line that proves that something died, never why."""

    id: Annotated[str, Field(pattern=r"^sym-[a-z0-9-]+$")]
    title: str
    order: int
    """Place in the order of a typical death: the lowest is nearest to the cause. Symptoms
    that are never fatal have 0 and are never a verdict's root."""
    fatal: bool
    severity: Literal["start", "run", "hang", "req"]
    signature: list[Alternative]
    summary: str
    proves: str
    does_not_prove: str
    next_step: str
    next_command: str | None = None
    source: str


class PackInfo(Strict):
    """``pack.yaml``."""

    name: Id
    version: str
    overrides: list[str] = []
    """Ids of signals, facts, symptoms and diagnoses (and releases, by their version) of packs
    loaded before this one that this pack replaces. A replacement that is not listed is refused,
    and so is an entry that replaces nothing."""


Condition.model_rebuild()
