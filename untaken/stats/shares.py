"""95% intervals of means of shares over tasks: exact, and honest where tasks are few (§5)."""

from __future__ import annotations

import numpy as np

from untaken.stats.bootstrap import BLOCK
from untaken.stats.means import student_quantile
from untaken.stats.rates import TAIL, Z_95
from untaken.stats.rounding import Floats


def share_interval(values: Floats, trials: Floats) -> Floats:
    """(2, rows): Clopper and Pearson's interval of each row's mean, by its effective number of tasks.

    Single binary trials, one a task, get the exact interval (Clopper and Pearson 1934). Else n is divided by
    the design effect, n* = m(1 − m) / (s² / n), and multiplied by (z / t(0.975, n − 1))² for s² is estimated
    from n tasks (Korn and Graubard 1998). n* is never more than the trials, for sub-goals and repeats of a
    task are not taken for more than independent; where all tasks have one value, n* = n.

    Args:
        values: (rows, n) mean of each task, between 0 and 1.
        trials: (rows,) number of binary trials behind a row: runs, or sub-goals of runs.
    """
    n = values.shape[1]
    means = values.mean(axis=1)
    effective = np.full(len(values), float(n))
    spread = (np.ptp(values, axis=1) > 1e-12) & (trials > n)
    if n > 1 and spread.any():
        some, within = values[spread], means[spread] * (1 - means[spread])
        design = within * n / some.var(axis=1, ddof=1)
        effective[spread] = np.minimum(design, trials[spread]) * (Z_95 / student_quantile(n - 1)) ** 2
    return _clopper_pearson(means * effective, effective)


def _clopper_pearson(successes: Floats, n: Floats) -> Floats:
    """(2, rows), for any real number of trials n > 0 and of successes."""
    from scipy.special import betaincinv  # noqa: PLC0415 (slow)

    failures = n - successes
    some, not_all = successes > 1e-9, failures > 1e-9
    low, high = np.zeros(n.shape), np.ones(n.shape)
    low[some] = betaincinv(successes[some], failures[some] + 1, TAIL)
    high[not_all] = betaincinv(successes[not_all] + 1, failures[not_all], 1 - TAIL)
    return np.stack([low, high])


def guaranteed_interval(values: Floats, *, draws: int = 4_000, seed: int = 0) -> Floats:
    """(2, rows): 95% interval of each row's mean that needs no likeness of the tasks, only their bounds.

    Tasks get random weights (Dirichlet, all one), and so does one task more, the worst there could be: 0 for
    the lower end, 1 for the upper. The lower end is the 2.5% quantile of the weighted mean (Gaffke 2005); of
    single trials it is Clopper and Pearson's. It is wide, for an unseen kind of task may be the worst: it
    serves decisions where a wrong pass is dear.

    Args:
        values: (rows, n) mean of each task, between 0 and 1.
        draws: of the weights.
        seed: of the draws.
    """
    rng, rows, n = np.random.default_rng(seed), *values.shape
    reached, block = np.empty((2, draws, rows)), max(1, BLOCK // (n + 1))
    for begin in range(0, draws, block):
        weights = rng.standard_exponential((min(block, draws - begin), n + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        means = weights[:, :n] @ values.T
        reached[0, begin : begin + block] = means
        reached[1, begin : begin + block] = means + weights[:, n:]
    low = np.quantile(reached[0], TAIL, axis=0)
    high = np.quantile(reached[1], 1 - TAIL, axis=0)
    ends: Floats = np.clip(np.stack([low, high]), 0.0, 1.0)
    return ends
