"""What comparing two agents gives (§5)."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final, Literal

from msgspec import Struct

from untaken.errors import Score, Unscored, first_few
from untaken.numbers import counted

Interval = Literal["adjusted_wald", "student_t"]
Test = Literal["mcnemar", "sign_flip"]
Quadrant = Literal["both_high", "outcome_flatters", "outcome_hides", "both_low"]
PairDirection = Literal["above", "below", "level", "unknown"]
WorkflowWins = Literal["workflow", "agent", "level", "unscored"]

ALPHA: Final = 0.05
DIGEST_CHARS: Final = 16
MOST_GROUPS: Final = 4
"""Groups of agents without a clear difference that are named in a sentence."""
MOST_TIED: Final = 12
"""Agents of such a group that are."""


class PairedDifference(Struct, frozen=True, kw_only=True):
    """`first` minus `second` under a metric, over the tasks on which both have a value.

    Attributes:
        difference: mean over tasks. `first` is the one ranked above; where the two have more tasks in common
            than all agents have, the difference can be negative all the same.
        low, high: its 95% interval, had by `interval`; unscored below two tasks.
        p: two-sided, by `test`: exact McNemar for single binary trials, else swapping agents inside tasks.
        p_holm: `p` adjusted for the `family`: all pairs compared under the metric.
        first_only, second_only: McNemar's counts of tasks that only the one succeeded at; unscored
            for `sign_flip`.
        mde: the smallest true difference that such a comparison finds in 80% of cases; what "no difference"
            has to be read with.
        p_above: share of bootstrap resamples with `first` above `second`, ties by half.
        n_tasks, n_runs: what it rests on, the runs of both.
    """

    metric: str
    first: str
    second: str
    difference: Score
    low: Score
    high: Score
    interval: Interval
    p: Score
    test: Test
    p_holm: Score
    family: int
    first_only: int | Unscored
    second_only: int | Unscored
    mde: Score
    p_above: Score
    n_tasks: int
    n_runs: int

    @property
    def digest(self) -> str:
        """Short digest of the two names, whichever comes first: names the pair in an address."""
        names = "\0".join(sorted((self.first, self.second)))
        return sha256(names.encode()).hexdigest()[:DIGEST_CHARS]

    @property
    def clear_difference(self) -> bool:
        """Whether the interval leaves 0 out; false, too, where there is none."""
        if isinstance(self.low, Unscored) or isinstance(self.high, Unscored):
            return False
        return self.low > 0 or self.high < 0

    @property
    def clear_among_all(self) -> bool:
        """Whether it is significant among all pairs, too: of many intervals some leave 0 out by chance."""
        return not isinstance(self.p_holm, Unscored) and self.p_holm <= ALPHA

    @property
    def direction(self) -> PairDirection:
        """Where `first` is, compared with `second`: `level` without a clear difference."""
        if isinstance(self.low, Unscored) or isinstance(self.difference, Unscored):
            return "unknown"
        if not self.clear_difference:
            return "level"
        return "above" if self.difference > 0 else "below"

    @property
    def tie(self) -> bool:
        """Whether the interval includes 0; false, too, where there is none."""
        return not isinstance(self.low, Unscored) and not self.clear_difference


class Comparison(Struct, frozen=True, kw_only=True):
    """All pairs of agents under one metric.

    Attributes:
        agents: best first, as ranked; those without a rank last.
        pairs: in that order, the one above first.
        ties: groups of agents without a clear difference; two agents share a group exactly if their
        interval covers 0. An agent may be in several groups: ties are not transitive. One that ties with
        nobody is a group of its own.
    """

    metric: str
    agents: tuple[str, ...]
    pairs: tuple[PairedDifference, ...]
    ties: tuple[tuple[str, ...], ...]

    def pair(self, one: str, other: str) -> PairedDifference | None:
        """The comparison of two agents, whichever of them is above; ``None`` where it is not here."""
        return next((pair for pair in self.pairs if {pair.first, pair.second} == {one, other}), None)


def ties_in_words(compared: Comparison, name: Callable[[str], str]) -> str:
    """Which agents do not differ clearly, and how many pairs have no interval to tell by.

    Args:
        compared: of one metric.
        name: how an agent is shown.
    """
    tied = [first_few([*map(name, group)], MOST_TIED, " ≈ ") for group in compared.ties if len(group) > 1]
    unknown = sum(isinstance(pair.low, Unscored) for pair in compared.pairs)
    words = f"no clear difference: {first_few(tied, MOST_GROUPS, '; ')}" if tied else ""
    if not tied and unknown < len(compared.pairs):  # without any interval, no pair is known to differ
        words = "every pair differs clearly" if not unknown else "every other pair differs clearly"
    without = f"{counted(unknown, 'pair')} without an interval" if unknown else ""
    return "; ".join(filter(None, [without, words]))


class PassK(Struct, frozen=True, kw_only=True):
    """The chance that `k` trials of a task all succeed, over the tasks shared by all agents."""

    agent: str
    k: int
    value: Score
    low: Score
    high: Score
    n_tasks: int
    n_runs: int


class QuadrantPoint(Struct, frozen=True, kw_only=True):
    """An agent between outcome and a sub-goal metric.

    Attributes:
        outcome_centre, metric_centre: means over the agents that have both; on the line counts as high.
        quadrant: ``outcome_flatters``: high by outcome, low by sub-goals; ``outcome_hides``: the reverse.
    """

    metric: str
    agent: str
    outcome: float
    value: float
    outcome_centre: float
    metric_centre: float
    quadrant: Quadrant


class RunContribution(Struct, frozen=True, kw_only=True):
    """One run's part in two agents changing places between two metrics.

    Attributes:
        outcome, value: the run's value under the pair's two metrics.
        weight: its share of (difference by the one) − (difference by the other), which all runs sum up to.
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    task_repeat: int | None
    outcome: float
    value: float
    weight: float


class TaskGap(Struct, frozen=True, kw_only=True):
    """One task's part in the difference of two agents.

    Attributes:
        difference: first's mean on the task minus second's.
        contribution: its part of the whole difference; over all tasks they sum up to it.
        first_runs, second_runs: content digests of the runs behind it, the most telling first.
    """

    task_id: str
    difference: float
    contribution: float
    first_runs: tuple[str, ...]
    second_runs: tuple[str, ...]


class SubGoalGap(Struct, frozen=True, kw_only=True):
    """One sub-goal's part in the difference of two agents.

    Attributes:
        difference: how much more often first completed it, over the `n_tasks` where both count it.
        low, high: its 95% interval.
        contribution: its part of the whole difference; over all sub-goals they sum up to it.
    """

    graph: str
    sub_goal: str
    title: str
    difference: Score
    low: Score
    high: Score
    contribution: float
    n_tasks: int


class WorkflowVerdict(Struct, frozen=True, kw_only=True):
    """A workflow against an agent, by critical completion (source rule: §5).

    Attributes:
        wins: ``workflow`` while its critical completion is the higher one, until the gap is explained.
        gap: workflow minus agent. What would explain it: `RankReport.sub_goal_gaps` and `task_gaps`.
        workflow_replans, agent_replans: mean number of changes of plan per run on the same tasks.
    """

    workflow: str
    agent: str
    wins: WorkflowWins
    gap: PairedDifference
    workflow_replans: Score
    agent_replans: Score


class RuleChange(Struct, frozen=True, kw_only=True):
    """An agent's value and rank under the two rules for missing verdicts."""

    metric: str
    agent: str
    fail_value: Score
    drop_value: Score
    fail_rank: int | None
    drop_rank: int | None


class RuleFlip(Struct, frozen=True, kw_only=True):
    """`first` is above `second` where missing verdicts count as failed, and below where they are dropped."""

    metric: str
    first: str
    second: str


class RuleEffect(Struct, frozen=True, kw_only=True):
    """What the rule for sub-goals without a verdict decides.

    Attributes:
        changes: agents whose value or rank differs, by metric.
        flips: pairs of agents that change places.
    """

    changes: tuple[RuleChange, ...]
    flips: tuple[RuleFlip, ...]
