"""The hash chain of one run: does each line follow from the one before, and does the end match the head?

Heads say how runs ended. They are recorded outside the ledger, in a sidecar file.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from sys import intern
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger import disk
from untaken.ledger.decoding import LineFault
from untaken.ledger.events import AFTER_RUN, GENESIS, AnyEvent, Name, RunFinished, RunStarted, event_type
from untaken.ledger.run import Head, Integrity
from untaken.ledger.strict_json import JsonFault, parse_json

_NO_HEAD = (
    "the chain is valid, but this run has no recorded head to compare with, so truncation or a full "
    "rewrite cannot be ruled out"
)


SPANS: Final = "Q"
"""What an array of places in a ledger holds (`array.typecodes`)."""
_ENDS = frozenset({RunStarted, RunFinished})  # whether their place is right depends on what came before
_HEX = re.compile("[0-9a-f]{64}")


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """The first bad line of a run, or what is wrong with its end.

    Attributes:
        gap: events are missing before `line`, or before the end if there is none.
    """

    code: str
    verdict: Literal["ALTERED", "MALFORMED", "TRUNCATED"]
    reason: str
    line: int | None = None
    column: int | None = None
    gap: bool = False


class Chain:
    """What has been read of one run so far.

    Attributes:
        events: number of events accepted; `last`: SHA-256 of the last accepted line, `last_line` its number.
        finished: RUN_FINISHED was accepted.
        broken: the first fault; nothing is accepted after it.
        kept: the accepted events, for a reader that wants them.
        spans: where their lines are, for a reader that wants that: begin and end of each piece in turn.
    """

    __slots__ = (
        "_room",
        "broken",
        "call_id",
        "events",
        "finished",
        "head",
        "kept",
        "last",
        "last_line",
        "names",
        "run_id",
        "spans",
    )

    def __init__(self, run_id: str, head: Head | None = None) -> None:
        self.run_id = run_id
        self.events = 0
        self.last = GENESIS
        self.last_line = 0
        self.finished = False
        self.broken: Break | None = None
        self.kept: list[AnyEvent] = []  # empty where the reader only verifies
        self.names: dict[str, str] = {}
        self.call_id: str | None = None
        self.spans = array(SPANS)
        self.anchor(head)

    def anchor(self, head: Head | None) -> None:
        """Compare with this head from now on; without one, the run may grow up to the limit."""
        self.head = head
        self._room = head.events if head else limits.EVENTS_PER_RUN

    def copy(self) -> Chain:
        """A second chain at the same point, to try events on."""
        # `kept`, `names` and `spans` are for readers; only writers make copies.
        twin = Chain(self.run_id, self.head)
        twin.events, twin.last, twin.last_line = self.events, self.last, self.last_line
        twin.finished, twin.broken = self.finished, self.broken
        return twin

    def extend(self, event: AnyEvent, line: bytes, number: int) -> bool:
        """Accept the run's next event; false, with `broken` set, where it does not follow."""
        count = self.events + 1
        # One test in the hot loop; which of them it was is worked out only for a bad line.
        if event.seq != self.events or event.prev != self.last or count > self._room:
            self.broken = self._unlinked(event, line, number)
            return False
        kind = type(event)
        if count == 1 or self.finished or kind is RunStarted or kind is RunFinished:
            self.broken = self._misplaced(event, number)
            if self.broken is not None:
                return False
            self.finished = self.finished or kind is RunFinished
        digest = sha256(line).hexdigest()
        # A tail that was rewritten with new hashes is a valid chain: only the recorded head shows it.
        if count == self._room and self.head is not None and digest != self.head.sha256:
            self.broken = _altered(number, "this line is not the last one in the recorded head")
            return False
        self.last, self.last_line, self.events = digest, number, count
        return True

    def follow(self, events: Sequence[AnyEvent], lines: Sequence[bytes], at: int, before: int) -> int:
        """Accept the events from `at` on that plainly follow; the place of the first that does not.

        That is one of another run, one that `extend` must look at closely (RUN_STARTED, RUN_FINISHED and what
        comes after it, the last one of a recorded head), or one that does not follow at all.
        """
        run_id, count, last = self.run_id, self.events, self.last
        if self.finished or self.broken is not None or not count:
            return at
        # Stops one short of the head's count: `extend` compares the hash of that line with the head.
        for place in range(at, min(len(events), at + self._room - count - 1)):
            event = events[place]
            if event.prev != last or event.seq != count or event.run_id != run_id or type(event) in _ENDS:
                break
            last = sha256(lines[place]).hexdigest()
            count += 1
        followed = count - self.events
        if followed:
            self.last, self.last_line, self.events = last, before + at + followed, count
        return at + followed

    def place(self, begin: int, end: int) -> None:
        """The lines accepted last are there in the ledger."""
        if self.spans and self.spans[-1] == begin:
            self.spans[-1] = end
        else:
            self.spans.extend((begin, end))

    def fail(self, fault: LineFault, number: int) -> None:
        """A line of this run is not a valid event."""
        self.broken = _malformed(fault.code, fault.message, number, fault.column)

    @property
    def short(self) -> bool:
        """Whether the recorded head counts more events than came so far."""
        return self.broken is None and self.head is not None and self.events < self.head.events

    def end(self) -> Break | None:
        """The run's fault, once no line of it follows any more."""
        if self.head is not None and self.short:
            count, after = self.head.events, f" after line {self.last_line}" if self.events else ""
            reason = f"{self.events} of {count} recorded events are present; the others are missing{after}"
            self.broken = Break(code="ledger-truncated", verdict="TRUNCATED", reason=reason, gap=True)
        return self.broken

    def integrity(self) -> Integrity:
        """The verdict, once no line of this run follows any more."""
        head = Head(events=self.events, sha256=self.last) if self.events else None
        broken = self.end()
        if broken is not None:
            return Integrity(
                run_id=self.run_id,
                verdict=broken.verdict,
                reason=broken.reason,
                line=broken.line,
                column=broken.column,
                head=head,
            )
        if self.head is None:
            return Integrity(run_id=self.run_id, verdict="UNANCHORED", reason=_NO_HEAD, head=head)
        return intact(self.run_id, self.head)

    def _unlinked(self, event: AnyEvent, line: bytes, number: int) -> Break:
        # The decoder checked its length alone (see `Link`).
        if not _HEX.fullmatch(event.prev):
            return _malformed("ledger-bad-event", "`prev`: not 64 lower-case hexadecimal digits", number)
        # Such a line has a wrong `seq`, too; this reason says more.
        if event.seq != self.events and self.events and isinstance(event, RunStarted):
            reason = "a second RUN_STARTED with this run id: two runs share it, or lines were copied"
            return Break(code="ledger-duplicate-run", verdict="ALTERED", reason=reason, line=number)
        if event.seq != self.events:
            cause = "missing" if event.seq > self.events else "repeated"
            reason = f"expected seq {self.events}, found {event.seq}: lines are {cause} or out of order"
            return replace(_altered(number, reason), gap=event.seq > self.events)
        if event.prev != self.last:
            hint = "; lines end in CR LF: a tool may have converted them" if line.endswith(b"\r") else ""
            wanted = (
                "the hash of this run's previous line" if self.events else "64 zeros, though the run begins"
            )
            return _altered(number, f"`prev` is not {wanted}{hint}")
        if self.head is None:
            reason = f"more than {limits.EVENTS_PER_RUN:,} events in one run"
            return _malformed("ledger-too-many-events", reason, number)
        count = self.head.events
        reason = (
            f"the run continues after the {count} events of its recorded head, without a recorded intent "
            "to append"
        )
        return _altered(number, reason)

    def _misplaced(self, event: AnyEvent, number: int) -> Break | None:
        """An event whose type has no place here."""
        if not self.events and not isinstance(event, RunStarted):
            reason = f"a run starts with RUN_STARTED, not {event_type(event)}"
        elif self.events and isinstance(event, RunStarted):
            reason = "a second RUN_STARTED inside the run"
        elif self.finished and not isinstance(event, AFTER_RUN):
            reason = f"{event_type(event)} after RUN_FINISHED"
        else:
            return None
        return _malformed("ledger-misplaced-event", reason, number)


def intact(run_id: str, head: Head) -> Integrity:
    """The verdict on a run whose lines follow one another up to its recorded head."""
    # Interned: of many runs that are held, most have the same.
    reason = intern(f"the chain of {head.events} events is valid and ends at the recorded head")
    return Integrity(run_id=run_id, verdict="INTACT", reason=reason, head=head)


def _altered(line: int, reason: str) -> Break:
    return Break(code="ledger-altered", verdict="ALTERED", reason=reason, line=line)


def _malformed(code: str, reason: str, line: int, column: int = 1) -> Break:
    return Break(code=code, verdict="MALFORMED", reason=reason, line=line, column=column)


_decode = msgspec.json.Decoder(dict[Name, Head]).decode
_HINT = 'A heads file is {run_id: {"events": n, "sha256": "…"}}.'


def heads_path(ledger: str | os.PathLike[str]) -> Path:
    """Where the heads of a ledger file are kept: ``<file>.heads.json`` beside it."""
    return Path(f"{os.fspath(ledger)}.heads.json")


def load_heads(path: str | os.PathLike[str]) -> dict[str, Head]:
    """Read a heads sidecar (the sidecar's own path, see `heads_path`).

    Raises:
        UntakenError: ``ledger-heads`` where the file is not a valid heads file.
        FileNotFoundError: no such file.
    """
    return parse_heads(read_record(Path(path)), name=str(path))


def read_record(path: Path) -> bytes:
    """The bytes of a file kept beside a ledger.

    Raises:
        UntakenError: ``ledger-heads`` where it is no regular file, or larger than any record need be.
        FileNotFoundError: no such file.
    """
    if path.exists() and not path.is_file():  # reading a pipe or a device may never end
        raise UntakenError(
            "ledger-heads", "this is not a regular file", where=Where(file=str(path)), hint=_HINT
        )
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size  # a buffer of the limit's size would be made, and thrown away
        if size <= limits.HEADS_FILE_BYTES:
            return file.read(size)
    raise UntakenError("ledger-heads", "the file is too large", where=Where(file=str(path)), hint=_HINT)


def parse_heads(data: bytes, *, name: str = "") -> dict[str, Head]:
    """The heads in the bytes of a sidecar.

    Raises:
        UntakenError: ``ledger-heads``, with line and column where known.
    """
    if (heads := _as_saved(data)) is not None:
        return heads
    try:
        return msgspec.convert(parse_json(data), dict[Name, Head])
    except JsonFault as fault:
        where = Where(file=name or None, line=fault.line, column=fault.column)
        raise UntakenError("ledger-heads", fault.message, where=where, hint=_HINT) from None
    except msgspec.ValidationError as error:
        raise UntakenError("ledger-heads", str(error), where=Where(file=name or None), hint=_HINT) from None


def _as_saved(data: bytes) -> dict[str, Head] | None:
    """The heads in bytes as `save_heads` writes them: what gives the same bytes again has no traps."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        heads = _decode(data)
        return heads if heads_text(heads) == data else None
    return None


def save_heads(path: str | os.PathLike[str], heads: Mapping[str, Head], *, sync: bool = True) -> None:
    """Write a heads sidecar, whole or not at all (a new file takes the old one's place)."""
    disk.replace(Path(path), heads_text(heads), sync=sync)


def heads_text(heads: Mapping[str, Head]) -> bytes:
    """What a heads sidecar holds."""
    return msgspec.json.format(msgspec.json.encode(heads), indent=1) + b"\n"
