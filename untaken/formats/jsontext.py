"""JSON as other programs write it: read record by record, tolerant of the faults that real traces have.

A ledger is read strictly; a foreign file cannot be sent back. So a fault costs the record it is in and is
named, and the records around it are read. One record at a time is in memory, besides the text of the file.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from untaken.formats.losses import Findings, clip

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_OUTER: Final = re.compile(r"[,\]}]")
_NEXT_RECORD: Final = re.compile(r"\n[ \t\r]*(?=[\[{])")
_FAULTS: Final = 1_000
"""Unreadable records after which the rest of a file is left alone."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""An unclosed string ends with the text: failing there would begin again at every quote inside it."""
_ENCODINGS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Encodings by their byte-order marks; UTF-8 without one is the rule."""


@dataclass(frozen=True, slots=True)
class Element:
    """A record: its number from 0, its value, and the length of its text."""

    index: int
    value: Any
    chars: int


class Broken(ValueError):
    """No JSON value at this place of the text."""


def decode_text(data: bytes, findings: Findings) -> str:
    """The file's text. What is not UTF-8 is replaced, and named."""
    marked = next((mark for mark in _ENCODINGS if data.startswith(mark)), b"")
    encoding = _ENCODINGS.get(marked, "utf-8")
    data = data[len(marked) :]
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        findings.add(
            "not-utf-8", f"byte {error.start} is not {encoding.upper()} text; such bytes were replaced by �"
        )
        return data.decode(encoding, errors="replace")


class JsonReader:
    """A cursor over JSON text.

    `values` gives the top-level records, whether the file is one array, one object, or one record per line.
    `members` and `elements` go through one object or array without building it as a whole.
    """

    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.findings = findings
        self.at = 0
        self._faults = 0
        self._line, self._counted = 1, 0
        self._decoder = json.JSONDecoder(
            strict=False, object_pairs_hook=self._object, parse_constant=self._constant
        )

    def peek(self) -> str:
        """The next character that is not white space; empty at the end of the text."""
        if (found := _SPACE.match(self.text, self.at)) is not None:
            self.at = found.end()
        return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """The value at the cursor, which moves past it.

        Raises:
            Broken: if there is none; the cursor stays.
        """
        self.peek()
        try:
            value, self.at = self._decoder.raw_decode(self.text, self.at)
        except RecursionError as error:
            raise Broken("it is nested too deep") from error
        except ValueError as error:
            raise Broken(f"it is not JSON: {clip(error)}") from error
        return value

    def whole(self) -> Any:
        """The one value that the text is.

        Raises:
            Broken: where it is none, or something follows.
        """
        value = self.value()
        if self.peek():
            raise Broken("unexpected text after the value")
        return value

    def values(self) -> Iterator[Element]:
        """Each top-level value; an array gives its elements."""
        index = 0
        while first := self.peek():
            if first == "[":
                for element in self.elements():
                    yield Element(index, element.value, element.chars)
                    index += 1
                continue
            start = self.at
            try:
                yield Element(index, self.value(), self.at - start)
            except Broken as fault:
                self._note(f"record {index} of the file cannot be read: {fault}")
                following = _NEXT_RECORD.search(self.text, self.at + 1)
                self.at = following.end() if following and self._may_go_on() else len(self.text)
            index += 1

    def elements(self) -> Iterator[Element]:
        """Each element of the array at the cursor, which ends past the array."""
        self.at += 1
        index = 0
        while (first := self.peek()) != "]":
            if not first:
                self._cut_short()
                return
            start = self.at
            try:
                yield Element(index, self.value(), self.at - start)
            except Broken as fault:
                self._note(f"record {index} of the list cannot be read: {fault}")
                self._skip()
            index += 1
            if self.peek() == ",":
                self.at += 1
        self.at += 1

    def members(self) -> Iterator[str]:
        """Each name in the object at the cursor; before the next, the caller reads its value.

        With `member`, or with `elements` where the value is an array.
        """
        self.at += 1
        while (first := self.peek()) != "}":
            if not first:
                self._cut_short()
                return
            try:
                name = self._name()
            except Broken as fault:
                self._note(f"the rest of the object cannot be read: {fault}")
                self.at = len(self.text)
                return
            yield name
            if self.peek() == ",":
                self.at += 1
        self.at += 1

    def member(self, name: str) -> Any:
        """The value of a member; one that cannot be read is named, skipped, and ``None``."""
        try:
            return self.value()
        except Broken as fault:
            self._note(f"the value of {clip(name)!r} cannot be read: {fault}")
            self._skip()
            return None

    def _name(self) -> str:
        name = self.value()
        if not isinstance(name, str) or self.peek() != ":":
            raise Broken("expected a name and a colon")
        self.at += 1
        self.peek()
        return name

    def _skip(self) -> None:
        """Moves past a value that cannot be read: by its brackets, or up to the next comma or bracket."""
        if not self._may_go_on():
            self.at = len(self.text)
        elif self.text[self.at : self.at + 1] in ("[", "{"):
            self._skip_brackets()
        else:
            found = _OUTER.search(self.text, self.at + (self.text[self.at : self.at + 1] != ","))
            self.at = found.start() if found else len(self.text)

    def _skip_brackets(self) -> None:
        depth = 0
        for token in _TOKEN.finditer(self.text, self.at):
            mark = token.group()
            if len(mark) == 1:
                depth += 1 if mark in "[{" else -1
                if depth == 0:
                    self.at = token.end()
                    return
        self.at = len(self.text)

    def _may_go_on(self) -> bool:
        self._faults += 1
        if self._faults == _FAULTS:
            message = f"more than {_FAULTS} records cannot be read; the rest of the file is skipped"
            self.findings.add("too-many-faults", message, severity="error")
        return self._faults < _FAULTS

    def _cut_short(self) -> None:
        if self._faults >= _FAULTS:
            return
        self.findings.add(
            "truncated-file",
            "the text ends inside a value; the records before it are kept",
            hint="Download the file again: it looks truncated.",
            severity="error",
        )

    def _note(self, message: str) -> None:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        self.findings.add("unreadable-record", message, line=self._line, severity="error")

    def _constant(self, name: str) -> None:
        self.findings.add("not-a-number", f"{name} is not a number; treated as not recorded")

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            names = Counter(name for name, _ in pairs)
            twice = next(name for name, n in names.items() if n > 1)
            self.findings.add("duplicate-key", f"{clip(twice)!r} is repeated in one object; the last is used")
        return value
