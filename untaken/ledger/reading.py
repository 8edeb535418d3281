"""One pass over a ledger that assigns every line, and every fault, to its run; and where these lines are."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from msgspec.structs import force_setattr, replace

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger.chain import Chain
from untaken.ledger.decoding import LineFault, decode_lines, run_of
from untaken.ledger.events import AnyEvent, Observation, RunFinished, ToolCall
from untaken.ledger.run import Head, Integrity, Run
from untaken.ledger.source import View
from untaken.working import step

_HINTS = {
    "ALTERED": "Do not use this run. Get the ledger again from its source.",
    "TRUNCATED": "The end of the run is missing. Get the ledger again from its source.",
    "MALFORMED": "Fix the program that wrote this line. A lenient read keeps the other runs.",
}


class _Unreadable(Exception):
    """So much of the file is unreadable that the rest of it is not read."""


def keep_events(chain: Chain, events: Sequence[AnyEvent]) -> None:
    """Keeps the events of a run, as long as it is read; what they all repeat is held once."""
    run_id, names = chain.run_id, chain.names
    for event in events:
        force_setattr(event, "run_id", run_id)  # frozen for others; nobody else holds these yet
        if isinstance(event, ToolCall):
            force_setattr(event, "tool", names.setdefault(event.tool, event.tool))
            chain.call_id = event.call_id
        elif isinstance(event, Observation) and event.call_id == chain.call_id:
            force_setattr(event, "call_id", chain.call_id)
    chain.kept += events


class Reading:
    """Reads a view of a ledger once.

    Args:
        view: what is read.
        report: called with every fault as it is met; a strict reader raises it.
        keep: what is done with the accepted events of a run, some at a time; `keep_events` keeps them.
        ended: called with the chain of a run some time after its RUN_FINISHED; more may follow all the same.
            Chains then know where their lines are.

    Attributes:
        file_faults: verdicts on faults that no run can be charged with.
        cut: a line was too long to be held: places after it are not known.
    """

    def __init__(
        self,
        view: View,
        report: Callable[[UntakenError], None],
        *,
        keep: Callable[[Chain, Sequence[AnyEvent]], None] | None = None,
        ended: Callable[[Chain], None] | None = None,
    ) -> None:
        self.file_faults: list[Integrity] = []
        self.cut = False
        self._view = view
        self._heads = view.heads
        self._report = report
        self._keep = keep
        self._ended, self._finished = ended, list[Chain]()
        self._open: dict[str, Chain] = {}
        self._strays: dict[int, LineFault] = {}
        self._unreadable = 0

    def chains(self) -> Iterator[Chain]:
        """The chain of every run, once all lines are read.

        Recorded runs of which the ledger holds no line come last.
        """
        number, runs, keep = 0, self._open, self._keep
        try:
            for number, line, event in self._lines():
                if isinstance(event, LineFault):
                    self._malformed(number, line, event)
                    continue
                chain = runs.get(event.run_id) or self._begin(event.run_id)
                if chain.broken is None:
                    if not chain.extend(event, line, number):
                        self._fault(chain)
                    elif keep:
                        keep(chain, (event,))
                        if self._ended and type(event) is RunFinished:
                            self._finished.append(chain)
        except _Unreadable:
            self._leave_rest(number - 1)
        except UntakenError as error:
            self._file_fault(error)
        if not number and not self._heads and not self.file_faults:
            self._file_fault(UntakenError("ledger-empty", "it has no events", where=self._where()))
        missing = [run_id for run_id in self._heads if run_id not in runs]
        for run_id in [*runs, *missing]:
            # Taken out: else a reader that makes a run of it would hold its events twice to the end.
            chain = runs.pop(run_id) if run_id in runs else Chain(run_id, self._heads[run_id])
            if chain.broken is None and chain.end() is not None:
                self._fault(chain)
            yield chain

    def _lines(self) -> Iterator[tuple[int, bytes, AnyEvent | LineFault]]:
        """Each line to look at, with its number and event.

        What plainly follows the event looked at last is accepted here, and does not come.
        """
        before = offset = 0
        chain: Chain | None = None
        for lines in self._view.blocks():
            step()
            events = decode_lines(lines)
            sizes = (len(line) + 1 for line in lines) if self._ended else ()
            begins = list(accumulate(sizes, initial=offset))
            # It is a list only where the whole block was cleared at once.
            if isinstance(events, list):
                at = 0
                while at < len(lines):
                    yield before + at + 1, lines[at], events[at]
                    chain, begin = self._open[events[at].run_id], at + 1
                    at = chain.follow(events, lines, begin, before)
                    if self._keep and begin < at:
                        self._keep(chain, events[begin:at])
                    if self._ended and chain.broken is None:
                        chain.place(begins[begin - 1], begins[at])
            else:
                for at, (line, event) in enumerate(zip(lines, events, strict=True), start=1):
                    yield before + at, line, event
                    if isinstance(event, LineFault):
                        # Only a line that `read_blocks` cut to the limit still has a newline.
                        self.cut = self.cut or line.endswith(b"\n")
                    elif self._ended:
                        chain = self._open[event.run_id]
                        if chain.broken is None:
                            chain.place(begins[at - 1], begins[at])
            before += len(lines)
            if self._ended:
                offset = begins[-1]
                done, self._finished = self._finished, [one for one in self._finished if one is chain]
                for one in done:
                    if one is not chain and one.broken is None:  # what follows the last one may come next
                        self._ended(one)

    def run(self, chain: Chain) -> Run | None:
        """The run of a chain; ``None`` where not even its start is readable."""
        if not chain.kept:
            return None
        return Run(events=tuple(chain.kept), integrity=chain.integrity(), source=self._view.name)

    def _begin(self, run_id: str) -> Chain:
        chain = self._open[run_id] = Chain(run_id, self._heads.get(run_id))
        return chain

    def _malformed(self, number: int, line: bytes, fault: LineFault) -> None:
        """Charge the line's run, or the file.

        Raises:
            _Unreadable: for one such line too many.
        """
        self._unreadable += 1
        run_id = run_of(line)
        if self._unreadable > limits.UNREADABLE_LINES or (
            run_id is None and len(self.file_faults) >= limits.FILE_FAULTS
        ):
            raise _Unreadable
        if run_id is None:
            self._strays[number] = fault
            where, hint = self._where(number, fault.column), _HINTS["MALFORMED"]
            self._file_fault(UntakenError(fault.code, fault.message, where=where, hint=hint))
            return
        chain = self._open.get(run_id) or self._begin(run_id)
        if chain.broken is None:
            chain.fail(fault, number)
            self._fault(chain)

    def _fault(self, chain: Chain) -> None:
        self._charge(chain)
        broken = chain.broken
        if broken is not None:
            where = self._where(broken.line, broken.column, chain.run_id)
            self._report(UntakenError(broken.code, broken.reason, where=where, hint=_HINTS[broken.verdict]))

    def _charge(self, chain: Chain) -> None:
        """An unreadable line where an event of the run is missing is the run's first bad line."""
        broken = chain.broken
        if broken is None or not broken.gap:
            return
        before = broken.line or inf
        number = next((n for n in self._strays if chain.last_line < n < before), None)
        if number is not None:
            chain.fail(self._strays.pop(number), number)
            self.file_faults = [fault for fault in self.file_faults if fault.line != number]

    def _file_fault(self, error: UntakenError) -> None:
        line, column = error.where.line, error.where.column
        fault = Integrity(run_id="", verdict="MALFORMED", reason=error.message, line=line, column=column)
        self.file_faults.append(fault)
        self._report(error)

    def _leave_rest(self, read: int) -> None:
        """Says that no line after `read` was read. A run that was not whole by then is broken there."""
        message = f"too many invalid lines; nothing after line {read:,} was read"
        hint = "Remove lines that are not part of the ledger, or get it again from its source."
        fault = LineFault("many-faults", message)
        self._file_fault(UntakenError(fault.code, message, where=self._where(read + 1), hint=hint))
        for chain in self._open.values():
            # Without a head, RUN_FINISHED is the only sign that a run is whole.
            if chain.broken is None and (chain.short if chain.head else not chain.finished):
                chain.fail(fault, read + 1)
                self._fault(chain)

    def _where(self, line: int | None = None, column: int | None = None, run: str | None = None) -> Where:
        return Where(file=self._view.name or None, line=line, column=column, run=run)


def chain_of(view: View, run_id: str, *, keep: bool = False) -> Chain | None:
    """The chain of one run, for which no line of another one is decoded.

    ``None`` where it does not end at its recorded head, or none is recorded: then the whole ledger has to be
    read.
    """
    head = view.heads.get(run_id)
    if head is None:
        return None
    about = replace(view, heads={run_id: head}, about=run_id.encode())
    chains = Reading(about, lambda _: None, keep=keep_events if keep else None).chains()
    chain = next((one for one in chains if one.run_id == run_id), None)
    # Short of its head, the run is broken, or a line of it writes its id with escapes.
    return chain if chain and chain.broken is None and chain.events == head.events else None


def read_one(view: View, run_id: str) -> Run | None:
    """One run of a ledger; ``None`` as for `chain_of`."""
    chain = chain_of(view, run_id, keep=True)
    if chain is None:
        return None
    return Run(events=tuple(chain.kept), integrity=chain.integrity(), source=view.name)


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
