"""Coverage of the intervals on simulated logs with known truth.

The logs pass through the whole engine: observations into a `PolicyMemory`,
its `Snapshot`, two `Record`s, `compare`. Per-run standard deviation of the score is 0.26 at success rate one
half: 0.25 from success, the rest from cost and steps.

1. Equal skills, by runs per side: how often the ±0.1 rule alone and the interval show a difference, and how
   many intervals cover the true advantage.
2. One skill with 0.2 more success: how often the interval shows and covers it.
3. Equal skills over a grid: success rate × runs on either side, each cell half with failures that cost more,
   and half with one to four choices per run, which share its outcome.

    python benchmarks/coverage.py [repetitions of 1 and 2] [repetitions of 3]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import sqrt

import numpy as np

from untaken.counterfactual import THRESHOLD, Scale, Weights
from untaken.counterfactual.advantage import compare
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.counterfactual.words import N_MIN
from untaken.errors import Unscored

START = datetime(2026, 1, 1, tzinfo=UTC)
SIZES = (3, 5, 10, 20, 30, 60)
UNEQUAL = ((3, 60), (5, 20), (10, 60))
RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
WEIGHTS = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """How a skill's runs come out.

    Attributes:
        success: its rate.
        dearer: how much more of the span failures cost and take than successes.
        repeats: most choices of the skill in one run.
    """

    success: float = 0.5
    dearer: float = 0.0
    repeats: int = 1

    @property
    def score(self) -> float:
        """The expected score."""
        usual = 0.5 + self.dearer * (0.5 - self.success)
        return WEIGHTS.success * self.success + (WEIGHTS.cost + WEIGHTS.steps) * (1 - usual)

    def draw(self, runs: int, random: np.random.Generator) -> list[tuple[float, float, float, int]]:
        """Success, cost, steps and number of choices of each run; costs and steps lie within 0 to 1."""
        won = (random.random(runs) < self.success).astype(float)
        spread = 0.3 if self.dearer else 0.34
        usual = 0.5 + self.dearer * (0.5 - won)
        cost, steps = (usual + random.uniform(-spread, spread, runs) for _ in range(2))
        times = random.integers(1, self.repeats, runs, endpoint=True)
        return list(zip(won.tolist(), cost.tolist(), steps.tolist(), times.tolist(), strict=True))


VARIANTS = tuple(Truth(dearer=dearer, repeats=repeats) for dearer in (0.0, 0.4) for repeats in (1, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Of so many comparisons: how many were called by the point rule, by the interval, and held the truth."""

    comparisons: int = 0
    point: int = 0
    called: int = 0
    held: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            comparisons=self.comparisons + other.comparisons,
            point=self.point + other.point,
            called=self.called + other.called,
            held=self.held + other.held,
        )

    def percent(self, what: str) -> float:
        return float(100 * getattr(self, what) / self.comparisons)

    def share(self, what: str) -> str:
        """In percent, with the standard error of the simulation."""
        percent = self.percent(what)
        return f"{percent:4.1f} ± {sqrt(percent * (100 - percent) / self.comparisons):.1f}"


def history(
    skill: str, truth: Truth, runs: int, where: str, random: np.random.Generator
) -> Iterator[Observed]:
    for i, (success, cost, steps, times) in enumerate(truth.draw(runs, random)):
        for choice in range(times):
            yield observed(f"{where}/{skill}/{i}", skill, where, success, cost, steps, choice)


def observed(
    run: str, skill: str, where: str, success: float, cost: float, steps: float, choice: int = 0
) -> Observed:
    return Observed(
        key=f"outcome/{run}/{choice}",
        kind="outcome",
        skill=skill,
        context_hash=where,
        success=success,
        cost=cost,
        steps=steps,
        weight=1.0,
        run_id=run,
        ts=START,
        task_id="task",
        agent="agent",
    )


def compared(alternative: Truth, selected: Truth, runs: tuple[int, int], times: int, seed: int) -> Tally:
    """So many comparisons of simulated histories, each in a context of its own."""
    random = np.random.default_rng(seed)
    ends = [observed(f"end{end}", "other", "elsewhere", end, end, end) for end in (0.0, 1.0)]
    pairs = (
        one
        for where in map(str, range(times))
        for skill, truth, n in (("b", alternative, runs[0]), ("a", selected, runs[1]))
        for one in history(skill, truth, n, where, random)
    )
    snapshot = PolicyMemory([*ends, *pairs]).snapshot()
    scale = Scale(spans=snapshot.spans(), weights=WEIGHTS)
    true, tally = alternative.score - selected.score, Tally()
    for where in map(str, range(times)):
        record = snapshot.record("b", where)
        assert record is not None
        trust = compare(record, snapshot.record("a", where), scale, THRESHOLD)
        advantage, low, high = trust.advantage, trust.low, trust.high
        assert not isinstance(advantage, Unscored)
        assert not isinstance(low, Unscored)
        assert not isinstance(high, Unscored)
        tally += Tally(
            comparisons=1,
            point=abs(advantage) > THRESHOLD,
            called=min(runs) >= N_MIN and not low <= 0 <= high,
            held=low <= true <= high,
        )
    return tally


def by_size(times: int) -> None:
    print(f"{times} comparisons a line, in percent ± standard error of the simulation")
    print("            equal skills, success 0.5                         success 0.6 against 0.4")
    print("runs a side   ±0.1 rule calls   interval calls   holds truth   ±0.1 rule   interval   holds truth")
    for seed, n in enumerate(SIZES):
        equal = compared(Truth(), Truth(), (n, n), times, seed)
        better = compared(Truth(success=0.6), Truth(success=0.4), (n, n), times, seed)
        cells = [tally.share(what) for tally in (equal, better) for what in ("point", "called", "held")]
        print("{:>11}   {:>15}   {:>14}   {:>11}   {}  {}   {:>11}".format(n, *cells))


def over_grid(times: int) -> None:
    each = len(VARIANTS) * times
    print(f"\nequal skills, {each} comparisons a cell: interval calls / holds the truth, in percent")
    print(f"(standard error of the simulation up to {sqrt(5 * 95 / each):.1f} about 5 and 95)")
    print("success rate" + "".join(f"{rate:>14}" for rate in RATES))
    for size, runs in enumerate([*((n, n) for n in SIZES), *UNEQUAL]):
        cells = [
            sum(
                (compared(truth, truth, runs, times, 100 * size + i) for i, truth in enumerate(cell)), Tally()
            )
            for cell in ([replace(variant, success=rate) for variant in VARIANTS] for rate in RATES)
        ]
        shown = (f"{cell.percent('called'):.1f} / {cell.percent('held'):.1f}" for cell in cells)
        print(f"{runs[0]:>3} and {runs[1]:>2}  " + "".join(f"{cell:>14}" for cell in shown))


def main() -> None:
    by_size(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
    over_grid(int(sys.argv[2]) if len(sys.argv) > 2 else 250)


if __name__ == "__main__":
    main()
