"""Which agents are surely above which, by tests of all pairs at once, and what follows for ranks (§5).

Where two agents are alike, each task might as well have come out the other way round: the signs of their
differences can be flipped. Flipping the signs of whole tasks, for all agents together, gives the joint
distribution of all pairs' statistics Σd / √Σd², whatever the correlation of agents and of metrics, and so
the largest of them by chance (Westfall and Young 1993, single-step max-t).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from untaken.stats.bootstrap import BLOCK
from untaken.stats.rounding import Floats

EXACT_UP_TO: Final = 12
"""Tasks up to which every pattern of signs is tried: 2¹¹ = 2,048, a pattern and its mirror being one."""
FLIPS: Final = 2_000
RANK_LEVEL: Final = 0.10
"""Level of a two-sided test: a rank's interval fails to one side only, which leaves 5%."""


class PairTests(Struct, frozen=True, kw_only=True):
    """Every pair of n agents under a metric.

    Attributes:
        statistic: (n, n) Σd / √Σd² of row minus column over tasks; 0 where they never differ.
        largest: (flips, n) the largest |statistic| of each agent's pairs under each pattern of signs.
    """

    statistic: Floats
    largest: Floats

    @classmethod
    def of(cls, means: Floats, flips: Iterator[Floats]) -> PairTests:
        """Test all pairs.

        Args:
            means: (n, tasks).
            flips: (block, tasks) patterns of ±1, the observed one first (`task_flips`).
        """
        agents = len(means)
        statistic, largest = np.zeros((agents, agents)), []
        one, two = np.triu_indices(agents, 1)
        for block in flips:
            most = np.zeros((agents, len(block)))
            at_once = max(1, BLOCK // max(block.shape))  # few products: each wakes all of BLAS's threads
            for begin in range(0, one.size, at_once):
                pairs = one[begin : begin + at_once], two[begin : begin + at_once]
                # Again for each block: all pairs at once would fill memory.
                unit = _units(means[pairs[0]] - means[pairs[1]])
                statistic[pairs] = unit.sum(axis=1)
                reached = np.abs(unit @ block.T)
                for agent in np.unique(pairs):
                    tested = (pairs[0] == agent) | (pairs[1] == agent)
                    np.maximum(most[agent], reached[tested].max(axis=0), out=most[agent])
            largest.append(most.T)
        return cls(statistic=statistic - statistic.T, largest=np.concatenate(largest))

    def of_agents(self, rows: Sequence[int]) -> PairTests:
        """The tests among some agents; the largest statistics stay those of all, the safe side."""
        chosen = np.asarray(rows, dtype=np.intp)
        return PairTests(statistic=self.statistic[np.ix_(chosen, chosen)], largest=self.largest[:, chosen])

    def order(self, largest: Floats, level: float) -> NDArray[np.int64]:
        """(n, n): 1 where the row is surely above the column, −1 where it is surely below, else 0.

        Args:
            largest: (flips, n) or (flips, 1): what the statistics of each row are compared with.
            level: of the two-sided test of all pairs that `largest` is taken over.
        """
        ordered = np.sort(np.round(largest, 9), axis=0)
        # The p-value counts patterns that reach as far, so at most `level` of them may.
        critical = ordered[-int(level * len(ordered) + 1e-9) - 1]
        sure = np.round(np.abs(self.statistic), 9) > critical[:, None]
        order: NDArray[np.int64] = (np.sign(self.statistic) * sure).astype(np.int64)
        return order

    @property
    def sure(self) -> NDArray[np.int64]:
        """(n, n): 1 where the row is surely above the column, −1 where below, else 0.

        By the tests of all pairs of either agent: what separates the two in an interval of ranks.
        """
        order = self.order(self.largest, RANK_LEVEL)
        either: NDArray[np.int64] = np.sign(order - order.T)
        return either


def _units(differences: Floats) -> Floats:
    """Each row scaled to length 1, so that its sum is Σd / √Σd²."""
    length = np.sqrt((differences**2).sum(axis=1, keepdims=True))
    scaled: Floats = differences / np.where(length < 1e-12, np.inf, length)
    return scaled


def task_flips(tasks: int, seed: int) -> Iterator[Floats]:
    """(block, tasks) patterns of ±1: all up to `EXACT_UP_TO` tasks, else the observed and random ones."""
    if tasks <= EXACT_UP_TO:
        bits = np.arange(2 ** max(0, tasks - 1))[:, None] >> np.arange(tasks)
        yield np.where(bits & 1, -1.0, 1.0)
        return
    rng, block = np.random.default_rng(seed), max(1, BLOCK // tasks)
    yield np.ones((1, tasks))
    for begin in range(1, FLIPS, block):
        yield np.where(rng.integers(0, 2, size=(min(block, FLIPS - begin), tasks), dtype=np.int8), -1.0, 1.0)


def rank_interval(tests: PairTests) -> NDArray[np.int64]:
    """(2, n): the ranks that each agent may have, 95%: all that no sure pair rules out.

    1 + the agents surely above it, and n − the agents surely below it (Mogstad, Romano, Shaikh and Wilhelm
    2024); the tests of an agent's own pairs are taken together.
    """
    order = tests.order(tests.largest, RANK_LEVEL)
    return np.stack([1 + (order < 0).sum(axis=1), len(order) - (order > 0).sum(axis=1)])
