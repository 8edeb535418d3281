"""What a workspace holds: its files, the integrity of the runs in them, its audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from untaken.ledger import BROKEN, Run
from untaken.views.frame import Columns, count, frame, moment, text
from untaken.workspace import AuditEntry, StoredFile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """One file and the runs that were read from it."""

    file: StoredFile
    verdicts: Counter[str]

    @property
    def runs(self) -> int:
        """How many unbroken runs were read from it."""
        return sum(number for verdict, number in self.verdicts.items() if verdict not in BROKEN)

    @property
    def integrity(self) -> str:
        """How many of its runs have which verdict."""
        return " · ".join(f"{number} {verdict}" for verdict, number in self.verdicts.most_common())

    @property
    def finding_words(self) -> str:
        """Its findings in words."""
        return " · ".join(f"{finding.code}: {finding.message}" for finding in self.file.findings)


FILES: Final[Columns[FileRow]] = {
    "name": text("the name it was added under", "file.name"),
    "kind": text("ledger, graph, heads, planning, or a foreign format", "file.kind"),
    "runs": count("unbroken runs in it", "runs"),
    "integrity": text("integrity verdicts of its runs", "integrity"),
    "origin": text("the foreign format it was converted from", "file.origin"),
    "loss": text("what the conversion could not carry over", lambda row: " · ".join(row.file.loss) or None),
    "findings": text("findings when it was added", "finding_words"),
    "bytes": count("its size", "file.bytes"),
    "added_at": moment("when it was added", "file.added_at"),
    "digest": text("SHA-256 of its bytes", "file.digest"),
}

AUDIT: Final[Columns[AuditEntry]] = {
    "ts": moment("when", "ts"),
    "code": text("type of the event", "code"),
    "message": text("in words", "message"),
    "run": text("the run it concerns", "run"),
}


def files_table(files: Iterable[StoredFile], runs: Iterable[Run]) -> pd.DataFrame:
    """One row per file of a workspace (columns: `FILES`)."""
    verdicts: dict[str, Counter[str]] = {}
    # `Run.source` is the name of the file it was read from.
    for run in runs:
        verdicts.setdefault(run.source, Counter())[run.integrity.verdict] += 1
    return frame(FILES, [FileRow(file=f, verdicts=verdicts.get(f.name, Counter())) for f in files])


def audit_table(entries: Sequence[AuditEntry]) -> pd.DataFrame:
    """One row per line of the audit log (columns: `AUDIT`)."""
    return frame(AUDIT, entries)
