"""What a workspace holds: files, the integrity of their runs, the audit log, and counts after an upload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from untaken.analysis import Corpus
from untaken.errors import Finding, Unscored
from untaken.ledger import BROKEN, Run
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views.frame import Columns, RowWith, count, frame, moment, text
from untaken.views.review import review_order
from untaken.workspace import AuditEntry, StoredFile

if TYPE_CHECKING:
    import pandas as pd


_File = RowWith[StoredFile, Counter[str]]
"""A file with how many of the runs that were read from it have which verdict."""


def _unbroken(one: _File) -> int:
    return sum(number for verdict, number in one.beside.items() if verdict not in BROKEN)


def _integrity(one: _File) -> str:
    return " · ".join(f"{number} {verdict}" for verdict, number in one.beside.most_common())


FILES: Final[Columns[_File]] = {
    "name": text("the name it was added under", "row.name"),
    "kind": text("ledger, graph, heads, planning, or a foreign format", "row.kind"),
    "runs": count("unbroken runs in it", _unbroken),
    "integrity": text("integrity verdicts of its runs", _integrity),
    "origin": text("the foreign format it was converted from", "row.origin"),
    "loss": text("what the conversion could not carry over", lambda row: " · ".join(row.row.loss) or None),
    "findings": text(
        "findings when it was added",
        lambda row: " · ".join(f"{found.code}: {found.message}" for found in row.row.findings),
    ),
    "bytes": count("its size", "row.bytes"),
    "added_at": moment("when it was added", "row.added_at"),
    "digest": text("SHA-256 of its bytes", "row.digest"),
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
    return frame(FILES, (RowWith(file, verdicts.get(file.name, Counter())) for file in files))


def corpus_findings(corpus: Corpus) -> tuple[Finding, ...]:
    """What was noticed while the runs of a workspace were scored, remembered and ranked."""
    return corpus.findings


def audit_table(entries: Sequence[AuditEntry]) -> pd.DataFrame:
    """One row per line of the audit log (columns: `AUDIT`)."""
    return frame(AUDIT, entries)


class Contents(Struct, frozen=True, kw_only=True):
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


HeldRun = tuple[str, str, bool]
"""What counts of one unbroken run: its agent, its task, and whether a plan graph covers it."""


def runs_by_id(corpus: Corpus) -> Mapping[str, list[HeldRun]]:
    """The unbroken runs by their ids, which runs of several files can share."""
    found: dict[str, list[HeldRun]] = {}
    for digest, run in corpus.runs.items():
        if not run.integrity.broken:
            planned = isinstance(corpus.scores[digest], RunScore)
            found.setdefault(run.run_id, []).append((run.agent, run.task_id, planned))
    return found


def runs_in_words(runs: Collection[HeldRun]) -> str:
    """For example: 120 runs of 3 agents, 50 tasks; 20 need a plan."""
    agents, tasks = (len({run[at] for run in runs}) for at in (0, 1))
    words = f"{counted(len(runs), 'run')} of {counted(agents, 'agent')}, {counted(tasks, 'task')}"
    bare = sum(not planned for *_, planned in runs)
    if bare:
        words += (
            f"; {bare:,} {'needs' if bare == 1 else 'need'} a plan" if bare < len(runs) else "; no plan yet"
        )
    return words
