"""95 % intervals from a cluster bootstrap over tasks (§5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from untaken.ranking.tables import Floats, MetricTable, quantise

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
        drawn += np.arange(rows)[:, None] * tasks
        yield np.bincount(drawn.ravel(), minlength=rows * tasks).reshape(rows, tasks)


def resampled_means(
    tables: Sequence[MetricTable], tasks: int, *, resamples: int, seed: int
) -> dict[str, Floats]:
    """Per metric a (resamples, agents) array of means over resampled tasks.

    All metrics see the same resamples, so they can be compared within one. A row is NaN where the resample
    drew none of the metric's tasks.
    """
    blocks: dict[str, list[Floats]] = {table.metric: [] for table in tables}
    for weights in task_weights(tasks, resamples, seed) if tasks else ():
        for table in tables:
            blocks[table.metric].append(quantise(_means(table, weights)))
    return {
        table.metric: np.concatenate(blocks[table.metric])
        if blocks[table.metric]
        else np.empty((0, len(table.agents)))
        for table in tables
    }


def _means(table: MetricTable, weights: Floats) -> Floats:
    """(block, agents): the mean over the drawn tasks that the metric has."""
    tasks = weights.shape[1]
    means: Floats
    if table.columns.size == tasks:  # the usual case: every task has the metric, so as many were drawn
        means = weights @ table.means.T / tasks
        return means
    used = weights[:, table.columns]
    drawn = used.sum(axis=1, keepdims=True)
    drawn[drawn == 0] = np.nan
    means = used @ table.means.T / drawn
    return means


def tails(tasks: int) -> tuple[float, float]:
    """The percentiles of the bootstrap that make a 95 % interval of a mean over `tasks` ≥ 2 tasks.

    Plain 2.5 and 97.5 % are too narrow where tasks are few: resampling takes the spread of n tasks as the
    truth, and knows nothing of Student's t. The expanded percentiles Φ(±√(n/(n − 1)) · t(0.975, n − 1))
    (Hesterberg 2015) make up for both; from some hundred tasks on they are the plain ones.
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415 (slow)

    low = float(ndtr(-sqrt(tasks / (tasks - 1)) * stdtrit(tasks - 1, TAILS[1])))
    return low, 1 - low


def drawn_only(means: Floats) -> Floats:
    """The resamples that drew at least one of the metric's tasks."""
    kept: Floats = means[~np.isnan(means).any(axis=1)]
    return kept


def bootstrap_interval(means: Floats, tasks: int) -> Floats:
    """(2, columns): the expanded percentile interval (`tails`) of each column of resampled means.

    Args:
        means: (resamples, columns), all finite.
        tasks: what each mean is over, at least 2.
    """
    interval: Floats = np.quantile(means, tails(tasks), axis=0)
    return interval


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
