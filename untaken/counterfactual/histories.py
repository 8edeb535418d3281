"""Histories as columns: placed on a common scale, scored, and ready for their intervals (§2.3, §2a).

One row is one history at one moment. `untaken.counterfactual.scoring` has the same formulas for one outcome.
"""

from __future__ import annotations

from math import isnan
from typing import Final, NamedTuple

import numpy as np

from untaken.counterfactual.memory import Record, Spans
from untaken.counterfactual.memory.sums import Sums
from untaken.counterfactual.memory.totals import Figures, SumColumns, figures_of
from untaken.counterfactual.scoring import Scale, Weights
from untaken.counterfactual.words import N_MIN
from untaken.errors import Unscored, number
from untaken.stats import HistorySample

WHY: Final = (
    Unscored("both histories are known"),
    Unscored("no earlier run chose the selected skill in this context"),
    Unscored("all weighted figures are missing"),
    Unscored("one run has no spread"),
    Unscored("fewer than two runs recorded cost and steps"),
    Unscored("no weighted figure varies in either history"),
)
"""Why a comparison has no number, or no interval, by the codes below."""
FOUND, NOT_TAKEN, NO_FIGURE, NO_SPREAD, FEW_FIGURES, NOTHING_VARIED = range(len(WHY))

CODE: Final = np.int8
COUNT: Final = np.int32
"""Types of columns that are kept of every path: of codes, levels and directions, and of numbers of runs."""
ENOUGH: Final = (N_MIN, 1)
"""Runs that a level must have, asked one after the other: enough to support anything, then any at all."""


class Placed(NamedTuple):
    """Outcomes on the scale, 0 to 1; NaN where a figure is missing or cannot be normalised."""

    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray


class Used(NamedTuple):
    """Which terms a comparison uses: a figure that either side lacks is left out on both."""

    cost: np.ndarray
    steps: np.ndarray

    @classmethod
    def common(cls, first: Placed, second: Placed) -> Used:
        """The terms that both have."""
        return cls(
            ~np.isnan(first.cost) & ~np.isnan(second.cost), ~np.isnan(first.steps) & ~np.isnan(second.steps)
        )


class Scales(NamedTuple):
    """What rows are normalised by, one span for all or one a row; infinite where no run has the figure."""

    cost: tuple[np.ndarray, np.ndarray]
    steps: tuple[np.ndarray, np.ndarray]
    weights: Weights

    @classmethod
    def of(cls, spans: Spans, weights: Weights) -> Scales:
        """One for all rows."""
        cost, steps = (
            # Infinite: no span.
            tuple(np.array([np.inf, -np.inf] if span is None else [span.low, span.high]).reshape(2, 1))
            for span in (spans.cost, spans.steps)
        )
        return cls((cost[0], cost[1]), (steps[0], steps[1]), weights)

    def rows(self, at: np.ndarray) -> Scales:
        """Those of some rows."""
        return self._replace(
            cost=(self.cost[0][at], self.cost[1][at]), steps=(self.steps[0][at], self.steps[1][at])
        )

    def place(self, success: np.ndarray, cost: np.ndarray, steps: np.ndarray) -> Placed:
        """Outcomes with cost and steps from 0 to 1."""
        return Placed(success, _normalised(cost, *self.cost), _normalised(steps, *self.steps))

    def scores(self, placed: Placed, used: Used) -> np.ndarray:
        """0.5·success + 0.3·(1 − ĉ) + 0.2·(1 − ŝ) over the terms used, the weights renormalised (§2.3).

        NaN where nothing that has a weight is known.
        """
        w, value = self.weights, self.weights.success * placed.success
        value = value + np.where(used.cost, w.cost * (1 - placed.cost), 0.0)
        value = value + np.where(used.steps, w.steps * (1 - placed.steps), 0.0)
        weight = w.success + w.cost * used.cost + w.steps * used.steps
        # With all three, the weights add up to 1 but for rounding, which a division would bring in.
        return np.where(used.cost & used.steps, value, value / weight)


def _normalised(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(value − low) / (high − low), clamped to 0 to 1; 0 where high = low."""
    scaled = np.where(high > low, np.minimum(1.0, np.maximum(0.0, (value - low) / (high - low))), 0.0)
    return np.where(np.isnan(value) | np.isinf(low), np.nan, scaled)


class Histories(NamedTuple):
    """One side of many comparisons."""

    figures: Figures
    placed: Placed

    @classmethod
    def of(cls, figures: Figures, scales: Scales) -> Histories:
        """Placed on their scales."""
        return cls(figures, scales.place(figures.success, figures.cost, figures.steps))

    @property
    def known(self) -> np.ndarray:
        """Whether there is any outcome."""
        return self.figures.n > 0

    def rows(self, at: np.ndarray | slice) -> Histories:
        """Some of them."""
        return Histories(Figures(*(c[at] for c in self.figures)), Placed(*(c[at] for c in self.placed)))

    def only(self, kept: np.ndarray) -> Histories:
        """Those marked; the others unknown."""
        f = self.figures
        none = np.where(kept, 0.0, np.nan)
        figures = [c * kept if c.dtype.kind == "i" else c + none for c in f]  # whole numbers have no NaN
        return Histories(Figures(*figures), Placed(*(c + none for c in self.placed)))

    def where(self, kept: np.ndarray, other: Histories) -> Histories:
        """Those marked; in place of the others those of `other`."""
        figures = (np.where(kept, a, b) for a, b in zip(self.figures, other.figures, strict=True))
        placed = (np.where(kept, a, b) for a, b in zip(self.placed, other.placed, strict=True))
        return Histories(Figures(*figures), Placed(*placed))

    def samples(self, scales: Scales, used: Used) -> tuple[HistorySample, np.ndarray]:
        """What an interval over the terms used needs; and why it has none, as a code of `WHY`."""
        f, w = self.figures, scales.weights
        total = w.success + w.cost * used.cost + w.steps * used.steps
        c, s = (
            # A mean over the runs that have the figure is known as well as they are many, not as all are.
            np.where(term, weight / total * _share(sd, *span) * _thinned(f.n, having), 0.0)
            for term, weight, sd, span, having in (
                (used.cost, w.cost, f.cost_sd, scales.cost, f.priced),
                (used.steps, w.steps, f.steps_sd, scales.steps, f.timed),
            )
        )
        few = (used.cost & np.isnan(f.cost_sd)) | (used.steps & np.isnan(f.steps_sd))
        x = np.where(np.isnan(f.success_sd), 0.0, f.success_sd)
        # Score falls as cost and steps rise. Unknown how these two move together: the worst case, as one.
        cost_steps = np.where(np.isnan(f.cost_steps), 1.0, f.cost_steps)
        together = -_product(x * c, f.success_cost) - _product(x * s, f.success_steps)
        sample = HistorySample(
            n=f.effective,
            # Half a success in one more run: a few that all came out alike are no certainty.
            rate=(0.5 + self.placed.success * f.effective) / (1 + f.effective),
            weight=w.success / total,
            success=x * x,
            rest=np.maximum(0.0, c * c + s * s + 2 * cost_steps * c * s),  # rounding may leave less than 0
            together=together,
        )
        # One run, or copies of one; or none, where it is NaN.
        alone = ~(f.effective > 1)  # one run, or copies of one
        return sample, np.where(alone, NO_SPREAD, np.where(few, FEW_FIGURES, FOUND))


def _share(sd: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A standard deviation on the normalised scale."""
    return np.where(high > low, sd / (high - low), 0.0)


def _thinned(n: np.ndarray, having: np.ndarray) -> np.ndarray:
    return np.where((having == 0) | (having == n), 1.0, np.sqrt(n / having))


def _product(sizes: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Covariances; 0 where one of the two never varied, NaN where it is not known."""
    return np.where(sizes == 0, 0.0, sizes * correlation)


def history_of(record: Record | None, scale: Scale) -> Histories:
    """One record as a column of one row."""
    sums = Sums() if record is None else record.sums
    # Python's whole numbers: 64 bits are few
    columns = SumColumns(*(np.array([value], dtype=object) for value in sums))
    with np.errstate(all="ignore"):
        return Histories.of(
            figures_of(columns, np.array([record.n_runs if record else 0])),
            Scales.of(scale.spans, scale.weights),
        )


def scored(value: float, why: Unscored) -> float | Unscored:
    """A number of a column, or why there is none."""
    return why if isnan(value) else float(value)


def unknown(value: float | Unscored | None) -> float:
    """A number for a column: NaN if there is none."""
    plain = number(value)
    return np.nan if plain is None else plain


def finest(*skills: list[np.ndarray]) -> np.ndarray:
    """The finest level at which each of the skills has `N_MIN` runs; else the finest at which each has any.

    Of one skill for its delta, of two for their advantage: both histories are then of the same level, so that
    a fine situation, which may be an easy one, is never set against a coarse one.

    Args:
        skills: the runs behind each one's histories, finest level first, each a column.

    Returns:
        Levels, counted from 1; 0 if there is none.
    """
    fewest = np.array([np.minimum.reduce(runs) for runs in zip(*skills, strict=True)])
    found = np.zeros(fewest.shape[1], dtype=np.int64)
    for enough in ENOUGH:
        there = fewest >= enough
        # The first that is true.
        found = np.where((found == 0) & there.any(axis=0), there.argmax(axis=0) + 1, found)
    return found


def at_level(skill: list[Histories], level: np.ndarray) -> Histories:
    """The histories at one level a row; unknown at level 0."""
    picked = skill[0].only(level == 1)
    for place, histories in enumerate(skill[1:], start=2):
        picked = histories.where(level == place, picked)
    return picked
