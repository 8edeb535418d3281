"""How much of a collection has not been seen yet: Good and Turing's estimate, with its interval (§9)."""

from __future__ import annotations

from collections.abc import Collection
from math import ceil, log, sqrt
from typing import Final

from msgspec import Struct

from untaken.errors import Score, Unscored
from untaken.stats.means import student_quantile

AIM: Final = 0.05
"""Share that may stay unseen: reading on until 95% is seen."""
_ADDED: Final = 2.0
"""Agresti and Coull's two and two: the interval has a width where nothing, or everything, is seen once."""


class Unseen(Struct, frozen=True, kw_only=True):
    """The share of occurrences whose kind has not been seen yet.

    Attributes:
        samples: number of samples (runs read) that may each hold several kinds.
        kinds: kinds seen; `occurrences`: in how many samples, summed over kinds.
        once, twice: kinds seen in exactly one sample, and in exactly two.
        share: `once` / `occurrences`; unscored without any occurrence.
        low, high: its 95% interval; unscored with fewer than two samples.
        more: about how many more samples until `share` is at most `AIM`; 0 where it is. ``None`` where that
            cannot be known.
    """

    samples: int
    kinds: int
    occurrences: int
    once: int
    twice: int
    share: Score
    low: Score
    high: Score
    more: int | None


def unseen_share(counts: Collection[int], samples: int) -> Unseen:
    """Good and Turing's estimate from the number of samples in which each kind was seen.

    The share of what comes next that is of an unseen kind is about Q₁ / U, Q₁ being the kinds seen in one
    sample and U all occurrences (Good 1953; for samples with several kinds each, Chao and Colwell 2017). The
    variance is Esty's (1983), [p(1 − p) + 2Q₂ / U] / U, with two occurrences added on both sides as in
    Agresti and Coull's interval and half a kind to Q₂, and Student's t with samples − 1 degrees of freedom.
    In simulated worlds of 5 to 100 kinds and 5 to 80 samples the interval covers in 93% or more, as long as
    samples are independent: where runs of a task share its modes, tasks are (`benchmarks/saturation.py`).

    Args:
        counts: number of samples of each kind seen, each at least 1.
        samples: number of samples, those without any kind included; drawn at random.
    """
    occurrences = sum(counts)
    once, twice = (sum(count == n for count in counts) for n in (1, 2))
    share: Score = Unscored("no failure mode is assigned yet")
    low, high, more = share, share, None
    if occurrences:
        share = once / occurrences
        low, high = _interval(once, twice, occurrences, samples)
        more = _more(once, twice, samples, share)
    return Unseen(
        samples=samples,
        kinds=len(counts),
        occurrences=occurrences,
        once=once,
        twice=twice,
        share=share,
        low=low,
        high=high,
        more=more,
    )


def _interval(once: int, twice: int, occurrences: int, samples: int) -> tuple[Score, Score]:
    if samples < 2:
        few = Unscored("an interval needs at least two tasks")
        return few, few
    n = occurrences + 2 * _ADDED
    centre = (once + _ADDED) / n
    reach = student_quantile(samples - 1) * sqrt((centre * (1 - centre) + 2 * (twice + 0.5) / n) / n)
    share = once / occurrences
    return min(share, max(0.0, centre - reach)), max(share, min(1.0, centre + reach))


def _more(once: int, twice: int, samples: int, share: float) -> int | None:
    """Samples until the share is `AIM`: each further one leaves A of it (Chao and Jost 2012).

    A = (m − 1)Q₁ / ((m − 1)Q₁ + 2Q₂).
    """
    if share <= AIM:
        return 0
    if samples < 2:
        return None
    left = (samples - 1) * once  # and one kind at least seen twice: else no number of samples would ever do
    return ceil(log(AIM / share) / log(left / (left + 2 * max(twice, 1))))
