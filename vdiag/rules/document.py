"""Reads one YAML file as data, with the line of every key, within limits.

Rules may come from anybody, so a file is bounded before it is built: its size, its depth, and
the number of values once every alias (``*name``) is written out. No tag makes an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from vdiag.rules.problem import Problem

_Model = TypeVar("_Model", bound=BaseModel)

MAX_DEPTH = 40
MAX_VALUES = 100_000
"""Values of a file with its aliases written out; a long rule has 1,000."""
_MAX_NUMBER = 64
"""Characters of a number; longer ones are digits by mistake, and slow to convert."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that keeps time stamps as text."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class BadDocument(Exception):  # noqa: N818  # carries a problem, is none
    """A file that is no usable YAML."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Document:
    """One YAML file: its data, and the line of every key in it."""

    def __init__(self, file: str, raw: bytes) -> None:
        """Parse a file; raises BadDocument with the line and the reason."""
        self.file = file
        try:
            text = raw.decode("utf-8")
            loader = _Loader(text)
            try:
                self._node = loader.get_single_node()
                if self._node is not None:
                    self._bound(self._node)
                self.data = loader.construct_document(self._node) if self._node else None
            finally:
                loader.dispose()
        except UnicodeDecodeError as error:
            raise self._bad(1, f"is not UTF-8 (byte {error.start})") from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise self._bad(line, error.problem or "not valid YAML") from error
        except (yaml.YAMLError, ValueError) as error:
            raise self._bad(1, " ".join(str(error).split())) from error
        except RecursionError as error:
            raise self._bad(1, f"is nested deeper than {MAX_DEPTH} levels") from error

    def _bad(self, line: int, why: str) -> BadDocument:
        return BadDocument(Problem(self.file, line, "yaml", why))

    def _bound(self, root: yaml.Node) -> None:
        """Refuse what would grow: cycles, deep nesting, aliases of aliases, repeated keys."""
        sizes: dict[int, int] = {}
        depths: dict[int, int] = {}
        open_: set[int] = set()
        stack: list[tuple[yaml.Node, bool]] = [(root, False)]
        while stack:
            node, done = stack.pop()
            key, line = id(node), node.start_mark.line + 1
            if done:
                inner = [id(child) for child in _children(node)]
                sizes[key] = 1 + sum(sizes[child] for child in inner)
                depths[key] = 1 + max((depths[child] for child in inner), default=0)
                open_.discard(key)
                if sizes[key] > MAX_VALUES:
                    raise self._bad(
                        line, f"holds more than {MAX_VALUES:,} values with its aliases written out"
                    )
                if depths[key] > MAX_DEPTH:
                    raise self._bad(line, f"is nested deeper than {MAX_DEPTH} levels")
                continue
            if key in open_:
                raise self._bad(line, "holds itself by an alias")
            if key in sizes:
                continue
            self._check_scalars(node)
            open_.add(key)
            stack.append((node, True))
            stack += [(child, False) for child in _children(node) if id(child) not in sizes]

    def _check_scalars(self, node: yaml.Node) -> None:
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode):
            number = node.tag.endswith((":int", ":float"))
            if number and len(node.value) > _MAX_NUMBER:
                raise self._bad(line, f"holds a number of {len(node.value):,} characters")
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for name, _ in node.value:
                if isinstance(name, yaml.ScalarNode) and name.tag != "tag:yaml.org,2002:merge":
                    if name.value in seen:
                        at = name.start_mark.line + 1
                        raise self._bad(at, f"says `{name.value}:` twice; the second would win")
                    seen.add(name.value)

    def model(self, kind: type[_Model], path: tuple[Any, ...] = ()) -> _Model | list[Problem]:
        """Validate the document, or the part at a path, as one object; else say all that is wrong.

        Of a union (a text or a list of texts) only the errors of one arm are told.
        """
        data: Any = self.data
        for part in path:
            data = data[part]
        try:
            return kind.model_validate(data)
        except ValidationError as error:
            out: dict[tuple[int, str], Problem] = {}
            for one in error.errors(include_url=False, include_context=False):
                where = ".".join(str(part) for part in one["loc"]) or "the document"
                line = self.line((*path, *one["loc"]))
                reason = one["msg"].removeprefix("Value error, ")
                out.setdefault(
                    (line, reason), Problem(self.file, line, "schema", f"{where}: {reason}")
                )
            return list(out.values())

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield (line, text) of every scalar in the file."""
        stack = [self._node] if self._node else []
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, yaml.ScalarNode):
                yield node.start_mark.line + 1, node.value
            stack += reversed(_children(node))

    def line(self, path: Iterable[Any]) -> int:
        """Return the line of the deepest part of a path that exists in the file."""
        node = self._node
        line = node.start_mark.line + 1 if node else 1
        for part in path:
            if isinstance(node, yaml.MappingNode):
                found = [pair for pair in node.value if pair[0].value == str(part)]
                if not found:
                    break
                line = found[0][0].start_mark.line + 1
                node = found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
                if part >= len(node.value):
                    break
                node = node.value[part]
                line = node.start_mark.line + 1
            else:
                break
        return line


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    return []
