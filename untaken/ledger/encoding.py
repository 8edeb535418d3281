"""Values of a program as JSON: an agent's objects, in a form that readers accept.

Nothing here raises: what has no JSON form becomes text, and the place is named.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from os import PathLike, fspath
from typing import Any, Final
from uuid import UUID

import msgspec

from untaken import limits
from untaken.ledger.decoding import FREE_FIELDS
from untaken.ledger.events import Event, cut, event_type
from untaken.ledger.strict_json import INTEGER_HIGH, INTEGER_LOW

DEPTH: Final = limits.JSON_DEPTH - 4
"""Levels of a value that are kept; the event around it takes a few."""
TEXT_CHARS: Final = 1_000
"""Length of the text that replaces an object of an unknown class."""
ARRAY_ITEMS: Final = 100_000
"""Most items of an array that are written; a larger one is named, not written."""

_AS_THEY_ARE: Final = frozenset((str, int, bool))
"""Types of typed fields that need no second look."""

Changed = Callable[[str, str], None]
"""Called with the place of a value, and what was written for it."""


def plain_fields(event: type[Event], values: Mapping[str, Any], changed: Changed) -> dict[str, Any]:
    """An event's fields as it takes them: free JSON made plain, numpy scalars made numbers.

    Raises:
        ValueError: where a typed field holds NaN or an infinity, which the encoder would write as null: a
            number that was never measured.
        TypeError: where the event has no such field.
    """
    free, known = FREE_FIELDS.get(event), event.__struct_fields__
    given: dict[str, Any] = {}
    for field, value in values.items():
        if field not in known:
            near = get_close_matches(field, known, n=1)
            suggestion = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{event_type(event)}.{field}: unknown field{suggestion}")
        if value is None or (field != free and type(value) in _AS_THEY_ARE) or _is_plain(value):
            given[field] = value
        elif field == free:
            given[field] = plain(value, f"{event_type(event)}.{field}", changed)
        else:
            given[field] = _typed(value, f"{event_type(event)}.{field}")
    return given


def _is_plain(value: Any) -> bool:
    """Whether a value surely is one of JSON as it is; false says nothing."""
    kind = type(value)
    return (kind is str and value.isascii()) or kind is bool or value is None


def _typed(value: Any, place: str) -> Any:
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place}: {value} is not a JSON number")
    if isinstance(value, Mapping):
        return {key: _typed(item, f"{place}.{key}") for key, item in value.items()}
    return value


def plain(value: Any, place: str, changed: Changed, depth: int = 0) -> Any:
    """The value in JSON types.

    Args:
        value: anything. Mappings, sequences, dataclasses, msgspec and pydantic models, named tuples, numpy
            arrays and scalars keep their structure; sets become sorted lists; enums their value; moments
            ISO 8601; durations seconds; paths, decimals and UUIDs text; bytes text, or else base64.
        place: what to call it, e.g. ``TOOL_CALL.arguments``.
        changed: called for each value that changed its meaning: NaN and infinities, which become text,
            integers that do not fit, objects of unknown classes, what is nested too deep.
        depth: of the value within the event.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        return _text(value, place, changed)
    if isinstance(value, Enum):
        return plain(value.value, place, changed, depth)
    if isinstance(value, int):
        # Python refuses to write an integer of more than 4,300 digits in decimals, but not in hexadecimal.
        return int(value) if INTEGER_LOW <= value <= INTEGER_HIGH else _noted(hex(value), place, changed)
    if isinstance(value, float):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return float(value) if math.isfinite(value) else _noted(name, place, changed)
    if depth >= DEPTH:
        return _noted("…", place, changed)
    try:
        return _compound(value, place, changed, depth)
    except Exception as error:  # a class of the user's own may raise anything when it is looked at
        return _noted(f"{type(value).__name__}, which raised {type(error).__name__}", place, changed)


def _compound(value: Any, place: str, changed: Changed, depth: int) -> Any:
    if type(value) is dict:  # what nearly all are: asked before what takes long to ask
        return _object(value, place, changed, depth)
    if type(value) is list:
        return [plain(item, f"{place}[]", changed, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal | UUID):
        return str(value)  # of a subclass of str the plain text
    if isinstance(value, PathLike):
        return plain(fspath(value), place, changed, depth)
    if isinstance(value, BaseException):
        return _text(f"{type(value).__name__}: {value}", place, changed)
    if (structure := _structure(value)) is not None:
        value = structure
    if isinstance(value, Mapping):
        return _object(value, place, changed, depth)
    if isinstance(value, Set):
        items = [plain(item, f"{place}[]", changed, depth + 1) for item in value]
        # Mixed types cannot be compared.
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, Sequence):
        return [plain(item, f"{place}[]", changed, depth + 1) for item in value]
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        if getattr(value, "size", 0) > ARRAY_ITEMS:
            return _noted(f"an array of shape {getattr(value, 'shape', '?')}", place, changed)
        return plain(value.tolist(), place, changed, depth + 1)
    return _noted(repr(value), place, changed)


def _structure(value: Any) -> Mapping[Any, Any] | None:
    """The members of an object that declares them."""
    if isinstance(value, type):  # a dataclass itself has fields, but no values of them
        return None
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    for method in ("model_dump", "_asdict"):  # pydantic; named tuples
        if callable(dump := getattr(value, method, None)):
            members = dump()
            return members if isinstance(members, Mapping) else None
    return None


def _object(value: Mapping[Any, Any], place: str, changed: Changed, depth: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, item in value.items():
        written = key if isinstance(key, str) else plain(key, place, changed, DEPTH - 1)
        name = _text(written if isinstance(written, str) else json.dumps(written), place, changed)
        if name in members:
            # 1 and "1" are two keys of a dict, but one of JSON.
            name = _noted(f"{name}~{len(members)}", f"{place}: a second key {name!r}", changed)
        members[name] = item if _is_plain(item) else plain(item, f"{place}.{name}", changed, depth + 1)
    return members


def _text(value: str, place: str, changed: Changed) -> str:
    """The text; a lone surrogate in it has no UTF-8 form."""
    if value.isascii():  # no surrogate is, and asking is cheap
        return str(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        return _noted(value.encode("utf-8", "replace").decode(), place, changed)
    return str(value)


def _bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(value).decode()


def _noted(text: str, place: str, changed: Changed) -> str:
    text = cut(text, TEXT_CHARS).encode("utf-8", "replace").decode()
    changed(place, text)
    return text
