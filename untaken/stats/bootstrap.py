"""95% intervals from a cluster bootstrap over tasks (§5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import sqrt
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from untaken.stats.rounding import Floats

TAILS: Final = (0.025, 0.975)
BLOCK: Final = 2_000_000
"""Cells of a resampling block: bounds memory whatever the number of tasks or agents."""
KEPT: Final = 10_000_000
"""Cells of draws, of two bytes each, that are kept for the next time."""
MOST_DRAWN: Final = 65_535


def task_weights(tasks: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each task was drawn, with replacement, (block, tasks) at a time."""
    many = tasks * resamples > KEPT or tasks > MOST_DRAWN
    for block in _drawn(tasks, resamples, seed) if many else _kept(tasks, resamples, seed):
        yield block.astype(np.float64)


@lru_cache(maxsize=4)
def _kept(tasks: int, resamples: int, seed: int) -> tuple[NDArray[np.uint16], ...]:
    """The same draws are asked for over and over: for each metric, and for each pair that is looked at."""
    return tuple(block.astype(np.uint16) for block in _drawn(tasks, resamples, seed))


def _drawn(tasks: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    block = max(1, BLOCK // tasks)
    for begin in range(0, resamples, block):
        rows = min(block, resamples - begin)
        drawn = rng.integers(0, tasks, size=(rows, tasks))
        # Numbers of its own for each row, so that one count does all.
        drawn += np.arange(rows)[:, None] * tasks
        yield np.bincount(drawn.ravel(), minlength=rows * tasks).reshape(rows, tasks)


def tails(tasks: int) -> tuple[float, float]:
    """The percentiles of the bootstrap that make a 95% interval of a mean over `tasks` ≥ 2 tasks.

    Plain 2.5 and 97.5% are too narrow where tasks are few: resampling takes the spread of n tasks as the
    truth, and knows nothing of Student's t. The expanded percentiles Φ(±√(n/(n − 1)) · t(0.975, n − 1))
    (Hesterberg 2015) make up for both; from some hundred tasks on they are the plain ones.
    """
    quantile = scipy.special.stdtrit(tasks - 1, TAILS[1])
    low = float(scipy.special.ndtr(-sqrt(tasks / (tasks - 1)) * quantile))
    return low, 1 - low


def bootstrap_interval(means: Floats, tasks: int) -> Floats:
    """(2, columns): the expanded percentile interval (`tails`) of each column of resampled means."""
    interval: Floats = np.quantile(means, tails(tasks), axis=0)
    return interval
