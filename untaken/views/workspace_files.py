"""What a workspace holds: files, the integrity of their runs, the audit log, and counts after an upload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from untaken.analysis import Corpus
from untaken.errors import Unscored
from untaken.ledger import BROKEN, Run
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views.frame import Columns, count, frame, moment, text
from untaken.views.review import review_order
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Unbroken runs in a few counts.

    Attributes:
        runs, agents, tasks: how many there are.
        with_plan: runs that a plan graph covers.
        with_outcome: runs with a recorded outcome.
        failing: content digest of the first run in the order of review in which something went wrong; empty
            where there is none.
    """

    runs: int
    agents: int
    tasks: int
    with_plan: int
    with_outcome: int
    failing: str


def contents(corpus: Corpus) -> Contents:
    """The counts above."""
    runs = {digest: run for digest, run in corpus.runs.items() if not run.integrity.broken}
    failing = (one.digest for one in review_order(corpus) if one.failing and one.digest in runs)
    return Contents(
        runs=len(runs),
        agents=len({run.agent for run in runs.values()}),
        tasks=len({run.task_id for run in runs.values()}),
        with_plan=sum(isinstance(corpus.scores[digest], RunScore) for digest in runs),
        with_outcome=sum(not isinstance(run.success, Unscored) for run in runs.values()),
        failing=next(failing, ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRun:
    """What counts of one unbroken run."""

    agent: str
    task: str
    with_plan: bool


def runs_by_id(corpus: Corpus) -> Mapping[str, list[HeldRun]]:
    """The unbroken runs by their ids, which runs of several files can share."""
    found: dict[str, list[HeldRun]] = {}
    for digest, run in corpus.runs.items():
        if not run.integrity.broken:
            planned = isinstance(corpus.scores[digest], RunScore)
            one = HeldRun(agent=run.agent, task=run.task_id, with_plan=planned)
            found.setdefault(run.run_id, []).append(one)
    return found


def runs_in_words(runs: Collection[HeldRun]) -> str:
    """For example: 120 runs of 3 agents, 50 tasks; 20 need a plan."""
    agents, tasks = len({run.agent for run in runs}), len({run.task for run in runs})
    words = f"{counted(len(runs), 'run')} of {counted(agents, 'agent')}, {counted(tasks, 'task')}"
    bare = sum(not run.with_plan for run in runs)
    if bare:
        words += (
            f"; {bare:,} {'needs' if bare == 1 else 'need'} a plan" if bare < len(runs) else "; no plan yet"
        )
    return words
