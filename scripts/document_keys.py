"""The keys of each ``--json`` document, from its JSON Schema, on the page of the interface.

The page in ``docs/`` has the first level; ``untaken schema NAME`` and the site have every one.
"""

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

    def adds(self, key: str, known: set[str], said: set[tuple[str, ...]]) -> bool:
        """Whether a key, or what it may be, is not among those that the page explains elsewhere."""
        some = self.values.get(_name(key), ())
        return _name(key) not in known or bool(some and some not in said)

    @property
    def names(self) -> set[str]:
        """The keys without the mark of those that may be missing."""
        return {key.strip("`?") for key in self.keys}


def with_documents(page: str, full: bool, tables: dict[str, set[str]]) -> str:
    """The page with the documents of now, given the columns of each table."""
    before, _, rest = page.partition(BEGIN)
    listed = documents(tables) if full else first_level()
    return f"{before}{BEGIN}\n\n{listed}\n\n{END}{rest.partition(END)[2]}"


def first_level() -> str:
    """Every document with the keys of its first level."""
    return "\n".join(f"- {_first(name)}" for name in SCHEMAS if name not in FILES)


def documents(tables: dict[str, set[str]]) -> str:
    """Every document with its keys; what holds a table or an earlier object leads there."""
    seen = {f"[{name}](tables.md#{name})": names for name, names in tables.items()}
    said: set[tuple[str, ...]] = set()
    return "\n\n".join(_document(name, seen, said) for name in SCHEMAS if name not in FILES)


def _first(name: str, said: set[tuple[str, ...]] | None = None) -> str:
    """A document and the keys of its first level; without ``said``, not the values that they take."""
    schema = json_schema(name)
    (_, top, values), *_ = groups(schema)
    values, said = ({}, set()) if said is None else (values, said)
    title = schema["properties"]["schema"]["const"]
    other = "" if title.startswith(f"untaken.{name}/") else f" (`{name}`)"
    return f"**`{title}`**{other}: {_shown(top[1:], values, said)}"


def _document(name: str, seen: dict[str, set[str]], said: set[tuple[str, ...]]) -> str:
    _, *inner = (group for group in groups(json_schema(name)) if group.names != FINDING)
    first = _first(name, said)
    lines: list[str] = []
    whole = ""
    for group in inner:
        if whole and group.place.startswith(whole):
            continue  # a part of an object that is as another one
        here, known = f"`{group.place}` of `{name}`", _inside(group, seen)
        added = tuple(key for key in group.keys if known and group.adds(key, seen[known], said))
        more = f", and {_shown(added, group.values, said)}" if added else ""
        whole = f"{group.place.removesuffix('[]')}." if known and not added else ""
        words = f"as {known}{more}" if known else _shown(group.keys, group.values, said)
        if lines and lines[-1].endswith(f": {words}"):
            lines[-1] = lines[-1].replace(": ", f", `{group.place}`: ", 1)
        else:
            lines.append(f"- `{group.place}`: {words}")
        seen.setdefault(here, group.names)
    return "\n\n".join([first, *(["\n".join(lines)] if lines else [])])


def _inside(group: Group, seen: dict[str, set[str]]) -> str:
    """The table or earlier place with most of the keys of an object and no other; none for a few keys."""
    fits = [place for place, names in seen.items() if len(names) > 3 and names <= group.names]
    best = max(fits, key=lambda place: len(seen[place]), default="")
    return best if best and 2 * len(seen[best]) > len(group.keys) else ""


def _shown(keys: tuple[str, ...], values: dict[str, tuple[str, ...]], said: set[tuple[str, ...]]) -> str:
    ends = {f"{key}_{end}" for key in map(_name, keys) for end in ("low", "high")}
    names = set(map(_name, keys))
    shown = []
    for key in keys:
        if _name(key) in ends:
            continue
        some = values.get(_name(key), ())
        mark = "±" if {f"{_name(key)}_low", f"{_name(key)}_high"} <= names else ""
        words = f" ({', '.join(f'`{one}`' for one in some)})" if some and some not in said else ""
        shown.append(f"{key}{mark}{words}")
        said.add(some)
    return ", ".join(shown)


def _name(key: str) -> str:
    return key.strip("`?")


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
