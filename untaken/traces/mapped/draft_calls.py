"""Drafted rules for calls that are a list in an element, and for what they gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from untaken.traces.mapped.draft_kinds import paths_of
from untaken.traces.mapped.draft_names import FAILED, OK, PARTS, like
from untaken.traces.mapped.draft_shapes import first_named, flattened, part_of
from untaken.traces.readings import mapping, objects

Element = Mapping[str, Any]


def nested_calls(
    place: str,
    calls: Sequence[Element],
    results: str | None = None,
    given: Sequence[Element] = (),
    *,
    answered: bool = False,
    joined: bool = False,
) -> list[dict[str, Any]]:
    """The rules for calls that are a list in an element, and for what they gave.

    Args:
        place: of the list.
        calls: its elements.
        results: the place of a list of what calls gave, if there is one.
        given: its elements.
        answered: whether the answers are elsewhere.
        joined: whether answers elsewhere name the call that they are of.
    """
    flat, gave = list(map(flattened, calls)), list(map(flattened, given))
    texts = [{name: value for name, value in each.items() if isinstance(value, str)} for each in flat]
    tool, (own_id, their_id) = part_of(texts, "tool"), _shared_id(flat, gave)  # the name of a tool is a text
    own_id = own_id or (first_named(flat, PARTS["id"]) if joined else None)
    if tool is None and all(map(_is_named_by_its_key, calls)):
        call: dict[str, Any] = {"tool": {"key": "."}, "arguments": {"value": "."}}
    else:
        arguments = part_of(flat, "arguments") or first_named(flat, ("payload",)) or "arguments"
        call = {"tool": tool or "name", "arguments": arguments, **({"id": own_id} if own_id else {})}
    content = None if results or answered else part_of(flat, "content") or first_named(flat, ("reply",))
    if content:
        answer = {"content": content, **worked(flat, content)}
        rules = [{"call": call}, {"when": {content: {"filled": True}}, "answer": answer}]
        return [{"each": f"{place}[]", "items": rules}]
    found: list[dict[str, Any]] = [{"each": f"{place}[]", "call": call}]
    if results and (content := part_of(gave, "content") or first_named(gave, PARTS["say"])):
        answer = {"content": content, **({"id": their_id} if their_id else {}), **worked(gave, content)}
        found.append({"each": f"{results}[]", "when": {content: {"filled": True}}, "answer": answer})
    return found


def _is_named_by_its_key(call: Element) -> bool:
    """Whether a call is an object with one member: the tool, with its arguments."""
    return len(call) == 1 and isinstance(next(iter(call.values())), dict)


def _shared_id(calls: Sequence[Element], given: Sequence[Element]) -> tuple[str | None, str | None]:
    """The members by which calls and what they gave belong together."""
    for own in _ids(calls):
        values = {str(each[own]) for each in calls if each.get(own)}
        for theirs in _ids(given):
            if values & {str(each[theirs]) for each in given if each.get(theirs)}:
                return own, theirs
    return None, None


def _ids(elements: Sequence[Element]) -> list[str]:
    """The paths that end in an id."""
    return [path for path in paths_of(elements) if path.rpartition(".")[2].lower().endswith("id")]


def listed(elements: Sequence[Element], names: Sequence[str]) -> str | None:
    """The path of a list of objects with one of the names."""
    paths = dict.fromkeys(path for each in elements for path, value in each.items() if objects(value))
    return next((p for name in names for p in paths if like(p.rpartition(".")[2], (name,))), None)


def list_of_calls(elements: Sequence[Element]) -> str | None:
    """The path of a list, whatever its name, whose objects have a tool's name beside arguments."""
    paths = dict.fromkeys(path for each in elements for path, value in each.items() if objects(value))
    for path in paths:
        calls = [flattened(one) for each in elements for one in objects(each.get(path))]
        texts = [{name: value for name, value in each.items() if isinstance(value, str)} for each in calls]
        if part_of(calls, "arguments") and part_of(texts, "tool"):
            return path
    return None


def worked(elements: Sequence[Element], content: str | None) -> dict[str, Any]:
    """The part of an answer that says whether the call worked."""
    paths = (path for name in OK for path in (name, f"{content}.{name}"))
    if ok := next((path for path in paths for e in elements if isinstance(_at(e, path), bool)), None):
        return {"ok": ok}
    failed = next((name for name in FAILED for e in elements if isinstance(e.get(name), bool)), None)
    return {"ok": {"not": failed}} if failed else {}


def _at(element: Element, path: str) -> Any:
    outer, _, inner = path.rpartition(".")
    return mapping(element.get(outer)).get(inner) if outer else element.get(inner)
