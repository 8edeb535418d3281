"""The bytes of a ledger being written: locked, every append announced in the journal, settled after a crash.

For every append the intended head goes to the journal first, then the lines to the ledger, then a mark to the
journal that acknowledges them. The heads sidecar is moved at a checkpoint (on closing, and now and then
before), and the journal goes. A process killed at any moment therefore loses nothing that was acknowledged:
the next writer completes or undoes the last append.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Literal

import filelock
from msgspec import Struct

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import disk
from untaken.ledger.chain import heads_path, heads_text, load_heads, save_heads
from untaken.ledger.decoding import LineFault, decode_event
from untaken.ledger.journal import ACKNOWLEDGED, Intent, encode_intent, journal_path, load_journal, settle
from untaken.ledger.run import Head
from untaken.ledger.source import is_compressed

FsyncPolicy = Literal["always", "close", "never"]
SHORT_BYTES: Final = 64 * limits.KIB
_CHECKPOINT_EVERY = 4096
_CLOSED = -1
_BINARY = getattr(os, "O_BINARY", 0)


class LedgerFile:
    """An open, locked ledger.

    Attributes:
        heads: recorded heads, moved with every append.
        findings: what opening it found and did.
        size: bytes in it.
        torn: a last line that is no event and lacks its newline, left for the caller to judge.
    """

    def __init__(self, path: Path, *, fsync: FsyncPolicy, timeout: float) -> None:
        self.path = path
        self.heads: dict[str, Head] = {}
        self.findings: list[Finding] = []
        self.size = 0
        self.torn = b""
        self._fsync = fsync
        self._usable = False
        self._ledger = self._journal = _CLOSED
        self._unended = False
        self._intents = 0
        self._lock = _locked(path, timeout)
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        self._usable = True

    def append(self, run_id: str, data: bytes, end: Head) -> None:
        """Append `data`, whole lines of one run, which move its head to `end`.

        Raises:
            UntakenError: ``ledger-closed``, also after an append that failed. OSError passes through.
        """
        if not self._usable:
            raise self._error(
                "ledger-closed",
                "this writer is closed, or a write to the disk failed",
                hint="Reopen the ledger to undo an incomplete append.",
            )
        if self._unended:
            data = b"\n" + data
        intent = Intent(run_id=run_id, end=end, offset=self.size, size=len(data))
        # Until all is done the ledger's end is uncertain: an append that fails closes this writer for good.
        self._usable = False
        self._announce(intent)
        disk.write_all(self._ledger, data)
        if self._fsync == "always":
            disk.fsync(self._ledger)
        disk.write_all(self._journal, ACKNOWLEDGED)
        self.size += len(data)
        self.heads[run_id] = end
        self._unended = False
        self._usable = True
        # A checkpoint writes the heads of all runs: the more there are, the less often it is made.
        if self._intents >= max(_CHECKPOINT_EVERY, 4 * len(self.heads)):
            self.checkpoint()

    def checkpoint(self) -> None:
        """Move the heads sidecar to where the ledger is now, and forget the intents."""
        if self._journal == _CLOSED or not self._usable:
            return
        sync = self._fsync != "never"
        self._usable = False
        if sync:
            # In this order: a head that is on the disk before its lines would look like a cut ledger.
            disk.fsync(self._ledger)
        save_heads(heads_path(self.path), self.heads, sync=sync)
        os.close(self._journal)
        self._journal, self._intents = _CLOSED, 0
        disk.remove(journal_path(self.path))
        self._usable = True

    def close(self) -> None:
        """Move the heads, close and unlock. After a failed append the journal stays for the next writer."""
        try:
            self.checkpoint()
        finally:
            for descriptor in (self._ledger, self._journal):
                if descriptor != _CLOSED:
                    os.close(descriptor)
            self._ledger = self._journal = _CLOSED
            self._usable = False
            self._lock.release()

    def _announce(self, intent: Intent) -> None:
        if self._journal == _CLOSED:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY
            self._journal = os.open(journal_path(self.path), flags, 0o644)
            # The name of the journal must be on the disk before bytes that only it explains.
            if self._fsync == "always":
                disk.sync_folder(self.path.parent)
        disk.write_all(self._journal, encode_intent(intent))
        if self._fsync == "always":
            disk.fsync(self._journal)
        self._intents += 1

    def _open(self) -> None:
        self._ledger = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
        if is_compressed(disk.read_at(self._ledger, 0, 4)):
            raise self._error(
                "ledger-compressed",
                "a compressed ledger cannot be appended to",
                hint="Decompress it first and rename its heads file to match.",
            )
        self.heads = load_heads(heads_path(self.path)) if heads_path(self.path).exists() else {}
        self.size = os.fstat(self._ledger).st_size
        self._settle()
        self._inspect_tail()

    def _settle(self) -> None:
        """Complete or undo what a writer before this one announced.

        The heads move for every byte that was acknowledged, whether it is still there or not: what the
        ledger has lost since shows as TRUNCATED from now on, too.
        """
        if not journal_path(self.path).exists():
            return
        settled = settle(self.heads, load_journal(self.path), self.size)
        # Where the crash came before the first byte, there is nothing to cut.
        if settled.undone is not None and self.size > settled.undone.offset:
            self._cut(settled.undone.offset)
            run_id = settled.undone.run_id
            self._found("ledger-append-undone", "an append interrupted by a crash was undone", run_id)
        if settled.completed:
            self.heads = settled.heads
            save_heads(heads_path(self.path), self.heads, sync=self._fsync != "never")
            run_id = settled.completed[-1].run_id
            message = "a crash left the recorded heads behind; updated now"
            self._found("ledger-append-completed", message, run_id)
        disk.remove(journal_path(self.path))

    def _inspect_tail(self) -> None:
        """A last line without its newline is a whole event, to be completed by the next append, or torn."""
        tail = self._tail()
        try:
            self._unended = bool(tail and decode_event(tail))
        except LineFault:
            self.torn = tail

    def _tail(self) -> bytes:
        """Everything after the last newline."""
        tail, at = b"", self.size
        while at and b"\n" not in tail:
            # Backwards: the last line is short as a rule, the file may be huge.
            at -= (step := min(at, 64 * limits.KIB))
            tail = disk.read_at(self._ledger, at, step) + tail
            if len(tail) > limits.LINE_BYTES:
                raise self._error(
                    "ledger-line-too-long", "the last line is longer than any event may be", hint=""
                )
        return tail.rpartition(b"\n")[2]

    def remove_torn(self) -> None:
        """Remove a torn last line. Only for a caller who has made sure that no recorded head counts it."""
        line = self.torn.decode("utf-8", "replace")
        self._cut(self.size - len(self.torn))
        self.torn = b""
        self._found("ledger-torn-line", f"a last line truncated by a crash was removed: {line[:120]!r}")

    def _cut(self, size: int) -> None:
        disk.truncate(self._ledger, size)
        self.size = size

    def _found(self, code: str, message: str, run_id: str | None = None) -> None:
        where = Where(file=str(self.path), run=run_id)
        self.findings.append(Finding(code=code, message=message, where=where, severity="note"))

    def _error(self, code: str, message: str, *, hint: str) -> UntakenError:
        return UntakenError(code, message, where=Where(file=str(self.path)), hint=hint)


class HeldLedger(Struct, frozen=True, kw_only=True):
    """A short ledger in memory, and how its runs end."""

    content: bytes
    heads: Mapping[str, Head]


HeldLedgers = dict[str, HeldLedger]
"""Ledgers in memory, by file name."""


class ScratchFile:
    """A new ledger that no other program sees before it is moved to its place: no lock, no journal.

    A crash loses it, as it loses the folder it is in. The attributes are those of `LedgerFile`. Given `held`,
    a ledger that stays short is put there, and no file is made.
    """

    def __init__(self, path: Path, held: HeldLedgers | None) -> None:
        self.heads: dict[str, Head] = {}
        self.findings: list[Finding] = []
        self.size = 0
        self.torn = b""
        self._path = path
        self._held = held
        self._ledger: BinaryIO = path.open("xb") if held is None else BytesIO()

    def append(self, run_id: str, data: bytes, end: Head) -> None:
        """Append `data`, whole lines of one run, which move its head to `end`."""
        if isinstance(self._ledger, BytesIO) and self._ledger.tell() + len(data) > SHORT_BYTES:
            short, self._ledger = self._ledger, self._path.open("xb")
            self._ledger.write(short.getbuffer())
        self._ledger.write(data)
        self.heads[run_id] = end

    def checkpoint(self) -> None:
        """There is nothing to do: the heads are written on closing."""

    def close(self) -> None:
        """Write what is left, and the heads."""
        if self._ledger.closed:
            return
        with self._ledger:  # closed also where the disk is full
            if self._held is not None and isinstance(self._ledger, BytesIO):
                held = HeldLedger(content=self._ledger.getvalue(), heads=self.heads)
                self._held[self._path.name] = held
            else:
                heads_path(self._path).write_bytes(heads_text(self.heads))


def _locked(path: Path, timeout: float) -> filelock.BaseFileLock:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Any thread may close a writer; a lock that belongs to one thread could then not be released.
    lock = filelock.FileLock(path.with_name(f".{path.name}.lock"), timeout=timeout, thread_local=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise UntakenError(
            "ledger-locked",
            "another program is writing to this ledger",
            where=Where(file=str(path)),
            hint="Wait until it closes, or use one ledger file per program.",
        ) from None
    return lock
