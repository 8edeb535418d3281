"""Would another 95% interval of a rate or a share do better where tasks are few?

Single trials: exact coverage over rates from 0.02 to 0.98 of Clopper and Pearson's interval (which `rank` and
`gate` use), its mid-P version, Wilson's and Blaker's (2000): the least, the mean, the most, how often it errs
to one side at most, and the mean width. Shares: how often the interval in use, and Clopper and Pearson's and
the mid-P one for an effective number of tasks whose spread is taken as it is (Korn and Graubard 1998), hold
the truth, over 144 worlds of `benchmarks/small_worlds.py`. Ranks: the
same of equal agents, the case in which their tests err most.

    python -m benchmarks.interval_methods
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import betainc, betaincinv
from scipy.stats import binom

from benchmarks.small_worlds import Coverage, order_coverage, shares
from untaken.stats.means import student_quantile
from untaken.stats.rates import TAIL, Z_95
from untaken.stats.rounding import Floats
from untaken.stats.shares import share_interval

RATES = np.linspace(0.02, 0.98, 193)
GRID = np.linspace(0, 1, 4_001)
WORLDS = 1_000


def clopper_pearson(x: Floats, n: Floats) -> Floats:
    """(2, …), of any real number of successes."""
    some, rest = np.maximum(x, 1e-9), np.maximum(n - x, 1e-9)
    low = np.where(x > 1e-9, betaincinv(some, rest + 1, TAIL), 0.0)
    return np.stack([low, np.where(n - x > 1e-9, betaincinv(some + 1, rest, 1 - TAIL), 1.0)])


def mid_p(x: Floats, n: Floats) -> Floats:
    """The same, the observed number counted by half."""

    def beyond(rate: Floats) -> Floats:
        at_least = np.where(x > 1e-9, betainc(np.maximum(x, 1e-9), n - x + 1, rate), 1.0)
        more = np.where(n - x > 1e-9, betainc(x + 1, np.maximum(n - x, 1e-9), rate), 0.0)
        return (at_least + more) / 2

    ends = []
    for tail in (TAIL, 1 - TAIL):
        low, high = np.zeros_like(x), np.ones_like(x)
        for _ in range(50):
            middle = (low + high) / 2
            under = beyond(middle) < tail
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        ends.append((low + high) / 2)
    return np.stack([np.where(x > 1e-9, ends[0], 0.0), np.where(n - x > 1e-9, ends[1], 1.0)])


def wilson(x: Floats, n: Floats) -> Floats:
    """The score interval."""
    centre = (x + Z_95**2 / 2) / (n + Z_95**2)
    reach = Z_95 / (n + Z_95**2) * np.sqrt(x * (n - x) / n + Z_95**2 / 4)
    return np.clip(np.stack([centre - reach, centre + reach]), 0.0, 1.0)


def blaker(x: Floats, n: Floats) -> Floats:
    """The rates at which no rarer-tailed number has 5% in all; of all numbers from 0 to n."""
    chance = binom.pmf(x[:, None], n[0], GRID)
    least = np.minimum(chance.cumsum(axis=0), chance[::-1].cumsum(axis=0)[::-1])  # of either tail
    accepted = np.stack([(chance * (least <= one + 1e-12)).sum(axis=0) > 2 * TAIL for one in least])
    return np.stack([GRID[accepted.argmax(axis=1)], GRID[::-1][accepted[:, ::-1].argmax(axis=1)]])


def single_trials() -> None:
    """Print exact coverage."""
    print("single trials: least, mean, most coverage; errs to one side at most; mean width")
    for tasks, (name, method) in product((6, 8, 10, 25), METHODS.items()):
        x = np.arange(tasks + 1.0)
        low, high = method(x, np.full(x.size, float(tasks)))
        chance = binom.pmf(x[:, None], tasks, RATES)
        above, below = (low[:, None] > RATES + 3e-4), (high[:, None] < RATES - 3e-4)
        held = (chance * ~(above | below)).sum(axis=0)
        side = max((chance * above).sum(axis=0).max(), (chance * below).sum(axis=0).max())
        figures = (held.min(), held.mean(), held.max(), side, (high - low).mean())
        print(f"  {tasks:2} tasks  {name:16} {'  '.join(f'{figure:.3f}' for figure in figures)}")


def share_worlds() -> None:
    """Print in how many worlds the intervals of a share hold 93 to 97%, fewer and more."""
    print("shares: worlds with coverage below 93%, 93 to 97%, above; the least and the median")
    for tasks in (6, 8, 10, 25):
        found: dict[str, list[float]] = {"used": [], "Clopper-Pearson": [], "mid-P": []}
        for mean, alike, trials in product(
            (0.3, 0.5, 0.7, 0.8, 0.9, 0.95), (0.5, 1, 3, 5, 20, 99), (2, 3, 5, 15)
        ):
            values = shares(np.random.default_rng(1), mean, alike, trials, (WORLDS, tasks))
            means = values.mean(axis=1)
            spread = np.maximum(values.var(axis=1, ddof=1), 1e-12)
            effective = np.minimum(means * (1 - means) * tasks / spread, trials * tasks)
            effective *= (Z_95 / student_quantile(tasks - 1)) ** 2
            effective[np.ptp(values, axis=1) < 1e-12] = tasks
            found["used"].append(
                Coverage.of(*share_interval(values, np.full(WORLDS, 1.0 * trials * tasks)), mean).held
            )
            for name in ("Clopper-Pearson", "mid-P"):
                found[name].append(Coverage.of(*METHODS[name](means * effective, effective), mean).held)
        for name, held in found.items():
            inside = sum(0.93 <= one <= 0.97 for one in held)
            under = sum(one < 0.93 for one in held)
            print(
                f"  {tasks:2} tasks  {name:16} {under:3} {inside:3} {len(held) - inside - under:3}   "
                f"{min(held):.3f} {np.median(held):.3f}"
            )


METHODS = {"Clopper-Pearson": clopper_pearson, "mid-P": mid_p, "Wilson": wilson, "Blaker": blaker}


def main() -> None:
    single_trials()
    share_worlds()
    print("ranks of six equal agents, 3 trials a task")
    for tasks in (6, 10, 25):
        print(f"  {tasks:2} tasks  {order_coverage(0.0, tasks, 3)[0].held:.3f}")


if __name__ == "__main__":
    main()
