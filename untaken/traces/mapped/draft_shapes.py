"""Shapes of foreign records that a drafted mapping goes by: lists, paths, turns, tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.mapped.draft_names import (
    ACTING,
    ASSISTANTS,
    CALLS,
    DEFINED,
    EXPECTED,
    KINDS,
    PART_WORDS,
    PARTS,
    RESULTS,
    SPEAKERS,
    SPOKEN_WORDS,
    TOKENS,
    USERS,
    WHOLE,
    like,
    words,
)
from untaken.traces.messages import is_message
from untaken.traces.readings import items, mapping, objects

DEEPEST: Final = 5
NAME_CHARS: Final = 60


def lists_of(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of objects in a record by path, the longest first; also what happened in lists of parts."""
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
                if not happened(each):  # else lists inside are parts of what happened
                    found |= _inside(place, objects(each))
            elif isinstance(each, dict) and depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _inside(place: str, elements: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """The lists in the elements of a list in which something happened, such as the steps of its stages."""
    names = dict.fromkeys(name for each in elements for name, value in each.items() if objects(value))
    for name in names:
        within = [one for each in elements for one in items(each.get(name))]
        is_part = like(name, (*CALLS, *RESULTS))  # of an element in which something happened
        if is_plain(name) and not is_part and not _is_defined(name, within) and happened(within):
            yield f"{place}[].{quoted(name)}", within


def _is_defined(name: str, elements: Sequence[Any]) -> bool:
    """Whether a list is of arguments, or of what could be called or was tested."""
    if like(name, PARTS["arguments"][:4]):
        return True
    # What was called has its results with it.
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
            if isinstance(each, dict) and depth < DEEPEST and (not like(name, whole) or _is_call(each)):
                waiting.append((f"{place}.", each, depth + 1))
    return found


def _is_call(value: Mapping[str, Any]) -> bool:
    """Whether an object has the name of what is called beside its arguments."""
    names = [name for name in value if isinstance(value[name], dict | str)]
    return any(like(n, PARTS["tool"]) for n in names) and any(like(n, PARTS["arguments"]) for n in names)


def first_named(elements: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The first of the names that flattened elements have as the last part of a path, the outermost first."""
    held = dict.fromkeys(n for each in elements for n, v in each.items() if v not in (None, "", [], {}))
    paths = sorted(held, key=lambda path: path.count("."))
    return next((n for name in names for n in paths if like(n.rpartition(".")[2], (name,))), None)


def part_of(elements: Sequence[Mapping[str, Any]], part: str) -> str | None:
    """The path of a part of flattened elements, by a name, else by the words in one."""
    if (found := first_named(elements, PARTS[part])) is not None:
        return found
    wanted, beside = PART_WORDS[part]
    held = dict.fromkeys(n for each in elements for n, v in each.items() if v not in (None, "", [], {}))
    for path in sorted(held, key=lambda path: path.count(".")):
        found_words = words(path.rpartition(".")[2])
        if found_words & wanted and found_words <= wanted | beside:
            return path
    return None


def turn_of(element: Mapping[str, Any]) -> tuple[str, str] | None:
    """The members with what was asked and what was replied, where an element has both as texts."""
    texts = {name: value for name, value in element.items() if isinstance(value, str) and value}
    asked = _spoken_by(USERS, texts) or first_named([texts], PARTS["asked"])
    others = {n: v for n, v in texts.items() if n != asked}
    replied = _spoken_by(ASSISTANTS, others) or first_named([others], PARTS["replied"])
    return (asked, replied) if asked and replied else None


def _spoken_by(whom: frozenset[str], texts: Mapping[str, str]) -> str | None:
    """The member that says what somebody said, by the words in its name: ``user_text``."""
    for path in texts:
        found = words(path.rpartition(".")[2])
        if found & whom and found & SPOKEN_WORDS and found <= whom | SPOKEN_WORDS:
            return path
    return None


def happened(elements: Sequence[Any]) -> bool:
    """Whether a list is of messages or actions."""
    found = objects(elements)
    acting = sum(
        is_message(e) or bool(turn_of(e)) or any(like(n, ACTING) for n in e) or speaks(e) for e in found
    )
    return bool(found) and acting * 2 > len(found)


def speaks(element: Mapping[str, Any]) -> bool:
    """Whether an element says something, and who says it or what it is."""
    return is_message(element) or (
        any(like(name, (*SPEAKERS[:8], *KINDS[:4])) for name in element)
        and any(like(name, PARTS["say"]) for name in element)
    )


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
