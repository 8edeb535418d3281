"""The intervals behind the fix-first list hold the truth as often as they say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from untaken.stats.rates import wilson
from untaken.stats.sparse import TaskSample, product

SIMULATIONS = 1500
SHARES = np.array([1 / 3, 2 / 3, 1.0])
WEIGHTS = np.array([0.5, 0.3, 0.2])


class World(NamedTuple):
    """`rho` is how much runs of one task are alike: 0 not at all."""

    tasks: int
    repeats: int
    rate: float
    rho: float


WORLDS = [
    World(60, 1, 0.2, 0.0),
    World(20, 3, 0.3, 0.4),
    World(40, 4, 0.2, 0.7),
    World(8, 4, 0.4, 0.5),
    World(3, 10, 0.4, 0.5),
]


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_the_interval_of_a_gain_holds_the_truth_in_about_95_of_100_worlds(world: World) -> None:
    rng = np.random.default_rng(7)
    truth = world.rate * float(SHARES @ WEIGHTS)
    sample = TaskSample({f"{t}/{r}": str(t) for t in range(world.tasks) for r in range(world.repeats)})
    held = told = 0
    for _ in range(SIMULATIONS):
        values = _drawn(rng, world)
        if values:
            low, high = sample.interval(values)
            told += 1
            held += low <= truth <= high
    assert told > 0.95 * SIMULATIONS
    assert 0.92 <= held / told <= 0.98


def _drawn(rng: np.random.Generator, world: World) -> dict[str, float]:
    rates = np.full(world.tasks, world.rate)
    if world.rho:
        odds = (1 - world.rho) / world.rho
        rates = rng.beta(world.rate * odds, (1 - world.rate) * odds, world.tasks)
    hit = rng.random((world.tasks, world.repeats)) < rates[:, None]
    much = rng.choice(SHARES, size=hit.shape, p=WEIGHTS)
    return {f"{t}/{r}": float(much[t, r]) for t, r in zip(*np.nonzero(hit), strict=True)}


def test_a_rate_of_single_runs_has_the_interval_of_wilson() -> None:
    sample = TaskSample({str(i): f"task {i}" for i in range(20)})
    assert sample.interval(dict.fromkeys("01234", 1.0)) == pytest.approx(wilson(5, 20))


def test_runs_of_one_task_count_as_many_as_their_variance_over_tasks_says() -> None:
    hits, n = [5, 4, 3, 2, 1, 0, 0, 0, 0, 0], 50
    sample = TaskSample({f"{t}/{r}": str(t) for t in range(10) for r in range(5)})
    between = sum((hit - 1.5) ** 2 for hit in hits) * 10 / 9 / n**2
    effective = n / (between / (0.3 * 0.7 / n)) * (norm.ppf(0.975) / student.ppf(0.975, 9)) ** 2
    found = sample.interval({f"{t}/{r}": 1.0 for t, hit in enumerate(hits) for r in range(hit)})
    assert found == pytest.approx(wilson(0.3 * effective, effective))


def test_the_interval_of_a_product_holds_the_truth_in_about_95_of_100_worlds() -> None:
    rng = np.random.default_rng(7)
    rate, advantage, error, n = 0.3, 0.2, 0.05, 80
    held = told = 0
    for count, mean in zip(rng.binomial(n, rate, 4000), rng.normal(advantage, error, 4000), strict=True):
        ends = (mean - 1.96 * error, mean + 1.96 * error)
        if ends[0] > 0:  # the supported ones
            low, high = product(
                count / n, wilson(int(count), n), float(mean), (float(ends[0]), float(ends[1]))
            )
            told += 1
            held += low <= rate * advantage <= high
    assert told > 3000
    assert 0.93 <= held / told <= 0.99


def test_a_product_with_something_certain_has_the_interval_of_the_other() -> None:
    assert product(0.3, (0.2, 0.45), 0.5, (0.5, 0.5)) == pytest.approx((0.2 * 0.5, 0.45 * 0.5))


def test_no_run_and_every_run_of_repeated_tasks_have_mirrored_intervals() -> None:
    """Four tasks run five times each, all alike, say as much as four runs."""
    runs = {f"{task}/{repeat}": str(task) for task in range(4) for repeat in range(5)}
    none, every = TaskSample(runs).interval({}), TaskSample(runs).interval(dict.fromkeys(runs, 1.0))
    assert none == pytest.approx(wilson(0, 4))
    assert every == pytest.approx((1 - none[1], 1 - none[0]))
