"""How often labels that say nothing would separate some row of rates as far as the real ones do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NEARLY = 1e-12
"""Two differences that are nearer are equal: they are sums in another order."""


def relabelled(
    *,
    reached: Sequence[Sequence[bool]],
    done: Sequence[Sequence[bool]],
    second: Sequence[bool],
    strata: Sequence[int],
    largest: float,
    shuffles: int,
    seed: int,
) -> float:
    """Share of relabellings inside strata in which some row differs by `largest` or more.

    A row's difference is that of its rates, done over reached, second side minus first, stratum by stratum,
    with the weights of Mantel and Haenszel (§11 of docs/concepts.md). The real labels count as one.

    Args:
        reached: rows of one value per run.
        done: the same rows; what is done was reached.
        second: per run, whether it is of the second side.
        strata: per run, the number of its stratum; labels move inside of it alone.
        largest: the largest absolute difference that the real labels give.
        shuffles: how many relabellings are drawn.
        seed: of the draws.
    """
    place, side = np.array(strata), np.array(second)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))

    def by_stratum(rows: np.ndarray) -> np.ndarray:
        """How many of a stratum's runs, in `order`, hold in each row."""
        return np.add.reduceat(rows, starts, axis=1, dtype=float)

    known, ended = np.array(reached)[:, order], np.array(done)[:, order]
    n, k = by_stratum(known), by_stratum(ended)
    rng = np.random.default_rng(seed)
    found = 1
    for _ in range(shuffles):
        # Sorted by stratum and a random key: labels move inside their stratum alone.
        drawn = side[np.lexsort((rng.random(len(place)), place))]
        n1, k1 = by_stratum(known & drawn), by_stratum(ended & drawn)
        n0, k0 = n - n1, k - k1
        paired = (n1 > 0) & (n0 > 0)
        weight = np.where(paired, n1 * n0 / np.maximum(n, 1), 0.0)
        rates = k1 / np.maximum(n1, 1) - k0 / np.maximum(n0, 1)
        total = weight.sum(axis=1)
        spread = np.abs((weight * rates).sum(axis=1)) / np.maximum(total, _NEARLY)
        found += bool((spread[total > 0] >= largest - _NEARLY).any())
    return found / (shuffles + 1)
