"""Appending to the ledgers on a command line: all of a run's events or none, and never to a broken file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from untaken.cli.console import Console
from untaken.cli.grammar import UsageError
from untaken.errors import Finding, Where
from untaken.facts import Ledgers, Place
from untaken.ledger import Draft, LedgerWriter, Run, is_compressed, read_ledger
from untaken.numbers import counted

DraftsOf = Callable[[Run], Sequence[Draft]]
"""What to append to a run, given all that its ledger holds by then."""
LOCK_SECONDS: Final = 60.0
"""How long to wait for another process that appends to the same ledger."""


def refuse_compressed(ledgers: Ledgers) -> None:
    """Said before a byte is written, so that no ledger gets its events when another cannot.

    Raises:
        UsageError: ``ledger-compressed``, ``ledger-remote``.
    """
    for file in dict.fromkeys(_of_this_machine(place) for place, _ in ledgers.runs):
        with file.open("rb") as stream:
            if is_compressed(stream.read(4)):
                raise UsageError(
                    "ledger-compressed",
                    "a compressed ledger cannot be appended to; nothing was written",
                    where=Where(file=str(file)),
                    hint="Decompress it first and rename its heads file to match.",
                )


def _of_this_machine(place: Place) -> Path:
    if isinstance(place, Path):
        return place
    raise UsageError(
        "ledger-remote",
        "a remote ledger cannot be appended to; nothing was written",
        where=Where(file=str(place)),
        hint="Download the ledger and its heads file, and name the copy.",
    )


def broken_files(ledgers: Ledgers) -> set[Place]:
    """The files in which anything is broken; nothing is appended to them."""
    broken = {fault.where.file for fault in ledgers.findings if fault.severity == "error"}
    return {file for file, _ in ledgers.runs if str(file) in broken}


def append_drafts(
    ledgers: Ledgers, wanted: Iterable[tuple[Place, Run, DraftsOf]], console: Console, *, code: str
) -> list[Finding]:
    """Appends what was found out about runs, that of one run in one transaction."""
    by_file: dict[Path, list[tuple[Run, DraftsOf]]] = defaultdict(list)
    for file, run, drafts_of in wanted:
        # Asked before the lock, too: a ledger that needs nothing is not locked.
        if drafts_of(run):
            by_file[_of_this_machine(file)].append((run, drafts_of))
    broken = broken_files(ledgers)
    sound = [file for file in by_file if file not in broken]
    written = sum(_append(file, by_file[file]) for file in sound)
    console.say(f"{counted(written, 'event')} appended to {counted(len(sound), 'ledger')}")
    return [_left_alone(file, code) for file in by_file if file in broken]


def _append(file: Path, wanted: Sequence[tuple[Run, DraftsOf]]) -> int:
    """Events written to one ledger."""
    written = 0
    with LedgerWriter(file, fsync="always", timeout=LOCK_SECONDS) as ledger:
        now = {run.run_id: run for run in _as_locked(file, ledger, [run for run, _ in wanted])}
        for run, drafts_of in wanted:
            drafts = drafts_of(now[run.run_id])  # asked again: another process may have done the same
            ledger.append(run.run_id, drafts)
            written += len(drafts)
    return written


def _as_locked(file: Path, ledger: LedgerWriter, runs: Sequence[Run]) -> Sequence[Run]:
    """The runs as they are while nobody else can write."""
    heads = [ledger.head(run.run_id) for run in runs]
    if heads == [run.integrity.head for run in runs]:  # nobody has written since it was read
        return runs
    return read_ledger(file, strict=False)[0]


def _left_alone(file: Path, code: str) -> Finding:
    return Finding(
        code=code,
        message="this ledger has a broken part, so nothing was appended to any of its runs",
        where=Where(file=str(file)),
        hint="Restore the ledger, or move its intact runs to a separate file.",
    )
