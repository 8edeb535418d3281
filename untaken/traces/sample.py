"""What a recogniser sees of a file: its first bytes with their JSON records, or an outline of it all."""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from untaken import limits
from untaken.errors import UntakenError
from untaken.traces.jsontext import JsonReader, decode_text, decoded_pieces
from untaken.traces.losses import Findings
from untaken.traces.parquet import is_parquet
from untaken.traces.sources import (
    HEAD_BYTES,
    ZIP,
    InMemory,
    OnDisk,
    Source,
    SourcePlace,
    beginning,
    decompressed_pieces,
    head,
    is_compressed,
)

RECORDS: Final = 50
"""Records parsed of one file, and faults after which no more are looked for."""
STORED_BYTES: Final = 4 * HEAD_BYTES
"""Bytes of a file on disk that are looked at: a Zstandard block, which opens as a whole, may take 128 KiB."""
MEMBERS: Final = 1_000
"""Members listed of one zip archive."""
OUTLINED_BYTES: Final = 64 * limits.MIB
"""Bytes read through for an outline."""
OUTLINED_RECORDS: Final = 20_000
"""Records read through for an outline: of each shape, only the first `ALIKE` are kept."""
ALIKE: Final = 3
TEXT_CHARS: Final = 500
"""Characters that an outline keeps of a text."""
NAMES: Final = 200
"""Members that an outline keeps of an object."""
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
        outline: gives a sample of the whole file, where this one is of its beginning; see `outline_of`.
    """

    name: str
    head: bytes
    text: str = ""
    shape: Shape = "empty"
    records: tuple[Any, ...] = ()
    members: tuple[str, ...] = ()
    outline: Callable[[], Sample | None] = field(default=lambda: None, compare=False, repr=False)

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
    if not isinstance(data, Path):
        place: SourcePlace = InMemory(content=data)
        return _sampled(name, head(data), data, lambda: decompressed_pieces(place.pieces(), place.size, name))
    place = OnDisk(path=data)
    with data.open("rb") as stream:
        start = head(stream.read(STORED_BYTES))
    return _sampled(name, start, data, lambda: decompressed_pieces(place.pieces(), place.size, name))


def source_sample(source: Source) -> Sample:
    """The sample of a file to import; an empty one where its bytes cannot be had."""
    if isinstance(source.place, OnDisk):
        return sample_of(source.name, source.place.path)
    if isinstance(source.place, InMemory) and not is_compressed(source.place.content):
        return sample_of(source.name, source.place.content)
    start = source.head()
    return _sampled(source.name, start, source.read() if start.startswith(ZIP) else start, source.pieces)


def _sampled(name: str, start: bytes, archive: bytes | Path, pieces: Callable[[], Iterator[bytes]]) -> Sample:
    """The sample of a file that begins so, with the bytes of it where it is an archive."""
    if start.startswith(ZIP):
        return Sample(name=name, head=start, shape="zip", members=_members(archive))
    if is_parquet(start):
        start = beginning(pieces())
    if not start.strip():
        return Sample(name=name, head=start)
    if b"\0" in start and not start.startswith(UTF_16):  # UTF-16 is full of zeros
        return Sample(name=name, head=start, shape="binary")
    text = decode_text(start, Findings(None))
    shape, records = _records(text)

    @cache
    def outline() -> Sample | None:
        if shape == "text" or (len(start) < HEAD_BYTES and len(records) < RECORDS):
            return None
        found = outline_of(pieces())
        text = "\n".join(map(json.dumps, found))
        return Sample(name=name, head=start, text=text, shape=shape, records=tuple(found)) if found else None

    return Sample(name=name, head=start, text=text, shape=shape, records=records, outline=outline)


def outline_of(pieces: Iterable[bytes]) -> list[Any]:
    """The records of a JSON file, shortened: bounded by what the file is made of, not by its first bytes.

    Of long texts the beginning is kept, of lists and of records the first ones of each shape, so that neither
    a text of megabytes nor a thousand summaries hide what comes after them.
    """
    reader = JsonReader("", Findings(None), decoded_pieces(_bounded(pieces)))
    found: list[Any] = []
    with suppress(UntakenError, RecursionError):
        if reader.peek() == "{":
            found.append(_first_object(reader))
            if len(found[0]) >= NAMES:  # what follows millions of members is not waited for
                return found
        alike = Counter(map(shape_of, found))
        for element in islice(reader.values(), OUTLINED_RECORDS):
            alike[shape := shape_of(element.value)] += 1
            if alike[shape] <= ALIKE:
                found.append(_outlined(element.value, 0))
            if len(found) >= RECORDS:
                break
    return found


def _bounded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    left = OUTLINED_BYTES
    for piece in pieces:
        yield piece
        left -= len(piece)
        if left < 0:
            return


def _first_object(reader: JsonReader) -> dict[str, Any]:
    """The first members of a file's first object, of which one at a time is in memory."""
    members: dict[str, Any] = {}
    for name in reader.members():
        members[name] = _outlined(reader.member(name), 0)
        if len(members) >= NAMES:
            break
    return members


def _outlined(value: Any, depth: int) -> Any:
    """A value with its long texts, lists and objects shortened."""
    if isinstance(value, str):
        return value[:TEXT_CHARS]
    if isinstance(value, dict):
        return {name: _outlined(each, depth + 1) for name, each in islice(value.items(), NAMES)}
    if not isinstance(value, list):
        return value
    alike: Counter[Any] = Counter()
    kept = []
    for each in value:
        alike[shape := shape_of(each)] += 1
        if alike[shape] <= ALIKE:
            kept.append(_outlined(each, depth + 1))
        if len(kept) >= RECORDS:
            break
    return kept


def shape_of(value: Any) -> Any:
    """What tells records apart: the names of their members, and the type that they say."""
    if not isinstance(value, dict):
        return type(value)
    kind = value.get("type")
    return frozenset(value), kind if isinstance(kind, str) else None


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
        opening = _OPENING.search(text, at)
        if opening is None or (not found and text[at : opening.start()].strip()):
            break  # prose, even if it quotes some JSON
        start = opening.start()
        try:
            value, at = _closed(text, start)
        except (ValueError, RecursionError):
            faults += 1
            at = text.find("\n", start) + 1  # the next line may be whole
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
