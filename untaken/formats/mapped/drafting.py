"""A first mapping file, drafted from the names and shapes of a format's records. A person corrects it.

Lists of chat messages of a known form come first: those are read whole. Else each kind of element becomes a
rule by the names of its members. What is found is a proposal: nothing of it is used unconfirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from untaken.formats.messages import is_message
from untaken.formats.outcome_fields import GOOD
from untaken.formats.readings import mapping, objects
from untaken.formats.task_texts import ANSWERS, QUESTIONS
from untaken.plans.yaml_text import flow, text
from untaken.present.numbers import counted

RECORDS: Final = 50
DEEPEST: Final = 3
KINDS: Final = (
    "type",
    "kind",
    "event",
    "event_type",
    "role",
    "who",
    "speaker",
    "source",
    "action_type",
    "name",
)
"""Members that say what an element is."""
KINDS_SHOWN: Final = 20
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("run_id", "trace_id", "session_id", "conversation_id", "episode_id", "uuid", "id"),
    "agent": ("agent", "agent_name", "agent_id", "assistant", "bot", "pipeline_name", "app_name", "policy"),
    "model": ("model", "model_name", "model_id", "llm", "engine"),
    "version": ("agent_version", "version", "build", "commit"),
    "task": (
        "task_id",
        "task",
        "problem_id",
        "instance_id",
        "question_id",
        "scenario_id",
        "case_id",
        "scenario",
    ),
    "task_text": ("instruction", "question", "query", "prompt", "goal", *QUESTIONS),
    "target": ANSWERS,
    "success": GOOD,
    "cost": ("cost", "total_cost", "cost_usd", "usd", "total_cost_usd", "price"),
    "usage": ("usage", "token_usage", "tokens"),
    "started": ("started_at", "start_time", "started", "created_at", "begin", "timestamp", "time"),
    "finished": ("ended_at", "finished_at", "end_time", "finished", "completed_at"),
    "error": ("error", "exception", "failure_reason"),
}
"""Names that feed a run, the likeliest first."""
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": ("tool", "tool_name", "function", "function_name", "action", "command", "name"),
    "arguments": (
        "arguments",
        "args",
        "parameters",
        "params",
        "tool_input",
        "input",
        "action_input",
        "kwargs",
    ),
    "content": ("observation", "result", "output", "response", "tool_output", "return_value"),
    "say": ("content", "text", "message", "thought", "utterance", "words", "response", "answer"),
    "id": ("tool_call_id", "call_id", "id"),
    "time": ("timestamp", "time", "at", "ts", "created_at"),
}
"""Names of the parts of an element."""
DEFINED: Final = ("tools", "tool_definitions", "functions", "available_tools", "tool_schemas")
"""Lists of what an agent could call, not of what it called."""
WRAPPED: Final = ("message", "msg", "data", "payload", "item")
"""Members in which an element has a chat message."""
NAME_CHARS: Final = 60
_ACTING: Final = (
    "tool",
    "tool_name",
    "function",
    "action",
    "tool_calls",
    "actions",
    "observation",
    "tool_input",
)
_CALLS: Final = ("tool_calls", "actions", "calls", "function_calls")


def draft_mapping(records: Iterable[Any], name: str) -> str:
    """The text of a mapping file for these records.

    Args:
        records: of one file, as they come.
        name: of the format: small letters, digits and hyphens.
    """
    sample = list(islice(records, RECORDS))
    if not sample:
        sample = [{}]
    many, home, marks = len(sample), _runs_inside(sample), _marks(sample)
    if home:
        sample = [
            each
            for record in sample
            for path, found in _lists(mapping(record)).items()
            for each in (objects(found) if path == home else ())
        ]
    together = not home and _are_events(sample)
    key = _session(sample) if together else None
    lines = [
        f"# Drafted from {counted(many, 'record')}: correct it before use.",
        f"format: {name}",
    ]
    if marks:
        lines += ["recognise:", f"  - {flow({'sure': 'likely', 'names': marks})}"]
    if together:
        lines.append(f"runs: {flow({'by': key} if key else {'lines': True})}")
    elif home:
        lines.append(f"runs: {flow({'each': f'{home}[]'})}")
    lines += ["run:", *_run(sample, "[]." if together else "")]
    rules = list(_items(sample, together))
    lines += ["items:", *rules] if rules else ["items: []"]
    return "\n".join(lines) + "\n"


def _runs_inside(sample: Sequence[Any]) -> str | None:
    """The list of a record whose elements are runs: they have lists of what happened themselves."""
    for path, found in _lists(mapping(sample[0])).items():
        inner = [each for run in objects(found) for each in _lists(run).values() if _happened(each)]
        if inner and not _happened(found):
            return path
    return None


def _happened(elements: Sequence[Any]) -> bool:
    """Whether a list is of messages or actions."""
    found = objects(elements)
    acting = sum(is_message(each) or any(_like(name, _ACTING) for name in each) for each in found)
    return bool(found) and acting * 2 > len(found)


def _are_events(sample: Sequence[Any]) -> bool:
    """Whether the records of a file are what happened in its runs, not a run each."""
    if len(sample) == 1 or not all(isinstance(each, dict) for each in sample):
        return False
    if not any(map(_lists, sample)):
        return True
    return any(len({e[n] for e in sample if isinstance(e.get(n), str)}) > 1 for n in KINDS if n != "name")


def _session(sample: Sequence[Mapping[str, Any]]) -> str | None:
    """The member with the id of a run: nearly every record has it, and some share it."""
    for name in dict.fromkeys(name for each in sample for name in each):
        values = [each[name] for each in sample if isinstance(each.get(name), str | int)]
        shared = len(set(values)) < len(values) and len(values) * 10 >= len(sample) * 8
        if shared and _like(name, FIELDS["id"][:-1]) and _plain(name):
            return name
    return None


def _like(name: str, names: Iterable[str]) -> bool:
    """Whether a name is one of these, however it is written: ``taskId``, ``task_id``, ``Task-ID``."""
    return _bare(name) in {_bare(each) for each in names}


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


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
            if objects(each) and not _like(name, DEFINED):
                found[place] = each
            elif isinstance(each, dict) and depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _name(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'


def _run(sample: Sequence[Any], home: str) -> Iterator[str]:
    """The members of `run` that a name speaks for."""
    fields = dict.fromkeys(path for each in sample for path in _fields(mapping(each)))
    for part, names in FIELDS.items():
        found = next((path for name in names for path in _called(fields, name, part)), None)
        if found is None:
            if part == "agent":
                yield """  agent: "'unknown-agent'"  # no member is called an agent"""
            continue
        value: Any = {"first": f"{home}{found}"} if home else found
        if part == "success" and home:
            value = {"last": f"{home}{found}"}
        yield f"  {part}: {flow(value)}"


def _fields(record: Mapping[str, Any]) -> Iterator[str]:
    """The paths of members that are no lists."""
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop(0)
        for name, each in value.items():
            if each is None or isinstance(each, list) or not _plain(name):
                continue
            place = f"{path}{_name(name)}"
            if not isinstance(each, dict) or _like(name, FIELDS["usage"]):
                yield place
            elif depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))


def _called(fields: Iterable[str], name: str, part: str) -> list[str]:
    """The paths that end in a name, the outermost first; of an agent, a model or a task also its own name."""
    found = []
    for path in fields:
        *above, last = path.split(".")
        own = (
            part in ("agent", "model", "task")
            and last in ("name", "id")
            and _like("".join(above[-1:]), (name,))
        )
        if own or _like(last, (name,)):
            found.append(path)
    return sorted(found, key=lambda path: path.count("."))


def _items(sample: Sequence[Any], together: bool) -> Iterator[str]:
    if together:
        elements, place = [each for each in sample if isinstance(each, dict)], "[]"
    else:
        listed = [(path, found) for each in sample for path, found in _lists(mapping(each)).items()]
        best = _best(listed)
        if best is None:
            yield from _alone(sample)
            return
        place = f"{best}[]"
        elements = [each for path, found in listed if path == best for each in objects(found)]
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


def _best(listed: Sequence[tuple[str, list[Any]]]) -> str | None:
    """The list with what happened: one of messages, else the one with most elements."""
    sizes: Counter[str] = Counter()
    for path, found in listed:
        known = sum(map(is_message, objects(found)))
        acts = sum(any(_like(name, _ACTING) for name in each) for each in objects(found))
        sizes[path] += len(found) * (10 if known * 10 >= len(found) * 9 else 1) + 10 * acts
    return max(sizes, key=lambda path: sizes[path], default=None)


def _kind(elements: Sequence[Mapping[str, Any]]) -> str | None:
    """The member that tells elements apart: in most of them, with few values."""
    for name in KINDS:
        values = [each[name] for each in elements if isinstance(each.get(name), str)]
        if len(values) * 2 > len(elements) and len(set(values)) <= max(2, len(values) // 2):
            return name
    return None


def _first(elements: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The first of the names that most of the elements which have any of them have."""
    held = dict.fromkeys(n for each in elements for n, v in each.items() if v not in (None, "", [], {}))
    return next((n for name in names for n in held if _like(n, (name,)) and _plain(n)), None)


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
    free = [{name: value for name, value in each.items() if name not in used} for each in elements]
    say, nested = (
        _first(free, PARTS["say"]),
        next((n for n in _CALLS if any(objects(e.get(n)) for e in free)), None),
    )
    arguments = _first(free, PARTS["arguments"])
    content = _first(free, PARTS["content"])
    tool = _first(free, PARTS["tool"] if arguments else PARTS["tool"][:-1] if content else ())
    role = next((n for n in ("role", "who", "speaker", "source") if n in used or _first(free, (n,))), None)
    ids = {"id": found} if (found := _first(free, PARTS["id"])) else {}
    answers = content and not say and not tool
    if say and not tool:
        kind = str(next(iter(when.values()), ""))
        if "tool" in kind or "observation" in kind or "result" in kind:
            yield f"- answer: {flow({'content': say, **ids})}"
        else:
            yield f"- say: {flow({'role': role or _spoken(kind), 'content': say})}"
    if tool:
        given = {"arguments": arguments} if arguments else {}
        yield f"- call: {flow({'tool': tool, **given, **ids})}"
    if nested:
        inner = [each for one in free for each in objects(one.get(nested))]
        call = {
            "tool": _first(inner, PARTS["tool"]) or "name",
            "arguments": _first(inner, PARTS["arguments"]) or "arguments",
        }
        yield f"- {flow({'each': f'{nested}[]', 'call': call})}"
    if answers or (content and tool):
        answer = {"content": content, **ids}
        yield (
            f"- {flow({'when': {content: {'filled': True}}, 'answer': answer})}"
            if tool
            else f"- answer: {flow(answer)}"
        )


def _spoken(kind: str) -> str:
    """Who speaks, where only the kind of an element may say it."""
    return "'user'" if kind in ("user", "human", "question", "input") else "'assistant'"


def _names(elements: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for each in elements for name in each))[:6]
    return ", ".join(name if name.isidentifier() else "…" for name in names)


def _alone(sample: Sequence[Any]) -> Iterator[str]:
    """The rule for records without a list: what was asked and answered."""
    record = mapping(sample[0])
    asked = _first([record], FIELDS["task_text"])
    answer = _first([record], ("response", "output", "answer", "completion", "result", "prediction"))
    if asked:
        yield f"  - say: {flow({'role': chr(39) + 'user' + chr(39), 'content': asked})}"
    if answer and answer != asked:
        yield f"  - say: {flow({'role': chr(39) + 'assistant' + chr(39), 'content': answer})}"
