"""What a ranking says, and what is worked out of it when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from untaken.ranking.comparisons import (
    Comparison,
    PassK,
    QuadrantPoint,
    RunContribution,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.ranking.ranked import Agreement, Bootstrap, Contradiction, DiscordantPair, RankedAgent
from untaken.subgoals.run_score import RunScore

if TYPE_CHECKING:
    from untaken.ranking.tables import RunsByCell


@dataclass(frozen=True, kw_only=True)
class RankReport:
    """Rankings by metric, how they agree, and where the outcome misleads.

    What compares agents two by two is worked out when it is first asked for: few readers of a ranking need
    all of it, and it takes longer than the ranking itself.

    Attributes:
        runs: the scored runs that were ranked.
        bootstrap: what the intervals rest on.
    """

    metrics: dict[str, tuple[RankedAgent, ...]]
    agreement: tuple[Agreement, ...]
    discordant: tuple[DiscordantPair, ...]
    contradictions: tuple[Contradiction, ...]
    shared_tasks: tuple[str, ...]
    unmatched_tasks: tuple[str, ...]
    missing: str
    runs: tuple[RunScore, ...] = field(default=(), repr=False, compare=False)
    bootstrap: Bootstrap = field(default_factory=Bootstrap)

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Every pair of agents over the tasks that both ran, and the groups of ties, by metric."""
        from untaken.ranking.pairs import compare  # noqa: PLC0415 (slow: imports NumPy)

        return {
            metric: compare(metric, self.cells, standings, self.bootstrap)
            for metric, standings in self.metrics.items()
        }

    @cached_property
    def pass_k(self) -> tuple[PassK, ...]:
        """pass^k of each agent, over the tasks that all of them ran."""
        from untaken.ranking.pass_k import pass_k_curve  # noqa: PLC0415 (slow)

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

    def placed(self, metric: str) -> tuple[QuadrantPoint, ...]:
        """Each agent between the outcome and a sub-goal metric, with its quadrant."""
        from untaken.ranking.quadrants import quadrants  # noqa: PLC0415 (slow)

        return quadrants(metric, next(iter(self.metrics.values())), self.metrics[metric])

    def contributions(self, pair: DiscordantPair) -> tuple[RunContribution, ...]:
        """The runs that make a pair of agents change places, largest effect first."""
        from untaken.ranking.drivers import contributions  # noqa: PLC0415 (slow)

        return contributions(self.cells, pair, self.shared_tasks)

    def task_gaps(self, metric: str, first: str, second: str) -> tuple[TaskGap, ...]:
        """The tasks behind the difference of two agents, the largest part first."""
        from untaken.ranking.drivers import task_gaps  # noqa: PLC0415 (slow)

        return task_gaps(self.cells, metric, first, second)

    def sub_goal_gaps(self, metric: str, first: str, second: str) -> tuple[SubGoalGap, ...]:
        """The sub-goals behind the difference of two agents, the largest part first."""
        from untaken.ranking.drivers import sub_goal_gaps  # noqa: PLC0415 (slow)

        return sub_goal_gaps(self.cells, metric, first, second, self.bootstrap)
