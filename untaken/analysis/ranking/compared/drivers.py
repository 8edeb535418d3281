"""Where a difference between two agents comes from: tasks, sub-goals, single runs (§5).

Each part is exact: over all tasks, or all sub-goals, or all runs, the parts sum up to the difference itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Final

import numpy as np

from untaken.analysis.ranking.compared.pairs import Measured
from untaken.analysis.ranking.compared.tables import RunsByCell
from untaken.analysis.ranking.comparisons import RunContribution, SubGoalGap, TaskGap
from untaken.analysis.ranking.metrics import METRICS
from untaken.analysis.ranking.ranked import Bootstrap, DiscordantPair
from untaken.errors import Unscored
from untaken.scoring import NodeResult, RunScore

BY_SUB_GOAL: Final = {name: metric.weight for name, metric in METRICS.items() if metric.weight}
"""Metrics that are a share of sub-goals completed, and so a sum over sub-goals: the weight of each."""
NodeKey = tuple[str, str]
"""(graph, sub-goal)."""


def task_gaps(cells: RunsByCell, metric: str, first: str, second: str) -> tuple[TaskGap, ...]:
    """The tasks behind `first` minus `second`, the largest part first; without those that are level."""
    tasks = _common(cells, metric, first, second)
    gaps = []
    for task, (ours, theirs) in tasks.items():
        difference = _mean(metric, ours) - _mean(metric, theirs)
        gaps.append(
            TaskGap(
                task_id=task,
                difference=difference,
                contribution=difference / len(tasks),  # the whole is a mean over tasks: parts sum to it
                first_runs=_extreme_runs(metric, ours, best=difference > 0),
                second_runs=_extreme_runs(metric, theirs, best=difference < 0),
            )
        )
    return tuple(
        sorted((gap for gap in gaps if gap.difference), key=lambda g: (-abs(g.difference), g.task_id))
    )


def _extreme_runs(metric: str, runs: Sequence[RunScore], *, best: bool) -> tuple[str, ...]:
    """Digests, those first that make the most of the difference."""
    ordered = sorted(
        runs, key=lambda run: (-_value(run, metric) if best else _value(run, metric), run.digest)
    )
    return tuple(run.digest for run in ordered)


def sub_goal_gaps(
    cells: RunsByCell, metric: str, first: str, second: str, bootstrap: Bootstrap
) -> tuple[SubGoalGap, ...]:
    """The sub-goals behind `first` minus `second`, the largest part first; empty but for `BY_SUB_GOAL`."""
    if metric not in BY_SUB_GOAL:
        return ()
    tasks = _common(cells, metric, first, second)
    parts: dict[NodeKey, float] = defaultdict(float)
    titles: dict[NodeKey, str] = {}
    rates: dict[NodeKey, list[float]] = defaultdict(list)
    for ours, theirs in tasks.values():
        one, other = (_shares(runs, metric) for runs in (ours, theirs))
        for key in {**one, **other}:
            mine, its = one.get(key), other.get(key)
            # What one side does not count is a part of 0: parts sum to the whole. A rate needs both sides.
            parts[key] += (mine[1] if mine else 0.0) - (its[1] if its else 0.0)
            titles[key] = (mine or other[key])[0]
            rates[key] += [mine[2] - its[2]] if mine and its else []
    alike: dict[int, list[NodeKey]] = defaultdict(list)
    for key, some in rates.items():
        alike[len(some)].append(key)
    gaps = []
    for keys in alike.values():  # on equally many tasks: their intervals at once
        differences = np.array([rates[key] for key in keys])
        measured = Measured.of(differences, np.zeros(len(keys), dtype=np.bool_), bootstrap, tested=False)
        for row, (graph, sub_goal) in enumerate(keys):
            low, high, difference = measured.scores(row)
            gaps.append(
                SubGoalGap(
                    graph=graph,
                    sub_goal=sub_goal,
                    title=titles[graph, sub_goal],
                    difference=difference,
                    low=low,
                    high=high,
                    contribution=parts[graph, sub_goal] / len(tasks),
                    n_tasks=measured.tasks,
                )
            )
    return tuple(sorted(gaps, key=lambda g: (-abs(g.contribution), g.graph, g.sub_goal)))


def contributions(
    cells: RunsByCell, pair: DiscordantPair, tasks: Sequence[str]
) -> tuple[RunContribution, ...]:
    """The runs that make two agents change places, largest effect first.

    Under the two metrics A and B the agents differ by ΔA > 0 and ΔB < 0. A run of `first` on one of n tasks
    with r repeats adds (A − B)/(n·r) to ΔA − ΔB, a run of `second` takes that away. Runs that pull the other
    way are left out.
    """
    common = _common(cells, pair.a_metric, pair.first, pair.second, tasks)
    kept = common.keys() & _common(cells, pair.b_metric, pair.first, pair.second, tasks).keys()
    found = []
    for task in kept:
        for agent, sign in ((pair.first, 1), (pair.second, -1)):
            both = [
                run for run in cells[agent, task] if _has(run, pair.a_metric) and _has(run, pair.b_metric)
            ]
            # A mean over tasks of means over their runs.
            found += [_contribution(run, pair, sign / (len(kept) * len(both))) for run in both]
    contributing = (one for one in found if one.weight > 0)
    return tuple(
        sorted(contributing, key=lambda p: (-p.weight, p.agent, p.task_id, p.task_repeat or 0, p.digest))
    )


def _contribution(run: RunScore, pair: DiscordantPair, share: float) -> RunContribution:
    outcome, value = _value(run, pair.a_metric), _value(run, pair.b_metric)
    return RunContribution(
        run_id=run.run_id,
        digest=run.digest,
        agent=run.agent,
        task_id=run.task_id,
        task_repeat=run.task_repeat,
        outcome=outcome,
        value=value,
        weight=share * (outcome - value),
    )


def _common(
    cells: RunsByCell, metric: str, first: str, second: str, tasks: Sequence[str] | None = None
) -> Mapping[str, tuple[list[RunScore], list[RunScore]]]:
    """The runs of both agents that have a value, by task; only tasks on which both have one."""
    common = {}
    for task in sorted({task for _, task in cells}) if tasks is None else tasks:
        ours, theirs = (
            [run for run in cells.get((agent, task), ()) if _has(run, metric)] for agent in (first, second)
        )
        if ours and theirs:
            common[task] = (ours, theirs)
    return common


def _has(run: RunScore, metric: str) -> bool:
    return not isinstance(METRICS[metric].value(run), Unscored)


def _value(run: RunScore, metric: str) -> float:
    value = METRICS[metric].value(run)
    return 0.0 if isinstance(value, Unscored) else value  # never: only runs that have it come here


def _mean(metric: str, runs: Sequence[RunScore]) -> float:
    return fsum(_value(run, metric) for run in runs) / len(runs)


def _shares(runs: Sequence[RunScore], metric: str) -> dict[NodeKey, tuple[str, float, float]]:
    """Over repeats of a task, each sub-goal's title, part of the metric, and how often it was completed."""
    seen: dict[NodeKey, list[tuple[NodeResult, float]]] = defaultdict(list)
    weight_of = BY_SUB_GOAL[metric]
    for run in runs:
        weighed = [(node, weight) for node in run.counted if (weight := weight_of(node))]
        whole = fsum(weight for _, weight in weighed)
        for node, weight in weighed:
            part = weight / (whole * len(runs)) if node.completed else 0.0
            seen[run.graph_id, node.sub_goal].append((node, part))
    return {
        key: (
            nodes[0][0].title,
            fsum(part for _, part in nodes),
            fsum(bool(node.completed) for node, _ in nodes) / len(nodes),
        )
        for key, nodes in seen.items()
    }
