"""The JSON documents other programs rely on: exact keys, one order, unscored as ``null`` with its reason.

A document is a `DocumentPart`: its fields are the keys. Its JSON (`entry`) and its schema
(`untaken.views.shapes`) are derived from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum
from functools import lru_cache
from types import NoneType
from typing import Annotated, Any, Final, Self, TypeVar, get_args, get_origin, get_type_hints

from msgspec import UNSET, Meta, Struct

from untaken.errors import Finding, Unscored

Document = dict[str, Any]
T = TypeVar("T")


class Shown(Enum):
    """How a document shows a field that is not simply its value."""

    SPREAD = "its own flat fields stand in its place"
    FLAT = "of each object, its flat fields only"
    PAIRS = "pairs of a name and a value, as an object"
    READY = "as it is: made for the document, with a schema of its own"


_AS_IT_IS: Final = frozenset({str, int, float, bool, NoneType})
Count = Annotated[int, Meta(ge=0)]
Spread = Annotated[T, Shown.SPREAD]
Flat = Annotated[T, Shown.FLAT]


class DocumentPart(Struct, frozen=True, kw_only=True):
    """What documents are made of: a key for each field, in order. A whole document names its schema as `tag`.

    A field that may be `UNSET` is there on request only.
    """

    @classmethod
    def of(cls, *sources: object, **more: object) -> Self:
        """The part with the fields of `more`; each other one is that of the first source that has it."""
        found = dict(more)
        for name in cls.__struct_fields__:  # from the first source that has it
            source = next((one for one in sources if hasattr(one, name)), None)
            if source is not None:
                found.setdefault(name, getattr(source, name))
        return cls(**found)


_STEERS: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What steers a terminal, or turns the text on it round: escaped, as JSON's own rule does for the others."""


def dump(document: Document | DocumentPart) -> str:
    """The document as text: the same bytes for the same content."""
    plain = entry(document) if isinstance(document, DocumentPart) else document
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    return _STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def entry(value: Any) -> Document:
    """An object with everything in it, unset fields left out; an unscored one is ``null``, with its reason.

    Of objects that are no `DocumentPart`, fields that are objects come last.
    """
    return _finding(value) if isinstance(value, Finding) else _entry(value, *_shown(value.__class__, False))


def flat_entry(value: Any) -> Document:
    """The same with the flat fields only."""
    return _entry(value, *_shown(value.__class__, True))


def _entry(value: Any, schema: str | None, shown: Iterable[tuple[str, str, Shown | None]]) -> Document:
    made: Document = {"schema": schema} if schema else {}
    for field, key, how in shown:
        found = getattr(value, field)
        if found.__class__ in _AS_IT_IS:  # first, as most fields are such
            made[key] = found
        elif isinstance(found, Unscored):
            made |= {key: None, f"{key}_reason": found.reason}
        elif how is Shown.SPREAD:
            made |= flat_entry(found)
        elif how is Shown.READY and found is not UNSET:
            made[key] = found
        elif found is not UNSET:
            made[key] = _plain(dict(found) if how is Shown.PAIRS else found, how)
    return made


def _plain(value: Any, how: Shown | None) -> Any:
    if value.__class__ in _AS_IT_IS:
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _plain(found, how) for key, found in value.items()}
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Sequence):
        return [_plain(found, how) for found in value]
    return flat_entry(value) if how is Shown.FLAT else entry(value)


@lru_cache(maxsize=1024)
def _shown(kind: Any, flat: bool) -> tuple[str | None, tuple[tuple[str, str, Shown | None], ...]]:
    """The schema that an object names, its fields with their keys, and how each is shown."""
    keys, hints = keys_of(kind), flat_fields(kind) if flat else hints_of(kind)
    shown = ((name, keys.get(name, name), None if flat else how_shown(hint)) for name, hint in hints.items())
    return schema_name(kind), tuple(shown)


def schema_name(kind: type) -> str | None:
    """The schema that a whole document names."""
    tag = kind.__struct_config__.tag if issubclass(kind, DocumentPart) else None
    return tag if isinstance(tag, str) else None


@lru_cache(maxsize=512)
def keys_of(kind: Any) -> dict[str, str]:
    """The key of each field that documents call otherwise."""
    if not issubclass(kind, DocumentPart):
        return {}
    return dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))


@lru_cache(maxsize=512)
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of an object's fields, in order; objects come last where it is no `DocumentPart`."""
    hints = get_type_hints(kind, include_extras=True)
    names = kind.__struct_fields__ if issubclass(kind, Struct) else [field.name for field in fields(kind)]
    if not issubclass(kind, DocumentPart):
        names = sorted(names, key=lambda name: not _is_flat(hints[name]))
    return {name: hints[name] for name in names}


def how_shown(hint: Any) -> Shown | None:
    """How a field of this type is shown: by its mark, or that of the objects in it."""
    given = getattr(hint, "__metadata__", ())
    marks = [Shown.READY if callable(mark) else mark for mark in given if not isinstance(mark, Meta)]
    if not marks and get_origin(hint) is tuple and get_origin(get_args(hint)[0]) is tuple:
        return Shown.PAIRS
    return next(iter(marks), None) or next(filter(None, map(how_shown, get_args(hint))), None)


@lru_cache(maxsize=512)
def flat_fields(kind: Any) -> dict[str, Any]:
    """The fields of a type that are neither objects nor lists of them."""
    return {name: hint for name, hint in hints_of(kind).items() if _is_flat(hint)}


def _is_flat(hint: Any) -> bool:
    if get_origin(hint) is tuple:
        return get_args(hint)[0] is str
    return not isinstance(hint, type) or hint in (str, int, float, bool)


def _finding(finding: Finding) -> Document:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "file": finding.where.file,
        "line": finding.where.line,
        "run": finding.where.run,
        "hint": finding.hint,
    }
