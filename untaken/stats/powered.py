"""What a prediction-powered estimate is (`untaken.stats.prediction_powered` makes it, and needs NumPy)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from untaken.errors import Score

Target = Literal["runs", "tasks"]
"""What a rate is of: these very runs, as if people had labelled all of them; or tasks like these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """A rate, or a difference of two, from labels and judge, beside the labels alone and the judge alone.

    Attributes:
        value, low, high: from both, with its 95% interval.
        people, people_low, people_high: from the labels alone, by the same rule with λ = 0.
        judge: the judge's own, uncorrected.
        worth: times as many labels would give that precision without the judge (ratio of variances).
        tuning: λ; of a difference the first one's.
        labels, items, clusters: labelled items, all items, and clusters with a label.
    """

    value: Score
    low: Score
    high: Score
    people: Score
    people_low: Score
    people_high: Score
    judge: Score
    worth: Score
    tuning: Score
    labels: int
    items: int
    clusters: int
