"""Whether two runs are copies: what a run did, without what only names or times it (§2a)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

import msgspec

from untaken.ledger.events import Event, Observation, RunFinished, RunStarted, ToolCall, event_type

_TIMES: Final = ("time", "duration", "latency", "seconds", "_ms")
"""Parts of the names of metrics that measure time."""
_ENVELOPE: Final = len(Event.__struct_fields__)
_encode = msgspec.json.Encoder().encode
_DIGITS: Final = 20
"""Enough to tell a billion runs apart."""


def trail_of(events: Iterable[Event]) -> str:
    """A digest of everything in the events but run id, call ids, repeat number, seq, prev and times."""
    return sha256(_encode(list(_contents(events)))).hexdigest()[:_DIGITS]


def _contents(events: Iterable[Event]) -> Iterator[tuple[Any, ...]]:
    calls: dict[str | None, int] = {}
    for event in events:
        kind, fields = event_type(event), msgspec.structs.astuple(_plain(event))[_ENVELOPE:]
        if isinstance(event, ToolCall):
            calls[event.call_id] = len(calls)
            fields = fields[1:]
        elif isinstance(event, Observation):
            fields = calls.get(event.call_id), *fields[1:]
        yield kind, *fields


def _plain(event: Event) -> Event:
    """Without which repeat of the task it is, or how long it took."""
    if isinstance(event, RunStarted):
        return msgspec.structs.replace(event, task_repeat=None)
    if isinstance(event, RunFinished) and event.metrics:
        kept = {name: value for name, value in event.metrics.items() if not _is_time(name)}
        return msgspec.structs.replace(event, metrics=kept)
    return event


def _is_time(metric: str) -> bool:
    return any(part in metric.lower() for part in _TIMES)
