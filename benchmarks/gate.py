"""How often a gate errs.

Asked once at 25 tasks: how often an agent passes, on its value and on its interval. Asked again after every
pair of runs: how often it fails an agent that has not changed, and after how many pairs it finds a drop.

A pair is a run of the new agent and one of the old, of the same task. Beside the sequential gate
(`untaken.analysis.sequential.compare_in_sequence`) are two habits: a one-sided t-test at 5% after every pair
from the tenth on, and "the new mean is lower" after as many pairs as there are.

    python benchmarks/gate.py [worlds] [pairs]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from untaken.stats.betting import evidence_above
from untaken.stats.rounding import Floats
from untaken.stats.shares import guaranteed_interval, share_interval

ENOUGH = np.log(20)
FIRST_TEST = 10
BOUND = 0.8
TASKS = 25
ALIKE = 3
"""Tasks are as unlike as a Beta of this strength."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Two agents on the same tasks.

    Attributes:
        old, new: mean score.
        sub_goals: of a run; 1 is success or failure.
        alike: sub-goals of a run, and the two runs of a task, share its difficulty; 0 for none.
    """

    old: float
    new: float
    sub_goals: int = 1
    alike: float = 0.3

    def differences(self, pairs: int, random: np.random.Generator) -> Floats:
        """New minus old, pair by pair."""
        shift = self.alike * (random.beta(2, 2, pairs) - 0.5)
        new, old = (
            random.binomial(self.sub_goals, np.clip(mean + shift, 0, 1)) / self.sub_goals
            for mean in (self.new, self.old)
        )
        found: Floats = new - old
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Of so many worlds: the share that was ever failed, and the median number of pairs until then."""

    share: float
    pairs: float

    @classmethod
    def of(cls, at: list[int | None]) -> Failed:
        return cls(
            share=sum(one is not None for one in at) / len(at),
            pairs=float(np.median([np.inf if one is None else one for one in at])),
        )

    def __str__(self) -> str:
        return f"{self.share:6.1%} {'–' if np.isinf(self.pairs) else f'{self.pairs:.0f}':>5}"


def by_evidence(differences: Floats) -> int | None:
    """After how many pairs the sequential gate fails the new agent."""
    reached = np.flatnonzero(evidence_above((1 - differences) / 2, 0.5) >= ENOUGH)
    return int(reached[0]) + 1 if reached.size else None


def by_peeking(differences: Floats) -> int | None:
    """After how many pairs a t-test that is made after each of them does."""
    from scipy.special import stdtrit  # noqa: PLC0415 (slow)

    n = np.arange(1, differences.size + 1)
    mean = np.cumsum(differences) / n
    variance = (np.cumsum(differences**2) - n * mean**2) / np.maximum(1, n - 1)
    error = np.sqrt(np.maximum(variance, 1e-12) / n)
    reached = np.flatnonzero((mean / error < stdtrit(np.maximum(1, n - 1), 0.05)) & (n >= FIRST_TEST))
    return int(reached[0]) + 1 if reached.size else None


def compared(world: World, *, worlds: int, pairs: int, seed: int = 0) -> tuple[Failed, Failed, float]:
    """The sequential gate, the peeking t-test, and the share with a lower mean after all pairs."""
    random = np.random.default_rng(seed)
    drawn = [world.differences(pairs, random) for _ in range(worlds)]
    lower = sum(bool(one.mean() < 0) for one in drawn) / worlds
    return (
        Failed.of([by_evidence(one) for one in drawn]),
        Failed.of([by_peeking(one) for one in drawn]),
        lower,
    )


def passed(mean: float, questions: int, *, worlds: int, seed: int = 0) -> tuple[float, float]:
    """How often an agent of this true value passes `>= BOUND`: on its value, and on its interval.

    Args:
        mean: over all the tasks that there might be.
        questions: yes or no, a task: 1 is a single trial, more are its sub-goals.
        worlds: samples of `TASKS` tasks.
        seed: of the samples.
    """
    random = np.random.default_rng(seed)
    chance = random.beta(ALIKE * mean, ALIKE * (1 - mean), (worlds, TASKS))
    values = random.binomial(questions, chance) / questions
    low = share_interval(values, np.full(worlds, float(questions * TASKS)))[0]
    if questions > 1:
        low = np.minimum(low, guaranteed_interval(values)[0])
    point = values.mean(axis=1).round(12) >= BOUND
    return float(point.mean()), float((low.round(12) >= BOUND).mean())


def main() -> None:
    print(
        f"{TASKS} tasks, required: at least {BOUND}; how often an agent passes on its value, on its interval"
    )
    for mean in (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99):
        found = [passed(mean, questions, worlds=4000) for questions in (1, 5)]
        row = "".join(f"{point:12.1%}{interval:10.1%}" for point, interval in found)
        print(f"true value {mean:<6}{row}")
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    print(f"{worlds} worlds, up to {pairs} pairs: ever failed, and median pairs until then")
    print(f"{'':44}{'sequential':>13}{'peeking t':>15}{'lower mean':>12}")
    for sub_goals in (1, 5):
        unit = "success" if sub_goals == 1 else f"{sub_goals} sub-goals"
        for old, new in ((0.5, 0.5), (0.9, 0.9), (0.7, 0.6), (0.59, 0.41), (0.7, 0.5)):
            world = World(old=old, new=new, sub_goals=sub_goals)
            gate, peeking, lower = compared(world, worlds=worlds, pairs=pairs)
            words = f"{unit}, {old} → {new}" + (" (the same agent)" if old == new else "")
            print(f"{words:44}{gate!s:>13}{peeking!s:>15}{lower:12.1%}")


if __name__ == "__main__":
    main()
