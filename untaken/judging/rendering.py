"""An event as a judge reads it, and as its quotes are looked up in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from untaken.ledger import Event, as_mapping, event_type

_ENVELOPE: Final = ("type", "run_id", "seq", "ts", "prev")


def event_text(event: Event) -> str:
    """Everything the event says, without its envelope: texts as they are, the rest as JSON."""
    fields = {name: value for name, value in as_mapping(event).items() if name not in _ENVELOPE}
    return "\n".join(f"{name}: {value_text(value)}" for name, value in fields.items() if value is not None)


def headline(event: Event) -> str:
    """One line: the position and type of the event."""
    return f"seq {event.seq} {event_type(event)}"


def holds(event: Event, quote: str) -> bool:
    """Whether the quote is in the event, letter for letter; runs of white space count as one."""
    return contains(event_text(event), quote)


def contains(text: str, quote: str) -> bool:
    """Whether the quote is in the text, letter for letter; runs of white space count as one."""
    wanted = " ".join(quote.split())
    return bool(wanted) and wanted in " ".join(text.split())


def value_text(value: Any) -> str:
    """A text as it is, everything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value, at any depth, in its order; names and plain values of objects together."""
    pending = [value]  # a stack, no recursion: how deep it nests is up to the record
    while pending:
        now = pending.pop()
        if isinstance(now, str):
            yield now
        elif isinstance(now, dict):
            for name, part in reversed(now.items()):
                plain = isinstance(part, str | bool | int | float)
                pending += [f"{name}: {part}"] if plain else [part, str(name)]
        elif isinstance(now, list | tuple):
            pending += reversed(now)
