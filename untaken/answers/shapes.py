"""Parts that the JSON Schemas of documents are made of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from untaken.answers.documents import flat_fields
from untaken.errors import Unscored

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Schema = dict[str, Any]

_SCALARS: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    datetime: "string",
}
TEXT: Final[Schema] = {"type": "string"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}


def document(schema: str, *, optional: Mapping[str, Schema] | None = None, **properties: Schema) -> Schema:
    """A document of one schema version; `optional` keys are there on request."""
    whole = fixed(schema={"const": schema}, **properties)
    whole["properties"] |= optional or {}
    return whole


def fixed(**properties: Schema) -> Schema:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Schema) -> Schema:
    """A list of one kind of thing."""
    return {"type": "array", "items": items}


def values_of(of: Schema) -> Schema:
    """An object with free keys and values of one kind."""
    return {"type": "object", "additionalProperties": of}


def or_null(schema: Schema) -> Schema:
    """The shape, or nothing."""
    return {"anyOf": [schema, {"type": "null"}]}


@cache
def _finding() -> Schema:
    return fixed(
        code=TEXT,
        severity={"enum": ["error", "warning", "note"]},
        message=TEXT,
        file=or_null(TEXT),
        line=or_null(COUNT),
        run=or_null(TEXT),
        hint=TEXT,
    )


def findings() -> Schema:
    """What was noticed."""
    return list_of(_finding())


def entry_shape(*kinds: type[DataclassInstance | msgspec.Struct], **more: Schema) -> Schema:
    """What the documents make of one object, or of several: flat fields, a reason beside the unscored."""
    fields = [field for kind in kinds for field in flat_fields(kind).items()]
    flat = {name: hint for name, hint in fields if name not in more}
    entry = fixed(**{name: _type(hint) for name, hint in flat.items()}, **more)
    unscored = [name for name, hint in flat.items() if Unscored in get_args(hint)]
    entry["properties"] |= {f"{name}_reason": TEXT for name in unscored}
    return entry


def _type(hint: Any) -> Schema:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Unscored:
        return {"type": "null"}
    if origin is Annotated:
        return _type(args[0])
    if origin is Literal:
        return {"enum": list(args)}
    if origin is tuple:
        return list_of(_type(args[0]))
    if origin in (Union, UnionType):
        parts = [_type(part) for part in args]
        return {"anyOf": [part for i, part in enumerate(parts) if part not in parts[:i]]}
    return {"type": _SCALARS[hint]}
