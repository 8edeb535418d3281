"""The score formula by hand, and the verdict on a delta."""

from __future__ import annotations

import math

import numpy as np
import pytest

from untaken.counterfactual import Outcome, Scale, Terms, Weights, score, verdict_of
from untaken.counterfactual.memory import Spans, ValueRange
from untaken.counterfactual.paths import VERDICTS, verdicts_of
from untaken.counterfactual.run_evaluation import THRESHOLD
from untaken.errors import Unscored, UntakenError

# success, normalised cost, normalised steps → 0.5·success + 0.3·(1 − ĉ) + 0.2·(1 − ŝ)
CASES = [
    ("best of all", 1.0, 0.0, 0.0, 1.0),
    ("worst of all", 0.0, 1.0, 1.0, 0.0),
    ("failed, but cheap and short", 0.0, 0.0, 0.0, 0.5),
    ("succeeded, dear and long", 1.0, 1.0, 1.0, 0.5),
    ("middling", 0.5, 0.5, 0.5, 0.5),
    ("four of five, a quarter of the cost, half the steps", 0.8, 0.25, 0.5, 0.4 + 0.225 + 0.1),
    ("unpriced: 5/7 success, 2/7 steps", 1.0, None, 1.0, 5 / 7),
    ("unpriced failure in few steps", 0.0, None, 0.0, 2 / 7),
    ("steps unknown: 5/8 success, 3/8 cost", 0.0, 0.0, None, 3 / 8),
    ("only success is known", 0.75, None, None, 0.75),
]


@pytest.mark.parametrize(("desc", "success", "cost", "steps", "want"), CASES, ids=[case[0] for case in CASES])
def test_score_is_the_weighted_sum(desc, success, cost, steps, want) -> None:
    assert score(success, cost, steps, Weights()) == pytest.approx(want, abs=1e-15)


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
    with pytest.raises(UntakenError, match="weights-invalid"):
        Weights(success=parts[0], cost=parts[1], steps=parts[2])


EDGES = [
    ("nothing known", Unscored("no history"), "unknown"),
    ("just above", math.nextafter(0.1, 1), "alternative_may_be_better"),
    ("exactly the threshold", 0.1, "equivalent"),
    ("just below", math.nextafter(0.1, 0), "equivalent"),
    ("no difference", 0.0, "equivalent"),
    ("exactly minus the threshold", -0.1, "equivalent"),
    ("just below minus the threshold", math.nextafter(-0.1, -1), "actual_was_better"),
    ("a sum that rounds above a tenth is above", 0.1 + 0.2 - 0.2, "alternative_may_be_better"),
]


@pytest.mark.parametrize(("desc", "delta", "want"), EDGES, ids=[case[0] for case in EDGES])
def test_verdict_compares_the_unrounded_double(desc, delta, want) -> None:
    assert verdict_of(delta) == want
    column = np.array([math.nan if isinstance(delta, Unscored) else delta])
    assert VERDICTS[verdicts_of(column, THRESHOLD)[0]] == want


def test_cost_and_steps_are_normalised_by_the_spans_and_clamped() -> None:
    scale = Scale(
        spans=Spans(cost=ValueRange(low=1, high=3), steps=ValueRange(low=2, high=6)), weights=Weights()
    )
    both = Terms(cost=True, steps=True)
    assert scale.score(Outcome(success=0.5, cost=2.0, steps=4.0), both) == pytest.approx(0.5)
    assert scale.score(Outcome(success=0.0, cost=99.0, steps=99.0), both) == 0.0
    assert scale.score(Outcome(success=1.0, cost=0.0, steps=0.0), both) == 1.0


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
