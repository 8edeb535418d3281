"""What the statistics of rankings cost, and how often they are wrong.

Cost: 20 agents × 500 tasks. τ-b with its interval from tests of all pairs, as a ratio to a plain bootstrap
over `scipy.stats.kendalltau` in the same process (few resamples of the loop, scaled up); then every pair of
agents under one metric.

Errors, each with its Monte-Carlo error: how often the paired tests call equal agents different at the 5%
level, and how often a nominal 95% interval holds the truth, for shares of sub-goals (skewed, and mostly 1),
repeated and single trials, and few to many tasks. Exact McNemar is conservative by construction: it cannot
reach 5% where few tasks differ. Then the worlds of few tasks of `benchmarks/small_worlds.py`.

    python -m benchmarks.rankings [simulations]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from math import sqrt
from statistics import median
from time import process_time

import numpy as np
from scipy import stats

from benchmarks.small_worlds import small_worlds
from untaken.analysis.ranking.compared.pairs import Measured
from untaken.analysis.ranking.compared.tables import MetricTable
from untaken.analysis.ranking.rank import agree
from untaken.analysis.ranking.ranked import Bootstrap
from untaken.stats import paired
from untaken.stats.bootstrap import task_weights
from untaken.stats.ranks import PairTests, task_flips
from untaken.stats.rounding import Floats
from untaken.stats.shares import share_interval

AGENTS, TASKS, RESAMPLES, LOOPED = 20, 500, 10_000, 200
Drawn = Callable[[np.random.Generator, tuple[int, int]], Floats]
"""Makes (simulations, tasks) values of an agent."""


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds."""
    begun = process_time()
    work()
    return process_time() - begun


def a_table(metric: str, rng: np.random.Generator) -> MetricTable:
    """Shares of sub-goals: agents differ a little, tasks a lot."""
    skill, ease = rng.normal(0, 0.3, (AGENTS, 1)), rng.normal(0, 1, (1, TASKS))
    means = 1 / (1 + np.exp(-(skill + ease + rng.normal(0, 1, (AGENTS, TASKS)))))
    return MetricTable(
        metric=metric,
        agents=tuple(f"agent-{i:02}" for i in range(AGENTS)),
        means=means,
        runs=np.ones(means.shape, dtype=np.int64),
        trials=np.full(len(means), 5.0 * means.shape[1]),
        columns=np.arange(TASKS),
        absent={},
    )


def naive(a: Floats, b: Floats, rng: np.random.Generator) -> None:
    """What one writes first: draw, average, call SciPy, and again."""
    for _ in range(LOOPED):
        drawn = rng.integers(0, TASKS, TASKS)
        stats.kendalltau(a[:, drawn].mean(axis=1), b[:, drawn].mean(axis=1))


def cost() -> None:
    """Print the cost."""
    rng = np.random.default_rng(0)
    a, b = a_table("a", rng), a_table("b", rng)

    def tested(seed: int) -> None:
        agree(a, b, *(PairTests.of(table.means, task_flips(TASKS, seed)) for table in (a, b)))

    loop = cpu(lambda: naive(a.means, b.means, rng)) * RESAMPLES / LOOPED
    ours = median(cpu(partial(tested, seed)) for seed in range(5))
    one, other = np.triu_indices(AGENTS, k=1)
    pairs = a.means[one] - a.means[other]
    binary = np.zeros(len(pairs), dtype=np.bool_)
    compared = cpu(lambda: Measured.of(pairs, binary, Bootstrap(resamples=RESAMPLES)))
    print(f"{AGENTS} agents × {TASKS} tasks × {RESAMPLES:,} resamples, CPU seconds")
    print(f"τ-b with interval, from tests of all pairs {ours:8.2f}   1")
    print(f"a bootstrap of τ-b by a loop over SciPy    {loop:8.2f}   {loop / ours:.0f}")
    print(f"all {len(pairs)} pairs of one metric                {compared:8.2f}   {compared / ours:.1f}")


def share(alpha: float, beta: float) -> Drawn:
    """Shares of sub-goals of a task, of which alpha/(alpha + beta) is the mean."""
    return lambda rng, shape: rng.beta(alpha, beta, shape)


def mostly_whole(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Seven tasks of ten complete, the others anything: the mean is 0.85."""
    return np.where(rng.random(shape) < 0.7, 1.0, rng.random(shape))


def trials(chance: float, repeats: int) -> Drawn:
    """Means of repeated trials of tasks that are easy or hard; the mean over tasks is `chance`."""

    def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return rng.binomial(repeats, rng.beta(3 * chance, 3 * (1 - chance), shape)) / repeats

    return drawn


def wrong_tests(simulations: int, rng: np.random.Generator) -> None:
    """Print how often tests call equal agents different."""
    print(f"\nequal agents called different at the 5% level, of {simulations:,} comparisons")
    values = {
        "shares, sign flips": share(2, 1),
        "mostly whole, sign flips": mostly_whole,
        "3 trials a task, sign flips": trials(0.5, 3),
    }
    for name, drawn in values.items():
        for tasks in (10, 24, 100):
            shape = (simulations, tasks)
            p = paired.sign_flip_p(drawn(rng, shape) - drawn(rng, shape), resamples=1_999, seed=1)
            report(f"{name}, {tasks} tasks", p <= 0.05)
    for tasks in (24, 100, 500):
        first, second = rng.random((2, simulations, tasks)) < 0.5
        report(f"single trials, exact McNemar, {tasks} tasks", mcnemar(first, second) <= 0.05)


def mcnemar(first: Floats, second: Floats) -> Floats:
    """Of each simulation."""
    return paired.mcnemar_p(*paired.discordant_tasks(first * 1.0 - second))


def coverage(simulations: int, rng: np.random.Generator) -> None:
    """Print how often intervals hold the truth."""
    print(f"\nnominal 95% intervals that hold the truth, of {simulations:,}")
    pairs: dict[str, tuple[Drawn, Drawn, float]] = {
        "paired, shares": (share(2, 1), share(2, 2), 2 / 3 - 1 / 2),
        "paired, mostly whole": (mostly_whole, share(2, 1), 0.85 - 2 / 3),
        "paired, 3 trials a task": (trials(0.7, 3), trials(0.5, 3), 0.2),
    }
    for name, (one, other, truth) in pairs.items():
        for tasks in (8, 15, 24, 60):
            shape = (simulations, tasks)
            differences = one(rng, shape) - other(rng, shape)
            low, high = paired.student_interval(differences)
            report(f"{name}, {tasks} tasks", (low <= truth) & (truth <= high))
            if name == "paired, shares":
                low, high = plain(differences)
                report(f"  (plain percentiles, {tasks} tasks)", (low <= truth) & (truth <= high))
    for tasks in (10, 24, 100):
        first = rng.random((simulations, tasks)) < 0.7
        second = rng.random((simulations, tasks)) < 0.5
        centre, error = paired.adjusted_wald(*paired.discordant_tasks(first * 1.0 - second), tasks)
        low, high = paired.wald_interval(centre, error)
        report(f"paired, single trials, {tasks} tasks", (low <= 0.2) & (high >= 0.2))
        low, high = share_interval(first * 1.0, np.full(simulations, float(tasks)))
        report(f"one agent, single trials, {tasks} tasks", (low <= 0.7) & (high >= 0.7))
    for tasks in (8, 24, 60):
        values = mostly_whole(rng, (simulations, tasks))
        low, high = share_interval(values, np.full(simulations, 5.0 * tasks))
        report(f"one agent, mostly whole, {tasks} tasks", (low <= 0.85) & (high >= 0.85))


def drawn_means(values: Floats) -> Floats:
    """(2,000 resamples, simulations)."""
    tasks = values.shape[1]
    return np.concatenate([weights @ values.T / tasks for weights in task_weights(tasks, 2_000, 1)])


def plain(differences: Floats) -> Floats:
    """What the percentiles that textbooks begin with give."""
    return np.quantile(drawn_means(differences), (0.025, 0.975), axis=0)


def report(name: str, happened: np.ndarray) -> None:
    """Print a share with its Monte-Carlo error."""
    rate = happened.mean()
    print(f"{name:52} {rate:6.1%} ± {sqrt(rate * (1 - rate) / happened.size):.1%}")


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    cost()
    wrong_tests(asked, np.random.default_rng(1))
    coverage(asked, np.random.default_rng(2))
    print("\nworlds of few tasks: nominal 95% intervals that hold the truth, and those not given")
    for name, found in small_worlds():
        print(f"{name:60} {found.held:6.1%}   not given {found.unscored:4.0%}")
