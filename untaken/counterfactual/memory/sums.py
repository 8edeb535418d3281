"""Sums over observations that do not depend on their order, and can be taken apart again.

Every figure is summed as a whole number of 2⁻¹²⁸. Whole numbers add up exactly, so any order of the log gives
the same total, and taking one run's observations away again leaves exactly the total without them. Doubles
down to 1e-23 lose nothing; smaller ones lose less than 1e-38.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt, sqrt
from operator import add, sub
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from untaken.errors import Score, Unscored

SCALE_BITS: Final = 128

WEIGHTS: Final[dict[str, float]] = {"outcome": 1.0, "weak": 0.25}
"""Weight of one observation by its kind."""
WEAK_SHARE: Final = 0.5
"""The weak weight of a (skill, context) never exceeds this share of its number of outcomes."""


class Addend(Protocol):
    """What is added up of an observation (`untaken.counterfactual.memory.record.Observed`)."""

    @property
    def kind(self) -> str:
        """``outcome`` or ``weak``."""

    @property
    def unit(self) -> object:
        """The run it is of, and the copies of that run."""

    @property
    def success(self) -> float:
        """0 to 1."""

    @property
    def cost(self) -> float | None:
        """Cost of the run, where it is priced."""

    @property
    def steps(self) -> float | None:
        """Steps of the run, where they are recorded."""


class Spread(Struct, frozen=True, kw_only=True):
    """How far the outcomes behind a record scatter, clustered by run; for intervals.

    Attributes:
        n: Kish effective number of runs, (Σm)² / Σm², where m counts the outcomes of one run and its
            copies. These share one outcome: repeated choices and copies are not new evidence.
        success_sd, cost_sd, steps_sd: standard deviations of a run's figure, corrected for the effective
            number of runs; unscored below two runs that have it.
        success_cost, success_steps, cost_steps: correlations over the outcomes; unscored where one of the
            two never varied, or some outcomes lack a figure.
    """

    n: float
    success_sd: Score
    cost_sd: Score
    steps_sd: Score
    success_cost: Score
    success_steps: Score
    cost_steps: Score


def exact(value: float) -> int:
    """The value as a whole number of 2⁻¹²⁸."""
    numerator, denominator = float(value).as_integer_ratio()
    return (numerator << SCALE_BITS) // denominator  # a power of 2, so that nothing is lost down to 2⁻¹²⁸


def mean(total: int, n: int) -> float:
    """`total` (in 2⁻¹²⁸) over `n`, rounded once."""
    return total / (n << SCALE_BITS)


class Sums(NamedTuple):
    """What a (skill, context) gathered: success x, cost c and steps s of its outcomes, and weak records.

    `squares` is Σm², m the number of outcomes of one run and its copies. `priced` and `timed` count the
    outcomes with cost and with steps; the products count only outcomes that have both factors.
    """

    n: int = 0
    squares: int = 0
    x: int = 0
    priced: int = 0
    c: int = 0
    timed: int = 0
    s: int = 0
    xx: int = 0
    cc: int = 0
    ss: int = 0
    xc: int = 0
    xs: int = 0
    cs: int = 0
    weak: int = 0
    weak_x: int = 0

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        return Sums._make(map(add, self, other))

    def minus(self, part: Sums) -> Sums:
        """The sums without a part that was added whole (all of a run's records)."""
        return Sums._make(map(sub, self, part))

    @property
    def weak_weight(self) -> float:
        """Total weight of the weak records: 0.25 each, at most half the number of outcomes (§3)."""
        return min(WEIGHTS["weak"] * self.weak, WEAK_SHARE * self.n)

    @property
    def success_rate(self) -> Score:
        """Weighted mean of success over outcomes (weight 1) and weak records (§3)."""
        if not self.n:
            return Unscored("no outcome was observed")
        if not self.weak:
            return mean(self.x, self.n)
        outcomes = self.x / (1 << SCALE_BITS)
        weak = self.weak_weight * mean(self.weak_x, self.weak)
        return (outcomes + weak) / (self.n + self.weak_weight)

    @property
    def avg_cost(self) -> Score:
        """Mean cost of the outcomes that have one."""
        return mean(self.c, self.priced) if self.priced else Unscored("no outcome has a cost")

    @property
    def avg_steps(self) -> Score:
        """Mean number of steps of the outcomes that have one."""
        return mean(self.s, self.timed) if self.timed else Unscored("no outcome has a number of steps")

    @property
    def spread(self) -> Spread:
        """How the outcomes scatter, clustered by run."""
        n, runs = self.n, self.n**2 / self.squares if self.squares else 0.0
        xx, cc, ss = n * self.xx - self.x**2, n * self.cc - self.c**2, n * self.ss - self.s**2
        priced, timed = self.priced == n, self.timed == n
        return Spread(
            n=runs,
            success_sd=sqrt(xx / (n * n << 2 * SCALE_BITS) * runs / (runs - 1)) if runs > 1 else ONE_RUN,
            cost_sd=deviation(self.cc, self.c, self.priced, runs),
            steps_sd=deviation(self.ss, self.s, self.timed, runs),
            success_cost=correlation(n * self.xc - self.x * self.c, xx, cc) if priced else SOME_LACK,
            success_steps=correlation(n * self.xs - self.x * self.s, xx, ss) if timed else SOME_LACK,
            cost_steps=correlation(n * self.cs - self.c * self.s, cc, ss) if priced and timed else SOME_LACK,
        )


SOME_LACK: Final = Unscored("some outcomes lack the figure")
ONE_RUN: Final = Unscored("fewer than two runs have the figure")
NEVER_VARIED: Final = Unscored("one of the two never varied")


def deviation(squares: int, total: int, n: int, runs: float) -> Score:
    """Standard deviation over `n` outcomes of `runs` effective runs."""
    if n < 2 or runs <= 1:
        return ONE_RUN
    # The root of whole numbers: as a double, a huge figure squared would overflow.
    root = isqrt((n * squares - total**2) // n**2) / (1 << SCALE_BITS)
    return root * sqrt(runs / (runs - 1))


def correlation(covariance: int, first: int, second: int) -> Score:
    """Pearson correlation from exact n·Σab − Σa·Σb and the two n·Σa² − (Σa)²."""
    scale = isqrt(first * second)
    return max(-1.0, min(1.0, covariance / scale)) if scale else NEVER_VARIED  # `isqrt` rounds down


def addend(observed: Addend, earlier: int) -> Sums:
    """What one observation adds, where its unit had `earlier` outcomes before it (m² grows by 2m + 1)."""
    x = exact(observed.success)
    if observed.kind == "weak":
        return Sums(weak=1, weak_x=x)
    c = 0 if observed.cost is None else exact(observed.cost)
    s = 0 if observed.steps is None else exact(observed.steps)
    return Sums(
        1, 2 * earlier + 1, x, observed.cost is not None, c, observed.steps is not None, s,
        x * x, c * c, s * s, x * c, x * s, c * s,
    )  # fmt: skip


def summed(observations: Iterable[Addend]) -> Sums:
    """The sums over all of them."""
    total, seen = Sums(), dict[object, int]()
    for observed in observations:
        earlier = seen.get(observed.unit, 0)
        total = total.plus(addend(observed, earlier))
        if observed.kind == "outcome":
            seen[observed.unit] = earlier + 1
    return total
