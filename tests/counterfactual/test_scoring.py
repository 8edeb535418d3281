"""The score formula by hand, its parts in units, and the words that follow the part that differs."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from histories import moment, seen

from untaken.counterfactual import (
    Outcome,
    Scale,
    ScorePart,
    ScoreParts,
    Terms,
    Weights,
    parts_compared,
    score,
    verdict_of,
)
from untaken.counterfactual.memory import Observed, PolicyMemory, Spans, ValueRange
from untaken.counterfactual.parts import cost_words, power_words, steps_words, success_words
from untaken.counterfactual.parts_compared import NOT_ALIKE, parts_between
from untaken.counterfactual.paths import VERDICTS, verdicts_of
from untaken.counterfactual.run_evaluation import THRESHOLD
from untaken.counterfactual.words import COULD_BE_TIME
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


NONE = Unscored("not known")


def a_part(
    one: float | None, two: float | None, low: float | None = None, high: float | None = None
) -> ScorePart:
    ends = (NONE, NONE) if low is None or high is None else (low, high)
    known = one is not None and two is not None
    return ScorePart(
        alternative=NONE if one is None else one,
        selected=NONE if two is None else two,
        n_alternative=10,
        n_selected=10,
        within=one - two if one is not None and two is not None and known else NONE,
        low=ends[0],
        high=ends[1],
    )


SAME = a_part(0.8, 0.8, -0.2, 0.2)


CALLED = [
    ("success, whatever the rest", 1, SAME, a_part(2, 1, 0.5, 1.5), SAME, "succeeded more often"),
    ("less success", -1, SAME, a_part(1, 2, -1.5, -0.5), SAME, "succeeded less often"),
    ("cost alone", 0, SAME, a_part(1, 2, -1.5, -0.5), SAME, "same success, cheaper"),
    ("steps alone", 0, SAME, SAME, a_part(3, 5, -3, -1), "same success, shorter"),
    ("both", 0, SAME, a_part(1, 2, -1.5, -0.5), a_part(3, 5, -3, -1),
          "same success, cheaper and shorter"),
    ("dearer", 0, SAME, a_part(2, 1, 0.5, 1.5), SAME, "same success, costs more"),
    ("cost unclear", 0, SAME, a_part(1, 2, -1.5, 0.5), SAME, "no clear difference"),
    ("no cost recorded", 0, SAME, a_part(None, None), a_part(None, None), "no clear difference"),
    ("success perhaps lower", 0, a_part(0.5, 0.8, -0.7, 0.1), a_part(1, 2, -1.5, -0.5), SAME,
          "no clear difference in success, cheaper"),
    ("success lower by no more than still counts as the same", 0, a_part(0.0, 0.1, -0.3, 0.1),
          a_part(1, 2, -1.5, -0.5), SAME, "same success, cheaper"),
    ("success lower by a little more", 0, a_part(0.0, 0.11, -0.3, 0.1), a_part(1, 2, -1.5, -0.5), SAME,
          "no clear difference in success, cheaper"),
    ("success unknown", 0, a_part(0.5, None), a_part(1, 2, -1.5, -0.5), SAME,
          "no clear difference in success, cheaper")
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "direction", "success", "cost", "steps", "called"), CALLED, ids=[case[0] for case in CALLED]
)
def test_words_follow_the_part_that_differs(desc, direction, success, cost, steps, called) -> None:
    parts = ScoreParts(success=success, cost=cost, steps=steps, cost_unit="usd")
    assert parts.called(direction) == called


WORDED = [
    ("usd", 0.9, 0.8, -0.02, -2.0, "success 9 of 10 against 8 of 10 · cost $0.02 less · 2 steps fewer"),
    ("usd", 0.5, 0.5, 1.5, 1.0, "success 5 of 10 against 5 of 10 · cost $1.50 more · 1 step more"),
    ("tokens", 0.95, 0.8, 0.0, 0.0, "success 9.5 of 10 against 8 of 10 · cost the same · steps the same"),
    ("tokens", 0.9, 0.8, 1200.0, 2.5,
     "success 9 of 10 against 8 of 10 · cost 1,200.00 tokens more · 2.5 steps more"),
    ("", 0.9, 0.8, None, None, "success 9 of 10 against 8 of 10 · cost not recorded · steps not recorded")
]  # fmt: skip


@pytest.mark.parametrize(("unit", "one", "two", "cost", "steps", "words"), WORDED)
def test_parts_are_in_units(unit, one, two, cost, steps, words) -> None:
    def ten(difference: float | None) -> ScorePart:
        return a_part(None if difference is None else 10 + difference, 10)

    parts = ScoreParts(success=a_part(one, two), cost=ten(cost), steps=ten(steps), cost_unit=unit)
    assert parts.words == words


DIFFERENCES = [
    (success_words, (None,), "success not comparable"),
    (success_words, (0.004,), "success the same"),
    (success_words, (0.01,), "success 1 point more"),
    (success_words, (-0.43,), "success 43 points less"),
    (cost_words, (None, "usd"), "cost not recorded"),
    (cost_words, (0.0, "usd"), "cost the same"),
    (cost_words, (-0.0042, "usd"), "cost $0.0042 less"),
    (cost_words, (1.0, "tokens"), "cost 1.00 tokens more"),
    (cost_words, (0.5, ""), "cost 0.5 more"),
    (cost_words, (-1234.5, "usd"), "cost $1,234.50 less"),
    (steps_words, (None,), "steps not recorded"),
    (steps_words, (0.04,), "steps the same"),
    (steps_words, (1.04,), "1 step more"),
    (steps_words, (-1.06,), "1.1 steps fewer"),
    (steps_words, (-0.5,), "0.5 steps fewer"),
    (power_words, (), "A difference of 20 / 30 points is supported, by runs of each option: "
     "10 runs: 2% / 8%; 20 runs: 7% / 17%; 40 runs: 20% / 50%.")
]  # fmt: skip


@pytest.mark.parametrize(("words", "given", "want"), DIFFERENCES)
def test_a_difference_in_words(words: Callable[..., str], given: tuple[Any, ...], want: str) -> None:
    assert words(*given) == want


def arms(tasks: dict[str, tuple[float, float]], runs: int = 6) -> list[Observed]:
    """In each task so many runs of either skill, with the costs given for a and b, some cents around them."""
    return [
        seen(f"{skill}{task}{i}", skill, task_id=task, success=float(i % 2), cost=cost + 0.01 * (i % 3))
        for task, costs in tasks.items()
        for skill, cost in zip("ab", costs, strict=True)
        for i in range(runs)
    ]


def between(log: list[Observed]) -> ScoreParts:
    return parts_between(PolicyMemory(log).snapshot(), [("a", "b", "ctx")])["a", "b", "ctx"]


def test_differences_are_those_inside_tasks_not_of_what_was_taken_where() -> None:
    dear = [seen(f"x{i}", "a", task_id="dear", cost=9.0 + i) for i in range(9)]
    parts = between([*arms({"one": (1.0, 0.5), "two": (2.0, 1.5)}), *dear])
    assert "cost $0.5 less" in parts.words
    found = parts.cost
    assert found.within == pytest.approx(-0.5)
    assert found.sign == -1
    assert found.difference == pytest.approx(found.alternative - found.selected)
    assert found.difference < -4  # over all runs: what the dear task makes of it


def over_days(cost: Callable[[str, int], float]) -> ScoreParts:
    """40 days with five runs each: at first most take a, in the end most take b."""
    log = []
    for day in range(40):
        for i in range(5):
            skill = "b" if i < 1 + day // 10 else "a"
            figures = {
                "success": float((day + i) % 2),
                "cost": cost(skill, day) * (1 + (3 * i + 2 * day) % 5 / 100),
            }
            log.append(seen(f"{day}-{i}", skill, day=day, started=moment(day + i / 10), **figures))
    return between(log)


@pytest.mark.parametrize("unit", [1.0, 1e-5])
def test_a_price_that_fell_is_not_a_saving_of_what_was_taken_later(unit: float) -> None:
    """In dollars and in thousandths of a cent."""
    fell = over_days(lambda _, day: unit * (0.3 if day < 20 else 0.15))
    assert fell.cost.within < 0
    assert fell.cost.low == Unscored(COULD_BE_TIME)
    assert fell.called(0) == "no clear difference"
    cheaper = over_days(lambda skill, day: unit * ((0.3 if day < 20 else 0.15) - 0.1 * (skill == "b")))
    assert cheaper.called(0) == "same success, cheaper"


def test_tasks_that_were_never_done_both_ways_tell_no_difference() -> None:
    log = [*arms({"one": (1.0, 1.0)})[:6], *(seen(f"b{i}", "b", task_id="two", cost=0.1) for i in range(6))]
    found = between(log)
    assert found.cost.within == NOT_ALIKE
    assert found.called(0) == "no clear difference"
    assert not found.saves


@pytest.mark.parametrize("cells", [1, 20, 1_000_000])
def test_many_comparisons_at_once_are_each_as_alone(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_compared, "CELLS", cells)
    random, log = np.random.default_rng(2), []
    for n in range(300):
        skill, cost = str(random.choice([*"abcd"])), float(random.random()) if n % 5 else None
        place: dict[str, Any] = {"context": f"c{n % 3}", "task_id": f"t{n % 4}", "cost": cost}
        log.append(seen(f"r{n}", skill, success=float(random.random() < 0.5), day=n, **place))
    snapshot = PolicyMemory(log).snapshot()
    asked = [(a, b, f"c{n}") for a, b in permutations("abcde", 2) for n in range(4)]
    alone = {key: parts_between(snapshot, [key])[key] for key in asked}
    assert parts_between(snapshot, asked) == alone
