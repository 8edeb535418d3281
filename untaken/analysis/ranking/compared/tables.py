"""One table per metric from scored runs: agents × tasks, repeats averaged inside a task (§5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from untaken.analysis.ranking.metrics import METRICS, WEIGHTED
from untaken.errors import Unscored
from untaken.scoring import RunScore
from untaken.stats import Floats, quantise


def metrics_of(scores: Sequence[RunScore]) -> tuple[str, ...]:
    """The metrics of these runs; without weights, `WEIGHTED` is ``completion`` and left out."""
    different = {(id(score.results), score.missing): score for score in scores}  # most runs share theirs
    weighted = any(node.weight != 1 for score in different.values() for node in score.counted)
    return tuple(metric for metric in METRICS if weighted or metric != WEIGHTED)


RunsByCell = Mapping[tuple[str, str], Sequence[RunScore]]
"""(agent, task) → its runs, one a repeat."""


class MetricTable(Struct, frozen=True, kw_only=True):
    """One metric: the agents that have it, over the tasks where each of them has a value.

    Attributes:
        agents: in alphabetical order; the rows of `means` and `runs`.
        means: (agents, columns) mean over repeats, all finite.
        runs: (agents, columns) number of runs behind each mean.
        trials: (agents,) number of binary trials behind each row (`Metric.trials`).
        columns: index of each column in the shared tasks; never empty where there is an agent.
        absent: agent without the metric → why.
    """

    metric: str
    agents: tuple[str, ...]
    means: Floats
    runs: NDArray[np.int64]
    trials: Floats
    columns: NDArray[np.intp]
    absent: Mapping[str, Unscored]

    @property
    def values(self) -> Floats:
        """Per agent, the mean over tasks."""
        # Exact: the order of tasks changes nothing.
        return np.array([fsum(row) / row.size for row in self.means])

    @property
    def comparable(self) -> Floats:
        """`values`, with equal means made equal numbers: for ranking and for agreement."""
        return quantise(self.values)


def by_cell(scores: Sequence[RunScore]) -> dict[tuple[str, str], list[RunScore]]:
    """Runs grouped by (agent, task)."""
    cells: dict[tuple[str, str], list[RunScore]] = defaultdict(list)
    for score in scores:
        cells[score.agent, score.task_id].append(score)
    return cells


def split_tasks(cells: RunsByCell) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Agents, the tasks that all of them ran, and the tasks that only some did; each sorted."""
    agents = tuple(sorted({agent for agent, _ in cells}))
    tasks = sorted({task for _, task in cells})
    shared = {task for task in tasks if all((agent, task) in cells for agent in agents)}
    return (
        agents,
        tuple(task for task in tasks if task in shared),
        tuple(task for task in tasks if task not in shared),
    )


class Cells(Struct, frozen=True, kw_only=True):
    """One metric of every agent on every task.

    Attributes:
        agents: the rows.
        means: (agents, tasks) mean over the repeats that have a value; NaN where none has.
        runs: (agents, tasks) number of repeats behind each mean.
        trials: (agents, tasks) number of binary trials behind each mean.
        reasons: agent → why some run of it has no value, in the first words by alphabet.
    """

    metric: str
    agents: tuple[str, ...]
    means: Floats
    runs: NDArray[np.int64]
    trials: Floats
    reasons: Mapping[str, str]


def metric_cells(metric: str, cells: RunsByCell, agents: tuple[str, ...], tasks: tuple[str, ...]) -> Cells:
    """The metric on each task, repeats averaged; an agent that did not run a task has no value there."""
    measured = METRICS[metric]
    means = np.full((len(agents), len(tasks)), np.nan)
    runs = np.zeros((len(agents), len(tasks)), dtype=np.int64)
    trials = np.zeros((len(agents), len(tasks)))
    reasons: dict[str, str] = {}
    for row, agent in enumerate(agents):
        for column, task in enumerate(tasks):
            ran = cells.get((agent, task), ())
            values = [measured.value(score) for score in ran]
            known = [value for value in values if not isinstance(value, Unscored)]
            if known:
                means[row, column] = fsum(known) / len(known)
                runs[row, column] = len(known)
                # A run without a value adds none of its questions, on average.
                trials[row, column] = sum(measured.trials(score) for score in ran) * len(known) / len(ran)
            if len(known) < len(values):
                why = min(value.reason for value in values if isinstance(value, Unscored))
                reasons[agent] = min(why, reasons.get(agent, why))
    return Cells(metric=metric, agents=agents, means=means, runs=runs, trials=trials, reasons=reasons)


def metric_table(
    metric: str, cells: RunsByCell, agents: tuple[str, ...], shared: tuple[str, ...]
) -> MetricTable:
    """The table of one metric over the shared tasks."""
    return table_of(metric_cells(metric, cells, agents, shared), shared)


def table_of(found: Cells, shared: tuple[str, ...]) -> MetricTable:
    """The agents that have a metric, over the tasks where each of them has a value.

    Args:
        found: the metric on the shared tasks.
        shared: their names.
    """
    means, runs, reasons, agents = found.means, found.runs, found.reasons, found.agents
    # First the agents: one without any value would leave the others no column.
    rows = np.flatnonzero(runs.any(axis=1)) if shared else np.empty(0, dtype=np.intp)
    columns = np.flatnonzero(runs[rows].all(axis=0)) if rows.size else np.empty(0, dtype=np.intp)
    if not columns.size:
        rows = rows[:0]
    present = tuple(agents[row] for row in rows)
    return MetricTable(
        metric=found.metric,
        agents=present,
        means=means[np.ix_(rows, columns)],
        runs=runs[np.ix_(rows, columns)],
        trials=found.trials[np.ix_(rows, columns)].sum(axis=1),
        columns=columns,
        absent={
            agents[row]: _absence(agents[row], reasons, runs[row], shared)
            for row in np.setdiff1d(np.arange(len(agents)), rows)
        },
    )


def _absence(
    agent: str,
    reasons: Mapping[str, str],
    runs: NDArray[np.int64],
    shared: tuple[str, ...],
) -> Unscored:
    """Why an agent has no value under a metric."""
    if not shared:
        return Unscored("no task was run by every agent")
    if runs.any():
        return Unscored("no task has a value for every agent")
    return Unscored(f"no shared task has a value: {reasons[agent]}")
