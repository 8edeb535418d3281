"""The three parts of a score, in units: how two skills differ in success, in cost and in steps (§2e).

A score mixes the three, and scales cost and steps by their extremes: two cents may weigh as much as a
failure. So beside every score its parts are shown, and words follow the part that differs.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from untaken.errors import Score, Unscored, number
from untaken.numbers import decimal, interval, points

MARGIN: Final = 0.1
"""Success is called the same only where the alternative's is at most so much lower, as in `equivalent`."""
POWER: Final = ((10, 0.02, 0.08), (20, 0.07, 0.17), (40, 0.2, 0.5))
"""Runs of each option, and how often a difference in success of 20 and of 30 points is then supported."""


class ScorePart(Struct, frozen=True, kw_only=True, gc=False):
    """One figure on both sides. Every difference is the alternative's minus the selected skill's.

    Attributes:
        alternative, selected: mean over the runs that have the figure, `n_alternative` and `n_selected`.
        within: difference between runs of one task and agent, weighted by n₁n₀ / (n₁ + n₀); `low` and `high`
            its 95% interval (`untaken.stats.stratified.mean_differences`). What words go by.
    """

    alternative: Score
    selected: Score
    n_alternative: int
    n_selected: int
    within: Score
    low: Score
    high: Score

    @property
    def difference(self) -> Score:
        """Of the two means: of all runs, whatever their tasks."""
        if isinstance(self.alternative, Unscored):
            return self.alternative
        return self.selected if isinstance(self.selected, Unscored) else self.alternative - self.selected

    @property
    def in_units(self) -> Score:
        """The difference inside task and agent, where any has both; else that of the means."""
        return self.difference if isinstance(self.within, Unscored) else self.within

    @property
    def sign(self) -> int:
        """1 where the interval is above 0, -1 where it is below, 0 where it holds 0 or there is none."""
        if isinstance(self.low, Unscored) or isinstance(self.high, Unscored):
            return 0
        return int(self.low > 0) - int(self.high < 0)


class ScoreParts(Struct, frozen=True, kw_only=True, gc=False):
    """Success, cost and steps of an alternative beside those of the selected skill, a run counted once."""

    success: ScorePart
    cost: ScorePart
    steps: ScorePart
    cost_unit: str

    @property
    def same_success(self) -> bool:
        """Whether the alternative succeeds about as often, as far as these runs show.

        The interval holds 0, or nothing varied, and the difference inside task and agent is no lower than
        −`MARGIN`. Unknown where no task and agent has both: then nothing can be said of the same success.
        """
        within = self.success.within
        return not isinstance(within, Unscored) and self.success.sign == 0 and within >= -MARGIN

    @property
    def saves(self) -> bool:
        """Whether the alternative is cheaper or shorter at the same success."""
        return self.same_success and (self.cost.sign < 0 or self.steps.sign < 0)

    @property
    def words(self) -> str:
        """``success 9 of 10 against 8 of 10 · cost $0.02 less · 2 steps fewer``.

        Successes are counted over all runs. Cost and steps are compared inside task and agent, where any has
        both: over all runs they may differ because the tasks do.
        """
        cost, steps = self.cost.in_units, self.steps.in_units
        return " · ".join(
            (
                f"success {_of(self.success.alternative, self.success.n_alternative)} "
                f"against {_of(self.success.selected, self.success.n_selected)}",
                cost_words(None if isinstance(cost, Unscored) else cost, self.cost_unit),
                steps_words(None if isinstance(steps, Unscored) else steps),
            )
        )

    @property
    def saving_words(self) -> str:
        """`words`, then how much less or more success these runs allow inside task and agent (95%)."""
        low, high = number(self.success.low), number(self.success.high)
        if low is None or high is None:
            return self.words
        ends = interval(max(-1.0, low), min(1.0, high), points, digits=0)
        return f"{self.words} · success inside task and agent {ends} points (95%)"

    @property
    def within_words(self) -> str:
        """``success 43 points more · cost $0.02 less · 2 steps fewer``: inside task and agent."""
        success, cost, steps = (number(part.within) for part in (self.success, self.cost, self.steps))
        return " · ".join((success_words(success), cost_words(cost, self.cost_unit), steps_words(steps)))

    def called(self, direction: int) -> str:
        """What may be said of the alternative, the part that differs first.

        Args:
            direction: 1 where it is supported at a small enough q that the alternative succeeds more often,
                -1 where less often, else 0.
        """
        if direction:
            return "succeeded more often" if direction > 0 else "succeeded less often"
        cost, steps = self.cost.sign, self.steps.sign
        found = [
            word
            for sign, (less, more) in ((cost, ("cheaper", "costs more")), (steps, ("shorter", "longer")))
            for word in ((less,) if sign < 0 else (more,) if sign > 0 else ())
        ]
        if not found:
            return NO_DIFFERENCE
        how = "same success" if self.same_success else "no clear difference in success"
        return f"{how}, {' and '.join(found)}"


NO_DIFFERENCE: Final = "no clear difference"


def _of(rate: Score, n: int) -> str:
    """``9 of 10``; a run may succeed in part."""
    return "0 of 0" if isinstance(rate, Unscored) else f"{_plain(rate * n)} of {n:,}"


def _plain(value: float) -> str:
    return decimal(value, 0 if abs(value - round(value)) < 0.05 else 1)  # no `.0` at the end


def success_words(difference: float | None) -> str:
    """``success 43 points more``, ``success the same``; ``success not comparable`` without it."""
    if difference is None:
        return "success not comparable"
    size = decimal(abs(100 * difference), 0)
    if size == "0":
        return "success the same"
    return f"success {size} {'point' if size == '1' else 'points'} {'more' if difference > 0 else 'less'}"


def cost_words(difference: float | None, unit: str) -> str:
    """``cost $0.02 less``, ``cost the same``; ``cost not recorded`` without it."""
    if difference is None:
        return "cost not recorded"
    # Two digits that count: below 1, two decimals may show nothing.
    size = f"{abs(difference):,.2g}" if abs(difference) < 1 else f"{abs(difference):,.2f}"
    if not float(size.replace(",", "")):
        return "cost the same"
    money = f"${size}" if unit == "usd" else f"{size} {unit}".rstrip()
    return f"cost {money} {'more' if difference > 0 else 'less'}"


def steps_words(difference: float | None) -> str:
    """``2 steps fewer``, ``steps the same``; ``steps not recorded`` without them."""
    if difference is None:
        return "steps not recorded"
    size = _plain(abs(difference))
    if size == "0":
        return "steps the same"
    return f"{size} {'step' if size == '1' else 'steps'} {'more' if difference > 0 else 'fewer'}"


def power_words() -> str:
    """How much data a difference in success takes: to be printed beside silence."""
    found = "; ".join(f"{runs} runs: {low:.0%} / {high:.0%}" for runs, low, high in POWER)
    return f"A difference of 20 / 30 points is supported, by runs of each option: {found}."
