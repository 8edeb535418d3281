"""The one score formula (§2.3), and what is needed to put a run and a history on the same scale."""

from __future__ import annotations

from math import isfinite

from msgspec import Struct

from untaken.counterfactual.memory import Spans
from untaken.errors import Score, Unscored, UntakenError

SUM_TOLERANCE = 1e-9


class Weights(Struct, frozen=True, kw_only=True, gc=False):
    """How much success, cost and steps count; they sum to 1.

    Raises:
        UntakenError: ``weights-invalid`` for a negative weight, or a sum that is not 1.
    """

    success: float = 0.5
    cost: float = 0.3
    steps: float = 0.2

    def __post_init__(self) -> None:
        parts = (self.success, self.cost, self.steps)
        if not all(isfinite(w) and w >= 0 for w in parts) or abs(sum(parts) - 1) > SUM_TOLERANCE:
            raise UntakenError(
                "weights-invalid",
                f"weights are at least 0 and sum to 1, not {self.success} + {self.cost} + {self.steps}",
                hint="the default is 0.5 success, 0.3 cost, 0.2 steps",
            )


class Outcome(Struct, frozen=True, kw_only=True, gc=False):
    """How a run, or the mean of a history, came out. `cost` and `steps` are ``None`` where unknown."""

    success: float
    cost: float | None
    steps: float | None


def score(success: float, cost: float | None, steps: float | None, weights: Weights) -> Score:
    """0.5·success + 0.3·(1 − ĉ) + 0.2·(1 − ŝ): how good an outcome is, from 0 to 1 (§2.3).

    Args:
        success: rate of success, 0 to 1.
        cost: normalised cost ĉ, 0 to 1; ``None`` leaves the term out and renormalises the other weights.
        steps: normalised steps ŝ, handled in the same way.
        weights: how much each term counts.
    """
    value, used = weights.success * success, weights.success
    if cost is not None:
        value, used = value + weights.cost * (1 - cost), used + weights.cost
    if steps is not None:
        value, used = value + weights.steps * (1 - steps), used + weights.steps
    if cost is not None and steps is not None:  # no division by a sum that is 1 but for rounding
        return value
    return value / used if used else Unscored("all weighted figures are missing")


class Terms(Struct, frozen=True, kw_only=True, gc=False):
    """Which terms a comparison uses: a figure that either side lacks is left out on both."""

    cost: bool
    steps: bool


class Scale(Struct, frozen=True, kw_only=True, gc=False):
    """Scores outcomes by the spans of one snapshot."""

    spans: Spans
    weights: Weights

    def place(self, outcome: Outcome) -> Outcome:
        """The outcome with cost and steps from 0 to 1; ``None`` where the snapshot cannot normalise them."""
        cost, steps = self.spans.cost, self.spans.steps
        return Outcome(
            success=outcome.success,
            cost=None if cost is None or outcome.cost is None else cost.normalise(outcome.cost),
            steps=None if steps is None or outcome.steps is None else steps.normalise(outcome.steps),
        )

    def terms(self, *outcomes: Outcome) -> Terms:
        """The terms that all of the outcomes have, and the snapshot can normalise."""
        placed = [self.place(outcome) for outcome in outcomes]
        return Terms(
            cost=all(outcome.cost is not None for outcome in placed),
            steps=all(outcome.steps is not None for outcome in placed),
        )

    def score(self, outcome: Outcome, terms: Terms) -> Score:
        """The outcome's score over the terms given."""
        return score_placed(self.place(outcome), terms, self.weights)


def score_placed(placed: Outcome, terms: Terms, weights: Weights) -> Score:
    """The score of a placed outcome over the terms given."""
    cost, steps = placed.cost if terms.cost else None, placed.steps if terms.steps else None
    return score(placed.success, cost, steps, weights)


def difference(first: Score, second: Score) -> Score:
    """`first` − `second`; unscored where either is."""
    if isinstance(first, Unscored):
        return first
    return second if isinstance(second, Unscored) else first - second
