"""A conversation as its items: what each call of a model repeats comes once, and answers find their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from untaken.numbers import counted
from untaken.traces.losses import Findings
from untaken.traces.messages import message_items
from untaken.traces.readings import mapping, text
from untaken.traces.trace_run import Answered, Called, Item, Utterance

STREAM_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
"""Events of a streamed response that hold all of it."""


def is_piece(record: Any) -> bool:
    """Whether a record is an event of a streamed response that a later one repeats."""
    kind = mapping(record).get("type")
    return isinstance(kind, str) and kind.startswith("response.") and kind not in STREAM_ENDS


def note_only_asked(findings: Findings) -> None:
    """Says that nobody answers in the records of a file."""
    hint = "If it is a data set of questions, convert what agents did with it instead."
    findings.add("only-asked", "there is only what was asked in it, and no answer to any of it", hint=hint)


def with_answers(items: Iterable[Item]) -> Iterator[Item]:
    """The items of a conversation; who speaks under the name of a tool answers the oldest call of it."""
    waiting: dict[str, dict[str, str | None]] = {}
    tools: dict[str, str] = {}
    given: dict[str, Any] = {}
    for number, item in enumerate(items):
        if isinstance(item, Called) and isinstance(item.tool, str):
            key = item.source_id or f"#{number}"
            tools[key] = item.tool
            waiting.setdefault(item.tool, {})[key] = item.source_id
            given.pop(key, None)
        elif isinstance(item, Answered) and item.source_id:
            if item.source_id in given and given[item.source_id] == item.content:
                continue  # with the call, and as a message of its own
            given[item.source_id] = item.content
            waiting.get(tools.get(item.source_id, ""), {}).pop(item.source_id, None)
        elif isinstance(item, Utterance) and (calls := waiting.get(item.role)):
            source_id = calls.pop(next(iter(calls)))
            yield Answered(content=item.content, source_id=source_id, at=item.at)
            continue
        yield item


class MessageTranscript:
    """The items of model calls, each of which repeats the conversation so far: what is new comes once.

    Args:
        calls: whether the messages are where calls and answers are known from; false where a trace records
            its tools by themselves.
        tools: names of tools that are recorded by themselves: who speaks under one of them is that tool.
    """

    def __init__(self, *, calls: bool, tools: Collection[str] = ()) -> None:
        self._calls = calls
        self._tools = frozenset(tools)
        self._known: Counter[bytes] = Counter()

    def of(self, messages: Iterable[Mapping[str, Any]], at: datetime | None) -> Iterator[Item]:
        """The items of a conversation so far that did not come before."""
        here: Counter[bytes] = Counter()
        for item in self._items(messages, at):
            key = _key(item)
            here[key] += 1
            # Counted, not merely known: what is said twice in one conversation comes twice.
            if here[key] > self._known[key]:
                self._known[key] = here[key]
                if self._calls or isinstance(item, Utterance):
                    yield item

    def reply(self, messages: Iterable[Mapping[str, Any]], at: datetime | None) -> Iterator[Item]:
        """The items that a model gave, or that it was newly given: new even if the same came before."""
        for item in self._items(messages, at):
            self._known[_key(item)] += 1
            if self._calls or isinstance(item, Utterance):
                yield item

    def _items(self, messages: Iterable[Mapping[str, Any]], at: datetime | None) -> Iterator[Item]:
        found = with_answers(item for message in messages for item in message_items(message, at))
        return (item for item in found if not (isinstance(item, Utterance) and item.role in self._tools))


def items_known(so_far: Iterable[Item], conversation: Sequence[Item]) -> int | None:
    """How many items of a conversation came before; ``None`` where it does not begin with all of those."""
    known = 0
    for item in so_far:
        if _is_thought(item):  # most programs do not send it again
            continue
        while known < len(conversation) and _is_thought(conversation[known]):
            known += 1
        if known == len(conversation) or _key(item) != _key(conversation[known]):
            return None
        known += 1
    return known


def messages_once(messages: Sequence[Mapping[str, Any]], findings: Findings) -> list[Mapping[str, Any]]:
    """The messages, each id once: overlapping pages and updates write a message again.

    The complete one counts, where the first one was. Messages of one id that do not say the same have the id
    of something else, such as their conversation, or are pieces of one: they are kept.
    """
    by_id: dict[str, list[int]] = {}
    for place, message in enumerate(messages):
        if (name := text(message.get("id"))) is not None:
            by_id.setdefault(name, []).append(place)
    chosen: dict[int, Mapping[str, Any]] = {}
    left: set[int] = set()
    for places in by_id.values():
        if len(places) == 1:
            continue
        items = [[_key(item) for item in message_items(messages[place])] for place in places]
        most = max(range(len(places)), key=lambda n: (len(items[n]), n))
        if all(set(items[most]).issuperset(each) for each in items):
            chosen[places[0]] = messages[places[most]]
            left.update(places[1:])
    if left:
        why = f"{counted(len(left), 'message')} came again under a known id; read once, in the complete form"
        findings.add("repeated-record", why, severity="note")
    return [chosen.get(place, each) for place, each in enumerate(messages) if place not in left]


def _is_thought(item: Item) -> bool:
    return isinstance(item, Utterance) and item.role == "reasoning"


def _key(item: Item) -> bytes:
    """The same for an item that is repeated, whenever it is."""
    match item:
        case Utterance():
            return msgspec.json.encode((item.role, item.content))
        case Called():
            return msgspec.json.encode((item.tool, item.source_id or item.arguments))
        case Answered():
            return msgspec.json.encode((item.source_id, item.content))
    return msgspec.json.encode(item.fields)
