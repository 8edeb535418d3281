"""Shapes of foreign records that a drafted mapping goes by: lists, paths, turns, tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.formats.mapped.draft_names import ACTING, CALLS, DEFINED, EXPECTED, PARTS, TOKENS, WHOLE, like
from untaken.formats.messages import is_message
from untaken.formats.readings import mapping, objects

DEEPEST: Final = 3
NAME_CHARS: Final = 60


def lists_of(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of objects in a record by path, the longest first."""
    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        for name, each in value.items():
            if not is_plain(name):
                continue
            place = f"{path}{quoted(name)}"
            if objects(each) and not _is_defined(name, each) and not name.lower().startswith(EXPECTED):
                found[place] = each
            elif isinstance(each, dict) and depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _is_defined(name: str, elements: Sequence[Any]) -> bool:
    """Whether a list is of what could be called or was tested: what was called has its results with it."""
    called = like(name, CALLS) and first_named(objects(elements), PARTS["content"]) is not None
    return like(name, DEFINED) and not called


def is_plain(name: str) -> bool:
    """Whether a path can have a name: a draft leaves out the others."""
    return '"' not in name and name.isprintable() and 0 < len(name) <= NAME_CHARS


def quoted(name: str) -> str:
    """A name as a step of a path."""
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'


def values_by_path(sample: Sequence[Any]) -> dict[str, list[Any]]:
    """The values of members that are no lists, by path."""
    fields: dict[str, list[Any]] = {}
    for path, value in (field for each in sample for field in fields_of(mapping(each))):
        fields.setdefault(path, []).append(value)
    return fields


def fields_of(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The paths of members that are no lists, and their values."""
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop(0)
        for name, each in value.items():
            if each is None or isinstance(each, list) or not is_plain(name):
                continue
            place = f"{path}{quoted(name)}"
            if not isinstance(each, dict) or is_usage(each):
                yield place, each
            elif depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))


def flattened(element: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an element by path, its own first; what is asked or given is a whole."""
    whole = (*PARTS["arguments"], *PARTS["content"], *WHOLE)
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Mapping[str, Any], int]] = [("", element, 0)]
    while waiting:
        path, value, depth = waiting.pop(0)
        for name, each in value.items():
            if not is_plain(name):
                continue
            place = f"{path}{quoted(name)}"
            found[place] = each
            if isinstance(each, dict) and depth < DEEPEST and not like(name, whole):
                waiting.append((f"{place}.", each, depth + 1))
    return found


def first_named(elements: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The first of the names that elements have, as the last part of a path; the outermost first."""
    held = dict.fromkeys(n for each in elements for n, v in each.items() if v not in (None, "", [], {}))
    plain = sorted((n for n in held if is_plain(n)), key=lambda path: path.count("."))
    return next((n for name in names for n in plain if like(n.rpartition(".")[2], (name,))), None)


def turn_of(element: Mapping[str, Any]) -> tuple[str, str] | None:
    """The members with what was asked and what was replied, where an element has both as texts."""
    texts = {name: value for name, value in element.items() if isinstance(value, str) and value}
    asked = first_named([texts], PARTS["asked"])
    replied = first_named([{n: v for n, v in texts.items() if n != asked}], PARTS["replied"])
    return (asked, replied) if asked and replied else None


def happened(elements: Sequence[Any]) -> bool:
    """Whether a list is of messages or actions."""
    found = objects(elements)
    acting = sum(is_message(e) or bool(turn_of(e)) or any(like(n, ACTING) for n in e) for e in found)
    return bool(found) and acting * 2 > len(found)


def mostly(holds: Iterable[bool]) -> bool:
    """Whether it holds for more than half."""
    each = list(holds)
    return sum(each) * 2 > len(each)


def is_usage(value: Any) -> bool:
    """Whether an object has tokens under a name that some library gives them."""
    return (
        isinstance(value, dict)
        and any(name in value for name in TOKENS)
        and not any(isinstance(each, str) for each in value.values())
    )
