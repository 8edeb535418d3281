"""An event as a judge reads it, and untrusted text between marks that it cannot end."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from hashlib import sha256
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


OPEN: Final = "⟦"
CLOSE: Final = "⟧"
_NEUTRAL: Final = str.maketrans({OPEN: "[", CLOSE: "]"})
NONCE_CHARS: Final = 16


def nonce_for(salt: str, *parts: str) -> str:
    """The code of one question: the same for the same question and store, unknown to who wrote the record."""
    # With lengths, so that text moved from one part to the next gives another code.
    named = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hmac.new(salt.encode(), named.encode("utf-8", "surrogatepass"), sha256).hexdigest()[:NONCE_CHARS]


def neutral(text: str) -> str:
    """The text without anything that could end its envelope or steer a terminal or a tokenizer."""
    # Marks of chat templates, which a tokenizer may read as the end of a turn.
    plain = text.translate(_NEUTRAL).replace("<|", "< |").replace("|>", "| >")
    return "".join(c if c in "\n\t" or c.isprintable() else " " if c.isspace() else "�" for c in plain)


def enveloped(text: str, nonce: str, label: str = "") -> str:
    """The text between marks that carry the code."""
    name = f" {label}" if label else ""
    return f"{OPEN}record {nonce}{name}{CLOSE}\n{neutral(text)}\n{OPEN}end {nonce}{CLOSE}"
