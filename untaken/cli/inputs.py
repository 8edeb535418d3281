"""From the paths on a command line to runs and plan graphs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from untaken.cli.console import Console
from untaken.errors import Finding, UntakenError, Where
from untaken.formats.likeness import NAMED, ignored, not_a_ledger
from untaken.ledger import (
    Integrity,
    Run,
    has_event_signature,
    heads_path,
    read_ledger,
    unread_runs,
    verify_ledger,
)
from untaken.plans import GraphSet, load_graphs
from untaken.store import LEDGERS, ledgers_and_graphs, peek


class UsageError(UntakenError):
    """The command cannot be carried out as it was given (exit code 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledgers:
    """What was read from the paths.

    Attributes:
        runs: each chain once, with the file that holds it.
        unread: for each run of which not even the start can be read, what is wrong with it.
        broken: number of runs, and of faults outside any run, that mean a ledger is not to be trusted.
    """

    runs: tuple[tuple[Path, Run], ...]
    unread: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    broken: int

    @classmethod
    def none(cls) -> Ledgers:
        """Where no path was given, and none was needed."""
        return cls(runs=(), unread=(), findings=(), broken=0)


def paths_of(args: argparse.Namespace) -> list[str]:
    """The ledgers on a command line with options that take several values.

    If no path comes before such options, the last of them took the paths: its own value is the first one.

    Raises:
        UsageError: ``no-ledgers`` where no path was given.
    """
    if not args.paths and "greedy" in args:
        own, *paths = getattr(args, args.greedy)
        setattr(args, args.greedy, [own])
        args.paths = paths
    if not args.paths:
        raise UsageError("no-ledgers", "no PATH of a ledger or folder of ledgers given")
    return list(args.paths)


def ledger_files(paths: Sequence[str]) -> tuple[list[Path], list[Finding]]:
    """The ledgers named, or found in the folders named, each once, whatever the order they are named in.

    Returns:
        The ledgers, and a finding for each file that is something else: an error if it was named, a
        warning if it was found in a folder and has the name of a ledger.

    Raises:
        UsageError: ``path-not-found``, or ``no-ledgers`` where nothing was found.
    """
    found: dict[Path, Path] = {}
    others: list[Finding] = []
    for path in sorted(map(Path, paths)):
        if not path.exists():
            raise UsageError("path-not-found", "no such file or folder", where=Where(file=str(path)))
        inside = (p for p in ledgers_and_graphs(path) if p.name.lower().endswith(LEDGERS))
        for file in inside if path.is_dir() else [path]:
            if is_ledger(file):
                found.setdefault(file.resolve(), file)
            else:
                others.append(not_a_ledger(file, severity="warning" if path.is_dir() else "error"))
    if not found:
        raise _no_ledgers(paths, others)
    return sorted(found.values()), others


def is_ledger(file: Path) -> bool:
    """True for a ledger, whole or broken: by its lines, or by the heads recorded for it."""
    return has_event_signature(peek(file)) or heads_path(file).exists()


def _no_ledgers(paths: Sequence[str], others: Sequence[Finding]) -> UsageError:
    """Says what was found in place of a ledger."""
    hint = "Ledgers end in .jsonl, .jsonl.gz or .jsonl.zst; `untaken convert` makes them from other traces."
    if len(others) == 1:
        [other] = others
        return UsageError(other.code, other.message, where=other.where, hint=other.hint)
    folders = [path for path in map(Path, paths) if path.is_dir()]
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())
    why = "; ".join(f"{other.where}: {other.message}" for other in others[:NAMED]) or ignored(files)
    return UsageError("no-ledgers", f"no ledger in {', '.join(paths)}: {why}", hint=hint)


def read_ledgers(paths: Sequence[str], console: Console) -> Ledgers:
    """Reads every ledger leniently: what is broken is a finding, and the rest is still read."""
    files, findings = ledger_files(paths)
    runs: dict[str, tuple[Path, Run]] = {}
    unread: list[Finding] = []
    for done, file in enumerate(files, start=1):
        read, noticed = _read(file)
        findings.extend(noticed)
        unread.extend(unread_runs(read, noticed))
        for run in read:
            if run.digest in runs:
                findings.append(_twice(file, run))
            runs.setdefault(run.digest, (file, run))
        console.progress(done, len(files), "reading ledgers")
    broken = sum(finding.severity == "error" for finding in findings)
    return Ledgers(runs=tuple(runs.values()), unread=tuple(unread), findings=tuple(findings), broken=broken)


def _read(file: Path) -> tuple[list[Run], list[Finding]]:
    """A ledger whose recorded heads cannot be read is left out: nothing vouches for it."""
    try:
        return read_ledger(file, strict=False, name=str(file))
    except UntakenError as error:
        return [], [error.finding()]


def verify_file(file: Path) -> list[Integrity]:
    """The verdicts on a ledger; recorded heads that cannot be read are a fault of the file."""
    try:
        return verify_ledger(file, name=str(file))
    except UntakenError as error:
        reason = f"cannot read the recorded heads: {error.message}"
        fault = Integrity(run_id="", verdict="MALFORMED", reason=reason)
        return [*verify_ledger(file, heads={}, name=str(file)), fault]


def read_graphs(folders: Sequence[str]) -> GraphSet:
    """The plan graphs in the folders or files named.

    Raises:
        UsageError: ``path-not-found``, or ``no-graphs`` if there is none.
        UntakenError: ``no-graphs`` where each of them is invalid.
    """
    for path in map(Path, folders):
        if not path.exists():
            raise UsageError("path-not-found", "no such file or folder", where=Where(file=str(path)))
    graphs = load_graphs(folders)
    if graphs.graphs:
        return graphs
    if graphs.findings:
        raise UntakenError(
            "no-graphs",
            f"no valid plan graph in {', '.join(folders)}: {graphs.findings[0].message}",
            hint="Run `untaken graph check` to see what is wrong with each.",
        )
    raise UsageError(
        "no-graphs", "no plan graph in " + ", ".join(folders), hint="They end in .plan.yaml or .plan.json."
    )


def _twice(file: Path, run: Run) -> Finding:
    return Finding(
        code="run-twice",
        message="this run was already read; it counts once",
        where=Where(file=str(file), run=run.run_id),
        severity="note",
    )


def moment(text: str | None) -> datetime | None:
    """The moment that an option names, with its time zone.

    Raises:
        UsageError: ``time-invalid``.
    """
    if text is None:
        return None
    hint = "For example 2026-01-31T12:00:00Z."
    try:
        named = datetime.fromisoformat(text)
        named.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError("time-invalid", f"{text!r} is not a time", hint=hint) from error
    if named.tzinfo is None:
        raise UsageError("time-invalid", "the time has no time zone", hint=hint)
    return named
