"""What a rate from labels and a judge is (`untaken.stats.post_stratified` makes it, and needs NumPy)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from untaken.errors import Score

Target = Literal["runs", "tasks"]
"""What a rate is of: these very runs, as if people had labelled all of them; or tasks like these."""
Basis = Literal["labels_and_judge", "labels", "none"]
"""What a rate rests on: both from 30 labels on, the labels alone from 10 on."""


class Corrected(Struct, frozen=True, kw_only=True):
    """A rate, or a difference of two, from labels and judge, beside the labels alone and the judge alone.

    Attributes:
        value, low, high: what to use, with its 95% interval; `basis` says what it rests on.
        people, people_low, people_high: from the labels alone.
        judge: the judge's own, uncorrected.
        worth: times as many labels would give that width without the judge.
        labels, items, clusters: labelled items, all items, and tasks (or runs) with a label.
    """

    value: Score
    low: Score
    high: Score
    people: Score
    people_low: Score
    people_high: Score
    judge: Score
    worth: Score
    basis: Basis
    labels: int
    items: int
    clusters: int
