"""What ranking agents gives (§5)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Final, Literal

from msgspec import Struct

from untaken.errors import Score, Unscored

NO_INTERVAL: Final = Unscored("no interval: it takes at least two tasks")
NOT_TESTED: Final = Unscored("agents were not compared in pairs")


class Bootstrap(Struct, frozen=True, kw_only=True):
    """Number and seed of the task resamples."""

    resamples: int = 10_000
    seed: int = 0


class RankedAgent(Struct, frozen=True, kw_only=True):
    """One agent under one metric, over the tasks all agents share.

    Attributes:
        value: mean over tasks of the task's mean over repeats; unscored where no task has a value.
        low, high: 95% interval; unscored where it cannot be had.
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
        return self.value if isinstance(self.value, Unscored) else NOT_TESTED


class Agreement(Struct, frozen=True, kw_only=True):
    """Kendall τ-b (and Spearman) between the rankings of two metrics, over `n` agents."""

    a: str
    b: str
    tau_b: Score
    low: Score
    high: Score
    p: Score
    spearman: Score
    n: int


class DiscordantPair(Struct, frozen=True, kw_only=True):
    """`first` is above `second` under `a_metric` and below it under `b_metric`.

    `clear`: both orders are sure, by the tests that the intervals of ranks rest on.
    """

    a_metric: str
    b_metric: str
    first: str
    second: str
    clear: bool = False


class Contradiction(Struct, frozen=True, kw_only=True):
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


def crossing_agents(one: Mapping[str, RankedAgent], other: Mapping[str, RankedAgent]) -> set[str]:
    """Agents that are above some other agent under one metric and below it under the other."""
    ranks = {a: (ranked.rank, other[a].rank) for a, ranked in one.items() if a in other}
    known = [(a, x, y) for a, (x, y) in ranks.items() if x is not None and y is not None]
    pairs = combinations(known, 2)
    return {name for (a, x, y), (b, v, w) in pairs if (x - v) * (y - w) < 0 for name in (a, b)}
