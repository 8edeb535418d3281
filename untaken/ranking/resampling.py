"""The means of agents over resampled tasks (§5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untaken.ranking.tables import MetricTable
from untaken.stats.bootstrap import task_weights
from untaken.stats.rounding import Floats, quantise


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


def drawn_only(means: Floats) -> Floats:
    """The resamples that drew at least one of the metric's tasks."""
    kept: Floats = means[~np.isnan(means).any(axis=1)]
    return kept
