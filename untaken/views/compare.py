"""Runs of a task side by side, as tables and as a document (§4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UnsetType

from untaken.analysis import (
    AlignedRow,
    Cell,
    ComparedRun,
    Corpus,
    Divergence,
    OutcomeSplit,
    SideBySide,
    Split,
    TaskRuns,
    tasks_of,
)
from untaken.scoring import MissingRule, RunScore
from untaken.views.documents import Count, Keys
from untaken.views.frame import Columns, as_facts, count, figure, frame, text, truth, why
from untaken.views.spending import AgentUsage

if TYPE_CHECKING:
    import pandas as pd


class _Cell(NamedTuple):
    run: ComparedRun
    row: AlignedRow
    cell: Cell


class _SplitRow(NamedTuple):
    run: ComparedRun
    divergence: Divergence
    split: Split


MATRIX: Final[Columns[_Cell]] = {
    "sub_goal": text("the sub-goal; without a common plan graph, the tool", "row.key"),
    **as_facts("title critical", at="row."),
    "parts": truth("whether two runs shown are known to differ at it", "row.parts"),
    **as_facts("agent task_repeat success", at="run."),
    "status": text("its status in this run; of a tool, called or not_called", "cell.status"),
    "first": count("event of the first action that served it", "cell.first"),
    "last": count("event of the last one", "cell.last"),
    "steps": count("number of those actions", "cell.steps"),
    "tools": text(
        "what they called, with how often", lambda r: ", ".join(f"{tool} × {n}" for tool, n in r.cell.tools)
    ),
    "failures": count("their observations that failed", "cell.failures"),
    "decided_by": text("what decided the status", "cell.decided_by"),
    "reason": text("the verdict in words", "cell.reason"),
    "completed_at": count("event after which it was completed, where known", "cell.completed_at"),
    **as_facts("run_id digest", at="run."),
}

DIVERGENCES: Final[Columns[_SplitRow]] = {
    **as_facts("agent task_repeat success", at="run."),
    "level": text("looked at in which way: plan, time, decision, sub_goal, tool or arguments", "split.level"),
    "words": text("where it diverges from the reference, in words", "split.words"),
    "alike": count("rows, decisions or actions that were alike before", "split.alike"),
    "sub_goal": text("the sub-goal at which they diverge, if known", "split.key"),
    "reference_seq": count("event of the reference", "split.reference_seq"),
    "seq": count("event of this run", "split.seq"),
    "rows_alike": count("sub-goals with the same status in both", "divergence.alike"),
    "rows_different": count("sub-goals with another status", "divergence.different"),
    "rows_unknown": count("sub-goals not known, or not required, in one of them", "divergence.unknown"),
    **as_facts("run_id digest", at="run."),
}

OUTCOME_SPLITS: Final[Columns[OutcomeSplit]] = {
    "sub_goal": text("the sub-goal; without a common plan graph, the tool", "key"),
    **as_facts("title critical"),
    "done_in_successes": count("successful runs that completed it (called the tool)", "done_in_successes"),
    "successes": count("number of runs in which it is known", "successes"),
    "done_in_failures": count("failed runs that completed it (called the tool)", "done_in_failures"),
    "failures": count("number of runs in which it is known", "failures"),
    "difference": figure("share of the successes minus share of the failures", "difference", "points"),
    "p": figure("two-sided, Fisher's exact test", "p", "p"),
    "p_holm": figure("adjusted for all sub-goals tested (Holm)", "p_holm", "p"),
    "unknown": count("runs with an outcome in which it is not known, or not required", "unknown"),
    "p_reason": why("p", "p"),
}


def compared_tasks(corpus: Corpus) -> tuple[TaskRuns, ...]:
    """Every task with two unbroken runs: first where they differ at a sub-goal, most to compare first."""
    # A stable sort: within each half the order of `tasks_of` stays.
    return tuple(sorted(tasks_of(corpus.runs.values()), key=lambda task: not _differs(corpus, task)))


def _differs(corpus: Corpus, task: TaskRuns) -> bool:
    scores = (corpus.scores[digest] for digest in task.digests)
    found = {
        tuple((one.sub_goal, one.status) for one in score.results)
        for score in scores
        if isinstance(score, RunScore)
    }
    return len(found) > 1


def matrix_table(found: SideBySide) -> pd.DataFrame:
    """One row per sub-goal and run, in the order of the matrix (columns: `MATRIX`)."""
    cells = (_Cell(found.run(cell.digest), row, cell) for row in found.rows for cell in row.cells)
    return frame(MATRIX, cells)


def divergences_table(found: SideBySide) -> pd.DataFrame:
    """One row per run and kind of comparison with the reference (columns: `DIVERGENCES`)."""
    splits = (
        _SplitRow(found.run(divergence.digest), divergence, split)
        for divergence in found.divergences
        for split in divergence.splits
    )
    return frame(DIVERGENCES, splits)


def outcome_splits_table(found: SideBySide) -> pd.DataFrame:
    """One row per sub-goal: how often done in successes and in failures (columns: `OUTCOME_SPLITS`)."""
    return frame(OUTCOME_SPLITS, found.outcome_splits)


def _tools(cell: Cell) -> Mapping[str, Count]:
    return dict(cell.tools)


_CELL: Final = Keys(Cell, "* tools", tools=_tools)
_ROW: Final = Keys(AlignedRow, "* cells", cells=[_CELL])
COMPARE_DOCUMENT: Final = Keys(
    SideBySide,
    # Programs rely on the name that divergences had first.
    "missing verdicts * runs rows partings=divergences outcome_splits usage findings",
    schema="untaken.compare/1",
    missing=MissingRule,
    verdicts=[str],
    rows=[_ROW],
    usage=Sequence[AgentUsage] | UnsetType,
)
"""The matrix, where each run diverges from the reference, associations with success."""
