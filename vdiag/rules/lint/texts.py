"""What is checked of a rule's texts: placeholders, references, names of others, TODOs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import regex
from pydantic import BaseModel

from vdiag.rules.lint.subject import Found, Subject
from vdiag.rules.lint.values import captures_of
from vdiag.rules.schema import Test
from vdiag.rules.walk import event_names

if TYPE_CHECKING:
    from vdiag.rules.schema import Diagnosis, Symptom

_TOKEN = regex.compile(r"\{([a-z][\w.]*)\}")
_FIXED = {"faulting", "first_faulting", "wording", "phase"}
_ISSUE = regex.compile(r"[\w.-]+/[\w.-]+#\d+")
_URL = regex.compile(r"https://[\w.-]+\.[a-z]+(?:/\S*)?")
_FILLED = {
    "diagnosis": ("summary", "summary_unsure", "summary_otherwise", "cause"),
    "symptom": ("summary", "proves", "does_not_prove", "next_step"),
}
_FILLED_PARTS = {
    "fix": ("text", "text_otherwise", "command", "command_otherwise", "verify"),
    "not_a_fix": ("text", "why"),
    "risk": ("text",),
}


def check(subject: Subject) -> Iterator[Found]:
    """Yield what is wrong with the texts of the pack's symptoms and diagnoses."""
    for symptom in subject.symptoms:
        yield from _placeholders(subject, f"symptom {symptom.id}", symptom)
        yield from _blank(f"symptom {symptom.id}", symptom, ())
    for rule in subject.diagnoses:
        thing = f"diagnosis {rule.id}"
        yield from _placeholders(subject, thing, rule)
        yield from _blank(thing, rule, ())
        yield from _sections(thing, rule)
        yield from _references(thing, rule)
        yield from _others(subject, thing, rule)
        for key, ids in (("fix", [remedy.id for remedy in rule.fix]),):
            for id, count in Counter(ids).items():
                if count > 1:
                    yield Found(thing, (key,), "duplicate", f"two remedies are called {id}")


def _placeholders(subject: Subject, thing: str, rule: Diagnosis | Symptom) -> Iterator[Found]:
    known = _FIXED | {number.name for number in getattr(rule, "numbers", ())}
    for alternative in rule.signature:
        for name in event_names(alternative.event):
            if name in subject.pack.signals:
                known |= captures_of(subject.pack.signals[name])
    for path, text in _filled(rule):
        for match in _TOKEN.finditer(text):
            name = match.group(1)
            if name in known or name in subject.pack.facts or name.startswith("env."):
                continue
            yield Found(
                thing,
                path,
                "placeholder",
                f"{{{name}}} is no capture of the signature, no fact and no word of its own",
            )


def _filled(rule: Diagnosis | Symptom) -> Iterator[tuple[tuple[Any, ...], str]]:
    kind = "diagnosis" if hasattr(rule, "fix") else "symptom"
    for key in _FILLED[kind]:
        text = getattr(rule, key, None)
        if text:
            yield (key,), text
    if kind == "symptom":
        return
    for key, names in _FILLED_PARTS.items():
        for index, part in enumerate(getattr(rule, key)):
            for name in names:
                text = getattr(part, name, None)
                if text:
                    yield (key, index, name), text


def _sections(thing: str, rule: Diagnosis) -> Iterator[Found]:
    for key in ("fix", "what_to_check", "steps"):
        if not getattr(rule, key):
            yield Found(thing, (key,), "text", f"the section {key} is empty")


def _blank(thing: str, part: object, path: tuple[Any, ...]) -> Iterator[Found]:
    """Find texts that say nothing; a test may well compare with an empty one."""
    if isinstance(part, Test):
        return
    if isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _blank(thing, getattr(part, name), (*path, name))
    elif isinstance(part, list):
        for index, one in enumerate(part):
            yield from _blank(thing, one, (*path, index))
    elif isinstance(part, str) and not part.strip():
        yield Found(thing, path, "text", f"{path[-1]} is blank")


def _references(thing: str, rule: Diagnosis) -> Iterator[Found]:
    seen: set[str] = set()
    for index, reference in enumerate(rule.references):
        path, ref = ("references", index, "ref"), reference.ref
        if not (_ISSUE.fullmatch(ref) or _URL.fullmatch(ref)):
            yield Found(
                thing, path, "reference", f"{ref!r} is neither owner/repo#123 nor an https:// URL"
            )
        if ref.lower() in seen:
            yield Found(thing, path, "duplicate", f"the reference {ref} is listed twice")
        seen.add(ref.lower())
    for path, text in _strings(rule, ()):
        if path[0] == "references":
            continue
        for ref in _ISSUE.findall(text):
            if ref.lower() not in seen:
                seen.add(ref.lower())
                yield Found(
                    thing, path, "reference", f"{ref} is named here and missing in `references`"
                )


def _strings(part: object, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _strings(getattr(part, name), (*path, name))
    elif isinstance(part, list):
        for index, one in enumerate(part):
            yield from _strings(one, (*path, index))
    elif isinstance(part, str):
        yield path, part


def _others(subject: Subject, thing: str, rule: Diagnosis) -> Iterator[Found]:
    for key in ("explains", "yields_to"):
        ids = getattr(rule, key)
        for index, id in enumerate(ids):
            path = key, index
            if id == rule.id:
                yield Found(thing, path, "name", f"{key} names the rule itself")
            elif ids.index(id) != index:
                yield Found(thing, path, "duplicate", f"{key} names {id} twice")
            other = subject.pack.diagnoses.get(id)
            mutual = other is not None and rule.id in other.yields_to
            if key == "yields_to" and id != rule.id and mutual:
                yield Found(thing, path, "name", f"{id} yields to this rule too: both would vanish")
