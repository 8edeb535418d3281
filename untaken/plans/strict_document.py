"""YAML and JSON read strictly into plain values, with the line of each value where YAML gives it.

YAML is built from parser events, not through PyYAML's constructors: no tags, no anchors or aliases (and so no
"billion laughs"), no duplicate keys, and the scalars of JSON alone, so that dates, ``yes`` and the key ``on``
stay text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml
from msgspec import Struct

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger import JsonFault, parse_json

Path = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?\Z")
_HIGHEST = (1 << (limits.INTEGER_BITS - 1)) - 1
"""What a column of the database can hold."""
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # where libyaml was built in, much faster


class Document(Struct, frozen=True):
    """A document's value and, for YAML, the 1-based line on which each part of it begins."""

    value: Any
    name: str
    lines: dict[Path, int]

    def where(self, path: Path) -> Where:
        """The file, and the line of `path` or of the nearest part around it that has one."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return Where(file=self.name, line=self.lines[path[:length]])
        return Where(file=self.name)


def plain_value(text: str) -> Any:
    """What an unquoted YAML scalar means here.

    Raises:
        ValueError: for a number that does not fit.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        # The length first: int() of a million digits takes minutes.
        if len(text) > limits.INTEGER_BITS or abs(int(text)) > _HIGHEST:
            raise ValueError(f"the number {text[:40]} does not fit {limits.INTEGER_BITS} bits")
        return int(text)
    if _FLOAT.match(text):
        if not math.isfinite(float(text)):
            raise ValueError(f"the number {text[:40]} does not fit")
        return float(text)
    return text


def decode(data: str | bytes, name: str) -> str:
    """The text of a file, a byte order mark dropped.

    Raises:
        UntakenError: ``plan-too-large``, ``plan-not-utf8``.
    """
    if len(data) > limits.GRAPH_FILE_BYTES:
        raise UntakenError(
            "plan-too-large",
            f"the file has {len(data):,} bytes; a plan graph may have {limits.GRAPH_FILE_BYTES:,}",
            where=Where(file=name),
        )
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        text.encode("utf-8")  # a str may hold half a surrogate pair, which no file can
    except UnicodeError as error:
        raise UntakenError(
            "plan-not-utf8", f"the file is not UTF-8 text: {error}", where=Where(file=name),
            hint="Save it as UTF-8.",
        ) from None  # fmt: skip
    return text.removeprefix("\ufeff")


def read_json(text: str, name: str) -> Document:
    """Strict JSON: no duplicate keys, no NaN or infinity, bounded numbers and depth.

    Raises:
        UntakenError: ``plan-json``.
    """
    try:
        value = parse_json(text.encode(), depth=limits.YAML_DEPTH, highest=_HIGHEST)
    except JsonFault as fault:
        where = Where(file=name, line=fault.line, column=fault.column)
        raise UntakenError("plan-json", fault.message, where=where) from None
    return Document(value=value, name=name, lines={})


def read_yaml(text: str, name: str) -> Document:
    """One YAML document, strictly.

    Raises:
        UntakenError: ``plan-yaml``, with line and column.
    """
    reader = _YamlReader(text, name)
    return Document(value=reader.document(), name=name, lines=reader.lines)


class _YamlReader:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.lines: dict[Path, int] = {}
        self._events: Iterator[Any] = self._parsed(text)

    def document(self) -> Any:
        value, seen = None, False
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    self._refuse(event, "a second document starts here; a plan graph is a single document")
                seen, value = True, self._value(next(self._events), ())
        return value

    def _parsed(self, text: str) -> Iterator[Any]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = (
                Where(file=self.name, line=mark.line + 1, column=mark.column + 1)
                if mark
                else Where(file=self.name)
            )
            problem = " ".join(part for part in (error.context, error.problem) if part)
            raise UntakenError("plan-yaml", f"not valid YAML: {problem}", where=where) from None
        except (yaml.YAMLError, RecursionError) as error:
            raise UntakenError(
                "plan-yaml", f"not valid YAML: {str(error) or _too_deep()}", where=Where(file=self.name)
            ) from None

    def _refuse(self, event: Any, message: str, hint: str = "") -> NoReturn:
        mark = event.start_mark
        where = Where(file=self.name, line=mark.line + 1, column=mark.column + 1)
        raise UntakenError("plan-yaml", message, where=where, hint=hint)

    def _value(self, event: Any, path: Path) -> Any:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._refuse(event, "anchors (&) and aliases (*) are not allowed", "Write the value out.")
        if event.tag is not None:
            self._refuse(event, f"tags are not allowed: {event.tag}", "Remove the tag (!…).")
        if len(path) > limits.YAML_DEPTH:
            self._refuse(event, _too_deep())
        if len(self.lines) >= limits.YAML_VALUES:
            self._refuse(event, f"the file holds more than {limits.YAML_VALUES:,} values")
        self.lines[path] = event.start_mark.line + 1
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event)

    def _mapping(self, path: Path) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.anchor is not None or event.tag is not None:
                self._refuse(event, "a key must be plain text")
            if event.value in mapping:
                self._refuse(event, f"the key {event.value!r} is given twice")
            if event.value == "<<" and event.implicit[0]:
                self._refuse(event, "merge keys (<<) are not allowed", "Write the value out.")
            mapping[event.value] = self._value(next(self._events), (*path, event.value))
        return mapping

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _scalar(self, event: Any) -> Any:
        if not event.implicit[0]:  # in quotes: text, whatever it looks like
            return event.value
        try:
            return plain_value(event.value)
        except ValueError as error:
            self._refuse(event, str(error), "Quote it if it is text.")


def _too_deep() -> str:
    return f"nested deeper than {limits.YAML_DEPTH} levels"
