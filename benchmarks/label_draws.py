"""How often labels are warned of as no random draw: of draws that are random, and of draws that are not.

A world: tasks that differ, runs of two agents, 3 to 7 sub-goals a run, a judge that tends to go with the
outcome. What no record shows cannot be seen: the last world, labels just where the judge is wrong.

    python -m benchmarks.label_draws [worlds]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from untaken.errors import Unscored
from untaken.stats.label_draw import LEVEL, draw_test
from untaken.stats.rounding import Floats

Random = np.random.Generator
TASKS, REPEATS = 30, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Items with what is recorded of them, and whether the judge is wrong."""

    run: np.ndarray
    task: np.ndarray
    features: Mapping[str, Floats]
    wrong: np.ndarray

    @classmethod
    def of(cls, random: Random) -> Judged:
        task_of_run = np.repeat(np.arange(TASKS), REPEATS)
        runs = task_of_run.size
        success = (random.random(runs) < random.beta(2, 2, TASKS)[task_of_run]).astype(float)
        agent, start = random.integers(0, 2, runs), random.permutation(runs).astype(float)
        run = np.repeat(np.arange(runs), random.integers(3, 8, TASKS)[task_of_run])
        met = random.random(run.size) < np.where(success[run] > 0, 0.9, 0.5)
        wrong = random.random(run.size) < 0.15
        rate = np.bincount(task_of_run, success) / REPEATS
        features = {
            "verdict": (met ^ wrong).astype(float),
            "outcome": success[run],
            "task": rate[task_of_run][run],
            "start": start[run],
            "agent": np.stack([agent[run] == one for one in (0, 1)], axis=1).astype(float),
        }
        return cls(run=run, task=task_of_run[run], features=features, wrong=wrong)


Draw = Callable[[Judged, Random], np.ndarray]


def items(n: int, weight: Callable[[Judged], Floats] | None = None) -> Draw:
    """So many items; with unequal weights no random draw."""

    def draw(world: Judged, random: Random) -> np.ndarray:
        odds = np.ones(world.run.size) if weight is None else weight(world)
        drawn = np.zeros(world.run.size, dtype=bool)
        drawn[random.choice(world.run.size, n, replace=False, p=odds / odds.sum())] = True
        return drawn

    return draw


def whole(codes: Callable[[Judged], np.ndarray], n: int) -> Draw:
    """So many whole runs or tasks."""
    return lambda world, random: np.isin(
        codes(world), random.choice(np.unique(codes(world)), n, replace=False)
    )


def half_of_runs(world: Judged, random: Random) -> np.ndarray:
    """Half of the items of 25 runs."""
    drawn: np.ndarray = whole(lambda one: one.run, 25)(world, random)
    return drawn & (random.random(drawn.size) < 0.5)


def failing_runs(world: Judged, random: Random) -> np.ndarray:
    """Twenty whole runs that failed."""
    failed = np.unique(world.run[world.features["outcome"] == 0])
    return np.isin(world.run, random.choice(failed, 20, replace=False))


RANDOM: Mapping[str, Draw] = {
    "20 items": items(20),
    "40 items": items(40),
    "100 items": items(100),
    "10 runs": whole(lambda one: one.run, 10),
    "30 runs": whole(lambda one: one.run, 30),
    "6 tasks": whole(lambda one: one.task, 6),
    "10 tasks": whole(lambda one: one.task, 10),
    "half of the items of 25 runs": half_of_runs,
}
NOT_RANDOM: Mapping[str, Draw] = {
    "20 items that the judge fails": items(20, lambda one: 1.0 - one.features["verdict"]),
    "failing runs": failing_runs,
    "easy tasks rather": items(40, lambda one: np.exp(3 * one.features["task"])),
    "the first quarter": lambda one, _: one.features["start"] < TASKS * REPEATS / 4,
    "one agent 5 : 1": items(40, lambda one: np.where(one.features["agent"][:, 0] > 0, 5.0, 1.0)),
    "where the judge is wrong": items(40, lambda one: np.where(one.wrong, 5.0, 1.0)),
}


def warned(draw: Draw, *, worlds: int, seed: int = 0) -> float:
    """The share of worlds with a warning, of those that can be checked."""
    random, found = np.random.default_rng(seed), []
    for at in range(worlds):
        world = Judged.of(random)
        test = draw_test(draw(world, random), world.run, world.task, world.features, seed=at)
        if not isinstance(test, Unscored):
            found.append(test.p <= LEVEL)
    return float(np.mean(found))


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for title, draws in (("random draws", RANDOM), ("no random draws", NOT_RANDOM)):
        shares = []
        print(title)
        for name, draw in draws.items():
            shares.append(warned(draw, worlds=worlds))
            print(f"  {name:32} {shares[-1]:.3f}", flush=True)
        print(f"  {'mean':32} {np.mean(shares):.3f}")


if __name__ == "__main__":
    main()
