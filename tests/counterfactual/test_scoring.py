"""The score formula by hand, and the verdict on a delta."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from untaken.counterfactual import Outcome, Scale, Terms, Weights, score, verdict_of
from untaken.counterfactual.memory import Spans, ValueRange
from untaken.counterfactual.paths import THRESHOLD, VERDICTS, verdicts_of
from untaken.errors import Unscored, UntakenError


class Case(NamedTuple):
    desc: str
    success: float
    cost: float | None
    steps: float | None
    want: float


# success, normalised cost, normalised steps → 0.5·success + 0.3·(1 − ĉ) + 0.2·(1 − ŝ)
CASES = [
    Case("best of all", 1.0, 0.0, 0.0, 1.0),
    Case("worst of all", 0.0, 1.0, 1.0, 0.0),
    Case("failed, but cheap and short", 0.0, 0.0, 0.0, 0.5),
    Case("succeeded, dear and long", 1.0, 1.0, 1.0, 0.5),
    Case("middling", 0.5, 0.5, 0.5, 0.5),
    Case("four of five, a quarter of the cost, half the steps", 0.8, 0.25, 0.5, 0.4 + 0.225 + 0.1),
    Case("unpriced: 5/7 success, 2/7 steps", 1.0, None, 1.0, 5 / 7),
    Case("unpriced failure in few steps", 0.0, None, 0.0, 2 / 7),
    Case("steps unknown: 5/8 success, 3/8 cost", 0.0, 0.0, None, 3 / 8),
    Case("only success is known", 0.75, None, None, 0.75),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_score_is_the_weighted_sum(case: Case) -> None:
    assert score(case.success, case.cost, case.steps, Weights()) == pytest.approx(case.want, abs=1e-15)


def test_score_is_computed_from_left_to_right() -> None:
    """The order of operations is fixed, so that a delta on the edge falls on the same side everywhere."""
    assert score(0.7, 0.1, 0.3, Weights()) == 0.5 * 0.7 + 0.3 * (1 - 0.1) + 0.2 * (1 - 0.3)


def test_without_any_figure_that_has_a_weight_there_is_no_score() -> None:
    assert isinstance(score(1.0, None, 0.0, Weights(success=0.0, cost=1.0, steps=0.0)), Unscored)


@pytest.mark.parametrize(
    "parts",
    [
        (0.5, 0.3, 0.3),
        (0.5, 0.5, 0.5),
        (1.2, -0.1, -0.1),
        (math.nan, 0.5, 0.5),
        (math.inf, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_weights_that_do_not_sum_to_one_are_refused(parts: tuple[float, float, float]) -> None:
    with pytest.raises(UntakenError) as error:
        Weights(success=parts[0], cost=parts[1], steps=parts[2])
    assert error.value.code == "weights-invalid"


def test_weights_may_carry_rounding_error() -> None:
    assert Weights(success=0.6, cost=0.3, steps=0.1).success == 0.6


class Edge(NamedTuple):
    desc: str
    delta: float | Unscored
    want: str


EDGES = [
    Edge("nothing known", Unscored("no history"), "unknown"),
    Edge("just above", math.nextafter(0.1, 1), "alternative_may_be_better"),
    Edge("exactly the threshold", 0.1, "equivalent"),
    Edge("just below", math.nextafter(0.1, 0), "equivalent"),
    Edge("no difference", 0.0, "equivalent"),
    Edge("exactly minus the threshold", -0.1, "equivalent"),
    Edge("just below minus the threshold", math.nextafter(-0.1, -1), "actual_was_better"),
    Edge("a sum that rounds above a tenth is above", 0.1 + 0.2 - 0.2, "alternative_may_be_better"),
]


@pytest.mark.parametrize("case", EDGES, ids=lambda case: case.desc)
def test_verdict_compares_the_unrounded_double(case: Edge) -> None:
    assert verdict_of(case.delta) == case.want
    column = np.array([math.nan if isinstance(case.delta, Unscored) else case.delta])
    assert VERDICTS[verdicts_of(column, THRESHOLD)[0]] == case.want


def test_cost_and_steps_are_normalised_by_the_spans_and_clamped() -> None:
    scale = Scale(
        spans=Spans(cost=ValueRange(low=1, high=3), steps=ValueRange(low=2, high=6)), weights=Weights()
    )
    both = Terms(cost=True, steps=True)
    assert scale.score(Outcome(success=0.5, cost=2.0, steps=4.0), both) == pytest.approx(0.5)
    assert scale.score(Outcome(success=0.0, cost=99.0, steps=99.0), both) == 0.0
    assert scale.score(Outcome(success=1.0, cost=0.0, steps=0.0), both) == 1.0


def test_equal_extremes_normalise_to_zero() -> None:
    scale = Scale(
        spans=Spans(cost=ValueRange(low=2, high=2), steps=ValueRange(low=3, high=3)), weights=Weights()
    )
    assert scale.score(Outcome(success=0.0, cost=9.0, steps=9.0), Terms(cost=True, steps=True)) == 0.5


def test_a_figure_that_either_side_lacks_is_left_out_on_both() -> None:
    scale = Scale(
        spans=Spans(cost=ValueRange(low=1, high=3), steps=ValueRange(low=2, high=6)), weights=Weights()
    )
    full, unpriced = Outcome(success=1.0, cost=2.0, steps=4.0), Outcome(success=0.0, cost=None, steps=4.0)
    assert scale.terms(full, full) == Terms(cost=True, steps=True)
    assert scale.terms(full, unpriced) == scale.terms(unpriced, full) == Terms(cost=False, steps=True)
    assert scale.terms(Outcome(success=1.0, cost=2.0, steps=None)) == Terms(cost=True, steps=False)
    nothing = Scale(spans=Spans(cost=None, steps=None), weights=Weights())
    assert nothing.terms(full) == Terms(cost=False, steps=False)
