"""pass^k: the chance that k trials of a task all succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, fsum
from typing import TYPE_CHECKING, Final

from untaken.errors import Score, Unscored
from untaken.ranking.comparisons import PassK
from untaken.ranking.model import NO_INTERVAL, Bootstrap
from untaken.stats.rates import wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from untaken.ranking.tables import RunsByCell

LARGEST_K: Final = 32


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> Score:
    """Mean over tasks of C(c, k) / C(n, k), for c successes in a task's n trials (τ-bench, Yao et al. 2024).

    Args:
        trials: task → the success of each of its trials.
        k: how many trials must all succeed, at least 1.

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


def pass_k_curve(
    cells: RunsByCell, agents: Sequence[str], tasks: Sequence[str], bootstrap: Bootstrap
) -> tuple[PassK, ...]:
    """pass^k of each agent for k = 1 … the fewest trials it has on a task, at most `LARGEST_K`.

    The interval is Wilson's where there is one trial a task (or no spread between tasks), else that of a
    cluster bootstrap over tasks.

    Args:
        cells: the scored runs; those without an outcome are no trials.
        agents: whose.
        tasks: ranked over; those without a trial of the agent are left out.
        bootstrap: behind the intervals.
    """
    return tuple(one for agent in agents for one in _curve(agent, cells, tasks, bootstrap))


def _curve(agent: str, cells: RunsByCell, tasks: Sequence[str], bootstrap: Bootstrap) -> list[PassK]:
    import numpy as np  # noqa: PLC0415 (slow)

    found = ([run.success for run in cells.get((agent, task), ())] for task in tasks)
    trials = [known for bits in found if (known := [bit for bit in bits if not isinstance(bit, Unscored)])]
    largest = min(LARGEST_K, *(len(bits) for bits in trials)) if trials else 0
    chances = np.array([[_chance(bits, k) for bits in trials] for k in range(1, largest + 1)])
    if not chances.size:
        return []
    lows, highs = _intervals(chances, single=all(len(bits) == 1 for bits in trials), bootstrap=bootstrap)
    return [
        PassK(
            agent=agent,
            k=k,
            value=fsum(chances[k - 1]) / len(trials),
            low=lows[k - 1],
            high=highs[k - 1],
            n_tasks=len(trials),
            n_runs=sum(map(len, trials)),
        )
        for k in range(1, largest + 1)
    ]


def _intervals(
    chances: NDArray[np.float64], *, single: bool, bootstrap: Bootstrap
) -> tuple[list[Score], list[Score]]:
    """Of each row of (ks, tasks) chances."""
    from untaken.stats.paired import resampled_differences  # noqa: PLC0415 (slow)

    tasks = chances.shape[1]
    spans: list[tuple[Score, Score]] = [(NO_INTERVAL, NO_INTERVAL)] * len(chances)
    if tasks > 1 and bootstrap.resamples and not single:
        drawn, _ = resampled_differences(chances, resamples=bootstrap.resamples, seed=bootstrap.seed)
        spans = [(float(low), float(high)) for low, high in drawn.T]
    for row, values in enumerate(chances):
        if single or (tasks > 1 and values.max() - values.min() < 1e-12):
            spans[row] = wilson(fsum(values), tasks)
    return [low for low, _ in spans], [high for _, high in spans]
