"""Criteria files: this program's own form, and the two that AgentEval's published code writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from untaken.atomic_file import write_whole
from untaken.errors import UntakenError, Where
from untaken.judging.criteria.criterion import CriteriaSet, Criterion
from untaken.ledger import JsonFault
from untaken.traces import parse_document

FILE_BYTES = 1024 * 1024


def load_criteria(path: str | Path) -> CriteriaSet:
    """The criteria in a file.

    Raises:
        UntakenError: ``criteria-missing``; as `parse_criteria`.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        hint = "Propose some with `untaken criteria propose`, or write them by hand."
        raise UntakenError(
            "criteria-missing", "no criteria found", where=Where(file=str(file)), hint=hint
        ) from error
    return parse_criteria(data, name=file.name)


def parse_criteria(data: bytes, *, name: str) -> CriteriaSet:
    """Criteria from JSON: a set of this program, a list of criteria, or a mapping from name to criterion.

    Raises:
        UntakenError: ``criteria-invalid``, with file and place.
    """
    where = Where(file=name)
    if len(data) > FILE_BYTES:
        raise _invalid(f"a criteria file has at most {FILE_BYTES} bytes", where)
    try:
        found = parse_document(data)
    except JsonFault as fault:
        raise _invalid(fault.message, Where(file=name, line=fault.line, column=fault.column)) from fault
    try:
        read = msgspec.convert(_as_set(found, name), CriteriaSet)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), where) from error
    names = [criterion.name for criterion in read.criteria]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise _invalid(f"two criteria are called {twice[0]!r}", where)
    for criterion in read.criteria:
        # As `read_value` compares them: of two that it cannot tell apart, the second would never be read.
        values = [" ".join(v.split()).casefold() for v in criterion.accepted_values]
        if len(set(values)) < len(values):
            raise _invalid(f"an accepted value of {criterion.name!r} is listed twice", where)
    return read


def save_criteria(criteria: CriteriaSet, path: str | Path) -> None:
    """Write a criteria file, whole or not at all; equal criteria give equal bytes."""
    write_whole(Path(path), criteria_bytes(criteria))


def criteria_bytes(criteria: CriteriaSet) -> bytes:
    """The bytes of a criteria file."""
    return msgspec.json.format(msgspec.json.encode(criteria), indent=2) + b"\n"


def _as_set(found: Any, name: str) -> Any:
    if isinstance(found, dict) and "schema" in found:
        return found
    entries: Any = found
    if isinstance(found, dict):
        entries = [
            {"name": key} | value if isinstance(value, dict) else value for key, value in found.items()
        ]
    stem = name.split(".", maxsplit=1)[0] or "criteria"
    if not isinstance(entries, list):
        return {"id": stem, "criteria": entries}
    return {"id": stem, "criteria": [_published(entry, name) for entry in entries]}


def _published(entry: Any, origin: str) -> Any:
    """A criterion as AgentEval writes it: `sub_criteria` are not used, values may be numbers or one text."""
    if not isinstance(entry, dict):
        return entry
    kept = {k: v for k, v in entry.items() if k in Criterion.__struct_fields__}
    values = kept.get("accepted_values")
    if isinstance(values, str):
        values = [part.strip() for part in values.split(",")]
    if isinstance(values, list):
        kept["accepted_values"] = [str(v) if isinstance(v, int | float) else v for v in values]
    return {"origin": origin, **kept}


def _invalid(message: str, where: Where) -> UntakenError:
    hint = 'A criterion is {"name": …, "description": …, "accepted_values": [worst, …, best]}.'
    return UntakenError("criteria-invalid", message, where=where, hint=hint)
