"""What ranking agents gives (§5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from untaken.errors import Score, Unscored
from untaken.ranking.comparisons import (
    Comparison,
    PassK,
    Placed,
    Pull,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.subgoals.model import RunScore

if TYPE_CHECKING:
    from untaken.ranking.tables import RunsByCell

NO_INTERVAL: Final = Unscored("no interval: it takes at least two tasks")
FEWEST_TASKS: Final = 5
"""With fewer, no pattern of signs of their differences is rare enough: 2 of 2⁴ are 12.5 %."""
TOO_FEW_TASKS: Final = Unscored(f"too few tasks: a rank has an interval from {FEWEST_TASKS} tasks on")
NOT_TESTED: Final = Unscored("agents were not compared two by two")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How often tasks are drawn anew, and from which seed."""

    resamples: int = 10_000
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One agent under one metric, over the tasks all agents share.

    Attributes:
        value: mean over tasks of the task's mean over repeats; unscored where no task has a value.
        low, high: 95 % interval; unscored where it cannot be had.
        rank: 1 is best; ties share the smallest rank; ``None`` where unscored.
        n_tasks, n_runs: what the value rests on.
    """

    agent: str
    value: Score
    low: Score
    high: Score
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    n_tasks: int
    n_runs: int

    @property
    def unranked(self) -> Unscored:
        """Why a rank that is ``None`` is not there."""
        if isinstance(self.value, Unscored):
            return self.value
        return TOO_FEW_TASKS if self.n_tasks < FEWEST_TASKS else NOT_TESTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Kendall τ-b (and Spearman) between the rankings of two metrics, over `n` agents."""

    a: str
    b: str
    tau_b: Score
    low: Score
    high: Score
    p: Score
    spearman: Score
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordantPair:
    """`first` is above `second` under `a_metric` and below it under `b_metric`."""

    a_metric: str
    b_metric: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A run whose outcome bit and sub-goals disagree.

    ``lucky``: success with a critical sub-goal not completed; ``unlucky``: failure with everything completed.
    `weight` orders them for review, largest first.
    """

    kind: Literal["lucky", "unlucky"]
    run_id: str
    digest: str
    agent: str
    task_id: str
    sub_goals: tuple[str, ...]
    weight: float


@dataclass(frozen=True, kw_only=True)
class RankReport:
    """Rankings by metric, how they agree, and where the outcome misleads.

    What compares agents two by two is worked out when it is first asked for: few readers of a ranking need
    all of it, and it takes longer than the ranking itself.

    Attributes:
        runs: the scored runs that were ranked.
        bootstrap: what the intervals rest on.
    """

    metrics: dict[str, tuple[Standing, ...]]
    agreement: tuple[Agreement, ...]
    discordant: tuple[DiscordantPair, ...]
    contradictions: tuple[Contradiction, ...]
    shared_tasks: tuple[str, ...]
    unmatched_tasks: tuple[str, ...]
    missing: str
    runs: tuple[RunScore, ...] = field(default=(), repr=False, compare=False)
    bootstrap: Bootstrap = Bootstrap()

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """By metric, every pair of agents over the tasks that both ran, and who cannot be told apart."""
        from untaken.ranking.pairs import compare  # noqa: PLC0415 (slow: it brings NumPy)

        return {
            metric: compare(metric, self.cells, standings, self.bootstrap)
            for metric, standings in self.metrics.items()
        }

    @cached_property
    def pass_k(self) -> tuple[PassK, ...]:
        """pass^k of each agent, over the tasks that all of them ran."""
        from untaken.ranking.pass_k import pass_k_curve  # noqa: PLC0415 (a circle)

        agents = sorted({agent for agent, _ in self.cells})
        return pass_k_curve(self.cells, agents, self.shared_tasks)

    @cached_property
    def workflows(self) -> tuple[WorkflowVerdict, ...]:
        """Each workflow against each agent, by critical completion."""
        from untaken.ranking.workflow import METRIC, workflow_verdicts  # noqa: PLC0415 (slow)

        return workflow_verdicts(self.cells, self.comparisons[METRIC])

    @cached_property
    def cells(self) -> RunsByCell:
        """The scored runs by (agent, task)."""
        from untaken.ranking.tables import by_cell  # noqa: PLC0415 (slow)

        return by_cell(self.runs)

    def placed(self, metric: str) -> tuple[Placed, ...]:
        """Each agent between the outcome and a sub-goal metric, with its quadrant."""
        from untaken.ranking.quadrants import quadrants  # noqa: PLC0415 (slow)

        return quadrants(metric, next(iter(self.metrics.values())), self.metrics[metric])

    def pulls(self, pair: DiscordantPair) -> tuple[Pull, ...]:
        """The runs that make a pair of agents change places, the weightiest first."""
        from untaken.ranking.drivers import pulls  # noqa: PLC0415 (slow)

        return pulls(self.cells, pair, self.shared_tasks)

    def task_gaps(self, metric: str, first: str, second: str) -> tuple[TaskGap, ...]:
        """The tasks behind the difference of two agents, the largest part first."""
        from untaken.ranking.drivers import task_gaps  # noqa: PLC0415 (slow)

        return task_gaps(self.cells, metric, first, second)

    def sub_goal_gaps(self, metric: str, first: str, second: str) -> tuple[SubGoalGap, ...]:
        """The sub-goals behind the difference of two agents, the largest part first."""
        from untaken.ranking.drivers import sub_goal_gaps  # noqa: PLC0415 (slow)

        return sub_goal_gaps(self.cells, metric, first, second, self.bootstrap)
