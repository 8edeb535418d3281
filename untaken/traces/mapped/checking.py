"""A mapping file tried on data: what is there, counted without it, beside what it makes of it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, json

from untaken.errors import Finding, UntakenError
from untaken.traces.conversion import convert
from untaken.traces.format_info import FieldCount, FileLoss
from untaken.traces.importer import Importer
from untaken.traces.jsontext import JsonReader, decoded_pieces
from untaken.traces.losses import Findings
from untaken.traces.mapped.drafting import RECORDS, draft_mapping
from untaken.traces.mapped.mapped_importer import mapped_importer
from untaken.traces.mapped.mapping_file import parse_mapping
from untaken.traces.registry import own_importers
from untaken.traces.sources import Source, found_sources
from untaken.traces.tables import is_table, table_rows

ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".csv", ".parquet")
"""Files that a mapping is drafted from."""
PLACES: Final = 200
"""Lists named at most."""


class ListCount(Struct, frozen=True, kw_only=True):
    """A list of the data: its place, its elements, and whether any rule reads in it."""

    place: str
    elements: int
    read: bool


class MappingCheck(Struct, frozen=True, kw_only=True):
    """What a mapping makes of data.

    Attributes:
        format: its name.
        records: values in the files; `runs`: made of them.
        with_outcome, with_agent, with_task, with_tokens, with_cost: runs that have it.
        events: of the runs by type.
        unnamed_calls: calls without a tool's name; `unanswered_calls`: without an observation.
        stray_answers: observations that match no call.
        lists: of the data, the longest first.
        unread: places that no rule reads and that are not left out on purpose, the most frequent first.
        findings: of the conversion.
        first_run: the events of the first run.
    """

    format: str
    records: int
    runs: int
    with_outcome: int
    with_agent: int
    with_task: int
    with_tokens: int
    with_cost: int
    events: dict[str, int]
    unnamed_calls: int
    unanswered_calls: int
    stray_answers: int
    lists: Sequence[ListCount]
    unread: Sequence[FieldCount]
    findings: Sequence[Finding]
    first_run: Sequence[dict[str, Any]]


def check_mapping(importer: Importer, sources: Sequence[Path]) -> MappingCheck:
    """Converts data with a mapping, into a folder that goes again, and counts both sides.

    Args:
        importer: of the mapping (`mapped_importer`).
        sources: files, folders and zip archives.

    Raises:
        UntakenError: as `convert`.
    """
    name = importer.info.name
    records, elements = _counted_lists(importer, sources)
    with tempfile.TemporaryDirectory() as scratch, own_importers([importer]):
        done = convert(name, sources, Path(scratch) / "out")
        events = [json.decode(line) for path in done.ledgers for line in path.read_bytes().splitlines()]
    fields = _added(done.losses)
    kept = {path for path, field in fields.items() if field.kept}
    started = [event for event in events if event["type"] == "RUN_STARTED"]
    finished = [event for event in events if event["type"] == "RUN_FINISHED"]
    calls = [event for event in events if event["type"] == "TOOL_CALL"]
    answers = [event for event in events if event["type"] == "OBSERVATION"]
    answered = {(event["run_id"], event.get("call_id")) for event in answers}  # ids are of one run alone
    return MappingCheck(
        format=name,
        records=records,
        runs=done.runs,
        with_outcome=sum(event.get("success") is not None for event in finished),
        with_agent=sum(event["agent"] != "unknown-agent" for event in started),
        with_task=sum(event["task_id"] != "unknown" for event in started),
        with_tokens=sum("input_tokens" in (event.get("metrics") or {}) for event in finished),
        with_cost=sum(event.get("cost") is not None for event in finished),
        events=dict(Counter(event["type"] for event in events)),
        unnamed_calls=sum(event["tool"] == "(unnamed)" for event in calls),
        unanswered_calls=sum((event["run_id"], event["call_id"]) not in answered for event in calls),
        stray_answers=sum(event.get("call_id") is None for event in answers),
        lists=[
            # Where records are grouped into runs, what is read is below the list of them.
            ListCount(place=p, elements=n, read=any(k.startswith((f"{p}[]", f"[].{p}[]")) for k in kept))
            for p, n in elements.most_common(PLACES)
        ],
        unread=sorted(
            (f for f in fields.values() if f.dropped and f.path not in importer.info.left_out),
            key=lambda f: (-f.dropped, f.path),
        ),
        findings=done.findings,
        first_run=[event for event in events if event["run_id"] == started[0]["run_id"]] if started else [],
    )


def preview_mapping(written: str, name: str, data: bytes) -> MappingCheck:
    """What the text of a mapping makes of a file that somebody is trying it on.

    Args:
        written: the mapping, as it is being edited.
        name: of the file; only its ending counts.
        data: its bytes.

    Raises:
        UntakenError: ``mapping-invalid``, ``mapping-too-large``, ``format-name-taken``.
    """
    importer = mapped_importer(parse_mapping(written, "the mapping"))
    ending = next((end for end in importer.info.extensions if name.lower().endswith(end)), ".json")
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / f"sample{ending}"
        file.write_bytes(data)
        return check_mapping(importer, [file])


def drafted_mapping(sources: Sequence[Path], format: str) -> str:
    """A draft of a mapping file from the first records of files (`draft_mapping`).

    Raises:
        UntakenError: ``nothing-to-draft``; ``source-not-found``.
    """
    records = list(islice(_records(sources, ENDINGS), RECORDS))
    if not records:
        message = "no record can be read: a mapping is drafted from JSON, JSON Lines or CSV"
        raise UntakenError("nothing-to-draft", message, hint="Name files of your logs in one of these forms.")
    return draft_mapping(records, format)


def drafted_from(name: str, data: bytes, format: str) -> str:
    """The same from the bytes of one file, of whose name only the ending counts."""
    ending = next((each for each in ENDINGS if name.lower().endswith(each)), ENDINGS[0])
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / f"sample{ending}"
        file.write_bytes(data)
        return drafted_mapping([file], format)


def _records(sources: Sequence[Path], endings: Sequence[str]) -> Iterator[Any]:
    with found_sources(sources, tuple(endings), Findings(None)) as found:
        for source in found:
            yield from _values(source)


def _values(source: Source) -> Iterator[Any]:
    findings = Findings(None)
    if is_table(source.name):
        yield from table_rows(source, findings)
    else:
        reader = JsonReader("", findings, decoded_pieces(source.pieces()))
        yield from (element.value for element in reader.values())


def _counted_lists(importer: Importer, sources: Sequence[Path]) -> tuple[int, Counter[str]]:
    """The number of records, and of the elements of each list in them by place."""
    elements: Counter[str] = Counter()
    records = 0
    for record in _records(sources, importer.info.extensions):
        records += 1
        waiting: list[tuple[str, Any]] = [("", record)]  # no recursion: a record may be nested deep
        while waiting:
            place, value = waiting.pop()
            if isinstance(value, dict):
                waiting += [
                    (f"{place}.{n}" if place else n, e)
                    for n, e in value.items()
                    if isinstance(e, dict | list)
                ]
            elif isinstance(value, list):
                if place in elements or len(elements) < PLACES:  # names in a hostile file have no end
                    elements[place] += len(value)
                waiting += [(f"{place}[]", each) for each in value if isinstance(each, dict | list)]
    return records, elements


def _added(losses: Sequence[FileLoss]) -> dict[str, FieldCount]:
    """The values at each place over all files."""
    found: dict[str, FieldCount] = {}
    for field in (field for loss in losses for field in loss.fields):
        before = found.get(field.path, FieldCount(path=field.path, held=0, kept=0))
        held, kept = before.held + field.held, before.kept + field.kept
        found[field.path] = FieldCount(
            path=field.path, held=held, kept=kept, dropped_at=before.dropped_at or field.dropped_at
        )
    return found
