"""Appending to the ledgers on a command line: all of a run's events or none, and never to a broken file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from untaken.cli.console import Console, counted
from untaken.cli.inputs import Ledgers, UsageError
from untaken.errors import Finding, Where
from untaken.ledger import Draft, LedgerWriter
from untaken.ledger.lines import is_compressed


def refuse_compressed(ledgers: Ledgers) -> None:
    """Said before a byte is written, so that no ledger gets its events when another cannot.

    Raises:
        UsageError: ``ledger-compressed``.
    """
    for file in dict.fromkeys(file for file, _ in ledgers.runs):
        with file.open("rb") as stream:
            if is_compressed(stream.read(4)):
                raise UsageError(
                    "ledger-compressed",
                    "a compressed ledger cannot be appended to; nothing was written",
                    where=Where(file=str(file)),
                    hint="Decompress it first; its heads file goes with it under the new name.",
                )


def append_drafts(
    ledgers: Ledgers, drafts: Iterable[tuple[Path, str, Sequence[Draft]]], console: Console
) -> list[Finding]:
    """Appends what a judge said, that of one run in one transaction.

    Args:
        ledgers: what was read; a file in which anything is broken is left alone, and named.
        drafts: (file, run id, its events).
        console: where the number written is told.
    """
    by_file: dict[Path, list[tuple[str, Sequence[Draft]]]] = defaultdict(list)
    for file, run_id, some in drafts:
        if some:
            by_file[file].append((run_id, some))
    broken = {fault.where.file for fault in ledgers.findings if fault.severity == "error"}
    written = 0
    sound = [file for file in by_file if str(file) not in broken]
    for file in sound:
        with LedgerWriter(file, fsync="always") as ledger:
            for run_id, some in by_file[file]:
                ledger.append(run_id, some)
                written += len(some)
    console.say(f"{counted(written, 'event')} appended to {counted(len(sound), 'ledger')}")
    return [_left_alone(file) for file in by_file if str(file) in broken]


def _left_alone(file: Path) -> Finding:
    return Finding(
        code="verdicts-not-appended",
        message="something in this ledger is broken, so nothing was appended, to its good runs neither",
        where=Where(file=str(file)),
        hint="Restore the ledger, or move its good runs to a file of their own.",
    )
