"""Writing ledgers: one line per event, each chained to the previous one of its run.

An event is acknowledged when `write` returns: a process killed after that loses nothing, whatever the policy
(see `untaken.ledger.ledger_file`). Loss of power is another matter, as the bytes must be on the disk too:

* ``fsync="close"`` (the default) waits for the disk once, on closing. What was written since the ledger was
  opened may be lost, in part or whole, and a run that went on may no longer match its recorded head.
* ``fsync="always"`` waits at every append, twice: for the intent, then for the lines. Nothing acknowledged is
  lost. It costs two syncs an event: a fraction of a millisecond to tens of them, depending on the disk.
* ``fsync="never"`` leaves it to the system, also after closing. For ledgers that can be made again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack, overload

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import event_fields as of
from untaken.ledger.chain import Chain
from untaken.ledger.decoding import read_back
from untaken.ledger.encoding import plain_fields
from untaken.ledger.events import (
    ActionMapping,
    AnyEvent,
    Message,
    Observation,
    Plan,
    RunFinished,
    RunStarted,
    SkillSelection,
    State,
    ToolCall,
    Verdict,
    event_type,
)
from untaken.ledger.journal import journal_path
from untaken.ledger.ledger_file import FsyncPolicy, HeldLedgers, LedgerFile, ScratchFile
from untaken.ledger.reading import Reading, chain_of
from untaken.ledger.run import Draft, Head
from untaken.ledger.run_writer import NotByAgents, RunWriter
from untaken.ledger.source import View
from untaken.ledger.unrecorded import ClosedFile, OnError, Unrecorded, run_ids, salvaged
from untaken.working import step

Clock = Callable[[], datetime]


class LedgerWriter:
    """Appends events to a ledger file, whose lock it holds until it is closed.

        with LedgerWriter("runs.jsonl") as ledger:
            with ledger.start(run_id="r1", agent="desk", task_id="refund-17") as run:
                call = run.tool_call("search_orders", {"order": 17})
                run.observation({"status": "paid"}, call_id=call, ok=True)
                run.finish(success=True, cost=0.02)

    An existing file is verified when it is opened, and continued; a broken run in it is never written to.
    A last line torn by a crash is removed where no recorded head counts it, and named in `findings`. Threads
    may share a writer.

    Args:
        path: the ledger, not compressed; created where it does not exist.
        torn: ``refuse`` leaves a torn last line where it is and raises instead.
        clock: gives each event's `ts`, timezone-aware. With a clock of your own the bytes are reproducible.
        fsync: when to wait for the disk: ``close`` (once, on closing), ``always`` (at every event: nothing
            acknowledged is lost even to a loss of power) or ``never``.
        timeout: seconds to wait for another writer of the same file.
        on_error: ``raise``; or ``warn``, for agents in production: nothing raises into the agent, not even a
            full disk. What could not be recorded is logged (``untaken.ledger``), listed in `findings`, and
            noted in the run as a MESSAGE of the role ``untaken``, as far as that can be written.
        scratch: the file is new, in a folder that no other program uses, and is moved to its place when it is
            closed: neither lock nor journal, no waiting for the disk.
        held: where a scratch ledger that stays short is put with its heads, by name; no file is made.
        only: a run that the ledger has, of which alone the lines are verified, and to which alone is written:
            that takes the time of one run, where the ledger has thousands.

    Raises:
        UntakenError: ``ledger-locked``, ``ledger-compressed``, ``ledger-torn-line``, ``ledger-heads``,
            ``ledger-journal``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        fsync: FsyncPolicy = "close",
        timeout: float = 10.0,
        torn: Literal["remove", "refuse"] = "remove",
        on_error: OnError = "raise",
        scratch: bool = False,
        held: HeldLedgers | None = None,
        only: str | None = None,
    ) -> None:
        self.path = path if isinstance(path, Path) else Path(path)
        self._torn = torn
        self._clock = clock or partial(datetime.now, UTC)
        self._turn = threading.Lock()
        self._unrecorded = Unrecorded(self.path, on_error)
        self._file: LedgerFile | ScratchFile | ClosedFile = ClosedFile(self.path)
        self._chains: dict[str, Chain] = {}
        self._whole = True
        with self._unrecorded.guard("the ledger cannot be opened"):
            if scratch:
                self._file = ScratchFile(self.path, held)
                return
            self._file = LedgerFile(self.path, fsync=fsync, timeout=timeout)
            try:
                self._chains = self._read_chains(self._file, only)
            except BaseException:  # an interruption, too, must give the lock back
                self._file.close()
                raise

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What opening the file found and did, values written as text, and what could not be recorded."""
        return (*self._file.findings, *self._unrecorded.findings)

    def start(self, *, run_id: str, agent: str, task_id: str, **fields: Unpack[of.StartFields]) -> RunWriter:
        """Begin a run with RUN_STARTED; `fields` are its optional ones. Leaving its ``with`` finishes it.

        With ``on_error="warn"``, a run whose id is taken goes on as ``<run_id>~2``.

        Raises:
            UntakenError: as in `write`.
        """
        if self._unrecorded.warns:  # nothing may stop the agent, not even an id that is taken
            run_id = next(free for free in run_ids(run_id) if free not in self._chains)
        self.write(RunStarted, run_id, agent=agent, task_id=task_id, **fields)
        return RunWriter(self, run_id)

    @overload
    def write(
        self, event: type[RunStarted], run_id: str, **fields: Unpack[of.RunStartedFields]
    ) -> RunStarted | None: ...
    @overload
    def write(self, event: type[Plan], run_id: str, **fields: Unpack[of.PlanFields]) -> Plan | None: ...
    @overload
    def write(
        self, event: type[SkillSelection], run_id: str, **fields: Unpack[of.SkillSelectionFields]
    ) -> SkillSelection | None: ...
    @overload
    def write(
        self, event: type[ToolCall], run_id: str, **fields: Unpack[of.ToolCallFields]
    ) -> ToolCall | None: ...
    @overload
    def write(
        self, event: type[Observation], run_id: str, **fields: Unpack[of.ObservationFields]
    ) -> Observation | None: ...
    @overload
    def write(
        self, event: type[Message], run_id: str, **fields: Unpack[of.MessageFields]
    ) -> Message | None: ...
    @overload
    def write(self, event: type[State], run_id: str, **fields: Unpack[of.StateFields]) -> State | None: ...
    @overload
    def write(
        self, event: type[Verdict], run_id: str, **fields: Unpack[of.VerdictFields]
    ) -> Verdict | None: ...
    @overload
    def write(
        self, event: type[ActionMapping], run_id: str, **fields: Unpack[of.ActionMappingFields]
    ) -> ActionMapping | None: ...
    @overload
    def write(
        self, event: type[RunFinished], run_id: str, **fields: Unpack[of.RunFinishedFields]
    ) -> RunFinished | None: ...
    @overload
    def write(self, event: type[NotByAgents], run_id: str, **fields: Any) -> NotByAgents | None: ...
    def write(self, event: type[Any], run_id: str, **fields: Any) -> AnyEvent | None:
        """Append one event, acknowledged when this returns; ``None`` where it could not be (``warn`` only).

        Args:
            event: the event's class.
            run_id: its run, which must have started unless this is RUN_STARTED.
            fields: the event's own fields, and `ts` where the clock is not to be asked.

        Raises:
            UntakenError: ``ledger-unwritable`` (a reader would refuse the event), ``ledger-unknown-run``,
                ``ledger-run-exists``, ``ledger-broken-run``, ``ledger-closed``.
        """
        # `ts`, which is no field of an event's own, leaves the draft's mapping, too: it is this one.
        draft = Draft(event, fields, fields.pop("ts", None))
        written: list[AnyEvent] = []
        with self._unrecorded.guard(event_type(event), run_id) as attempt:
            written = [self._append(run_id, [draft], None)]
        if written:
            return written[0]
        for rescue in salvaged(draft, attempt.error):
            # The first failure was reported.
            with self._unrecorded.guard(event_type(rescue.event), run_id, silent=True):
                self._append(run_id, [rescue], None)
        return None

    def append(
        self, run_id: str, drafts: Sequence[Draft], *, intend: Callable[[Head], None] | None = None
    ) -> Head:
        """Append several events of one run, all or none, and give the run's new head.

        Args:
            run_id: a run in the ledger.
            drafts: the events; none is fine.
            intend: called with the new head before a byte is written, for another keeper of heads.

        Raises:
            UntakenError: as in `write`.
        """
        if drafts:
            self._append(run_id, drafts, intend)
        return self.head(run_id)

    def head(self, run_id: str) -> Head:
        """The current head of a run.

        Raises:
            UntakenError: ``ledger-unknown-run``.
        """
        chain = self._chain(run_id)
        return Head(events=chain.events, sha256=chain.last)

    def checkpoint(self) -> None:
        """Update the heads sidecar to the current state of the ledger; also done on closing."""
        with self._unrecorded.guard("the heads cannot be recorded"):
            self._file.checkpoint()

    def close(self) -> None:
        """Move the heads sidecar, close and unlock the file. Closing twice is fine."""
        with self._unrecorded.guard("the ledger cannot be closed"):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_chains(self, file: LedgerFile, only: str | None) -> dict[str, Chain]:
        size = file.size - len(file.torn)
        view = View(name=str(self.path), heads=file.heads, path=self.path, size=size)
        if only is not None and not file.torn and (chain := chain_of(view, only)) is not None:
            self._whole = False
            chain.anchor(None)
            return {only: chain}
        chains = {chain.run_id: chain for chain in Reading(view, lambda _: None).chains()}
        if file.torn:
            self._remove_torn(file, chains)
        for chain in chains.values():
            chain.anchor(None)
        return chains

    def _remove_torn(self, file: LedgerFile, chains: Mapping[str, Chain]) -> None:
        """Nobody acknowledged a torn line, unless a recorded head counts more events than there are."""
        # Verified: from here on, a run may grow beyond its recorded head.
        for chain in chains.values():
            if chain.broken is not None and chain.broken.verdict == "TRUNCATED":
                raise self._error(
                    "ledger-torn-line",
                    "the last line is incomplete, but the recorded head includes it",
                    chain.run_id,
                    "A recorded event was lost. Restore the ledger from a backup.",
                )
        if self._torn == "refuse":
            hint = "Restore the ledger from a backup."
            raise self._error("ledger-torn-line", "the last line is incomplete", "", hint)
        file.remove_torn()

    def _chain(self, run_id: str) -> Chain:
        chain = self._chains.get(run_id)
        if chain is None:
            hint = "Begin it with start()."
            raise self._error("ledger-unknown-run", "no such run in the ledger", run_id, hint)
        if chain.broken is not None:
            verdict = chain.broken.verdict
            raise self._error(
                "ledger-broken-run",
                f"the run is {verdict}: {chain.broken.reason}",
                run_id,
                "Broken runs cannot be extended. Restore the ledger first.",
            )
        return chain

    def _append(
        self, run_id: str, drafts: Sequence[Draft], intend: Callable[[Head], None] | None
    ) -> AnyEvent:
        """Appends the events, and gives the last one."""
        with self._turn:
            # A copy, so that an event that is refused leaves the run as it was.
            chain = self._chain(run_id).copy() if drafts[0].event is not RunStarted else self._begin(run_id)
            lines = BytesIO()  # the lines of a long run are in memory once
            for draft in drafts:
                step()
                event, line = self._compose(chain, draft)
                lines.write(line)
                lines.write(b"\n")
            head = Head(events=chain.events, sha256=chain.last)
            if intend is not None:
                intend(head)
            self._file.append(run_id, lines.getvalue(), head)
            self._chains[run_id] = chain
        return event

    def _begin(self, run_id: str) -> Chain:
        if not self._whole:
            raise self._error("ledger-run-exists", "this writer is for one run", run_id, "Open another one.")
        if run_id in self._chains:
            hint = "Give each run its own id."
            raise self._error("ledger-run-exists", "the ledger already contains this run", run_id, hint)
        return Chain(run_id)

    def _compose(self, chain: Chain, draft: Draft) -> tuple[AnyEvent, bytes]:
        """The event and its line, both exactly as a reader will see them."""
        try:
            ts = draft.ts or self._clock()
            if ts.tzinfo is None:
                raise ValueError("`ts` has no timezone")
            if ts.tzinfo is not UTC:
                ts = ts.astimezone(UTC)
            fields = plain_fields(draft.event, draft.fields, self._unrecorded.note(chain.run_id))
            event = draft.event(run_id=chain.run_id, seq=chain.events, ts=ts, prev=chain.last, **fields)
            event, line = read_back(event)  # the chain must hash what readers will see
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise self._unwritable(f"{event_type(draft.event)}: {error}", chain.run_id) from None
        if len(line) > limits.LINE_BYTES:
            longest = f"longer than {limits.LINE_BYTES:,} bytes"
            raise self._unwritable(f"{event_type(draft.event)}: {longest}", chain.run_id)
        if not chain.extend(event, line, 0):
            reason = chain.broken.reason if chain.broken else event_type(draft.event)
            raise self._unwritable(reason, chain.run_id)
        return event, line

    def _unwritable(self, message: str, run_id: str) -> UntakenError:
        hint = "Nothing was written, because readers would reject it."
        return self._error("ledger-unwritable", message, run_id, hint)

    def _error(self, code: str, message: str, run_id: str, hint: str) -> UntakenError:
        return UntakenError(code, message, where=Where(file=str(self.path), run=run_id or None), hint=hint)


def append_events(
    path: str | os.PathLike[str],
    run_id: str,
    drafts: Sequence[Draft],
    *,
    clock: Clock | None = None,
    fsync: FsyncPolicy = "always",
    timeout: float = 10.0,
    intend: Callable[[Head], None] | None = None,
) -> Head:
    """Append events to a run of a closed ledger, all or none even in a crash, and give the run's new head.

    The intended head is recorded first, then the events are written, then the recorded head is moved.

    Args:
        path: the ledger file, not compressed.
        run_id: a run in it that is not broken.
        drafts: the events; with none, nothing is written.
        clock: as in `LedgerWriter`.
        fsync: as in `LedgerWriter`; after a loss of power any but ``always`` can leave a recorded run that
            looks tampered with.
        timeout: as in `LedgerWriter`.
        intend: called with the new head before a byte is written, so that another keeper of heads (a
            database) can record its own intent.

    Raises:
        UntakenError: ``ledger-not-found``, and as in `LedgerWriter` and `LedgerWriter.write`.
    """
    if not Path(path).is_file():
        where = Where(file=str(path), run=run_id)
        raise UntakenError("ledger-not-found", "no such file", where=where)
    with LedgerWriter(path, clock=clock, fsync=fsync, timeout=timeout, only=run_id) as ledger:
        return ledger.append(run_id, drafts, intend=intend)


def recover(path: str | os.PathLike[str], *, timeout: float = 10.0) -> list[Finding]:
    """Complete or undo what a crash interrupted; a ledger without an intent journal is left alone.

    Raises:
        UntakenError: ``ledger-locked`` while a writer is at work, ``ledger-heads``, ``ledger-journal``.
    """
    if not (Path(path).is_file() and journal_path(path).exists()):
        return []
    file = LedgerFile(Path(path), fsync="close", timeout=timeout)
    file.close()
    return file.findings
