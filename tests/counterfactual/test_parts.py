"""The three parts of a score in units, and the words that follow the part that differs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from histories import seen

from untaken.counterfactual import ScorePart, ScoreParts, parts_compared
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.counterfactual.parts import cost_words, power_words, steps_words, success_words
from untaken.counterfactual.parts_compared import NOT_ALIKE, parts_between
from untaken.errors import Unscored

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
    found = between([*arms({"one": (1.0, 0.5), "two": (2.0, 1.5)}), *dear]).cost
    assert found.within == pytest.approx(-0.5)
    assert found.sign == -1
    assert found.difference == pytest.approx(found.alternative - found.selected)
    assert found.difference < -4  # over all runs: what the dear task makes of it


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
