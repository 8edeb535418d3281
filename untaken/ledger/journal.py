"""The intent journal: what a writer is about to append is recorded before the first byte is written.

Without it, a ledger longer than its recorded head would be the mark of a forger *and* of a crash. With it,
the two can be told apart: every byte a writer appends lies inside an intent. The journal stands beside the
heads (``<file>.heads.journal``) while a writer is at work, and goes when the heads have been moved. After a
crash only the last intent can be incomplete; it is completed if all its bytes are in the file, else undone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from untaken.ledger.events import Count, Name
from untaken.ledger.heads import read_record
from untaken.ledger.model import Head


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """`size` bytes at `offset` of the ledger will move the head of `run_id` from `start` to `end`."""

    run_id: Name
    start: Head | None
    end: Head
    offset: Count
    size: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What the heads are, once the journal is taken into account.

    Attributes:
        heads: recorded heads, moved for every intent whose bytes are all in the ledger.
        completed: intents that moved a head.
        undone: the intent whose bytes are not all there, if any; the ledger counts up to its offset.
    """

    heads: dict[str, Head]
    completed: tuple[Intent, ...]
    undone: Intent | None


_decode = msgspec.json.Decoder(Intent).decode
encode_intent = msgspec.json.Encoder().encode


def journal_path(ledger: str | os.PathLike[str]) -> Path:
    """Where a writer records its intents: ``<file>.heads.journal`` beside the ledger."""
    path = Path(ledger)
    return path.with_name(path.name + ".heads.journal")


def load_intents(ledger: str | os.PathLike[str]) -> list[Intent]:
    """The recorded intents, oldest first; none where there is no journal.

    A torn last record ends the list: its bytes were never begun, since a record is whole before they are.
    """
    path = journal_path(ledger)
    intents = []
    for line in read_record(path).split(b"\n") if path.exists() else ():
        try:
            intents.append(_decode(line))
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            break
    return intents


def settle(heads: Mapping[str, Head], intents: Iterable[Intent], size: int) -> Settled:
    """Move the heads for every intent that a ledger of `size` bytes holds completely.

    An intent that does not start at the head as it stands was settled before: the heads were moved, and the
    crash came before the journal was removed.
    """
    moved = dict(heads)
    completed: list[Intent] = []
    for intent in intents:
        if moved.get(intent.run_id) != intent.start:
            continue
        if intent.offset + intent.size > size:
            return Settled(heads=moved, completed=tuple(completed), undone=intent)
        moved[intent.run_id] = intent.end
        completed.append(intent)
    return Settled(heads=moved, completed=tuple(completed), undone=None)
