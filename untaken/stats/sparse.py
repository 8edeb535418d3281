"""95% intervals of a mean over runs that is zero in most of them, and of a product (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import exp, fsum, log, sqrt

from untaken.stats.means import student_quantile
from untaken.stats.rates import Z_95, wilson


class TaskSample:
    """The runs that a mean is taken over, by task: repeats of one task are not independent.

    Args:
        tasks: the task of each run, by run digest.
    """

    def __init__(self, tasks: Mapping[str, str]) -> None:
        self.n = len(tasks)
        self._tasks = tasks
        self._sizes = Counter(tasks.values())
        self._squares = sum(size * size for size in self._sizes.values())

    def __contains__(self, run: str) -> bool:
        return run in self._tasks

    def interval(self, values: Mapping[str, float]) -> tuple[float, float]:
        """The interval of the mean of values ≥ 0, those not given being 0.

        With r = Σx²/Σx the variance of x is μ(r − μ), so mean / r is a rate and has Wilson's interval: for
        values 0 and 1 it is that interval. Where tasks were repeated, in their effective number of runs.
        """
        total = fsum(values.values())
        if not total:
            return wilson(0, self._effective({}, 0.0, 0.0))
        most = fsum(x * x for x in values.values()) / total
        mean = total / self.n
        n = self._effective(values, mean, mean * (most - mean) / self.n)
        low, high = wilson(min(1.0, mean / most) * n, n)
        return most * low, most * high

    @property
    def _least(self) -> float:
        """Fewest effective runs: if all runs of a task agree, each task counts as one run."""
        return self.n**2 / self._squares

    def _effective(self, values: Mapping[str, float], mean: float, variance: float) -> float:
        """Number of independent runs that tell as much."""
        tasks = len(self._sizes)
        if not 1 < tasks < self.n:  # nothing repeats, or there is no second task to compare with
            return self.n
        if variance <= 0:  # no run, or every run, has the value: nothing tells how alike runs of a task are
            return self._least
        sums: dict[str, list[float]] = {}
        for run, value in values.items():
            sums.setdefault(self._tasks[run], []).append(value)
        spread = fsum(
            fsum(some) ** 2 - 2 * mean * self._sizes[task] * fsum(some) for task, some in sums.items()
        )
        between = (spread + mean * mean * self._squares) * tasks / (tasks - 1) / self.n**2
        effect = max(1.0, between / variance)
        # Student's t for few tasks, as a smaller n: the interval made of it knows the normal quantile alone.
        return max(self._least, self.n / effect * (Z_95 / student_quantile(tasks - 1)) ** 2)


def product(
    first: float, first_ends: tuple[float, float], second: float, second_ends: tuple[float, float]
) -> tuple[float, float]:
    """The interval of a product of two independent estimates above 0 from the interval of each.

    On the logarithmic scale the distances to the two ends add up as squares (Zou and Donner 2008, MOVER).
    """
    below = sqrt(log(first / first_ends[0]) ** 2 + log(second / second_ends[0]) ** 2)
    above = sqrt(log(first_ends[1] / first) ** 2 + log(second_ends[1] / second) ** 2)
    return first * second * exp(-below), first * second * exp(above)
