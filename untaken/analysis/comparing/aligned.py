"""Runs of one task side by side: columns, cells, and where two runs diverge (§4)."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from untaken.errors import Score, Unscored

Basis = Literal["sub_goal", "tool"]
CellStatus = Literal["completed", "attempted", "skipped", "unscored", "not_required", "called", "not_called"]
Level = Literal["plan", "time", "decision", "sub_goal", "tool", "arguments"]

KNOWN: Final[frozenset[CellStatus]] = frozenset({"completed", "attempted", "skipped", "called", "not_called"})
"""What two runs can differ by: an unscored cell says nothing, and of an unused option its group speaks."""
ALPHA: Final = 0.05
ACHIEVED: Final[frozenset[CellStatus]] = frozenset({"completed", "called"})


class ComparedRun(Struct, frozen=True, kw_only=True):
    """One column: a run, how it ended and how far it came.

    Attributes:
        completed, completion: of the sub-goals that count; unscored where the run is.
        actions: tool calls of the agent during the run.
        mark: what tells it from other runs of its agent: its repeat, or its id where that is no help.
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    task_repeat: int | None
    mark: str
    model: str | None
    success: bool | Unscored
    completed: int | Unscored
    required: int | Unscored
    completion: Score
    actions: int

    @property
    def name(self) -> str:
        """Agent and mark: what a person calls the run (untrusted text)."""
        return f"{self.agent} {self.mark}".rstrip()


class Cell(Struct, frozen=True, kw_only=True):
    """One sub-goal (or tool) in one run.

    Attributes:
        first, last: `seq` of the first and the last action that served it.
        steps: number of those actions; `tools`: what they called, by first use, with how often.
        failures: observations of them that failed or were marked transient.
        decided_by, reason: of a sub-goal, what decided it, and the verdict in words.
        events: `seq` of each action.
    """

    digest: str
    status: CellStatus
    first: int | None
    last: int | None
    steps: int
    tools: tuple[tuple[str, int], ...]
    failures: int
    decided_by: str = ""
    reason: str = ""
    completed_at: int | None = None
    events: tuple[int, ...] = ()


class AlignedRow(Struct, frozen=True, kw_only=True):
    """One sub-goal over all runs shown, in the order of the plan; without a common plan, one tool.

    Attributes:
        key: id of the sub-goal, or the tool's name; both untrusted text, as is `title`.
        parts: whether two runs shown are known to differ here.
    """

    key: str
    title: str
    critical: bool
    parts: bool
    cells: tuple[Cell, ...]

    def cell(self, digest: str) -> Cell:
        """The cell of one run.

        Raises:
            KeyError: where the run is not shown.
        """
        return {cell.digest: cell for cell in self.cells}[digest]


class Split(Struct, frozen=True, kw_only=True):
    """The first point at which a run and the reference part, looked at in one way.

    Attributes:
        level: ``plan`` (first row whose status differs, in the order of the plan), ``time`` (the one of them
            worked on earliest), ``decision`` (another skill in the same context), ``sub_goal`` (the work
            goes on to another sub-goal), ``tool`` (another tool), ``arguments`` (same tool, other arguments).
        key: of the row, where it is known.
        alike: how much of the same kind was alike before: rows, decisions or actions.
        reference_seq, seq: the events that differ; ``None`` where a run has none there.
        words: all that in a sentence; holds untrusted text.
    """

    level: Level
    key: str | None
    alike: int
    reference_seq: int | None
    seq: int | None
    words: str


class Divergence(Struct, frozen=True, kw_only=True):
    """How one run differs from the reference.

    Attributes:
        alike, different: rows whose statuses are known in both; `unknown`: rows not known in one of them.
        splits: in the order of `Level`; empty where nothing differs.
    """

    run_id: str
    digest: str
    alike: int
    different: int
    unknown: int
    splits: tuple[Split, ...]

    def split(self, level: Level) -> Split | None:
        """The first difference of one kind."""
        return next((split for split in self.splits if split.level == level), None)


class OutcomeSplit(Struct, frozen=True, kw_only=True):
    """How often a sub-goal was completed (a tool called) in runs that succeeded and in runs that failed.

    Attributes:
        successes, failures: runs in which it is known; `done_in_…`: of them, those that did it.
        unknown: runs with an outcome in which it is not known, or not required.
        difference: share of the successes minus share of the failures.
        p: two-sided, Fisher's exact test; `p_holm`: adjusted for all rows tested.
    """

    key: str
    title: str
    critical: bool
    successes: int
    done_in_successes: int
    failures: int
    done_in_failures: int
    unknown: int
    difference: Score
    p: Score
    p_holm: Score

    @property
    def clear(self) -> bool:
        """Whether it is significant among all rows tested."""
        # Adjusted: of twenty rows that say nothing one has p ≤ .05.
        return not isinstance(self.p_holm, Unscored) and self.p_holm <= ALPHA


class SideBySide(Struct, frozen=True, kw_only=True):
    """Runs of one task, aligned.

    Attributes:
        basis: what rows are; `basis_reason` says why there are no sub-goals to align by, else empty.
        reference: digest of the reference run; `reference_reason`: why this one.
        runs: those shown, the reference first, then by agent and repeat.
        divergences: of every run shown but the reference.
        outcome_splits: over all runs of the task, what separates best first.
        of_task: unbroken runs of the task; `broken`: those left out because nothing may be concluded from
            their ledger.
    """

    task_id: str
    basis: Basis
    basis_reason: str
    graph_id: str | None
    graph_version: int | None
    reference: str
    reference_reason: str
    of_task: int
    broken: int
    runs: tuple[ComparedRun, ...]
    rows: tuple[AlignedRow, ...]
    divergences: tuple[Divergence, ...]
    outcome_splits: tuple[OutcomeSplit, ...]

    def run(self, digest: str) -> ComparedRun:
        """The column of one run.

        Raises:
            KeyError: where the run is not shown.
        """
        return {run.digest: run for run in self.runs}[digest]

    def row(self, key: str | None) -> AlignedRow | None:
        """The row of a sub-goal or tool, if there is one."""
        return next((row for row in self.rows if row.key == key), None)

    @property
    def first_rows(self) -> tuple[tuple[AlignedRow, int], ...]:
        """The rows where runs first diverge from the reference, in order, with the number of runs."""
        # By the plan: the other levels tell when and how a run went astray, not which sub-goal it missed.
        first = [split.key for one in self.divergences if (split := one.split("plan"))]
        return tuple((row, first.count(row.key)) for row in self.rows if row.key in first)
