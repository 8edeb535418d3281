"""An option's effect where each agent ran each task once: the slope of differences between agents (§2d)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from untaken.stats.rates import Z_95

PERMUTATIONS: Final = 2_000
_ROUNDING: Final = 1e-9


class Block(NamedTuple):
    """Tasks that the same agents ran once: `x` (1 took the option), `y` (1 succeeded), task by agent."""

    x: np.ndarray
    y: np.ndarray


class Slope(NamedTuple):
    """The slope, its 95% interval, its permutation p, and the smallest p these tasks could give."""

    slope: float
    low: float
    high: float
    p: float
    least: float


def slope_between_agents(blocks: Sequence[Block]) -> Slope | None:
    """β = cov(Δx, Δy) / var(Δx) over tasks, Δ being between agents; clipped to ±1.

    With two agents a block, these are the plain differences; with more, x and y are centred by task and by
    agent, which is the same for two. p: Δy permuted over the tasks of a block (`PERMUTATIONS` draws, seeded).
    The interval is normal around the slope before clipping, with the permutations' standard deviation.

    Returns:
        ``None`` where the agents' difference in x is the same in every task.
    """
    rng = np.random.default_rng(0)  # the same draws every time
    spread, observed = 0.0, 0.0
    drawn = np.zeros(PERMUTATIONS)
    for block in blocks:
        x = _centred(block.x)
        products = x @ _centred(block.y).T
        spread += float(np.sum(x * x))
        observed += float(np.trace(products))  # each task beside itself
        rows = np.arange(len(products))
        orders = rng.permuted(np.tile(rows, (PERMUTATIONS, 1)), axis=1)
        drawn += products[rows, orders].sum(axis=1)
    if spread < _ROUNDING:
        return None
    slope, reach = observed / spread, Z_95 * float(drawn.std() / spread)
    sizes = np.abs(drawn) + _ROUNDING  # a draw that equals it but for rounding reaches it
    return Slope(
        slope=_clipped(slope),
        low=_clipped(slope - reach),
        high=_clipped(slope + reach),
        p=_share(sizes >= abs(observed)),
        least=_share(sizes >= max(abs(observed), float(np.abs(drawn).max()))),
    )


def _clipped(slope: float) -> float:
    return max(-1.0, min(1.0, slope))


def _share(reached: np.ndarray) -> float:
    """The share of draws that reach it, the observation itself included."""
    return (1 + int(np.count_nonzero(reached))) / (1 + PERMUTATIONS)


def _centred(values: np.ndarray) -> np.ndarray:
    """Removes the means of tasks and of agents."""
    rows = np.asarray(values - values.mean(axis=1, keepdims=True))
    return np.asarray(rows - rows.mean(axis=0))
