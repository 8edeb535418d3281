"""JSON Schemas of documents, derived from the types of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Meta, UnsetType

from untaken.errors import Finding, Severity, Unscored
from untaken.views.documents import (
    Count,
    DocumentPart,
    Shown,
    flat_fields,
    hints_of,
    how_shown,
    keys_of,
    schema_name,
)

Schema = dict[str, Any]

_SCALARS: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Unscored: "null",
    datetime: "string",
}


class FindingShape(DocumentPart, frozen=True, kw_only=True):
    """A finding as documents show it."""

    code: str
    severity: Severity
    message: str
    file: str | None
    line: Count | None
    run: str | None
    hint: str


def shape(kind: type) -> Schema:
    """The schema of what `untaken.views.documents.entry` makes of an object."""
    if kind is Finding:
        kind = FindingShape
    name = schema_name(kind)
    keys, hints = keys_of(kind), hints_of(kind)
    properties = {"schema": {"const": name}} if name else {}
    return _shape({keys.get(field, field): hint for field, hint in hints.items()}, properties)


def _shape(hints: Mapping[str, Any], properties: Schema) -> Schema:
    required = list(properties)
    for name, hint in hints.items():
        if how_shown(hint) is Shown.SPREAD:
            spread = _shape(flat_fields(get_args(hint)[0]), {})
            properties |= spread["properties"]
            required += spread["required"]
            continue
        properties[name] = _type(hint, flat=how_shown(hint) is Shown.FLAT)
        required += [] if UnsetType in get_args(hint) else [name]
        properties |= {f"{name}_reason": {"type": "string"}} if Unscored in get_args(hint) else {}
    return {
        "type": "object",
        "properties": properties,
        "required": list(dict.fromkeys(required)),
        "additionalProperties": False,
    }


def _type(hint: Any, *, flat: bool = False) -> Schema:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return {}
    if origin is Annotated:
        return _annotated(hint, flat=flat)
    if origin is Literal:
        return {"enum": list(args)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type(args[1], flat=flat)}
    if origin is tuple and get_origin(args[0]) is tuple:  # pairs
        return {"type": "object", "additionalProperties": _type(get_args(args[0])[1], flat=flat)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _type(args[0], flat=flat)}
    if origin in (Union, UnionType):
        parts = [_type(part, flat=flat) for part in args if part is not UnsetType]
        # None and Unscored are both null.
        distinct = [part for i, part in enumerate(parts) if part not in parts[:i]]
        return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    return _shape(flat_fields(hint), {}) if flat else shape(hint)


def _annotated(hint: Any, *, flat: bool) -> Schema:
    """A bound on a number, a mark how to show an object, or the function that makes the schema."""
    found = _type(get_args(hint)[0], flat=flat)
    for mark in hint.__metadata__:
        if callable(mark):
            made: Schema = mark()
            return made
        if isinstance(mark, Meta) and mark.ge is not None:
            found |= {"minimum": mark.ge}
    return found
