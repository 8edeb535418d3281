"""A first mapping file, drafted from the names and shapes of a format's records. A person corrects it.

Lists of chat messages of a known form come first: those are read whole. Else each kind of element becomes a
rule by the names of its members. What is found is a proposal: nothing of it is used unconfirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from untaken.formats.losses import Findings
from untaken.formats.mapped.draft_names import (
    ACTING,
    AROUND,
    CALLS,
    DEFINED,
    ENDS,
    EXPECTED,
    FIELDS,
    KINDS,
    PARTS,
    RIGHT,
    SPEAKERS,
    TITLES,
    TOKENS,
    WHOLE,
    WRAPPED,
    like,
)
from untaken.formats.messages import is_message, message_items
from untaken.formats.outcome_fields import outcome_from
from untaken.formats.readings import mapping, moment, objects
from untaken.formats.trace_run import Answered, Called, Item
from untaken.plans.yaml_text import flow, text
from untaken.present.numbers import counted

RECORDS: Final = 50
DEEPEST: Final = 3
USER, ASSISTANT = "'user'", "'assistant'"
KINDS_SHOWN: Final = 20
NAME_CHARS: Final = 60


def draft_mapping(records: Iterable[Any], name: str) -> str:
    """The text of a mapping file for these records.

    Args:
        records: of one file, as they come.
        name: of the format: small letters, digits and hyphens.
    """
    sample = list(islice(records, RECORDS))
    if not sample:
        sample = [{}]
    many, members = len(sample), _are_members(sample)
    if members:
        sample = [each for record in sample for each in record.values()]
    home, marks, around = None if members else _runs_inside(sample), _marks(sample), sample[0]
    if home:
        sample = [
            each
            for record in sample
            for path, found in _lists(mapping(record)).items()
            for each in (objects(found) if path == home else ())
        ]
    together = not home and not members and _are_events(sample)
    key = _session(sample) if together else None
    lines = [
        f"# Drafted from {counted(many, 'record')}: correct it before use.",
        f"format: {name}",
    ]
    if marks:
        lines += ["recognise:", f"  - {flow({'sure': 'likely', 'names': marks})}"]
    if together:
        lines.append(f"runs: {flow({'by': key} if key else {'lines': True})}")
    elif home or members:
        lines.append(f"runs: {flow({'each': f'{home}[]'} if home else {'members': True})}")
    lines += ["run:", *_run(sample, "[]." if together else "", mapping(around) if home else {})]
    rules = list(_items(sample, together))
    lines += ["items:", *rules] if rules else ["items: []"]
    return "\n".join(lines) + "\n"


def _runs_inside(sample: Sequence[Any]) -> str | None:
    """The list of a record whose elements are runs: they have an outcome, or lists of what happened."""
    for path, found in _lists(mapping(sample[0])).items():
        if len(found) > 1 and not _is_result(sample[0]) and _mostly(map(_is_result, found)):
            return path
        inner = [each for run in objects(found) for each in _lists(run).values() if _happened(each)]
        if inner and not _happened(found):
            return path
    return None


def _are_members(sample: Sequence[Any]) -> bool:
    """Whether each member of a record is a run, by its id: objects that have names in common."""
    members = [each for record in sample for each in mapping(record).values()]
    if len(members) < 3 or not all(isinstance(each, dict) and len(each) > 1 for each in members):
        return False
    counts = Counter(name for each in members for name in each)
    return sum(count * 10 >= len(members) * 9 for count in counts.values()) > 1


def _is_result(element: Any) -> bool:
    """Whether an element says of a task who did it, or how it was done."""
    own = {name: value for name, value in mapping(element).items() if not isinstance(value, dict | list)}
    named = any(like(name, (*FIELDS["task"], *TITLES)) for name in own)
    who = any(like(name, (*FIELDS["agent"], *FIELDS["model"])) for name in own)
    return named and (who or any(_says_outcome(name, value) for name, value in own.items()))


def _says_outcome(name: str, value: Any) -> bool:
    """Whether a member is an outcome: by its name, or by a word of it where it is true or false."""
    words = name.lower().replace("-", "_").split("_")
    return like(name, FIELDS["success"]) or (isinstance(value, bool) and not RIGHT.isdisjoint(words))


def _happened(elements: Sequence[Any]) -> bool:
    """Whether a list is of messages or actions."""
    found = objects(elements)
    acting = sum(is_message(each) or any(like(name, ACTING) for name in each) for each in found)
    return bool(found) and acting * 2 > len(found)


def _are_events(sample: Sequence[Any]) -> bool:
    """Whether the records of a file are what happened in its runs, not a run each."""
    if len(sample) == 1 or not all(isinstance(each, dict) for each in sample):
        return False
    if _mostly(map(_is_result, sample)):
        return False
    kinds = dict.fromkeys(name for each in sample for name in each if like(name, KINDS[:-1]))
    differ = any(len({each[n] for each in sample if isinstance(each.get(n), str)}) > 1 for n in kinds)
    if any(map(_lists, sample)):
        return differ
    if not differ and _mostly(any(_says_outcome(n, v) for n, v in e.items() if v in (0, 1)) for e in sample):
        return False
    turns = sum(_turn(each) is not None for each in sample)
    return differ or turns * 10 < len(sample) * 8 or _session(sample) is not None


def _turn(element: Mapping[str, Any]) -> tuple[str, str] | None:
    """The members with what was asked and what was replied, where an element has both as texts."""
    texts = {name: value for name, value in element.items() if isinstance(value, str) and value}
    asked = _first([texts], PARTS["asked"])
    replied = _first([{n: v for n, v in texts.items() if n != asked}], PARTS["replied"])
    return (asked, replied) if asked and replied else None


def _session(sample: Sequence[Mapping[str, Any]]) -> str | None:
    """The member with the id of a run: nearly every record has it, and some share it."""
    for path, values in _by_path(sample).items():
        ids = [value for value in values if isinstance(value, str | int)]
        shared = len(set(ids)) < len(ids) and len(ids) * 10 >= len(sample) * 8
        if shared and like(path.rpartition(".")[2], FIELDS["id"][:-1]):
            return path
    return None


def _plain(name: str) -> bool:
    """Whether a path can have a name: a draft leaves out the others."""
    return '"' not in name and name.isprintable() and 0 < len(name) <= NAME_CHARS


def _marks(sample: Sequence[Any]) -> list[str]:
    """Names that every record has."""
    always = [n for n in mapping(sample[0]) if _plain(n) and all(n in mapping(each) for each in sample)]
    return always[:6]


def _lists(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of objects in a record by path, the longest first."""
    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        for name, each in value.items():
            if not _plain(name):
                continue
            place = f"{path}{_name(name)}"
            if objects(each) and not like(name, DEFINED) and not name.lower().startswith(EXPECTED):
                found[place] = each
            elif isinstance(each, dict) and depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _name(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'


def _run(sample: Sequence[Any], home: str, around: Mapping[str, Any]) -> Iterator[str]:
    """The members of `run` that a name speaks for; who ran, and when, may be said around the runs."""
    fields = _by_path(sample)
    outside = {f"/{path}": values for path, values in _by_path([around]).items()}
    for part in FIELDS:
        found = _named(part, fields) or _by_content(part, fields)
        if found is None and part in AROUND:
            found = _named(part, outside)
        if found is None:
            if part == "agent":
                yield """  agent: "'unknown-agent'"  # no member is called an agent"""
            continue
        if part == "target" and found in (_turn(mapping(sample[0])) or ()):
            continue  # what the agent replied is not what was expected
        which = "last" if part == "success" else "first"
        yield f"  {part}: {flow({which: f'{home}{found}'} if home else found)}"


def _by_path(sample: Sequence[Any]) -> dict[str, list[Any]]:
    """The values of members that are no lists, by path."""
    fields: dict[str, list[Any]] = {}
    for path, value in (field for each in sample for field in _fields(mapping(each))):
        fields.setdefault(path, []).append(value)
    return fields


def _named(part: str, fields: Mapping[str, Sequence[Any]]) -> str | None:
    """The member that a name speaks for, the likeliest name first."""
    fitting = [path for path, values in fields.items() if any(_fits(part, value) for value in values)]
    return next((path for name in FIELDS[part] for path in _called(fitting, name, part)), None)


def _fits(part: str, value: Any) -> bool:
    """Whether a value may be that part of a run."""
    if part in ("started", "finished"):
        return moment(value, Findings(None), part) is not None
    if part == "cost":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if part == "usage":
        return _is_usage(value)
    if part == "task_text":
        return isinstance(value, str)
    if part in ("agent", "model", "version", "id") and len(str(value)) > NAME_CHARS:
        return False
    return isinstance(value, str | int | float) and (part == "success" or not isinstance(value, bool))


def _is_usage(value: Any) -> bool:
    """Whether an object has tokens under a name that some library gives them."""
    return (
        isinstance(value, dict)
        and any(name in value for name in TOKENS)
        and not any(isinstance(each, str) for each in value.values())
    )


def _by_content(part: str, fields: Mapping[str, Sequence[Any]]) -> str | None:
    """A member that what is in it speaks for; an agent without a name is called after its model."""
    if part == "usage":
        return next((path for path, values in fields.items() if any(map(_is_usage, values))), None)
    if part == "agent":
        models = (path for name in FIELDS["model"] for path in _called(fields, name, "model"))
        return next((path for path in models if any(isinstance(v, str) for v in fields[path])), None)
    if part == "task":
        return next(
            (path for name in TITLES for path in _called(fields, name, part) if "." not in path), None
        )
    if part != "success":
        return None
    right = (p for p, vs in fields.items() if all(_says_outcome(p.rpartition(".")[2], v) for v in vs))
    if found := min(right, key=lambda path: path.count("."), default=None):
        return found
    ends = [path for path in fields if like(path.rpartition(".")[2], ENDS)]
    return next((path for path in ends if all(map(_is_outcome, fields[path]))), None)


def _is_outcome(value: Any) -> bool:
    return outcome_from(value, Findings(None), "")[0] is not None


def _fields(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The paths of members that are no lists, and their values."""
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop(0)
        for name, each in value.items():
            if each is None or isinstance(each, list) or not _plain(name):
                continue
            place = f"{path}{_name(name)}"
            if not isinstance(each, dict) or _is_usage(each):
                yield place, each
            elif depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))


def _called(fields: Iterable[str], name: str, part: str) -> list[str]:
    """The paths that end in a name, the outermost first; of an agent, a model or a task also its own name."""
    found = []
    for path in fields:
        *above, last = path.split(".")
        own = (
            part in ("agent", "model", "task")
            and last in ("name", "id", "title")
            and like("".join(above[-1:]), (name,))
        )
        if own or like(last, (name,)):
            found.append(path)
    return sorted(found, key=lambda path: path.count("."))


def _items(sample: Sequence[Any], together: bool) -> Iterator[str]:
    if together:
        yield from _list_rule("[]", [each for each in sample if isinstance(each, dict)])
        return
    lists: dict[str, list[dict[str, Any]]] = {}
    for path, found in (each for record in sample for each in _lists(mapping(record)).items()):
        lists.setdefault(path, []).extend(objects(found))
    best = _best(lists)
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


def _beside(
    best: str, lists: Mapping[str, Sequence[Mapping[str, Any]]], spoken: Sequence[Item]
) -> str | None:
    """A list of calls beside the best list, which has none; or one of what was said beside one of calls."""
    others = [path for path in lists if path != best]
    if like(best.rpartition(".")[2], CALLS):
        return next((path for path in others if _mostly(map(_speaks, lists[path]))), None)
    calls = any(isinstance(item, Called) for item in spoken)
    if calls or any(like(name, (*CALLS, *ACTING)) for each in lists[best] for name in each):
        return None
    return next((path for path in others if like(path.rpartition(".")[2], CALLS)), None)


def _speaks(element: Mapping[str, Any]) -> bool:
    """Whether an element says something, and who says it."""
    return is_message(element) or (
        any(like(name, SPEAKERS[:8]) for name in element)
        and any(like(name, PARTS["say"]) for name in element)
    )


def _list_rule(place: str, elements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The rule for a list of what happened."""
    known = sum(map(is_message, elements))
    if known * 10 >= len(elements) * 9:
        yield f"  - {flow({'message': place})}"
        return
    yield f"  - each: {text(place)}"
    wrapped = next((n for n in WRAPPED if _mostly(is_message(e.get(n)) for e in elements)), None)
    if time := _first(elements, PARTS["time"]):
        yield f"    time: {text(time)}"
    if wrapped:
        yield f"    message: {wrapped}"
        return
    kind = _kind(elements)
    values = dict.fromkeys(each.get(kind) for each in elements if kind and isinstance(each.get(kind), str))
    rules = [
        line
        for value in islice(values, KINDS_SHOWN)
        for line in _rule({kind: value}, [each for each in elements if each.get(kind or "") == value])
    ]
    rules += _rule({}, [each for each in elements if kind is None or kind not in each] or elements)
    yield from ["    choose:", *rules] if rules else ["    items: []  # nothing in it is known by its name"]


def _mostly(holds: Iterable[bool]) -> bool:
    """Whether it holds for more than half."""
    each = list(holds)
    return sum(each) * 2 > len(each)


def _best(lists: Mapping[str, Sequence[Mapping[str, Any]]]) -> str | None:
    """The list with what happened: one of messages, else the one with most elements."""
    sizes: dict[str, int] = {}
    for path, found in lists.items():
        known = sum(map(is_message, found))
        acts = sum(any(like(name, ACTING) for name in each) for each in found)
        sizes[path] = len(found) * (10 if known * 10 >= len(found) * 9 else 1) + 10 * acts
    return max(sizes, key=lambda path: sizes[path], default=None)


def _kind(elements: Sequence[Mapping[str, Any]]) -> str | None:
    """The member that tells elements apart: in most of them, with few values."""
    for name in (
        n for kind in KINDS for n in dict.fromkeys(n for e in elements for n in e) if like(n, (kind,))
    ):
        values = [each[name] for each in elements if isinstance(each.get(name), str)]
        if len(values) * 2 > len(elements) and len(set(values)) <= max(2, len(values) // 2):
            return name
    return None


def _first(elements: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The first of the names that elements have, as the last part of a path; the outermost first."""
    held = dict.fromkeys(n for each in elements for n, v in each.items() if v not in (None, "", [], {}))
    plain = sorted((n for n in held if _plain(n)), key=lambda path: path.count("."))
    return next((n for name in names for n in plain if like(n.rpartition(".")[2], (name,))), None)


def _rule(when: Mapping[str | None, Any], elements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The rule for elements of one kind."""
    acts = list(_acts(elements, when))
    condition = {str(name): value for name, value in when.items()}
    head = f"      - when: {flow(condition)}\n        " if condition else "      - "
    if not acts:
        if condition:
            yield f"{head}items: []  # nothing in it is known by its name: {_names(elements)}"
    elif len(acts) == 1:
        yield f"{head}{acts[0][2:]}"
    else:
        yield f"{head}items:"
        for act in acts:
            yield f"          {act}"


def _acts(elements: Sequence[Mapping[str, Any]], when: Mapping[str | None, Any]) -> Iterator[str]:
    used = set(when)
    free = [_flattened({name: value for name, value in e.items() if name not in used}) for e in elements]
    nested = next((n for n in CALLS if any(objects(e.get(n)) for e in free)), None)
    arguments, content = _first(free, PARTS["arguments"]), _first(free, PARTS["content"])
    tool = _first(free, PARTS["tool"] if arguments else PARTS["tool"][: -1 if content else -3])
    role = next((n for n in SPEAKERS[:4] if n in used), None) or _first(free, SPEAKERS)
    ids = {"id": found} if (found := _first(free, PARTS["id"])) else {}
    turns = [turn for each in free if (turn := _turn(each))]
    if turns and not tool and not _first(free, SPEAKERS[:4]) and not used - {None}:
        asked, replied = turns[0]
        yield f"- say: {flow({'role': USER, 'content': asked})}"
        yield f"- say: {flow({'role': ASSISTANT, 'content': replied})}"
        return
    thought = _first(free, PARTS["thought"])
    if tool and thought:
        yield f"- say: {flow({'role': ASSISTANT, 'content': thought})}"
    say = _first(free, PARTS["say"]) or (None if content else thought)
    if say and not tool:
        kind = str(next(iter(when.values()), ""))
        if "tool" in kind or "observation" in kind or "result" in kind:
            yield f"- answer: {flow({'content': say, **ids})}"
        else:
            yield f"- say: {flow({'role': role or _spoken(kind), 'content': say})}"
    if tool:
        call = {"call": {"tool": tool, **({"arguments": arguments} if arguments else {}), **ids}}
        everywhere = all(each.get(tool) for each in free)
        yield f"- {flow(call if everywhere else {'when': {tool: {'filled': True}}, **call})}"
    if nested:
        yield f"- {flow(_nested(nested, [each for one in free for each in objects(one.get(nested))]))}"
    if content and tool:
        answer = {"content": content, **ids}
        yield f"- {flow({'when': {content: {'filled': True}}, 'answer': answer})}"
    elif content and not say:
        yield f"- answer: {flow({'content': content, **ids})}"


def _nested(name: str, calls: Sequence[Mapping[str, Any]], *, answered: bool = False) -> dict[str, Any]:
    """The rule for calls that are a list in an element, unless they are `answered` elsewhere with answers."""
    call = {
        "tool": _first(calls, PARTS["tool"]) or "name",
        "arguments": _first(calls, PARTS["arguments"]) or "arguments",
    }
    if (content := _first(calls, PARTS["content"])) and not answered:
        answer = {"when": {content: {"filled": True}}, "answer": {"content": content}}
        return {"each": f"{name}[]", "items": [{"call": call}, answer]}
    return {"each": f"{name}[]", "call": call}


def _flattened(element: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an element by path, its own first; what is asked or given is a whole."""
    whole = (*PARTS["arguments"], *PARTS["content"], *WHOLE)
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Mapping[str, Any], int]] = [("", element, 0)]
    while waiting:
        path, value, depth = waiting.pop(0)
        for name, each in value.items():
            if not _plain(name):
                continue
            place = f"{path}{_name(name)}"
            found[place] = each
            if isinstance(each, dict) and depth < DEEPEST and not like(name, whole):
                waiting.append((f"{place}.", each, depth + 1))
    return found


def _spoken(kind: str) -> str:
    """Who speaks, where only the kind of an element may say it."""
    return USER if kind in ("user", "human", "question", "input") else ASSISTANT


def _names(elements: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for each in elements for name in each))[:6]
    return ", ".join(name if name.isidentifier() else "…" for name in names)


def _alone(sample: Sequence[Any]) -> Iterator[str]:
    """The rules for records without a list: what was asked and replied."""
    turn = next(filter(None, (_turn(_flattened(mapping(each))) for each in sample)), None)
    for role, content in zip((USER, ASSISTANT), turn or (), strict=False):
        yield f"  - say: {flow({'role': role, 'content': content})}"
