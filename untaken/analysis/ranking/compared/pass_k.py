"""pass^k: the chance that k trials of a task all succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, fsum
from typing import Final

import numpy as np

from untaken.analysis.ranking.compared.tables import MetricTable
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
    return fsum(_chance(sum(map(bool, task)), len(task), k) for task in trials.values()) / len(trials)


def _chance(successes: int, trials: int, k: int) -> float:
    return comb(successes, k) / comb(trials, k)


def pass_k_curve(outcome: MetricTable) -> tuple[PassK, ...]:
    """pass^k of each agent for k = 1 … the fewest trials it has on a task, at most `LARGEST_K`.

    Over the tasks on which every agent has a known outcome, like its success rate, which is pass^1.
    """
    successes = np.rint(outcome.means * outcome.runs).astype(np.int64)
    return tuple(
        one
        for agent, won, trials in zip(outcome.agents, successes.tolist(), outcome.runs.tolist(), strict=True)
        for one in _curve(agent, won, trials)
    )


def _curve(agent: str, successes: Sequence[int], trials: Sequence[int]) -> list[PassK]:
    ks = range(1, min(LARGEST_K, *trials) + 1)
    chances = np.array([[_chance(*task, k) for task in zip(successes, trials, strict=True)] for k in ks])
    # A task's n trials hold n / k separate ones of k.
    ends = share_interval(chances, np.array([sum(trials) / k for k in ks]))
    # Repeats of a single task say nothing about other tasks. A single trial is a rate of trials.
    spread = len(trials) > 1 or trials[0] == 1
    return [
        PassK(
            agent=agent,
            k=k,
            value=fsum(chances[k - 1]) / len(trials),
            low=float(ends[0, k - 1]) if spread else NO_INTERVAL,
            high=float(ends[1, k - 1]) if spread else NO_INTERVAL,
            n_tasks=len(trials),
            n_runs=sum(trials),
        )
        for k in ks
    ]
