"""Each importer declares which fields of a record feed what of a run; what is declared is what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from foreign_files import converted
from trace_records import RECORDS, put_record

from untaken.formats import importers
from untaken.formats.format_info import RUN_FIELDS, RunField
from untaken.ledger import Run

OUTCOMES = (True, False, 1, 0, 2, "C", "I")
"""Values that some format or other writes an outcome with."""
PROBES: dict[str, tuple[Any, ...]] = {"tokens": (4321,), "cost": (7.25,), "outcome": OUTCOMES}
FLAT = ("attributes", "trace_metadata", "tags")
"""Members whose names have dots in them."""
MISSING = object()


def declared() -> Iterator[tuple[str, RunField, int]]:
    for name, importer in importers().items():
        for field, places in importer.info.reads.items():
            for number, place in enumerate(places):
                if not place.startswith("("):
                    yield name, field, number


def put_at(value: Any, names: list[str], new: Any, inside: str = "") -> Any:
    """The value with another one at a place, wherever its parent is there; `MISSING` takes it away."""
    if isinstance(value, list):
        return [put_at(each, names, new, inside) for each in value]
    if isinstance(value, str) and value[:1] in ("{", "["):  # some formats write JSON into texts
        return json.dumps(put_at(json.loads(value), names, new, inside))
    if not isinstance(value, dict):
        return value
    for length in range(len(names), 0, -1):
        key, rest = ".".join(names[:length]), names[length:]
        if key not in value:
            continue
        if rest:
            return {**value, key: put_at(value[key], rest, new, key)}
        kept = {name: each for name, each in value.items() if name != key}
        encoded = isinstance(value[key], str) and value[key][:1] in ('"', "{") and inside in FLAT
        return kept if new is MISSING else {**kept, key: json.dumps(new) if encoded else new}
    if new is MISSING or (len(names) > 1 and inside not in FLAT):
        return value
    return {**value, ".".join(names): new}


def runs_with(tmp_path: Path, format: str, places: tuple[str, ...], number: int, value: Any) -> list[Run]:
    """The runs of a format's record with a value at a place, and nothing at those that count before it."""
    files = RECORDS[format]
    for before, new in [*((place, MISSING) for place in places[:number]), (places[number], value)]:
        names = before.replace("[]", "").split(".")
        if not before.startswith("("):
            files = {name: put_at(content, names, new) for name, content in files.items()}
    return converted(format, tmp_path / "out", put_record(tmp_path / "in", files))[1]


def shown(run: Run, field: RunField) -> Any:
    """What a run says of a field."""
    started, finished = run.started, run.finished
    assert finished is not None
    metrics = (finished.metrics or {}).items()
    values: dict[RunField, Any] = {
        "agent": run.agent,
        "model": started.model,
        "version": started.version,
        "task": run.task_id,
        "task text": (started.metadata or {}).get("input"),
        "target": (started.metadata or {}).get("target"),
        "outcome": finished.success,
        "tokens": [each for name, each in metrics if "tokens" in name],
        "cost": finished.cost,
    }
    return values[field]


def says(run: Run, field: RunField, value: Any) -> bool:
    """Whether a run has a value: also as a part of a name, or of a sum."""
    there = shown(run, field)
    if field == "tokens":
        return any(each >= value for each in there)
    if field == "cost":
        return there is not None and there >= value
    return value in (there or "")


def test_every_importer_declares_the_agent_and_the_task() -> None:
    for name, importer in importers().items():
        reads = importer.info.reads
        assert set(reads) <= set(RUN_FIELDS)
        assert name == "native" or {"agent", "task"} <= set(reads)


@pytest.mark.parametrize(("format", "field", "number"), list(declared()), ids=str)
def test_what_is_declared_is_read(tmp_path: Path, format: str, field: RunField, number: int) -> None:
    places = importers()[format].info.reads[field]
    found = [
        (value, run)
        for at, value in enumerate(PROBES.get(field, ("probe",)))
        for run in runs_with(tmp_path / str(at), format, places, number, value)
    ]
    if field == "outcome":
        assert {True, False} <= {shown(run, field) for _, run in found}
    else:
        assert any(says(run, field, value) for value, run in found), [shown(run, field) for _, run in found]


@pytest.mark.parametrize("format", RECORDS)
def test_what_is_not_declared_is_not_there(tmp_path: Path, format: str) -> None:
    _, runs = converted(format, tmp_path / "out", put_record(tmp_path / "in", RECORDS[format]))
    reads = importers()[format].info.reads
    for run in runs:
        for field in set(RUN_FIELDS) - set(reads):
            assert shown(run, field) in (None, []), field
