"""A rule's own text in full: the ten fixed sections of a diagnosis, or a symptom's page."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO, cast

from vdiag.report.escape import flat, visible
from vdiag.report.layout import wrap
from vdiag.report.page import PROSE, Page
from vdiag.report.wording import SEVERITIES, sentence

if TYPE_CHECKING:
    from vdiag.rules.schema import Diagnosis, RemedySpec, Symptom, Verification

_INDENT = "  "


def render(rule: Diagnosis | Symptom, *, width: int, color: bool, stream: TextIO) -> None:
    """Write a rule in full.

    A diagnosis has ten sections, always in this order: quick conclusion, applies to, fix,
    caveats, scenario, original error text, cause, what to check, steps, verification; then
    its references.
    """
    page = Page(width)
    page.line((visible(rule.id), "bold"))
    _prose(page, rule.title, indent="")
    if hasattr(rule, "quick_conclusion"):  # isinstance would import pydantic
        _diagnosis(page, cast("Diagnosis", rule))
    else:
        _symptom(page, rule)
    page.write(stream, color=color)


def _head(page: Page, title: str) -> None:
    page.blank()
    page.line((title, "bold"))


def _prose(page: Page, text: str, *, indent: str = _INDENT, mark: str = "") -> None:
    """Add paragraphs; ``mark`` stands before the first line (``1. ``)."""
    hang = " " * len(mark)
    lead = mark
    for number, paragraph in enumerate(part for part in text.split("\n\n") if part.strip()):
        if number:
            page.lines.append([])
        for line in wrap(flat(paragraph), min(page.width, PROSE) - len(indent) - len(mark)):
            page.line((f"{indent}{lead}{line}", ""))
            lead = hang


def _verbatim(page: Page, text: str) -> None:
    """Add text whose lines stay as they are."""
    for line in text.strip("\n").splitlines():
        page.line((f"{_INDENT}{visible(line.rstrip())}", "code"))


def _numbered(page: Page, texts: list[str]) -> None:
    for number, text in enumerate(texts, start=1):
        _prose(page, text, mark=f"{number}. ")


def _diagnosis(page: Page, rule: Diagnosis) -> None:
    facts = [f"family {rule.family}", f"severity {rule.severity}: {SEVERITIES[rule.severity]}"]
    if rule.ceiling:
        facts.append(f"never more than {rule.ceiling}")
    _prose(page, ", ".join(facts), indent="")
    _head(page, "Quick conclusion")
    _prose(page, rule.quick_conclusion)
    _head(page, "Applies to")
    _prose(page, rule.applies_to)
    if rule.affected:
        _prose(page, f"Affected: {sentence(rule.affected)}")
    if rule.fixed_in:
        _prose(page, f"Fixed in: {sentence(rule.fixed_in)}")
    _head(page, "Fix")
    for number, remedy in enumerate(rule.fix, start=1):
        _remedy(page, number, remedy)
    for item in rule.not_a_fix:
        _prose(page, f"Not a fix: {item.text.rstrip('.')}: {sentence(item.why)}")
    _head(page, "Caveats")
    _prose(page, f"Not proved by a match: {sentence(rule.caveats.does_not_prove)}")
    if rule.caveats.not_established:
        _prose(page, f"Not established: {sentence(rule.caveats.not_established)}")
    _head(page, "Scenario")
    _prose(page, rule.scenario)
    _head(page, "Original error text")
    _verbatim(page, rule.original_error_text)
    _head(page, "Cause")
    _prose(page, rule.cause)
    _head(page, "What to check")
    _numbered(page, rule.what_to_check)
    _head(page, "Steps")
    _numbered(page, rule.steps)
    _head(page, "Verification")
    _verification(page, rule.verification)
    if rule.references:
        _head(page, "References")
        for reference in rule.references:
            _prose(page, f"{reference.ref}: {reference.note}", mark="- ")


def _remedy(page: Page, number: int, remedy: RemedySpec) -> None:
    mark = f"{number}. "
    hang = _INDENT + " " * len(mark)
    # There is no log here whose figures could stand in the texts.
    _prose(page, f"{sentence(remedy.text_otherwise or remedy.text)} ({remedy.kind})", mark=mark)
    for line in (remedy.command_otherwise or remedy.command or "").strip().splitlines():
        page.line((f"{hang}{visible(line)}", "code"))
    if remedy.where:
        _prose(page, f"Where: {sentence(remedy.where)}", indent=hang)
    if remedy.always:
        _prose(page, f"Applies, because {sentence(remedy.always)}", indent=hang)
    for reason in remedy.when:
        _prose(page, f"Applies where: {sentence(reason.text)}", indent=hang)
    for reason in remedy.never_when:
        _prose(page, f"Never where: {sentence(reason.text)}", indent=hang)
    if remedy.cost:
        _prose(page, f"Cost: {sentence(remedy.cost)}", indent=hang)
    if remedy.verify:
        _prose(page, f"Check: {sentence(remedy.verify)}", indent=hang)


def _verification(page: Page, verification: Verification) -> None:
    _prose(page, verification.text)
    for label, steps in (
        ("Must appear", verification.must_appear),
        ("Must not appear", verification.must_not_appear),
        ("Must have happened again", verification.exercised),
    ):
        for step in steps:
            _prose(page, f"{label}: {sentence(step.text)}", mark="- ")
    if verification.at_least == "time-to-crash":
        _prose(page, "The run must last at least as long as the crashed one did.", mark="- ")


def _symptom(page: Page, rule: Symptom) -> None:
    fatal = "fatal" if rule.fatal else "not fatal by itself"
    severity = f"severity {rule.severity}: {SEVERITIES[rule.severity]}"
    _prose(page, f"symptom, {fatal}, {severity}", indent="")
    for title, text in (
        ("Proves", rule.proves),
        ("Does not prove", rule.does_not_prove),
        ("Next step", rule.next_step),
    ):
        _head(page, title)
        _prose(page, text)
    _verbatim(page, rule.next_command or "")
    _head(page, "Source")
    _prose(page, rule.source)
