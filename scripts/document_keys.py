"""The keys of each ``--json`` document, from its JSON Schema: a list on the page of the interface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from untaken.views import SCHEMAS, json_schema

BEGIN: Final = "<!-- documents: written by python -m scripts.reference -->"
END: Final = "<!-- end of documents -->"
FILES: Final = ("event", "heads", "graph", "observation", "signal", "passport", "planning")
"""Schemas of files, which have sections of their own."""
FINDING: Final = {"code", "severity", "message", "file", "line", "run", "hint"}
"""Keys of a finding, which the page explains once."""


class Group(NamedTuple):
    """An object of a document: where it is, and its keys with their values where there are few."""

    place: str
    keys: tuple[str, ...]
    values: dict[str, tuple[str, ...]]

    @property
    def names(self) -> set[str]:
        """The keys without the mark of those that may be missing."""
        return {key.strip("`?") for key in self.keys}


def with_documents(page: str) -> str:
    """The page with the documents of now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{documents()}\n\n{END}{rest.partition(END)[2]}"


def documents() -> str:
    """Every document with its keys; objects that an earlier one has, too, name their place in that."""
    seen: dict[frozenset[str], str] = {}
    said: set[tuple[str, ...]] = set()
    return "\n\n".join(_document(name, seen, said) for name in SCHEMAS if name not in FILES)


def _document(name: str, seen: dict[frozenset[str], str], said: set[tuple[str, ...]]) -> str:
    schema = json_schema(name)
    title = schema["properties"]["schema"]["const"]
    (_, top, values), *inner = (group for group in groups(schema) if group.names != FINDING)
    lines = [f"**`{title}`** (`{name}`): {_shown(top[1:], values, said)}"]
    for place, keys, values in inner:
        known = seen.setdefault(frozenset(keys), f"`{place}` of `{name}`")
        same = known if known != f"`{place}` of `{name}`" and len(keys) > 3 else ""
        lines.append(f"- `{place}`: {f'as {same}' if same else _shown(keys, values, said)}")
    return f"{lines[0]}\n\n" + "\n".join(lines[1:]) if inner else lines[0]


def _shown(keys: tuple[str, ...], values: dict[str, tuple[str, ...]], said: set[tuple[str, ...]]) -> str:
    shown = []
    for key in keys:
        some = values.get(key.strip("`?"), ())
        shown.append(f"{key} ({', '.join(f'`{one}`' for one in some)})" if some and some not in said else key)
        said.add(some)
    return ", ".join(shown)


def groups(schema: dict[str, Any], place: str = "") -> Iterator[Group]:
    """Every object with fixed keys, by its place; a key that may be missing has a question mark."""
    schema = _shape(schema)
    if schema.get("type") == "array":
        yield from groups(schema["items"], f"{place}[]")
    elif "properties" in schema:
        keys = [key for key in schema["properties"] if not _is_reason(key, schema)]
        marked = tuple(f"`{key}`{'' if key in schema.get('required', []) else '?'}" for key in keys)
        enums = {key: tuple(_shape(schema["properties"][key]).get("enum", ())) for key in keys}
        yield Group(place, marked, enums)
        for key, inner in schema["properties"].items():
            yield from groups(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from groups(schema["additionalProperties"], f"{place}{{}}")


def _shape(schema: dict[str, Any]) -> dict[str, Any]:
    """The one object or list that a schema allows beside ``null``."""
    return next((part for part in schema.get("anyOf", []) if part.get("type") != "null"), schema)


def _is_reason(key: str, schema: dict[str, Any]) -> bool:
    """Whether a key is there only to say why another one is ``null``."""
    return key.endswith("_reason") and key not in schema.get("required", [])
