"""Shapes of foreign records that a drafted mapping goes by: lists, paths, turns, tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.mapped.draft_names import (
    ACTING,
    ANSWERED,
    ASSISTANTS,
    BEGINS,
    BOUNDS,
    CALLING,
    CALLS,
    DEFINED,
    EXPECTED,
    FAILED,
    GIVEN,
    KIND_WORDS,
    KINDS,
    MODELS,
    OK,
    OTHER_KINDS,
    PART_WORDS,
    PARTS,
    RESULTS,
    RUNS,
    SPEAKERS,
    SPOKEN_WORDS,
    SYSTEM,
    TOKENS,
    TOOLS,
    USERS,
    WHOLE,
    like,
    words,
)
from untaken.traces.messages import is_message
from untaken.traces.readings import items, mapping, objects

Element = Mapping[str, Any]
KINDS_SHOWN: Final = 20
KIND_CHARS: Final = 40

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
    return mostly(
        is_message(e) or bool(turn_of(e)) or any(like(n, ACTING) for n in e) or speaks(e)
        for e in objects(elements)
    )


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
    # Each an object with one member: the tool, with its arguments.
    if tool is None and all(len(call) == 1 and isinstance(next(iter(call.values())), dict) for call in calls):
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
    for name in OK:
        if any(isinstance(each.get(name), bool) for each in elements):
            return {"ok": name}
        if any(isinstance(mapping(each.get(content or "")).get(name), bool) for each in elements):
            return {"ok": f"{content}.{name}"}
    failed = next((name for name in FAILED for e in elements if isinstance(e.get(name), bool)), None)
    return {"ok": {"not": failed}} if failed else {}
