"""The intent journal: what a writer is about to append is recorded before the first byte is written.

Without it, a ledger longer than its recorded head could come from a forger *or* a crash. The journal
distinguishes the two: every byte that a writer appends belongs to an intent. The journal exists next to the
heads (``<file>.heads.journal``) while a writer is at work, and is removed once the heads have moved.

A record is one line, ``CRC-32 JSON``. Its newline is written *after* the bytes it announces: it acknowledges
them. So a record without a newline is the last append, which a crash may have cut short: it is completed if
all its bytes are in the file, else undone. The bytes of every other record were acknowledged: where they are
missing, the ledger was cut, and its runs are TRUNCATED.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec

from untaken.errors import UntakenError, Where
from untaken.ledger.chain import read_record
from untaken.ledger.events import Count, Name
from untaken.ledger.run import Head

ACKNOWLEDGED: Final = b"\n"


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """`size` bytes at `offset` of the ledger will move the head of `run_id` to `end`."""

    run_id: Name
    end: Head
    offset: Count
    size: Count


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """What a journal holds.

    Attributes:
        acknowledged: intents whose bytes were all written, oldest first.
        open: the last intent, where nothing says that its bytes were all written.
    """

    acknowledged: tuple[Intent, ...] = ()
    open: Intent | None = None

    @property
    def end(self) -> int:
        """How far the ledger reaches with everything that was announced; 0 where nothing was."""
        last = self.open or (self.acknowledged[-1] if self.acknowledged else None)
        return last.offset + last.size if last else 0


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What the heads are, once the journal is taken into account.

    Attributes:
        heads: recorded heads, moved by every intent that was acknowledged or is complete.
        completed: intents that moved a head.
        undone: the last intent where its bytes are not all there; the ledger counts up to its offset.
    """

    heads: dict[str, Head]
    completed: tuple[Intent, ...]
    undone: Intent | None


_decode = msgspec.json.Decoder(Intent).decode
_encode = msgspec.json.Encoder().encode


def encode_intent(intent: Intent) -> bytes:
    """A record, without the newline that acknowledges it."""
    data = _encode(intent)
    return b"%08x %b" % (crc32(data), data)


def journal_path(ledger: str | os.PathLike[str]) -> Path:
    """Where a writer records its intents: ``<file>.heads.journal`` beside the ledger."""
    path = Path(ledger)
    return path.with_name(path.name + ".heads.journal")


def load_journal(ledger: str | os.PathLike[str]) -> Journal:
    """The recorded intents; none where there is no journal.

    Raises:
        UntakenError: ``ledger-journal`` where an acknowledged record is damaged.
    """
    path = journal_path(ledger)
    try:
        *lines, last = read_record(path).split(ACKNOWLEDGED)
    except FileNotFoundError:
        return Journal()
    acknowledged = []
    for number, line in enumerate(lines, 1):
        if (intent := _intent(line)) is None:
            raise UntakenError(
                "ledger-journal",
                "the append journal is damaged, so the end of the ledger is unknown",
                where=Where(file=str(path), line=number),
                hint="Restore the journal. Without it, runs are compared with older heads.",
            )
        acknowledged.append(intent)
    # A record is complete before its bytes are written: an incomplete one announces nothing.
    return Journal(acknowledged=tuple(acknowledged), open=_intent(last))


def _intent(record: bytes) -> Intent | None:
    checksum, _, data = record.partition(b" ")
    if checksum != b"%08x" % crc32(data):
        return None
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def settle(heads: Mapping[str, Head], journal: Journal, size: int) -> Settled:
    """Move the heads for every intent but one that a crash may have cut short.

    Args:
        heads: as recorded before.
        journal: of the same ledger.
        size: bytes in the ledger, as of now or later than the journal.
    """
    undone = journal.open if size < journal.end else None
    intents: Iterable[Intent] = journal.acknowledged
    if journal.open is not None and undone is None:
        intents = (*intents, journal.open)
    moved = dict(heads)
    completed = []
    for intent in intents:
        # The crash may have come between moving the heads and removing the journal: then nothing is to do.
        before = moved.get(intent.run_id)
        if before is None or before.events < intent.end.events:
            moved[intent.run_id] = intent.end
            completed.append(intent)
    return Settled(heads=moved, completed=tuple(completed), undone=undone)
