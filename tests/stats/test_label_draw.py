"""Labels that are no random draw are noticed, and random ones seldom (docs/concepts.md §5)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.label_draws import NOT_RANDOM, RANDOM, warned
from untaken.errors import Unscored
from untaken.stats.label_draw import DrawTest, draw_test, weighted_draw_test

WORLDS = 40


@pytest.mark.parametrize("name", sorted(RANDOM))
def test_a_random_draw_is_seldom_warned_of(name: str) -> None:
    assert warned(RANDOM[name], worlds=WORLDS) <= 0.15  # 5% and three standard errors


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("20 items that the judge fails", 1.0),
        ("failing runs", 0.97),
        ("easy tasks rather", 0.87),
        ("the first quarter", 0.97),
        ("one agent 5 : 1", 0.74),
    ],
)
def test_a_draw_that_leans_is_warned_of(name: str, least: float) -> None:
    assert warned(NOT_RANDOM[name], worlds=WORLDS) >= least


@pytest.mark.parametrize(
    ("desc", "labelled", "feature", "why"),
    [
        ("four runs", [True] * 4 + [False] * 36, np.arange(40.0), "labels in fewer than 5 tasks"),
        ("alike", [True] * 20 + [False] * 20, np.ones(40), "nothing that is recorded tells items apart"),
        ("unknown", [True] * 20 + [False] * 20, np.full(40, np.nan), "nothing that is recorded"),
    ],
)
def test_what_cannot_be_checked_says_why(desc: str, labelled: list[bool], feature: object, why: str) -> None:
    found = draw_test(np.array(labelled), np.arange(40), np.arange(40), {"x": np.asarray(feature)})
    assert isinstance(found, Unscored), desc
    assert found.reason.startswith(why)


@pytest.mark.parametrize(("true_odds", "noticed"), [(True, False), (False, True)])
def test_odds_that_are_given_put_a_leaning_draw_right(true_odds: bool, noticed: bool) -> None:
    random, seen = np.random.default_rng(5), 0
    for _ in range(40):
        value = (random.random(400) < 0.5).astype(float)
        odds = np.where(value > 0, 0.1, 0.4)
        labelled = random.random(400) < odds
        given = odds if true_odds else np.full(400, labelled.mean())
        found = weighted_draw_test(labelled, given, np.arange(400) // 4, {"x": value})
        seen += isinstance(found, DrawTest) and found.p <= 0.05
    assert (seen >= 38) == noticed
    assert (seen <= 6) != noticed


@pytest.mark.parametrize(("labelled", "leans"), [(np.arange(40) % 2 == 0, False), (np.arange(40) < 20, True)])
def test_a_task_of_one_item_keeps_its_label_or_gives_it_away(labelled: np.ndarray, leans: bool) -> None:
    found = draw_test(labelled, np.arange(40), np.arange(40), {"start": np.arange(40.0)})
    assert (found.p <= 0.05) == leans


def test_with_odds_p_is_that_of_the_weighted_mean_over_tasks() -> None:
    random = np.random.default_rng(2)
    value, odds, task = random.random(60), random.uniform(0.2, 1.0, 60), np.arange(60) // 5
    labelled = random.random(60) < odds
    found = weighted_draw_test(labelled, odds, task, {"x": value})
    some, w = (value - value.mean())[labelled], 1 / odds[labelled]
    mean = (w @ some) / w.sum()
    moves = w * np.sqrt(1 - odds[labelled]) * (some - mean) / w.sum()
    units = np.unique(task[labelled])
    sums = [moves[task[labelled] == unit].sum() for unit in units]
    error = np.sqrt(np.square(sums).sum() * units.size / (units.size - 1))
    assert found.p == pytest.approx(2 * student.sf(abs(mean) / error, units.size - 1))
