r"""Reading ledgers: strict (the first fault raises) and lenient (good runs and findings), line by line.

The form of a file, beyond one JSON object a line:

* ``\n`` alone ends a line. A carriage return before it belongs to the line and is hashed with it, so a
  ledger whose line ends a tool has converted is ALTERED, and the reason says so.
* The last line may lack its newline: no event is missing.
* A blank line is no event: a fault of the file, which costs no run.
* A byte order mark makes the first line MALFORMED.
* An empty file is a fault (``ledger-empty``); with recorded heads, every recorded run is TRUNCATED.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar, overload

from untaken.errors import Finding, UntakenError
from untaken.garbage import seldom_collected
from untaken.ledger.chain import Chain
from untaken.ledger.reading import Reading, RunLines, keep_events, ledger_changed
from untaken.ledger.run import Head, Integrity, Run
from untaken.ledger.signature import not_a_ledger
from untaken.ledger.source import LedgerSource, Readable, open_view

Made = TypeVar("Made")


@overload
def read_ledger(
    source: LedgerSource,
    *,
    strict: Literal[True] = True,
    heads: Mapping[str, Head] | None = None,
    name: str | None = None,
) -> list[Run]: ...


@overload
def read_ledger(
    source: LedgerSource,
    *,
    strict: Literal[False],
    heads: Mapping[str, Head] | None = None,
    name: str | None = None,
) -> tuple[list[Run], list[Finding]]: ...


@seldom_collected()
def read_ledger(
    source: LedgerSource,
    *,
    strict: bool = True,
    heads: Mapping[str, Head] | None = None,
    name: str | None = None,
) -> list[Run] | tuple[list[Run], list[Finding]]:
    """Read all runs of a ledger, in the order in which they begin (§1).

    Args:
        source: a path (``.jsonl``, ``.gz`` or ``.zst``, recognised by content), bytes, or a binary stream.
        strict: raise at the first fault; otherwise return what can be read, with findings. A broken run is
            still returned, up to its fault and marked by its integrity, where its RUN_STARTED is readable. A
            fault costs its own run only; one that no run can be charged with is a finding of the file.
        heads: recorded heads of *this* ledger by run id: a run named there and absent here is TRUNCATED.
            ``None`` takes the sidecar ``<file>.heads.json`` of a path, if there is one.
        name: what messages and `Run.source` call the ledger.

    Raises:
        UntakenError: ``ledger-not-found``, ``ledger-heads``, ``ledger-journal``; strict: ``not-a-ledger`` or
            any fault of the ledger. An unanchored run is no fault. Errors of the disk pass through.
    """
    view = open_view(source, heads=heads, name=name)
    findings = list(view.findings)
    if view.is_foreign():
        other = not_a_ledger(view.name)
        if strict:
            raise other
        return [], [other.finding()]
    reading = Reading(view, _raise if strict else _collect(findings), keep=keep_events)
    runs = [run for run in map(reading.run, reading.chains()) if run]
    return runs if strict else (runs, findings)


@seldom_collected()
def read_runs_as(
    path: str | os.PathLike[str],
    make: Callable[[Sequence[tuple[Run, RunLines]]], Sequence[Made]],
    *,
    at_once: int,
    name: str | None = None,
    heads: Mapping[str, Head] | None = None,
    stream: Readable | None = None,
) -> tuple[list[Made], list[Finding]] | None:
    """What is made of each run of a ledger, as `read_ledger` reads it leniently; each run is then let go.

    The file is read once. Something is made of a run soon after it has finished, with others that finished
    about then; where more was written about it further on, again, with its lines read again.

    Args:
        path: a ledger file.
        make: called with some runs, and where the lines of each are.
        at_once: how many runs that is, at most.
        name: as in `read_ledger`.
        heads: as in `read_ledger`.
        stream: what is read, where that is not all of the file: it begins with the same bytes.

    Returns:
        As `read_ledger`; ``None`` where lines cannot be found again by their place: in a compressed ledger,
        before anything of it is read, or after a line that is too long to be held.

    Raises:
        UntakenError: as in `read_ledger`, and ``ledger-changed`` where somebody changes it meanwhile.
    """
    view = open_view(os.fspath(path), heads=heads, name=name)
    if view.path is None or view.is_foreign() or view.is_compressed():  # only plain lines can be found again
        return None
    file, findings = view.path, list(view.findings)
    if stream is not None:
        view = open_view(stream, heads=view.heads, name=view.name)
    early: dict[str, tuple[int, Made]] = {}
    waiting: list[Chain] = []

    def ended(chain: Chain) -> None:
        # The head counts more events: what was written about the run later is still to come.
        if chain.short:
            chain.kept = []
        else:
            waiting.append(chain)
            if len(waiting) >= at_once:
                settle()

    def settle() -> None:
        some = [(chain, *read) for chain in waiting if (read := whole(chain))]
        values = make([(run, lines) for _, run, lines in some])
        for (chain, _, _), value in zip(some, values, strict=True):
            early[chain.run_id] = chain.events, value
        for chain in waiting:
            chain.kept = []
        waiting.clear()

    def whole(chain: Chain) -> tuple[Run, RunLines] | None:
        lines = RunLines(file, chain.spans)
        # Its events were let go after RUN_FINISHED, and more came further on.
        if len(chain.kept) < chain.events:
            again = lines.events(chain.run_id, Head(events=chain.events, sha256=chain.last))
            if again is None:
                raise ledger_changed(view.name, chain.run_id)
            chain.kept = list(again)
        run = reading.run(chain)
        return (run, lines) if run else None

    reading = Reading(view, _collect(findings), keep=keep_events, ended=ended)
    found: list[Made] = []
    for chain in reading.chains():
        if reading.cut:
            return None
        # All lines have been read by the time the first chain comes.
        if waiting:
            settle()
        events, value = early.pop(chain.run_id, (0, None))
        if value is not None and events == chain.events and chain.broken is None:
            found.append(value)
        elif now := whole(chain):
            found.extend(make([now]))
    return found, findings


def verify_ledger(
    source: LedgerSource, *, heads: Mapping[str, Head] | None = None, name: str | None = None
) -> list[Integrity]:
    """The integrity verdict of each run, in the order in which they begin, without keeping an event.

    Recorded runs that are absent come next, as TRUNCATED. Faults that no run can be charged with (an
    unreadable line, a blank line, an empty file, damaged compression) come last, as MALFORMED with an empty
    `run_id`.

    Args:
        source: as in `read_ledger`.
        heads: as in `read_ledger`.
        name: as in `read_ledger`.

    Raises:
        UntakenError: ``ledger-not-found``, ``ledger-heads``, ``ledger-journal``.
    """
    reading = Reading(open_view(source, heads=heads, name=name), _collect([]))
    verdicts = [chain.integrity() for chain in reading.chains()]
    return verdicts + reading.file_faults


def unread_runs(runs: Iterable[Run], findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What is wrong with each run that lenient readers could give no part of: the first fault of each.

    Such a run is broken, and yet not among the runs: its RUN_STARTED cannot be read, or no line is there.
    """
    given = list(runs)
    known = {(run.source, run.run_id) for run in given}
    broken = {run.run_id for run in given if run.integrity.broken}
    faults: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        place = finding.where.file or "", finding.where.run or ""
        if finding.severity == "error" and place[1] and place not in known and place[1] not in broken:
            faults.setdefault(place, finding)
    return tuple(faults.values())


def _raise(error: UntakenError) -> None:
    raise error


def _collect(findings: list[Finding]) -> Callable[[UntakenError], None]:
    return lambda error: findings.append(error.finding())
