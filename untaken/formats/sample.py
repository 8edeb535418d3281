"""What a recogniser sees of a file: its first bytes, and the JSON records in them as far as they go."""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from untaken import limits
from untaken.formats.jsontext import JsonReader, decode_text
from untaken.formats.losses import Findings
from untaken.formats.sources import HEAD_BYTES, ZIP, InMemory, OnDisk, Source, head, is_compressed

RECORDS: Final = 50
"""Records parsed of one file, and faults after which no more are looked for."""
STORED_BYTES: Final = 4 * HEAD_BYTES
"""Bytes of a file on disk that are looked at: a Zstandard block, which opens as a whole, may take 128 KiB."""
MEMBERS: Final = 1_000
"""Members listed of one zip archive."""
UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Possessive, so that no text costs more than one pass.
_TOKEN: Final = re.compile(r'[{}\[\],]|"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_OPENING: Final = re.compile(r"[{\[]")
_DECODER: Final = json.JSONDecoder(strict=False)
_CLOSING: Final = {"{": "}", "[": "]"}

Shape = Literal["object", "array", "lines", "text", "binary", "zip", "empty"]


class Confidence(IntEnum):
    """How sure a recogniser is; the highest wins, among equals the format that is registered first.

    Attributes:
        NO: the file is not of the format.
        POSSIBLE: it has the general shape, and so have other formats: a list of chat messages, say.
        LIKELY: it has names that come together in this format only.
        CERTAIN: it says so: a declared schema, a version string, a marker that no other format has.
    """

    NO = 0
    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The beginning of a file, read with limits: nothing in it is trusted, and nothing is read further.

    Attributes:
        name: the file's name, with folders where they are known (untrusted; it says little).
        head: the first bytes, decompressed.
        text: the same as text.
        shape: ``object`` (one JSON object), ``array``, ``lines`` (several objects, one after the other),
            ``text``, ``binary``, ``zip`` or ``empty``.
        records: the first JSON records: the object, the elements of the array, the lines. Where the sample
            ends inside a record, that record holds what was complete before.
        members: names of the files in a zip archive.
    """

    name: str
    head: bytes
    text: str = ""
    shape: Shape = "empty"
    records: tuple[Any, ...] = ()
    members: tuple[str, ...] = ()

    @property
    def first(self) -> Mapping[str, Any]:
        """The first record that is an object; empty where none is."""
        for record in self.records:
            if isinstance(record, dict):
                return record
        return {}

    def has(self, *names: str) -> bool:
        """True where one record has all these member names."""
        wanted = frozenset(names)
        return any(isinstance(record, dict) and wanted <= record.keys() for record in self.records)

    def mentions(self, *names: str) -> bool:
        """True if each name occurs in double quotes in the sample, at any depth."""
        for name in names:  # noqa: SIM110 - every format asks, of every file: a generator costs more
            if f'"{name}"' not in self.text:
                return False
        return True


def sample_of(name: str, data: bytes | Path) -> Sample:
    """The sample of a file."""
    if isinstance(data, Path):
        with data.open("rb") as stream:
            start = head(stream.read(STORED_BYTES))
    else:
        start = head(data)
    if start.startswith(ZIP):
        return Sample(name=name, head=start, shape="zip", members=_members(data))
    if not start.strip():
        return Sample(name=name, head=start)
    if b"\0" in start and not start.startswith(UTF_16):
        return Sample(name=name, head=start, shape="binary")
    text = decode_text(start, Findings(None))
    shape, records = _records(text)
    return Sample(name=name, head=start, text=text, shape=shape, records=records)


def source_sample(source: Source) -> Sample:
    """The sample of a file to import; an empty one where its bytes cannot be had."""
    if isinstance(source.place, OnDisk):
        return sample_of(source.name, source.place.path)
    if isinstance(source.place, InMemory) and not is_compressed(source.place.content):
        return sample_of(source.name, source.place.content)
    start = source.head()
    return sample_of(source.name, source.read() if start.startswith(ZIP) else start)


def _members(data: bytes | Path) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(data if isinstance(data, Path) else io.BytesIO(data)) as archive:
            return tuple(info.filename for info in archive.infolist()[:MEMBERS])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ()


def _records(text: str) -> tuple[Shape, tuple[Any, ...]]:
    """The shape of a text, and its records: whole values one after the other, the last one perhaps cut."""
    found: list[Any] = []
    at = faults = 0
    while len(found) < RECORDS and faults < RECORDS:
        start = _next_value(text, at)
        if start is None or (not found and text[at:start].strip()):
            break  # prose, even if it quotes some JSON
        try:
            value, at = _closed(text, start)
        except (ValueError, RecursionError):
            faults += 1
            at = text.find("\n", start) + 1
            if not at:
                break
            continue
        found.extend(value if isinstance(value, list) else [value])
    if text.lstrip().startswith("["):
        if not found:  # one fault in a list hides no other element
            elements = JsonReader(text, Findings(None)).values()
            found = [element.value for element in islice(elements, RECORDS)]
        return "array", tuple(found[:RECORDS])
    return ("lines" if len(found) > 1 else "object" if found else "text"), tuple(found[:RECORDS])


def _next_value(text: str, at: int) -> int | None:
    """The place of the next bracket that opens a value."""
    found = _OPENING.search(text, at)
    return found.start() if found else None


def _closed(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends; one that is cut ends with its last whole part.

    Raises:
        ValueError: where it is not JSON.
    """
    if text.count("{") + text.count("[") <= limits.JSON_DEPTH:  # so that it is no deeper either
        with suppress(ValueError):
            value: tuple[Any, int] = _DECODER.raw_decode(text, start)
            return value
    opened: list[str] = []
    cut, closing = start, ""
    for token in _TOKEN.finditer(text, start):
        mark = token.group()[0]
        if mark in "{[":
            opened.append(_CLOSING[mark])
        elif mark in "]}" and opened.pop() != mark:
            raise ValueError("the brackets do not match")
        if len(opened) > limits.JSON_DEPTH:
            break
        if mark != '"':
            cut = token.start() if mark == "," else token.end()
            closing = "".join(reversed(opened))
        if not opened:
            return json.loads(text[start:cut], strict=False), cut
    if mark == '"' and text[cut : token.start()].rstrip().endswith(":"):  # a text longer than the sample
        return json.loads(f'{text[start : token.start()]}""{closing}', strict=False), len(text)
    return json.loads(text[start:cut] + closing, strict=False), len(text)
