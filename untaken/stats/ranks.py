"""How sure the rank of an agent is (§5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from untaken.stats.bootstrap import TAILS
from untaken.stats.rounding import Floats


def rank_interval(means: Floats) -> NDArray[np.int64]:
    """(2, agents): the ranks each agent holds in 95 % of resamples; ties share the smallest rank."""
    ranks = _ranks(means)
    interval: NDArray[np.int64] = np.quantile(ranks, TAILS, axis=0, method="inverted_cdf").astype(np.int64)
    return interval


def _ranks(means: Floats) -> NDArray[np.int64]:
    """Ranks inside each row: 1 is the largest; ties share the smallest rank."""
    best_first = np.argsort(-means, axis=1)
    ordered = np.take_along_axis(means, best_first, axis=1)
    begins = np.ones(means.shape, dtype=np.int64)
    begins[:, 1:] = np.where(ordered[:, 1:] == ordered[:, :-1], 0, np.arange(2, means.shape[1] + 1))
    ranks = np.empty(means.shape, dtype=np.int64)
    np.put_along_axis(ranks, best_first, np.maximum.accumulate(begins, axis=1), axis=1)
    return ranks
