"""Drafted rules for what happened in a run: known chat messages whole, other elements by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from untaken.formats.mapped.draft_names import (
    ACTING,
    ANSWERED,
    ASSISTANTS,
    BOUNDS,
    CALLS,
    DEEDS,
    KINDS,
    MODELS,
    OK,
    PARTS,
    RUNS,
    SPEAKERS,
    TOOLS,
    USERS,
    WRAPPED,
    like,
    words,
)
from untaken.formats.mapped.draft_shapes import first_named, flattened, lists_of, mostly, turn_of
from untaken.formats.messages import is_message, message_items
from untaken.formats.readings import mapping, objects
from untaken.formats.trace_run import Answered, Called, Item
from untaken.plans.yaml_text import flow, text

Element = Mapping[str, Any]
USER, ASSISTANT = "'user'", "'assistant'"
KINDS_SHOWN: Final = 20


def drafted_items(sample: Sequence[Any], together: bool) -> Iterator[str]:
    """The lines of `items`: of records that are elements `together`, or of the lists in each record."""
    if together:
        yield from _list_rule("[]", [each for each in sample if isinstance(each, dict)])
        return
    lists = lists_by_path(sample)
    best = best_list(lists)
    if best is None:
        yield from _alone(sample)
        return
    spoken = [item for each in lists[best] if is_message(each) for item in message_items(each)]
    if beside := _beside(best, lists, spoken):
        if like(beside.rpartition(".")[2], CALLS):
            rule = _nested(beside, lists[beside], answered=any(isinstance(item, Answered) for item in spoken))
            yield f"  - {flow(rule)}"
        else:
            yield from _list_rule(f"{beside}[]", lists[beside])
    yield from _list_rule(f"{best}[]", lists[best])


def lists_by_path(sample: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """The elements of the lists of all records, by path."""
    lists: dict[str, list[dict[str, Any]]] = {}
    for path, found in (each for record in sample for each in lists_of(mapping(record)).items()):
        lists.setdefault(path, []).extend(objects(found))
    return lists


def best_list(lists: Mapping[str, Sequence[Element]]) -> str | None:
    """The list with what happened: one of messages, else the one with most elements."""
    sizes: dict[str, int] = {}
    for path, found in lists.items():
        known = sum(map(is_message, found))
        acts = sum(any(like(name, ACTING) for name in each) for each in found)
        sizes[path] = len(found) * (10 if known * 10 >= len(found) * 9 else 1) + 10 * acts
    return max(sizes, key=lambda path: sizes[path], default=None)


def _beside(best: str, lists: Mapping[str, Sequence[Element]], spoken: Sequence[Item]) -> str | None:
    """A list of calls beside the best list, which has none; or what was said beside calls."""
    others = [path for path in lists if path != best]
    if like(best.rpartition(".")[2], CALLS):
        return next((path for path in others if mostly(map(_speaks, lists[path]))), None)
    calls = any(isinstance(item, Called) for item in spoken)
    if calls or any(like(name, (*CALLS, *ACTING)) for each in lists[best] for name in each):
        return None
    return next((path for path in others if like(path.rpartition(".")[2], CALLS)), None)


def _speaks(element: Element) -> bool:
    """Whether an element says something, and who says it."""
    return is_message(element) or (
        any(like(name, SPEAKERS[:8]) for name in element)
        and any(like(name, PARTS["say"]) for name in element)
    )


def _list_rule(place: str, elements: Sequence[Element]) -> Iterator[str]:
    """The rule for a list of what happened."""
    known = sum(map(is_message, elements))
    if known * 10 >= len(elements) * 9 and not _has_more_tools(elements):
        yield f"  - {flow({'message': place})}"
        return
    yield f"  - each: {text(place)}"
    wrapped = next((n for n in WRAPPED if mostly(is_message(e.get(n)) for e in elements)), None)
    if time := first_named(elements, PARTS["time"]):
        yield f"    time: {text(time)}"
    if wrapped:
        yield f"    message: {wrapped}"
        return
    flat = [flattened(each) for each in elements]
    kind = _kind(flat)
    if kind and like(kind.rpartition(".")[2], DEEDS) and first_named(flat, PARTS["arguments"]):
        kind = None
    values = dict.fromkeys(each[kind] for each in flat if kind and isinstance(each.get(kind), str))
    started = any(_phase(value) == "call" for value in values)
    ids = _call_id(flat)
    rules = [
        line
        for value in islice(values, KINDS_SHOWN)
        for line in _rule({kind: value}, [e for e in flat if e.get(kind or "") == value], ids, started)
    ]
    rest = [each for each in flat if kind is None or kind not in each]
    rules += _rule({}, rest if values else rest or flat, ids, started)
    yield from ["    choose:", *rules] if rules else ["    items: []  # nothing in it is known by its name"]


def _has_more_tools(elements: Sequence[Element]) -> bool:
    """Whether messages have calls in members of their own that no known chat has."""
    found = any(isinstance(item, Called) for each in elements for item in message_items(each))
    return not found and first_named(elements, PARTS["tool"][:3]) is not None


def _kind(elements: Sequence[Element]) -> str | None:
    """The path of what tells elements apart: in most of them, with few values; the outermost first."""
    paths = dict.fromkeys(path for each in elements for path in each)
    outermost = sorted(paths, key=lambda path: path.count("."))
    for path in (each for name in KINDS for each in outermost if like(each.rpartition(".")[2], (name,))):
        values = [each[path] for each in elements if isinstance(each.get(path), str)]
        if "." in path and like(path.rpartition(".")[2], KINDS[-1:]):
            continue  # the name of what it is in, not of the element
        names = like(path.rpartition(".")[2], KINDS[:4]) and not any(" " in each for each in values)
        most = len(values) - 1 if names else len(values) // 2
        if len(values) * 2 > len(elements) and len(set(values)) <= max(2, most):
            return path
    return None


def _phase(kind: str) -> str:
    """What the kind of an element says it is: ``call``, ``answer``, ``bound`` of a run, or nothing."""
    kind_words = words(kind)
    if kind_words & MODELS:
        return ""
    if kind_words & TOOLS:
        return "answer" if kind_words & ANSWERED else "call"
    if kind_words & BOUNDS and (kind_words & RUNS or kind_words <= BOUNDS):
        return "bound"
    return "answer" if "observation" in kind_words else ""


def _call_id(elements: Sequence[Element]) -> str | None:
    """The member that joins a call and its answer; an id that no two elements share joins none."""
    name = first_named(elements, PARTS["id"])
    ids = [each[name] for each in elements if name and each.get(name) not in (None, "")]
    alone = name is not None and like(name.rpartition(".")[2], PARTS["id"][-1:])
    return None if alone and len({*map(str, ids)}) == len(ids) and len(ids) > 1 else name


def _rule(
    when: Mapping[str | None, Any], elements: Sequence[Element], ids: str | None, started: bool
) -> Iterator[str]:
    """The rule for elements of one kind."""
    condition = {str(name): value for name, value in when.items()}
    acts = list(_acts(elements, when, {"id": ids} if ids else {}, started))
    if not acts:
        if condition:
            nothing = "items: []  # nothing in it is known by its name"
            yield f"      - when: {flow(condition)}\n        {nothing}: {_names(elements)}"
        return
    rule: dict[str, Any] = {"items": acts} if len(acts) > 1 else acts[0]
    rule = {**rule, "when": {**condition, **rule.get("when", {})}}
    before = "      - "
    for name in sorted(rule, key=lambda each: each != "when"):
        if name == "items":
            yield f"{before}items:"
            yield from (f"          - {flow(act)}" for act in rule[name])
        elif rule[name]:
            yield f"{before}{name}: {flow(rule[name])}"
        else:
            continue
        before = "        "


def _acts(
    free: Sequence[Element], when: Mapping[str | None, Any], ids: Mapping[str, str], started: bool
) -> Iterator[dict[str, Any]]:
    """What elements of one kind say, call and answer, each a rule."""
    kind = str(next(iter(when.values()), ""))
    phase = _phase(kind)
    free = [{name: value for name, value in each.items() if name not in when} for each in free]
    nested = next((n for n in CALLS for e in free for p in e if like(p, (n,)) and objects(e[p])), None)
    if nested:
        nested = next(p for e in free for p in e if like(p, (nested,)))
    arguments, content = first_named(free, PARTS["arguments"]), first_named(free, PARTS["content"])
    named = PARTS["tool"] if arguments or phase else PARTS["tool"][: -1 if content else -3]
    texts = [{name: value for name, value in each.items() if isinstance(value, str)} for each in free]
    tool = first_named(texts, (*DEEDS, *named) if arguments else named)
    if tool is None and phase in ("call", "answer"):
        tool = next((path for each in texts for path in each if "name" in words(path)), None)
    role = next((n for n in SPEAKERS[:4] if n in when), None) or first_named(free, SPEAKERS)
    spoken = role if role in when else first_named(free, SPEAKERS[:4])
    calls = _nested(nested, [each for one in free for each in objects(one.get(nested))]) if nested else None
    say_named = first_named(free, PARTS["say"])
    turns = [turn for each in free if (turn := turn_of(each))]
    if turns and not tool and not spoken and (not kind or words(kind) & MODELS):
        asked, replied = turns[0]
        yield {"say": {"role": USER, "content": asked}}
        yield from [calls] if calls else ()
        yield {"say": {"role": ASSISTANT, "content": replied}}
        return
    if phase == "bound":
        if content := first_named(free, PARTS["say"][:3]):
            yield {"say": {"role": role or _speaker(kind), "content": content}}
        return
    if not say_named and content and not tool and words(kind) & (USERS | ASSISTANTS):
        yield {"say": {"role": _speaker(kind), "content": content}}
        return
    thought = first_named(free, PARTS["thought"])
    if tool and thought:
        yield {"say": {"role": ASSISTANT, "content": thought}}
    say = say_named or (None if content else thought)
    words_of = {"flat": say} if say and any(isinstance(each.get(say), list) for each in free) else say
    if say and (not tool or (spoken and not phase)):
        if phase == "answer" or "result" in kind:
            yield {"answer": {"content": say, **ids}}
        else:
            yield {"say": {"role": role or _speaker(kind), "content": words_of}}
    answer_alone = phase == "answer" and started
    if tool and not answer_alone:
        call = {"call": {"tool": tool, **({"arguments": arguments} if arguments else {}), **ids}}
        everywhere = all(each.get(tool) for each in free)
        yield call if everywhere else {"when": {tool: {"filled": True}}, **call}
    yield from [calls] if calls else ()
    if content and (tool or not say):
        oks = (path for name in OK for path in (name, f"{content}.{name}"))
        ok = next((path for path in oks for each in free if isinstance(_at(each, path), bool)), None)
        answer = {"answer": {"content": content, **ids, **({"ok": ok} if ok else {})}}
        yield {"when": {content: {"filled": True}}, **answer} if tool and not answer_alone else answer


def _at(element: Element, path: str) -> Any:
    outer, _, inner = path.rpartition(".")
    return mapping(element.get(outer)).get(inner) if outer else element.get(inner)


def _nested(name: str, calls: Sequence[Element], *, answered: bool = False) -> dict[str, Any]:
    """The rule for calls that are a list in an element, unless they are `answered` elsewhere with answers."""
    call = {
        "tool": first_named(calls, PARTS["tool"]) or "name",
        "arguments": first_named(calls, (*PARTS["arguments"], "payload")) or "arguments",
    }
    if (content := first_named(calls, (*PARTS["content"], "reply"))) and not answered:
        answer = {"when": {content: {"filled": True}}, "answer": {"content": content}}
        return {"each": f"{name}[]", "items": [{"call": call}, answer]}
    return {"each": f"{name}[]", "call": call}


def _speaker(kind: str) -> str:
    """Who speaks, where only the kind of an element may say it."""
    return USER if words(kind) & USERS else ASSISTANT


def _names(elements: Sequence[Element]) -> str:
    names = list(dict.fromkeys(name for each in elements for name in each))[:6]
    return ", ".join(name if name.isidentifier() else "…" for name in names)


def _alone(sample: Sequence[Any]) -> Iterator[str]:
    """The rules for records without a list: what was asked and replied."""
    turn = next(filter(None, (turn_of(flattened(mapping(each))) for each in sample)), None)
    for role, content in zip((USER, ASSISTANT), turn or (), strict=False):
        yield f"  - say: {flow({'role': role, 'content': content})}"
