"""pass^k: the chance that k trials of a task all succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, fsum

from untaken.errors import Score, Unscored


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
    chances = [comb(sum(map(bool, outcomes)), k) / comb(len(outcomes), k) for outcomes in trials.values()]
    return fsum(chances) / len(chances)
