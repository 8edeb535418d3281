"""Whether a difference in success between two options is supported: one rule for skills and plans (§2a).

Runs are compared inside strata: task, agent and all that is recorded of what can change an agent. What
differs there may still be the time: a choice that goes with it must also make a difference between runs made
at about the same time (`untaken.stats.in_time`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import ceil, sqrt
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtri

from untaken.counterfactual.words import COULD_BE_TIME, MOST_RUNS, N_MIN
from untaken.numbers import p_value, points
from untaken.stats import (
    ChoiceSeries,
    Stratum,
    TimeAdjustment,
    exact_test,
    poisson_binomial_tail,
    risk_difference,
)

ALPHA: Final = 0.05
Q_MAX: Final = 0.10
"""A difference is supported up to this p, and up to this q over the choices of a log."""
RETRIED: Final = 0.05
"""Runs that are followed by another of their stratum are retries where no more of them succeeded."""
RETRY_P: Final = 0.01
SCREEN: Final = 1.3
"""Below this |z| nothing can be supported: the p of the exact test is far above `ALPHA`."""
IDENTITY: Final = ("task", "agent", "model", "version", "prompt version")
"""What the runs of a stratum have in common, from coarse to fine; then what the workspace names."""
SAME: Final = "where task, agent and version are the same"
UNTIMED: Final = "no start times are recorded: change over time cannot be excluded"
RETRIES: Final = "confounded: runs are repeated after failures"
IN_TIME: Final = "confounded: time and choice coincide"


class ComparedRuns(NamedTuple):
    """Runs that took one of two options, each run once and copies left out: columns in any order.

    Attributes:
        first: whether the run took the first option.
        group: number of the group it shares its task, task and agent, and so on with, as in `IDENTITY`;
            and in what the workspace names; shape (runs, 5 or more), the last column its stratum.
        identity: number of who ran, whatever the task.
        start: when it began, in any unit; NaN where no time is recorded.
        tie: puts runs of one moment in an order that has nothing to do with them.
    """

    first: np.ndarray
    group: np.ndarray
    identity: np.ndarray
    start: np.ndarray
    tie: np.ndarray


def nested_groups(parts: Iterable[Sequence[str]]) -> np.ndarray:
    """The numbers of the groups of runs (`ComparedRuns.group`), from what each has for `IDENTITY`."""
    numbers: dict[tuple[str, ...], int] = {}
    rows = [
        [numbers.setdefault(tuple(run[: place + 1]), len(numbers)) for place in range(len(run))]
        for run in parts
    ]
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1 if rows else len(IDENTITY))


class OptionTest(NamedTuple):
    """What the runs say about two options.

    Attributes:
        difference: of the rates of success inside strata, first minus second; NaN where none has both.
        n1, n0: runs of either in strata with both outcomes; `z` their difference in standard deviations.
        p_exact: conditional exact test inside strata, 1 where it was not worth making; `least` the smallest
            that its margins allow.
        p: the larger of that and the p between runs made at about the same time.
        reason: why it is weak, in words, if p alone makes it so; else empty.
        timed: whether start times are recorded: else change over time cannot be excluded.
    """

    difference: float
    n1: int
    n0: int
    z: float
    p_exact: float
    least: float
    p: float
    reason: str
    timed: bool

    @property
    def holds(self) -> bool:
        """Whether p supports it, on at least `N_MIN` runs a side."""
        return not self.reason

    @property
    def testable(self) -> bool:
        """Whether any outcome of these runs could have given a p at the level (Tarone)."""
        return self.least <= ALPHA

    def words(self, sign: int = 1) -> str:
        """What holds, of the first option (1) or of the second (-1)."""
        gap, runs = self.difference * sign, (self.n1, self.n0)[::sign]
        more = f"{points(abs(gap), 0, sign=False)} points {'more' if gap > 0 else 'less'} success {SAME}"
        found = f"{more} ({runs[0]} and {runs[1]} runs, {p_value(self.p, 'p')})"
        return found if self.timed else f"{found}; {UNTIMED}"


class OptionComparison:
    """Two options, and the runs that took them; what they say is asked for any outcomes of these runs.

    `named` is what the workspace adds to `IDENTITY`, a column of `ComparedRuns.group` each.
    """

    def __init__(self, sides: ComparedRuns, named: Sequence[str] = ()) -> None:
        self._names = *IDENTITY, *named
        self.timed = not np.isnan(sides.start).any()
        order = np.lexsort((sides.tie, sides.start))
        self.order = order
        # Runs of one moment, as importers write them: there is no time to adjust for.
        self._clocked = self.timed and not bool((sides.start == sides.start[:1]).all())
        self._sides = ComparedRuns(*(column[order] for column in sides))
        self._first = self._sides.first
        self._stratum = np.unique(self._sides.group[:, -1], return_inverse=True)[1].ravel()
        self._n = np.bincount(self._stratum)
        self._n1 = np.bincount(self._stratum[self._first], minlength=self._n.size)
        self._both = np.flatnonzero((self._n1 > 0) & (self._n1 < self._n))

    def ruling(self, success: np.ndarray, *, whether: bool = False) -> OptionTest:
        """What the runs say, their success (1 or 0) in the order in which they were given.

        `whether`: asks only whether it holds. Where it does not, p and `reason` may leave out the time.
        """
        y = success[self.order].astype(float)
        if not self._both.size:
            why = f"confounded: {self._coinciding} and choice coincide"
            return OptionTest(np.nan, 0, 0, 0.0, 1.0, 1.0, 1.0, why, self.timed)
        strata = self._strata(y)
        informative = [s for s in strata if s.informative]
        n1, n0 = sum(s.n1 for s in informative), sum(s.n0 for s in informative)
        difference, z = risk_difference(strata), _z_of(informative)
        test = exact_test(strata)

        def found(p: float, reason: str) -> OptionTest:
            return OptionTest(difference, n1, n0, z, test.p, test.least, p, reason, self.timed)

        if self._clocked and self._retried(y):
            return found(1.0, RETRIES)
        # Whether time and choice coincide takes long to find out, and too little is always left of a few
        # runs: it is looked at where a few more could seem to decide.
        if min(n1, n0) < N_MIN or test.p > (1 if whether else 2) * ALPHA:
            return found(test.p, more_runs(n1, n0, z))
        in_time = self._p_in_time(y)
        if in_time is None:
            return found(1.0, IN_TIME)
        if test.p > ALPHA:
            return found(test.p, more_runs(n1, n0, z))
        p = max(test.p, in_time)
        return found(p, COULD_BE_TIME if p > ALPHA else "")

    def why_time(self, values: np.ndarray) -> str:
        """Why a difference of a figure could be time, its values in the order of the runs given; or empty."""
        # A spread of rounding alone is recognised on the scale of successes, and costs may be tiny.
        scaled = values[self.order] / (float(values.std()) or 1.0)
        p = self._p_in_time(scaled) if self._both.size else 0.0
        return IN_TIME if p is None else COULD_BE_TIME if p > ALPHA else ""

    def _p_in_time(self, values: np.ndarray) -> float | None:
        """P between runs made at about the same time; 0 where the choice does not go with time."""
        return self._in_time.p_of(values) if self._clocked and self._in_time.goes_with_time else 0.0

    def _strata(self, y: np.ndarray) -> list[Stratum]:
        k = np.bincount(self._stratum, y).astype(int)
        k1 = np.bincount(self._stratum[self._first], y[self._first], minlength=k.size).astype(int)
        columns = k1, self._n1, k - k1, self._n - self._n1
        rows = zip(*(column[self._both].tolist() for column in columns), strict=True)
        return [Stratum(*row) for row in rows]

    @cached_property
    def _coinciding(self) -> str:
        """The coarsest thing that no two runs with different choices share."""
        for name, group in zip(self._names, self._sides.group.T, strict=True):
            if not np.intersect1d(group[self._first], group[~self._first]).size:
                return name
        raise AssertionError("some stratum has both")

    @cached_property
    def _in_time(self) -> TimeAdjustment:
        moments = np.unique(self._sides.start, return_inverse=True)[1].ravel()
        n = np.bincount(moments)
        rank = (np.cumsum(n) - n / 2)[moments]
        identity = np.unique(self._sides.identity, return_inverse=True)[1].ravel()
        return TimeAdjustment(ChoiceSeries(self._first.astype(float), self._stratum, identity, rank))

    def _retried(self, y: np.ndarray) -> bool:
        """Whether runs are repeated because they failed, until one succeeds."""
        last, end = np.zeros(y.size, dtype=bool), np.zeros(self._n.size, dtype=np.int64)
        end[self._stratum] = np.arange(y.size)  # of those of one stratum, the last stays
        last[end] = True
        several = self._n[self._stratum] > 1
        followed, ends = several & ~last, several & last
        if not followed.any() or y[followed].mean() > RETRIED:
            return False
        rates = np.bincount(self._stratum, y) / self._n
        chances = rates[self._stratum[ends]].tolist()
        return poisson_binomial_tail(chances, int(y[ends].sum())) <= RETRY_P


def _z_of(strata: list[Stratum]) -> float:
    """Successes of the first option minus those expected inside strata, over their standard deviation."""
    gap = variance = 0.0
    for k1, n1, k0, n0 in strata:
        n, k = n1 + n0, k1 + k0
        gap += k1 - k * n1 / n
        variance += n1 * n0 * k * (n - k) / (n * n * (n - 1))
    return gap / sqrt(variance) if variance else 0.0


def more_runs(n1: int, n0: int, z: float, level: float = ALPHA) -> str:
    """About how many more comparable runs would show a difference at a level, were it to stay as it is."""
    runs = n1 + n0
    lacking = max(0, N_MIN - n1) + max(0, N_MIN - n0)
    # z grows with the square root of the runs.
    wanted = runs * ((float(ndtri(level / 2)) / z) ** 2 - 1) if z else np.inf
    if wanted > MOST_RUNS and not lacking:
        return f"needs more than {MOST_RUNS} more runs"
    about = max(1, lacking, 0 if lacking else ceil(wanted))
    return f"needs about {about} more {'run' if about == 1 else 'runs'}"


def too_many(ruling: OptionTest, q: float, choices: int) -> str:
    """Why a difference that p supports is weak among so many choices."""
    # The p at which q would be at its limit, were the other choices to stay as they are.
    more = more_runs(ruling.n1, ruling.n0, ruling.z, ruling.p * Q_MAX / q)
    return f"{more} ({p_value(q, 'q')} over {choices} choices)"
