"""Worlds of few tasks, and how often the intervals of rankings and agreement hold their truth there (§5).

A world draws tasks from all the tasks there might be: what an agent's mean over *those* is, is the truth. Six
agents run the same tasks, so they share each task's difficulty; a run's five sub-goals and its outcome share
the run's luck. `tests/stats/test_small_worlds.py` guards the worst cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtri

from untaken.errors import Unscored
from untaken.stats.correlation import kendall_tau_b, tau_interval
from untaken.stats.kappa import agreement_share, cohen_kappa
from untaken.stats.krippendorff import alpha_interval, nominal_alpha
from untaken.stats.paired import adjusted_wald, discordant_tasks, student_interval, wald_interval
from untaken.stats.ranks import PairTests, rank_interval, task_flips
from untaken.stats.rounding import Floats
from untaken.stats.shares import guaranteed_interval, share_interval

AGENTS = 6
GOALS = 5


@dataclass(frozen=True)
class Coverage:
    """How often a nominal 95% interval held the truth, missed it on either side, and was not given."""

    held: float
    above: float
    below: float
    unscored: float = 0.0

    @classmethod
    def of(cls, low: Floats, high: Floats, truth: Floats | float, unscored: float = 0.0) -> Coverage:
        above, below = float((low > truth + 1e-9).mean()), float((high < truth - 1e-9).mean())
        return cls(1 - above - below, above, below, unscored)


def shares(
    rng: np.random.Generator, mean: float, alike: float, trials: int, shape: tuple[int, int]
) -> Floats:
    """Means of `trials` yes-or-no questions a task; tasks are as unlike as a Beta of strength `alike`."""
    return rng.binomial(trials, rng.beta(alike * mean, alike * (1 - mean), shape)) / trials


def share_coverage(
    mean: float, alike: float, trials: int, tasks: int, *, worlds: int = 4_000, seed: int = 0
) -> Coverage:
    """Of one agent's value."""
    values = shares(np.random.default_rng(seed), mean, alike, trials, (worlds, tasks))
    low, high = share_interval(values, np.full(worlds, float(trials * tasks)))
    return Coverage.of(low, high, mean)


def gate_coverage(
    mean: float, alike: float, trials: int, tasks: int, *, worlds: int = 2_000, seed: int = 0
) -> Coverage:
    """Of what a gate is held on; `above` is how often it passes an agent at its bound."""
    values = shares(np.random.default_rng(seed), mean, alike, trials, (worlds, tasks))
    low, high = np.concatenate([guaranteed_interval(some) for some in np.array_split(values, 4)], axis=1)
    return Coverage.of(low, high, mean)


def paired_coverage(
    first: float, second: float, trials: int, tasks: int, *, worlds: int = 4_000, seed: int = 0
) -> Coverage:
    """Of a paired difference, as `rank` reports it."""
    rng, shape = np.random.default_rng(seed), (worlds, tasks)
    ease = rng.random(shape)
    other = np.where(rng.random(shape) < 0.5, ease, rng.random(shape))
    one, two = (
        rng.binomial(trials, stats.beta.ppf(u, 4 * m, 4 * (1 - m))) / trials
        for u, m in ((ease, first), (other, second))
    )
    differences = one - two
    walds = wald_interval(*adjusted_wald(*discordant_tasks(differences), tasks))
    same = (np.ptp(differences, axis=1) < 1e-12) | (trials == 1)
    low, high = np.where(same, walds, student_interval(differences))
    return Coverage.of(low, high, first - second)


def agents_world(
    rng: np.random.Generator, spread: float, tasks: int, repeats: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """(outcome truth, completion truth, outcome means, completion means) of six agents within `spread`."""
    outcome, goals = 0.5 + spread * (rng.random(AGENTS) - 0.5), 0.6 + spread * (rng.random(AGENTS) - 0.5)
    ease = rng.normal(size=(1, tasks))
    succeeded, completed = np.zeros((2, AGENTS, tasks))
    for _ in range(repeats):
        luck = rng.normal(size=(AGENTS, tasks))
        latent = (0.3**0.5 * (ease + luck))[..., None] + 0.4**0.5 * rng.normal(size=(AGENTS, tasks, GOALS))
        completed += (latent < ndtri(goals)[:, None, None]).mean(axis=2) / repeats
        ended = 0.3**0.5 * ease + 0.5**0.5 * luck + 0.2**0.5 * rng.normal(size=(AGENTS, tasks))
        succeeded += (ended < ndtri(outcome)[:, None]) / repeats
    return outcome, goals, succeeded, completed


def order_coverage(
    spread: float, tasks: int, repeats: int, *, worlds: int = 400, seed: int = 0
) -> tuple[Coverage, Coverage]:
    """Of ranks (both metrics, all agents), and of τ-b between the two metrics."""
    rng = np.random.default_rng(seed)
    ranks: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    taus: list[tuple[float, float, float]] = []
    for _ in range(worlds):
        world = agents_world(rng, spread, tasks, repeats)
        tests = [PairTests.of(means, task_flips(tasks, 0)) for means in world[2:]]
        ranks += [
            (rank_interval(test), stats.rankdata(-truth, "min"))
            for test, truth in zip(tests, world, strict=False)
        ]
        tau = kendall_tau_b(*(means.mean(axis=1).round(12) for means in world[2:]))
        low, high = (tau, tau) if isinstance(tau, Unscored) else tau_interval(tau, *tests)
        if not isinstance(low, Unscored) and not isinstance(high, Unscored):
            taus.append((low, high, stats.kendalltau(world[0], world[1]).statistic))
    ends, truths = np.array([e for e, _ in ranks]), np.array([t for _, t in ranks])
    found = np.array(taus).reshape(-1, 3).T
    none = 1 - len(taus) / worlds
    tau_found = Coverage.of(*found, unscored=none) if taus else Coverage(1.0, 0.0, 0.0, none)
    return Coverage.of(ends[:, 0], ends[:, 1], truths), tau_found


def reviewed(
    rng: np.random.Generator, base: tuple[float, float], error: float, raters: int, shape: tuple[int, int]
) -> NDArray[np.bool_]:
    """(worlds, tasks, sub-goals, raters) verdicts; tasks differ in what is met and how often raters err."""
    rate = rng.beta(*base, size=(*shape, 1, 1))
    met = rng.random((*shape, GOALS, 1)) < rate
    err = rng.beta(2 * error, 2 * (1 - error), size=(*shape, 1, raters))
    return met ^ (rng.random((*shape, GOALS, raters)) < err)


def reviewer_coverage(
    base: tuple[float, float],
    error: float,
    raters: int,
    tasks: int,
    *,
    missing: float = 0.0,
    worlds: int = 400,
    seed: int = 0,
) -> tuple[Coverage, Coverage]:
    """Of Krippendorff's α, that share of answers missing, and of Cohen's κ of the first two raters."""
    rng = np.random.default_rng(seed)
    (large,) = reviewed(rng, base, error, raters, (1, 20_000)).reshape(1, -1, raters)
    true_alpha, two = nominal_alpha(large.tolist()), [large[:, :2].tolist()]
    true_kappa = cohen_kappa(two, agreement_share(two))[0]
    alphas, kappas = [], []
    for world in reviewed(rng, base, error, raters, (worlds, tasks)):
        there = rng.random(world.shape) >= missing if missing else np.ones(world.shape, bool)
        given = [
            [row[kept].tolist() for row, kept in zip(*task, strict=True)]
            for task in zip(world, there, strict=True)
        ]
        alphas.append(alpha_interval({str(t): task for t, task in enumerate(given)}))
        pairs = [[(a, b) for a, b, *_ in task.tolist()] for task in world]
        kappas.append(cohen_kappa(pairs, agreement_share(pairs))[1:])
    return _covered(alphas, true_alpha), _covered(kappas, true_kappa)


def _covered(intervals: Sequence[tuple[object, object]], truth: float | Unscored) -> Coverage:
    known = np.array([ends for ends in intervals if isinstance(ends[0], float)]).reshape(-1, 2)
    none = 1 - len(known) / len(intervals)
    return (
        Coverage.of(known[:, 0], known[:, 1], float(truth), none)
        if len(known)
        else Coverage(1.0, 0.0, 0.0, none)
    )


RATES = (0.03, 0.1, 0.5, 0.9, 0.97)
SHARES = ((0.8, 3, 3), (0.95, 3, 3), (0.7, 5, 5), (0.9, 5, 5), (0.95, 1, 5), (0.5, 99, 15))
"""(mean, likeness of tasks, questions a task)."""
PAIRS = ((0.7, 0.5, 1), (0.95, 0.9, 1), (0.9, 0.8, 3), (0.7, 0.68, 5), (0.95, 0.9, 5))
"""(first, second, questions a task)."""
SPREADS = (0.02, 0.1, 0.3, 0.6)
REVIEWS = (((2, 2), 0.05, 2), ((2, 2), 0.2, 3), ((6, 1.5), 0.1, 3), ((9, 1), 0.1, 2))
"""(Beta of what is met, how often raters err, raters)."""


def small_worlds() -> Iterator[tuple[str, Coverage]]:
    """Every kind of interval in worlds of 6 to 25 tasks."""
    for tasks in (6, 10, 25):
        for base, error, raters in REVIEWS[1:3]:
            alpha, _ = reviewer_coverage(base, error, raters, tasks, missing=0.3, worlds=200)
            yield f"{tasks} tasks: {raters} raters err {error}, 30% missing: α", alpha
        alpha, kappa = reviewer_coverage((19, 1), 0.05, 2, tasks, worlds=200)
        yield f"{tasks} tasks: 2 raters err 0.05, met 0.95: α", alpha
        yield f"{tasks} tasks: 2 raters err 0.05, met 0.95: κ", kappa
    for tasks in (6, 8, 10, 25):
        for mean in RATES:
            yield f"{tasks} tasks: rate {mean}, one trial", share_coverage(mean, 3, 1, tasks)
        for mean, alike, trials in SHARES:
            found = share_coverage(mean, alike, trials, tasks)
            yield f"{tasks} tasks: share {mean}, {trials} questions, alike {alike}", found
            gate = gate_coverage(mean, alike, trials, tasks)
            yield f"{tasks} tasks: gate at {mean}, {trials} questions, alike {alike}", gate
        for first, second, trials in PAIRS:
            found = paired_coverage(first, second, trials, tasks)
            yield f"{tasks} tasks: {first} − {second}, {trials} questions", found
        for spread in SPREADS:
            for repeats in (1, 3):
                rank, tau = order_coverage(spread, tasks, repeats)
                name = f"{tasks} tasks: 6 agents within {spread}, {repeats} trials"
                yield f"{name}: rank", rank
                yield f"{name}: τ-b", tau
        for base, error, raters in REVIEWS:
            alpha, kappa = reviewer_coverage(base, error, raters, tasks)
            name = f"{tasks} tasks: {raters} raters err {error}, met {base[0] / sum(base):.2f}"
            yield f"{name}: α", alpha
            yield f"{name}: κ", kappa
