"""JSON as other programs write it: read record by record, tolerant of the faults that real traces have.

A ledger is read strictly; a foreign file cannot be sent back. So a fault costs the record it is in and is
named, and the records around it are read. One record at a time is in memory, and of the text a window that
is at least as long as the longest record.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from untaken.traces.losses import Findings, clip
from untaken.working import step

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_OUTER: Final = re.compile(r"[,\]}]")
_NEXT_RECORD: Final = re.compile(r"\n(?=[\[{])")
"""What is indented is inside a record."""
_FAULTS: Final = 1_000
"""Unreadable records after which the rest of a file is left alone."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]++|[\]}]++', re.DOTALL)
"""An unclosed string ends with the text: failing there would begin again at every quote inside it."""
_DROPPED_FROM: Final = 1 << 20
"""Characters before the cursor that are worth forgetting."""
_WORDS: Final = ("true", "false", "null", "NaN", "Infinity", "-Infinity", ".", "e+", "e-", "E+", "E-")
"""What may be cut off in the middle, outside of a string."""
_LONGEST_WORD: Final = len("-Infinity")
_OPEN_STRING: Final = ("Unterminated string", "Invalid \\uXXXX escape")
_ENCODINGS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Encodings by their byte-order marks; UTF-8 without one is the rule."""


class Element(Struct, frozen=True):
    """A record: its number from 0, its value, and the length of its text."""

    index: int
    value: Any
    chars: int


class Broken(ValueError):
    """There is no JSON value at this place of the text; `cut` if the text ends inside a value."""

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


def decode_text(data: bytes, findings: Findings) -> str:
    """The file's text. What is not UTF-8 is replaced, and named."""
    marked = next((mark for mark in _ENCODINGS if data.startswith(mark)), b"")
    encoding = _ENCODINGS.get(marked, "utf-8")
    data = data[len(marked) :]
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        note_not_text(findings, error.start, encoding)
        return data.decode(encoding, errors="replace")


def note_not_text(findings: Findings, byte: int, encoding: str) -> None:
    """Says that a file holds bytes that are no text, from this one on."""
    findings.add("not-utf-8", f"byte {byte} is not {encoding.upper()} text; such bytes were replaced by �")


def decoded_pieces(pieces: Iterable[bytes], fault: Callable[[int, str], None] | None = None) -> Iterator[str]:
    """The text of a file that comes in pieces, as `decode_text` gives it.

    With `fault`, it is called with the place of the first byte that is no text, and the encoding; the text
    from there on is not given.
    """
    decoder, seen = None, 0
    for piece in chain(pieces, (b"",)):
        step()
        if decoder is None:
            marked = next((mark for mark in _ENCODINGS if piece.startswith(mark)), b"")
            encoding = _ENCODINGS.get(marked, "utf-8")
            decoder = codecs.getincrementaldecoder(encoding)("strict" if fault else "replace")
            seen = -len(marked)
        waiting = len(decoder.getstate()[0])  # bytes of a character that the last piece cut
        try:
            yield decoder.decode(piece[max(0, -seen) :] if seen < 0 else piece, final=not piece)
        except UnicodeDecodeError as error:
            if fault:
                fault(max(seen, 0) - waiting + error.start, encoding)
            return
        seen += len(piece)


class JsonReader:
    """A cursor over JSON text.

    `values` gives the top-level records, whether the file is one array, one object, or one record per line.
    `members` and `elements` go through one object or array without building it as a whole.
    """

    def __init__(self, text: str, findings: Findings, more: Iterable[str] = ()) -> None:
        """Reads `text`, then what comes in `more` when it is needed."""
        self.text = text
        self.findings = findings
        self.at = 0
        self._more = iter(more)
        self._dropped = 0
        self._faults = 0
        self._line, self._counted = 1, 0
        self._decoder = json.JSONDecoder(  # it does not refer back, so that the text goes with its reader
            strict=False,  # texts of real traces have raw control characters
            object_pairs_hook=partial(_object, findings),
            parse_constant=lambda name: findings.add(
                "not-a-number", f"{name} is not a number; treated as not recorded"
            ),
        )

    def peek(self) -> str:
        """The next character that is not white space; empty at the end of the text."""
        while True:
            if (found := _SPACE.match(self.text, self.at)) is not None:
                self.at = found.end()
            if self.at < len(self.text) or not self._read_on():
                return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """The value at the cursor, which moves past it.

        Raises:
            Broken: if there is none; the cursor stays.
        """
        self.peek()
        step()
        while True:
            try:
                value, end = self._decoder.raw_decode(self.text, self.at)
            except RecursionError as error:
                raise Broken("it is nested too deep") from error
            except json.JSONDecodeError as error:
                if self._may_be_cut(error) and self._read_on():
                    continue
                message = f"it is not JSON: {clip(error.msg if self._dropped else error)}"
                raise Broken(message, cut=self._is_cut(error)) from error
            except ValueError as error:
                raise Broken("it has a number of too many digits") from error
            # A number may go on after what looks like its end: "3", then "e+" and more digits.
            if end + 2 < len(self.text) or isinstance(value, dict | list | str) or not self._read_on():
                self.at = end
                if end > max(_DROPPED_FROM, len(self.text) // 2):  # seldom: it copies what is left
                    self._drop()
                return value

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether more text could make it a value: the fault is at the end, or a string is open there."""
        return error.pos >= len(self.text) - _LONGEST_WORD or error.msg.startswith(_OPEN_STRING)

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the text, of which nothing more comes, ends inside of the value."""
        if not self._may_be_cut(error):
            return False
        rest = self.text[error.pos :].strip()
        if error.msg.startswith(_OPEN_STRING[1]):
            return len(rest) <= len("uXXXX")
        return error.msg.startswith(_OPEN_STRING) or any(word.startswith(rest) for word in _WORDS)

    def _read_on(self) -> bool:
        """Drops the text before the cursor, and doubles what is left at least; false at its end."""
        piece = next(self._more, None)
        if piece is None:
            return False
        self._drop()
        kept = [self.text, piece]
        # A long value is parsed again from its beginning each time: doubling keeps that linear.
        wanted = len(kept[0]) - len(piece)
        while wanted > 0 and (piece := next(self._more, None)) is not None:
            kept.append(piece)
            wanted -= len(piece)
        self.text = "".join(kept)
        return True

    def _drop(self) -> None:
        """Forgets the text before the cursor."""
        self._count_lines()
        self._dropped += self.at
        self.text, self.at, self._counted = self.text[self.at :], 0, 0

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
            start = self._dropped + self.at
            try:
                yield Element(index, self.value(), self._dropped + self.at - start)
            except Broken as fault:
                line = self._line_here()
                if self._may_go_on():
                    self._find(_NEXT_RECORD)
                else:
                    self._leave()
                if fault.cut and self.at == len(self.text):
                    self._cut_short()
                else:
                    self._note(f"record {index} of the file cannot be read: {fault}", line)
            index += 1

    def elements(self) -> Iterator[Element]:
        """Each element of the array at the cursor, which ends past the array."""
        self.at += 1
        index = 0
        while (first := self.peek()) != "]":
            if not first:
                self._cut_short()
                return
            start = self._dropped + self.at
            try:
                yield Element(index, self.value(), self._dropped + self.at - start)
            except Broken as fault:
                self._skip(fault, f"record {index} of the list")
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
                if fault.cut:
                    self._cut_short()
                else:
                    self._note(f"the rest of the object cannot be read: {fault}", self._line_here())
                self._leave()
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
            self._skip(fault, f"the value of {clip(name)!r}")
            return None

    def _name(self) -> str:
        name = self.value()
        if not isinstance(name, str) or self.peek() != ":":
            raise Broken("expected a name and a colon", cut=isinstance(name, str) and not self.peek())
        self.at += 1
        self.peek()
        return name

    def _skip(self, fault: Broken, what: str) -> None:
        """Moves past a value that cannot be read: by its brackets, or up to the next comma or bracket."""
        if not fault.cut:  # else the end of the text is named where it is met
            self._note(f"{what} cannot be read: {fault}", self._line_here())
        if fault.cut or not self._may_go_on():
            self._leave()
        elif self.text[self.at : self.at + 1] in ("[", "{"):
            self._skip_brackets()
        else:
            self.at -= self.text[self.at : self.at + 1] == ","  # what is looked for begins after the cursor
            self._find(_OUTER, before=True)

    def _find(self, pattern: re.Pattern[str], *, before: bool = False) -> None:
        """Moves past the next match after the character at the cursor, or `before` it, or to the end."""
        self.at += 1
        while (found := pattern.search(self.text, self.at)) is None:
            last = self.text.rfind("\n", self.at)  # a match may begin there
            self.at = last if last >= 0 else len(self.text)
            if not self._read_on():
                self.at = len(self.text)
                return
        self.at = found.start() if before else found.end()

    def _leave(self) -> None:
        """Moves to the end: nothing more is read."""
        self._more = iter(())
        self.at = len(self.text)

    def _skip_brackets(self) -> None:
        depth = 0
        while True:
            for token in _TOKEN.finditer(self.text, self.at):
                mark = token.group()
                if mark[0] == '"' and token.end() == len(self.text):  # it may go on
                    self.at = token.start()
                    break
                self.at = token.end()
                if mark[0] in "[{":
                    depth += len(mark)
                elif mark[0] in "]}":
                    depth -= len(mark)
                    if depth <= 0:
                        self.at += depth  # back before brackets that close what is around it
                        return
            if not self._read_on():
                self.at = len(self.text)
                return

    def _may_go_on(self) -> bool:
        self._faults += 1
        if self._faults == _FAULTS:
            message = f"more than {_FAULTS} records cannot be read; the rest of the file is skipped"
            self.findings.add("too-many-faults", message, severity="error")
        return self._faults < _FAULTS

    def _cut_short(self) -> None:
        if self._faults >= _FAULTS:
            return
        self.findings.once(
            "truncated-file",
            "the file is cut short; only the records before the cut are read",
            hint="Export or download it again.",
            severity="error",
        )

    def _note(self, message: str, line: int) -> None:
        hint = "The other records are kept. Export the file again if this one matters."
        self.findings.add("unreadable-record", message, line=line, hint=hint, severity="error")

    def _line_here(self) -> int:
        self._count_lines()
        return self._line

    def _count_lines(self) -> None:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at


def _object(findings: Findings, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = Counter(name for name, _ in pairs)
        twice = next(name for name, n in names.items() if n > 1)
        findings.add("duplicate-key", f"{clip(twice)!r} is repeated in one object; the last is used")
    return value
