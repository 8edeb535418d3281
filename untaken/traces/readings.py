"""Reading one field of a foreign record, whatever type it was written as."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from untaken import limits
from untaken.traces.losses import Findings, clip

_TRUTH: Final = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_EXACT: Final = 2**53
_YEARS: Final = (1900, 9000)
_SECONDS: Final = (1e8, 1e10)
"""Seconds since 1970 that a number can name: those of the years 1973 to 2286, so that its unit is clear."""
_UNITS: Final = (1, 1e3, 1e6, 1e9)


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one if the value is something else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The list, or an empty one if the value is something else."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; what is no object is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A non-empty text; a number counts as its text."""
    if isinstance(value, str):
        return value.strip() or None
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def first_text(parts: Iterable[Mapping[str, Any]], names: Iterable[str]) -> str | None:
    """The first text under one of the names, part by part."""
    for part in parts:
        for name in names:
            if part.get(name) is not None and (found := text(part[name])):
                return found
    return None


def parsed(value: Any) -> Any:
    """A value that a format writes as JSON text, read; other text as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):  # other texts are not tried in vain
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def number(value: Any, findings: Findings, place: str) -> float | None:
    """A finite number; one written as text is read, and named."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
        findings.once("number-as-string", f"{place} is written as text; read as a number", severity="note")
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def amount(value: Any, findings: Findings, place: str) -> float | None:
    """A number that cannot be negative (a cost, a duration)."""
    read = number(value, findings, place)
    if read is not None and read < 0:
        findings.add("negative-amount", f"{place} is {read}; treated as not recorded")
        return None
    return read


def totals(
    parts: Collection[Mapping[str, Any]], names: Mapping[str, str], findings: Findings, place: str = ""
) -> dict[str, float | bool]:
    """Amounts summed over the parts that record them, by name; what none of them records is left out.

    Args:
        parts: of a record, such as the usage of each reply.
        names: what an amount is called, by the key it is recorded under.
        findings: of the file.
        place: of the parts, before the key.
    """
    found: dict[str, float | bool] = {}
    for key, name in names.items():
        for value in (amount(part.get(key), findings, place + key) for part in parts):
            if value is not None:
                found[name] = found.get(name, 0) + value
    return found


def whole(value: Any, findings: Findings, place: str) -> int | None:
    """A whole number that a double holds exactly."""
    read = number(value, findings, place)
    exact = read is not None and read.is_integer() and abs(read) < _EXACT
    return int(read) if read is not None and exact else None


def truth(value: Any, findings: Findings, place: str) -> bool | None:
    """True or false, also where it is written as text or as 0 and 1; ``None`` where it is neither."""
    if value is None or isinstance(value, bool):
        return value
    read = _TRUTH.get(str(value).strip().lower()) if isinstance(value, str | int) else None
    if read is None:
        findings.add(
            "unreadable-flag", f"{place} is {clip(value)!r}, neither true nor false; treated as unknown"
        )
    else:
        findings.once(
            "flag-as-text", f"{place} is written as {clip(value)!r}; read as {read}", severity="note"
        )
    return read


def moment(value: Any, findings: Findings, place: str) -> datetime | None:
    """A recorded moment in UTC: an ISO 8601 text (without a zone it is UTC, and named), or time since 1970.

    A number, also as text, is in seconds, milliseconds, microseconds or nanoseconds: whichever gives a year
    from 1973 to 2286.
    """
    if isinstance(value, str) and not value.strip().replace(".", "", 1).isdecimal():
        return _iso_moment(value, findings, place)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    since = float(value)
    unit = next((unit for unit in _UNITS if _SECONDS[0] <= since / unit < _SECONDS[1]), None)
    if unit is not None:
        return datetime.fromtimestamp(since / unit, UTC)
    return _iso_moment(value, findings, place) if isinstance(value, str) else None


def _iso_moment(value: str, findings: Findings, place: str) -> datetime | None:
    try:
        read = datetime.fromisoformat(value.strip())
        naive = read.tzinfo is None
        read = read.replace(tzinfo=UTC) if naive else read.astimezone(UTC)
    except (ValueError, OverflowError):
        findings.add(
            "unreadable-time", f"{place} is {clip(value)!r}, no ISO 8601 time; treated as not recorded"
        )
        return None
    if not _YEARS[0] <= read.year <= _YEARS[1]:  # 0001-01-01 says that there is none
        return None
    if naive:
        findings.once("naive-timestamps", f"{place} has no time zone; treated as UTC", severity="note")
    return read


def cut_name(value: str) -> str:
    """The text as a name in an event; if too long, it is cut and a digest of the whole makes it unique."""
    if len(value) <= limits.NAME_CHARS:
        return value
    mark = sha256(value.encode(errors="replace")).hexdigest()[:16]
    return f"{value[: limits.NAME_CHARS - 17]}~{mark}"
