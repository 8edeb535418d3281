"""pass^k: the chance that k trials of a task all succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import comb, fsum
from typing import Final

import numpy as np

from untaken.analysis.ranking.compared.tables import RunsByCell
from untaken.analysis.ranking.comparisons import PassK
from untaken.analysis.ranking.ranked import NO_INTERVAL
from untaken.errors import Score, Unscored
from untaken.stats import share_interval

LARGEST_K: Final = 32


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> Score:
    """Mean over tasks of C(c, k) / C(n, k), for c successes in a task's n trials (τ-bench, Yao et al. 2024).

    Returns:
        The mean, or unscored where there is no task or a task has fewer than `k` trials.

    Raises:
        ValueError: for `k` below 1.
    """
    if k < 1:
        raise ValueError("k counts trials, so it is at least 1")
    short = sum(len(outcomes) < k for outcomes in trials.values())
    if not trials or short:
        return Unscored(
            f"{short} of {len(trials)} tasks have fewer than {k} trials" if trials else "no tasks"
        )
    return fsum(_chance(outcomes, k) for outcomes in trials.values()) / len(trials)


def _chance(outcomes: Sequence[bool], k: int) -> float:
    return comb(sum(map(bool, outcomes)), k) / comb(len(outcomes), k)


def pass_k_curve(cells: RunsByCell, agents: Sequence[str], tasks: Sequence[str]) -> tuple[PassK, ...]:
    """pass^k of each agent for k = 1 … the fewest trials it has on a task, at most `LARGEST_K`.

    Over the tasks on which every agent has a known outcome, like its success rate, which is pass^1.
    """
    trials: dict[str, dict[str, list[bool]]] = {}
    for agent, task in product(agents, tasks):
        bits = [run.success for run in cells.get((agent, task), ())]
        if known := [bit for bit in bits if not isinstance(bit, Unscored)]:
            trials.setdefault(agent, {})[task] = known
    shared = [task for task in tasks if all(task in known for known in trials.values())]
    return tuple(
        one for agent, known in trials.items() for one in _curve(agent, [known[task] for task in shared])
    )


def _curve(agent: str, trials: Sequence[Sequence[bool]]) -> list[PassK]:
    if not trials:
        return []
    largest = min(LARGEST_K, *map(len, trials))
    chances = np.array([[_chance(bits, k) for bits in trials] for k in range(1, largest + 1)])
    # A task's n trials hold n / k separate ones of k.
    ends = share_interval(chances, np.array([sum(map(len, trials)) / k for k in range(1, largest + 1)]))
    # Repeats of a single task say nothing about other tasks. A single trial is a rate of trials.
    spread = len(trials) > 1 or len(trials[0]) == 1
    return [
        PassK(
            agent=agent,
            k=k,
            value=fsum(chances[k - 1]) / len(trials),
            low=float(ends[0, k - 1]) if spread else NO_INTERVAL,
            high=float(ends[1, k - 1]) if spread else NO_INTERVAL,
            n_tasks=len(trials),
            n_runs=sum(map(len, trials)),
        )
        for k in range(1, largest + 1)
    ]
