"""Whether two runs are copies: what a run did, without what only names or times it (§2a)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from operator import attrgetter
from typing import Any, Final

import msgspec

from untaken.ledger.events import Event, Observation, RunFinished, RunStarted, ToolCall, event_type

_TIMES: Final = ("time", "duration", "latency", "seconds", "_ms")
"""Parts of the names of metrics that measure time."""
_ENVELOPE: Final = len(Event.__struct_fields__)
_OF_REVIEW: Final = frozenset({"settles", "blind", "made_with"})
"""Fields that say how somebody reviewed. Kept memories hold trails without them: with them, a copy of a run
that a memory has already learned from would count again."""
_NOT_PLAIN: Final = frozenset({RunStarted, RunFinished})
_encode = msgspec.json.Encoder().encode
_DIGITS: Final = 20
"""Enough to tell a billion runs apart."""


def trail_of(events: Iterable[Event]) -> str:
    """A digest of all events say but run id, call ids, repeat number, seq, prev, times and `_OF_REVIEW`."""
    return sha256(_encode(list(_contents(events)))).hexdigest()[:_DIGITS]


def _contents(events: Iterable[Event]) -> Iterator[tuple[Any, ...]]:
    calls: dict[str | None, int] = {}
    for event in events:
        kind = type(event)
        name, fields = _READERS[kind]
        if kind is ToolCall:
            calls[event.call_id] = len(calls)  # type: ignore[attr-defined]
            yield name, *fields(event)
        elif kind is Observation:
            yield name, calls.get(event.call_id), *fields(event)  # type: ignore[attr-defined]
        else:
            yield name, *fields(_plain(event) if kind in _NOT_PLAIN else event)


class _Readers(dict[type[Event], tuple[str, Callable[[Event], tuple[Any, ...]]]]):
    """By class of events, its name and what takes from one all that is said of what was done."""

    def __missing__(self, kind: type[Event]) -> tuple[str, Callable[[Event], tuple[Any, ...]]]:
        # `call_id` comes first in both, and is replaced by the number of the call.
        fields = kind.__struct_fields__[_ENVELOPE + issubclass(kind, ToolCall | Observation) :]
        names = tuple([name for name in fields if name not in _OF_REVIEW])
        one_by_one = attrgetter(*names) if len(names) > 1 else partial(_fields, names)
        self[kind] = event_type(kind), one_by_one
        return self[kind]


_READERS: Final = _Readers()


def _fields(names: tuple[str, ...], event: Event) -> tuple[Any, ...]:
    return tuple([getattr(event, name) for name in names])


def _plain(event: Event) -> Event:
    """Without which repeat of the task it is, or how long it took."""
    if isinstance(event, RunStarted):
        return msgspec.structs.replace(event, task_repeat=None)
    if isinstance(event, RunFinished) and event.metrics:
        timed = {name for name in event.metrics if any(part in name.lower() for part in _TIMES)}
        kept = {name: value for name, value in event.metrics.items() if name not in timed}
        return msgspec.structs.replace(event, metrics=kept)
    return event
