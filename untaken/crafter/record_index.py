"""Which runs have a record of planning, among many files (§7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from untaken.crafter.record import ENDING, read_planning_head
from untaken.errors import Finding, UntakenError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordIndex:
    """Records of planning by run id.

    Attributes:
        records: the file of each run's record; of several, the last one given.
        evaluated: the runs whose actions What-If-Not evaluated, by their settings.
        findings: why other files are no records.
    """

    records: Mapping[str, Path]
    evaluated: frozenset[str]
    findings: tuple[Finding, ...]


def records_under(folder: Path) -> list[Path]:
    """The files under a folder that are named like records of planning, in a stable order."""
    return sorted(path for path in folder.rglob(f"*{ENDING}") if path.is_file())


def index_records(files: Iterable[Path]) -> RecordIndex:
    """Looks at the head of each file; one that cannot be read is a finding and costs only itself."""
    records: dict[str, Path] = {}
    evaluated: set[str] = set()
    findings: list[Finding] = []
    for file in files:
        try:
            head = read_planning_head(file)
        except UntakenError as error:
            findings.append(error.finding())
            continue
        records[head.run_id] = file
        evaluated.discard(head.run_id)
        if head.settings.get("win"):
            evaluated.add(head.run_id)
    return RecordIndex(records=records, evaluated=frozenset(evaluated), findings=tuple(findings))
