"""What a ranking says, and what is worked out of it when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from untaken.analysis.ranking import compared
from untaken.analysis.ranking.comparisons import (
    Comparison,
    PassK,
    QuadrantPoint,
    RunContribution,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.analysis.ranking.metrics import OUTCOME, USUAL
from untaken.analysis.ranking.ranked import Agreement, Bootstrap, Contradiction, DiscordantPair, RankedAgent
from untaken.caching import EachOnce
from untaken.errors import number
from untaken.limits import COMPARED_AGENTS
from untaken.scoring import RunScore


@dataclass(frozen=True, kw_only=True)
class RankReport:
    """Rankings by metric, how they agree, and where the outcome misleads.

    What compares agents two by two is worked out when it is first asked for: few readers of a ranking need
    all of it, and it takes longer than the ranking itself.

    Attributes:
        runs: the scored runs that were ranked; none where only facts are known.
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
    def comparisons(self) -> Mapping[str, Comparison]:
        """Every pair of agents over the tasks that both ran, and the groups of ties, by metric."""
        tasks = sorted({*self.shared_tasks, *self.unmatched_tasks})

        def compare(metric: str) -> Comparison:
            agents = [ranked.agent for ranked in self.metrics[metric][:COMPARED_AGENTS]]
            return compared.compare(self.measure(metric, agents, tasks), self.bootstrap)

        return EachOnce(self.metrics, compare)

    @cached_property
    def pass_k(self) -> tuple[PassK, ...]:
        """pass^k of each agent, over the tasks that all of them ran."""
        agents = sorted(ranked.agent for ranked in self.metrics[OUTCOME])
        outcome = self.measure(OUTCOME, agents, self.shared_tasks)
        return compared.pass_k_curve(compared.table_of(outcome, self.shared_tasks))

    def measure(self, metric: str, agents: Sequence[str], tasks: Sequence[str]) -> compared.Cells:
        """A metric of some agents on some tasks."""
        return compared.metric_cells(metric, self.cells, tuple(agents), tuple(tasks))

    @cached_property
    def workflows(self) -> tuple[WorkflowVerdict, ...]:
        """Each workflow against each agent, by critical completion."""
        return compared.workflow_verdicts(self.cells, self.comparisons)

    @cached_property
    def cells(self) -> compared.RunsByCell:
        """The scored runs by (agent, task)."""
        return compared.by_cell(self.runs)

    def ranked_metrics(self, among: Sequence[str] | None = None) -> list[str]:
        """The metrics, of these or of all, that rank two agents or more."""
        names = among or tuple(self.metrics)
        return [m for m in names if sum(one.rank is not None for one in self.metrics.get(m, ())) > 1]

    @property
    def comparable_metrics(self) -> list[str]:
        """The metrics to compare two agents by: all of them where none ranks two."""
        return self.ranked_metrics() or list(self.metrics)

    @property
    def usual_metric(self) -> str:
        """The metric that two agents are compared by until another is chosen."""
        offered = self.comparable_metrics
        return next((name for name in USUAL if name in offered), offered[0])

    def placed(self, metric: str) -> tuple[QuadrantPoint, ...]:
        """Each agent between the outcome and a sub-goal metric, with its quadrant."""
        # The outcome is the first of the metrics.
        return compared.quadrant_points(metric, next(iter(self.metrics.values())), self.metrics[metric])

    def order_changes(self) -> tuple[tuple[DiscordantPair, ...], ...]:
        """Pairs that the outcome orders otherwise than sub-goals, one entry for two agents, widest first."""
        by_agents: dict[tuple[str, str], list[DiscordantPair]] = {}
        for pair in self.discordant:
            if pair.a_metric == OUTCOME:
                by_agents.setdefault((pair.first, pair.second), []).append(pair)
        widest = sorted(by_agents.values(), key=lambda pairs: -max(map(self._apart, pairs)))
        return tuple(map(tuple, widest))

    def _apart(self, pair: DiscordantPair) -> float:
        # Both metrics are shares, and the two leads have opposite signs: their sum is how far they part.
        return self._lead(pair.a_metric, pair) - self._lead(pair.b_metric, pair)

    def _lead(self, metric: str, pair: DiscordantPair) -> float:
        values = {one.agent: number(one.value) or 0.0 for one in self.metrics[metric]}
        return values[pair.first] - values[pair.second]

    def contributions(self, pair: DiscordantPair) -> tuple[RunContribution, ...]:
        """The runs that make a pair of agents change places, largest effect first."""
        return compared.contributions(self.cells, pair, self.shared_tasks)

    def task_gaps(self, metric: str, first: str, second: str) -> tuple[TaskGap, ...]:
        """The tasks behind the difference of two agents, the largest part first."""
        return compared.task_gaps(self.cells, metric, first, second)

    def sub_goal_gaps(self, metric: str, first: str, second: str) -> tuple[SubGoalGap, ...]:
        """The sub-goals behind the difference of two agents, the largest part first."""
        return compared.sub_goal_gaps(self.cells, metric, first, second, self.bootstrap)
