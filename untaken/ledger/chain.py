"""The hash chain of one run: does each line follow from the line before, and does the end match the head?"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from untaken import limits
from untaken.ledger.decoding import LineFault
from untaken.ledger.events import AFTER_RUN, GENESIS, AnyEvent, RunFinished, RunStarted, event_type
from untaken.ledger.model import Head, Integrity

_NO_HEAD = (
    "the chain holds, but there is no recorded head to compare with: this does not prove that the end was not "
    "cut off, nor that the whole run was not rewritten and hashed again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """The first bad line of a run, or what is wrong with its end."""

    code: str
    verdict: Literal["ALTERED", "MALFORMED", "TRUNCATED"]
    reason: str
    line: int | None = None
    column: int | None = None


class Chain:
    """What has been read of one run so far.

    Attributes:
        events: events accepted; `last`: SHA-256 of the last accepted line.
        finished: RUN_FINISHED was accepted.
        broken: the first fault; nothing is accepted after it.
        kept: the events, for a reader that wants them.
    """

    __slots__ = ("_room", "broken", "events", "finished", "head", "kept", "last", "last_line", "run_id")

    def __init__(self, run_id: str, head: Head | None = None) -> None:
        self.run_id = run_id
        self.events = 0
        self.last = GENESIS
        self.last_line = 0
        self.finished = False
        self.broken: Break | None = None
        self.kept: list[AnyEvent] = []
        self.anchor(head)

    def copy(self) -> Chain:
        """A second chain at the same point, to try events on."""
        twin = Chain(self.run_id, self.head)
        twin.events, twin.last, twin.last_line = self.events, self.last, self.last_line
        twin.finished, twin.broken = self.finished, self.broken
        return twin

    def anchor(self, head: Head | None) -> None:
        """Compare with this head from now on; without one, the run may grow up to the limit."""
        self.head = head
        self._room = head.events if head else limits.EVENTS_PER_RUN

    def extend(self, event: AnyEvent, line: bytes, number: int) -> bool:
        """Accept the run's next event; false, with `broken` set, where it does not follow."""
        if event.seq != self.events or event.prev != self.last or self.events >= self._room:
            self.broken = self._unlinked(event, line, number)
            return False
        kind = type(event)
        if (kind is RunStarted) is (self.events > 0) or self.finished or kind is RunFinished:
            self.broken = self._misplaced(event, number)
            if self.broken:
                return False
            self.finished = self.finished or kind is RunFinished
        self.last = sha256(line).hexdigest()
        self.last_line = number
        self.events += 1
        if self.head and self.events == self.head.events and self.last != self.head.sha256:
            self.broken = self._altered(number, f"event {event.seq} is not the last event that the head records")
        return True

    def fail(self, fault: LineFault, number: int) -> None:
        """A line of this run is not a valid event."""
        self.broken = Break(
            code=fault.code, verdict="MALFORMED", reason=fault.message, line=number, column=fault.column
        )

    def end(self) -> Break | None:
        """The fault, when no line of this run follows any more."""
        if self.broken is None and self.head and self.events < self.head.events:
            missing = self.head.events - self.events
            self.broken = Break(
                code="ledger-truncated",
                verdict="TRUNCATED",
                reason=f"{self.events} of the {self.head.events} recorded events are here: the last {missing} are missing"
                + (f" after line {self.last_line}" if self.last_line else ""),
            )
        return self.broken

    def integrity(self) -> Integrity:
        """The verdict, when no line of this run follows any more."""
        head = Head(events=self.events, sha256=self.last) if self.events else None
        broken = self.end()
        if broken:
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
        reason = f"the chain of {self.events} events holds and ends at the recorded head"
        return Integrity(run_id=self.run_id, verdict="INTACT", reason=reason, head=head)

    def _unlinked(self, event: AnyEvent, line: bytes, number: int) -> Break:
        if event.seq != self.events:
            if isinstance(event, RunStarted) and self.events:
                reason = "a second RUN_STARTED with this run id: two runs share the id, or lines were copied"
                return Break(code="ledger-duplicate-run", verdict="ALTERED", reason=reason, line=number)
            return self._altered(number, f"expected seq {self.events}, found {event.seq}" + self._guess(event))
        if event.prev != self.last:
            reason = "`prev` is not the hash of this run's previous line" if event.seq else "`prev` of seq 0 is not zeros"
            if line.endswith(b"\r"):
                reason += "; lines end in CR LF, so a tool may have converted the line ends"
            return self._altered(number, reason)
        if self.head is None:
            reason = f"more than {limits.EVENTS_PER_RUN:,} events in one run"
            return Break(code="ledger-too-many-events", verdict="MALFORMED", reason=reason, line=number)
        return self._altered(
            number, f"the run goes on after the {self.head.events} events of its recorded head, with no intent recorded"
        )

    def _guess(self, event: AnyEvent) -> str:
        if event.seq > self.events:
            return ": lines are missing or out of order"
        return ": a line is repeated or out of order"

    def _altered(self, number: int, reason: str) -> Break:
        return Break(code="ledger-altered", verdict="ALTERED", reason=reason, line=number)

    def _misplaced(self, event: AnyEvent, number: int) -> Break | None:
        """The event's type has no place here."""
        if not self.events and not isinstance(event, RunStarted):
            reason = f"a run begins with RUN_STARTED, not {event_type(event)}"
        elif self.events and isinstance(event, RunStarted):
            reason = "RUN_STARTED stands again inside the run"
        elif self.finished and not isinstance(event, AFTER_RUN):
            reason = f"{event_type(event)} after RUN_FINISHED"
        else:
            return None
        return Break(code="ledger-misplaced-event", verdict="MALFORMED", reason=reason, line=number, column=1)
