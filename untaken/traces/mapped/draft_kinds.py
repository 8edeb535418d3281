"""What tells the elements of a list apart: a kind, a name of what happened, the member that each has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.mapped.draft_names import (
    ANSWERED,
    ASSISTANTS,
    BEGINS,
    BOUNDS,
    CALLING,
    FAILED,
    GIVEN,
    KIND_WORDS,
    KINDS,
    MODELS,
    OK,
    OTHER_KINDS,
    PARTS,
    RUNS,
    SYSTEM,
    TOOLS,
    USERS,
    like,
    words,
)
from untaken.traces.mapped.draft_shapes import first_named, flattened, mostly, part_of
from untaken.traces.readings import mapping, objects

Element = Mapping[str, Any]
KINDS_SHOWN: Final = 20
KIND_CHARS: Final = 40


def kind_path(elements: Sequence[Element]) -> str | None:
    """The path of what tells elements apart: in most of them, with few values; the outermost first."""
    for path in _kind_paths(elements):
        values = [each[path] for each in elements if isinstance(each.get(path), str)]
        last = path.rpartition(".")[2]
        worded = like(last, KINDS[:4]) or bool(words(last) & KIND_WORDS) or _owned(path)
        names = worded and not any(" " in each for each in values)
        most = len(values) - 1 if names else len(values) // 2  # kinds come again, and texts less often
        known = all(words(each) & (USERS | ASSISTANTS | TOOLS | SYSTEM) for each in values)
        known = known or (names and mostly(bool(phase_of(each)) for each in values))
        if len(values) * 2 > len(elements) and (known or len(set(values)) <= max(2, most)):
            return path
    return next((path for path in paths_of(elements) if _tells(elements, path)), None)


def _kind_paths(elements: Sequence[Element]) -> Iterator[str]:
    """The paths that may be what tells elements apart, the likeliest first."""
    paths = paths_of(elements)
    yield from (path for name in KINDS[:4] for path in paths if like(path.rpartition(".")[2], (name,)))
    yield from filter(_owned, paths)
    for path in paths:
        found = words(path.rpartition(".")[2])
        differ = {each[path] for each in elements if isinstance(each.get(path), str)}
        if found & KIND_WORDS and not found & OTHER_KINDS and len(differ) > 1:
            yield path
    for name in KINDS[4:]:
        named = (path for path in paths if like(path.rpartition(".")[2], (name,)))
        # A name inside is that of what it is in, not of the element.
        yield from (path for path in named if "." not in path or name != KINDS[-1])


def paths_of(elements: Sequence[Element]) -> list[str]:
    """The paths that elements have, the outermost first."""
    return sorted(dict.fromkeys(path for each in elements for path in each), key=lambda path: path.count("."))


def _owned(path: str) -> bool:
    """Whether it is the name or type of what is called a kind: ``event.name``."""
    above, _, last = path.rpartition(".")
    return like(above.rpartition(".")[2], KINDS[:4]) and like(last, ("name", *KINDS[:2]))


def _tells(elements: Sequence[Element], path: str) -> bool:
    """Whether the short texts at a path say what elements are: that one is called, that one is said."""
    values = [each[path] for each in elements if isinstance(each.get(path), str)]
    kinds = dict.fromkeys(values)
    if len(values) * 2 <= len(elements) or len(kinds) > KINDS_SHOWN or max(map(len, kinds)) > KIND_CHARS:
        return False
    classes = [
        phase_of(each) or ("said" if words(each) & (USERS | ASSISTANTS | MODELS) else "") for each in kinds
    ]
    known = [each for each in classes if each]
    return len(known) * 10 >= len(classes) * 8 and len(set(known)) > 1


def phase_of(kind: str) -> str:
    """What the kind of an element says it is: ``call``, ``answer``, ``bound`` of a run, or nothing."""
    kind_words = words(kind)
    if kind_words & MODELS:  # a call of a model is none of a tool
        return ""
    if kind_words & TOOLS:
        return "answer" if kind_words & ANSWERED else "call"
    if kind_words & CALLING and kind_words <= CALLING | ANSWERED | BEGINS:
        return "answer" if kind_words & ANSWERED else "call"
    if kind_words and kind_words <= GIVEN:
        return "answer"
    if kind_words & BOUNDS and (kind_words & RUNS or kind_words <= BOUNDS):
        return "bound"
    return "answer" if "observation" in kind_words else ""


def by_value(elements: Sequence[Element], kind: str) -> list[tuple[dict[str, Any], list[Element]]]:
    """The elements of each kind, with the condition that tells them."""
    values = dict.fromkeys(each[kind] for each in elements if isinstance(each.get(kind), str))
    return [({kind: value}, [each for each in elements if each.get(kind) == value]) for value in values]


def by_member(elements: Sequence[Element]) -> list[tuple[dict[str, Any], list[Element]]]:
    """The elements by the one object that each has and the others do not: ``{"toolCall": {…}}``."""
    parts = (*PARTS["arguments"], *PARTS["content"])
    held = [
        [p for p, value in e.items() if isinstance(value, dict) and not like(p.rpartition(".")[2], parts)]
        for e in elements
    ]
    everywhere = set.intersection(*map(set, held)) if held else set()  # what all have tells none apart
    for home in dict.fromkeys(path.rpartition(".")[0] for paths in held for path in paths):
        own = [[p for p in paths if p.rpartition(".")[0] == home and p not in everywhere] for paths in held]
        names = list(dict.fromkeys(path for paths in own for path in paths))
        if len(names) > 1 and all(len(paths) == 1 for paths in own):
            return [({p: {"exists": True}}, [e for e in elements if p in e]) for p in names]
    return []


def kind_of(when: Mapping[str, Any]) -> str:
    """What a condition says that an element is: a value, or the name of the member that it has."""
    name, value = next(iter(when.items()), ("", ""))
    return value if isinstance(value, str) else name.rpartition(".")[2]


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
