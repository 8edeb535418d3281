"""From the paths on a command line to runs and plan graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from untaken.cli.console import Console
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import Run, read_ledger
from untaken.plans import GraphSet, load_graphs
from untaken.store import LEDGERS, ledgers_and_graphs


class UsageError(UntakenError):
    """The command cannot be carried out as it was given (exit code 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledgers:
    """What was read from the paths.

    Attributes:
        runs: each chain once, with the file that holds it.
        broken: number of runs, and of faults outside any run, that mean a ledger is not to be trusted.
    """

    runs: tuple[tuple[Path, Run], ...]
    findings: tuple[Finding, ...]
    broken: int


def ledger_files(paths: Sequence[str]) -> list[Path]:
    """The ledgers named, or found in the folders named, each once.

    Raises:
        UsageError: ``path-not-found``, or ``no-ledgers`` where nothing was found.
    """
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise UsageError("path-not-found", "there is no such file or folder", where=Where(file=str(path)))
        inside = (p for p in ledgers_and_graphs(path) if p.name.lower().endswith(LEDGERS))
        for file in inside if path.is_dir() else [path]:
            found.setdefault(file.resolve(), file)
    if not found:
        hint = (
            "Ledgers end in .jsonl, .jsonl.gz or .jsonl.zst; `untaken convert` makes them from other traces."
        )
        raise UsageError("no-ledgers", "no ledger in " + ", ".join(paths), hint=hint)
    return list(found.values())


def read_ledgers(paths: Sequence[str], console: Console) -> Ledgers:
    """Reads every ledger leniently: what is broken is a finding, and the rest is still read."""
    files = ledger_files(paths)
    runs: dict[str, tuple[Path, Run]] = {}
    findings: list[Finding] = []
    for done, file in enumerate(files, start=1):
        read, noticed = read_ledger(file, strict=False, name=str(file))
        findings.extend(noticed)
        for run in read:
            if run.digest in runs:
                findings.append(_twice(file, run))
            runs.setdefault(run.digest, (file, run))
        console.progress(done, len(files), "reading ledgers")
    broken = sum(finding.severity == "error" for finding in findings)
    return Ledgers(runs=tuple(runs.values()), findings=tuple(findings), broken=broken)


def read_graphs(folders: Sequence[str]) -> GraphSet:
    """The plan graphs in the folders or files named.

    Raises:
        UsageError: ``path-not-found``, or ``no-graphs`` where there is none that can be read.
    """
    for path in map(Path, folders):
        if not path.exists():
            raise UsageError("path-not-found", "there is no such file or folder", where=Where(file=str(path)))
    graphs = load_graphs(folders)
    if not graphs.graphs:
        detail = f": {graphs.findings[0].message}" if graphs.findings else ""
        raise UsageError(
            "no-graphs",
            "no plan graph in " + ", ".join(folders) + detail,
            hint="They end in .plan.yaml or .plan.json; `untaken graph check` says what is wrong with one.",
        )
    return graphs


def _twice(file: Path, run: Run) -> Finding:
    return Finding(
        code="run-twice",
        message="the same run was read before; it counts once",
        where=Where(file=str(file), run=run.run_id),
        severity="note",
    )
