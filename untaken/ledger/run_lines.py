"""Where the lines of one run are in a ledger, so that they can be read again without the others."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from untaken.errors import UntakenError, Where
from untaken.ledger.events import AnyEvent
from untaken.ledger.reading import Reading, keep_events
from untaken.ledger.run import Head, Run
from untaken.ledger.source import View

CHANGED: Final = "ledger-changed"
"""Code of the error where a run is no longer in its ledger as it was read before."""


class RunLines(NamedTuple):
    """The lines of a run.

    Attributes:
        path: of the ledger, which is not compressed.
        spans: begin and end of each piece in turn, in bytes.
    """

    path: Path
    spans: array[int]

    @property
    def size(self) -> int:
        """Bytes of the lines."""
        return sum(self.spans[1::2]) - sum(self.spans[::2])

    def events(self, run_id: str, head: Head) -> tuple[AnyEvent, ...] | None:
        """The events up to a head, verified again; ``None`` where the file has changed."""
        run = self.run(run_id, head, name="")
        return None if run is None else run.events

    def run(self, run_id: str, head: Head, *, name: str) -> Run | None:
        """The run up to a head, verified again; `name` is that of its ledger. ``None`` as for `events`."""
        try:
            with self.path.open("rb") as file:
                view = View(name=name, heads={run_id: head}, stream=_Pieces(file, self.spans))
                reading = Reading(view, lambda _: None, keep=keep_events)
                [first, *others] = reading.chains()
        except FileNotFoundError:
            return None
        return None if others or first.broken or first.run_id != run_id else reading.run(first)


class _Pieces:
    """The pieces of a file one after the other, never all of them in memory."""

    def __init__(self, file: BinaryIO, spans: Sequence[int]) -> None:
        self._file = file
        self._spans = zip(spans[::2], spans[1::2], strict=True)
        self._at = self._end = 0

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        found = b""
        while len(found) < size:
            if self._at == self._end:
                self._at, self._end = next(self._spans, (0, 0))
                if self._at == self._end:
                    break
                self._file.seek(self._at)
            some = self._file.read(min(size - len(found), self._end - self._at))
            self._at = self._at + len(some) if some else self._end
            found += some
        return found


def ledger_changed(source: str, run_id: str) -> UntakenError:
    """The error where a run is no longer in its ledger as it was read before."""
    return UntakenError(
        CHANGED,
        "the ledger no longer holds this run as it was read before",
        where=Where(file=source, run=run_id),
        hint="Evaluate the ledgers again, while nobody writes to them.",
    )
