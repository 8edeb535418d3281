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
    together = all(isinstance(each, dict) and not _lists(each) for each in sample) and len(sample) > 1
    key = next((n for n in FIELDS["id"] if together and all(n in mapping(each) for each in sample)), None)
    lines = [
        f"# Drafted from {len(sample)} {'record' if len(sample) == 1 else 'records'}: correct it before use.",
        f"format: {name}",
        "recognise:",
        f"  - {flow({'sure': 'likely', 'names': _marks(sample)})}",
    ]
    if together:
        lines.append(f"runs: {flow({'by': key} if key else {'lines': True})}")
    lines += ["run:", *_run(sample, "[]." if together else "")]
    lines += ["items:", *_items(sample, together)]
    return "\n".join(lines) + "\n"


def _marks(sample: Sequence[Any]) -> list[str]:
    """Names that every record has."""
    always = [name for name in mapping(sample[0]) if all(name in mapping(each) for each in sample)]
    return always[:6]


def _lists(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of objects in a record by path, the longest first."""
    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        for name, each in value.items():
            place = f"{path}{_name(name)}"
            if objects(each):
                found[place] = each
            elif isinstance(each, dict) and depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _name(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'


def _run(sample: Sequence[Any], home: str) -> Iterator[str]:
    """The members of `run` that a name speaks for."""
    fields = Counter(path for each in sample for path in _fields(mapping(each)))
    for part, names in FIELDS.items():
        found = next((path for name in names for path in _called(fields, name)), None)
        if found is None:
            continue
        value: Any = {"first": f"{home}{found}"} if home else found
        if part == "success" and home:
            value = {"last": f"{home}{found}"}
        yield f"  {part}: {flow(value)}"
    if not any(path.split(".")[-1] in FIELDS["agent"] for path in fields):
        yield f"  agent: {text(chr(39) + 'unknown-agent' + chr(39))}  # no member is called an agent"


def _fields(record: Mapping[str, Any]) -> Iterator[str]:
    """The paths of members that are no lists."""
    waiting: list[tuple[str, Any, int]] = [("", record, 0)]
    while waiting:
        path, value, depth = waiting.pop(0)
        for name, each in value.items():
            if each is None or isinstance(each, list):
                continue
            place = f"{path}{_name(name)}"
            if not isinstance(each, dict) or name in FIELDS["usage"]:
                yield place
            elif depth < DEEPEST:
                waiting.append((f"{place}.", each, depth + 1))


def _called(fields: Iterable[str], name: str) -> list[str]:
    """The paths that end in a name, the outermost first."""
    return sorted((path for path in fields if path.split(".")[-1] == name), key=lambda path: path.count("."))


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
    if time := _first(elements, PARTS["time"]):
        yield f"    time: {text(time)}"
    yield "    choose:"
    kind = _kind(elements)
    values = list(
        dict.fromkeys(each.get(kind) for each in elements if kind and isinstance(each.get(kind), str))
    )
    for value in values[:KINDS_SHOWN]:
        alike = [each for each in elements if each.get(kind or "") == value]
        yield from _rule({kind: value}, alike)
    yield from _rule({}, [each for each in elements if kind is None or kind not in each] or elements)


def _best(listed: Sequence[tuple[str, list[Any]]]) -> str | None:
    """The list with what happened: one of messages, else the one with most elements."""
    sizes: Counter[str] = Counter()
    for path, found in listed:
        known = sum(map(is_message, objects(found)))
        sizes[path] += len(found) * (10 if known * 10 >= len(found) * 9 else 1)
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
    return next((n for n in names if any(each.get(n) not in (None, "", [], {}) for each in elements)), None)


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
    tool = _first(free, PARTS["tool"]) if arguments else None
    content = _first(free, PARTS["content"])
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
        yield f"- call: {flow({'tool': tool, 'arguments': arguments, **ids})}"
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
    if not asked and not answer:
        yield "  []"
