"""Rates from a few labels and a judge (docs/concepts.md §5, "A few labels and a judge").

Worlds are simulated with a fixed seed; bounds leave room for chance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.labels import (
    Items,
    World,
    coverage,
    difference_coverage,
    some,
    unequal,
    whole_tasks,
    world_coverage,
)
from untaken.errors import Unscored
from untaken.stats.prediction_powered import Labels, powered_difference, powered_rate


def labels_of(people: list[float | None], judge: list[float | None], **more: Any) -> Labels:
    """Two items a task, drawn with even odds, unless said otherwise."""
    arrays = [np.array([np.nan if v is None else v for v in values]) for values in (people, judge)]
    n = len(people)
    odds = more.get("odds", np.full(n, 0.5))
    return Labels(
        people=arrays[0], judge=arrays[1], odds=odds, cluster=more.get("cluster", np.arange(n) // 2)
    )


USUAL = World()


def drawn(seed: int, *, world: World = USUAL, n: int = 60) -> Labels:
    random = np.random.default_rng(seed)
    items = world.draw(random)
    return items.labelled(*some(n)(items, random))


def test_a_judge_that_is_always_right_adds_what_labels_alone_miss() -> None:
    truth = [1.0, 0.0, 1.0, 1.0] * 10
    labels = [value if place < 16 else None for place, value in enumerate(truth)]
    found = powered_rate(labels_of(labels, [*truth], odds=np.full(40, 0.4)))
    assert found.value == pytest.approx(0.75)
    assert found.judge == pytest.approx(0.75)
    assert isinstance(found.worth, float)
    assert found.worth > 2


def test_a_constant_error_of_the_judge_is_taken_out() -> None:
    items = World(tasks=40, items=10).draw(np.random.default_rng(3))
    lenient = Items(items.people, np.where(np.arange(400) % 4 == 0, 1.0, items.people), items.cluster)
    estimates = [
        powered_rate(lenient.labelled(*some(80)(lenient, np.random.default_rng(seed)))) for seed in range(80)
    ]
    assert all(one.judge == pytest.approx(lenient.judge.mean()) for one in estimates)
    off = np.mean([float(one.value) for one in estimates]) - items.people.mean()  # type: ignore[arg-type]
    assert abs(off) < 0.01 < lenient.judge.mean() - items.people.mean()


def test_a_judge_that_tosses_coins_is_worth_no_labels() -> None:
    items = World(tasks=50, items=10).draw(np.random.default_rng(1))
    noise = Items(items.people, np.random.default_rng(2).integers(0, 2, 500).astype(float), items.cluster)
    found = powered_rate(noise.labelled(*some(150)(noise, np.random.default_rng(3))))
    assert isinstance(found.tuning, float)
    assert isinstance(found.worth, float)
    assert found.tuning < 0.2
    assert 0.85 < found.worth < 1.15
    assert found.value == pytest.approx(found.people, abs=0.02)


def test_where_everything_is_labelled_the_rate_is_the_peoples_and_certain_for_these_runs() -> None:
    items = World().draw(np.random.default_rng(5))
    everything = items.labelled(np.ones(200, bool), np.ones(200))
    found = powered_rate(everything)
    assert found.value == pytest.approx(items.people.mean())
    assert found.low == pytest.approx(found.high)
    assert found.worth == Unscored("every item has a label")
    tasks = powered_rate(everything, target="tasks")
    assert isinstance(tasks.low, float)
    assert isinstance(tasks.high, float)
    assert tasks.high - tasks.low > 0.1


def test_a_label_drawn_with_low_odds_weighs_more() -> None:
    people = [1.0] * 10 + [0.0] * 10 + [None] * 20
    odds = np.array([0.8] * 10 + [0.2] * 30)
    found = powered_rate(labels_of(people, [0.5] * 40, odds=odds))
    assert found.people == pytest.approx((10 / 0.8) / (10 / 0.8 + 10 / 0.2))


def test_a_judge_that_could_not_tell_counts_as_its_mean() -> None:
    people = [1.0, 0.0] * 10
    sure = [1.0, 0.0] * 9
    found = powered_rate(labels_of(people, [*sure, None, None]))
    assert found.judge == pytest.approx(0.5)
    assert found.items == 20


@pytest.mark.parametrize(
    ("desc", "people", "tasks", "why"),
    [
        ("none", [None] * 20, 10, "no item that the judge decided has a label"),
        ("nine labels", [1.0] * 9 + [None] * 11, 10, "too few labels: an interval needs 10"),
        (
            "four tasks",
            [1.0] * 20,
            4,
            "labels from too few tasks: an interval needs 5 tasks (or runs of one task)",
        ),
    ],
)
def test_no_interval_where_labels_are_too_few(
    desc: str, people: list[float | None], tasks: int, why: str
) -> None:
    found = powered_rate(labels_of(people, [1.0] * 20, cluster=np.arange(20) % tasks))
    assert found.low == found.high == found.worth == Unscored(why), desc


def test_the_difference_of_two_agents_is_that_of_their_rates() -> None:
    first, second = drawn(1), drawn(2, world=World(rate=0.3))
    found = powered_difference(first, second)
    rates = [powered_rate(one) for one in (first, second)]
    for name in ("value", "people", "judge"):
        assert getattr(found, name) == pytest.approx(getattr(rates[0], name) - getattr(rates[1], name))
    assert found.labels == 120


def test_agents_that_share_the_judges_errors_task_by_task_are_compared_in_pairs() -> None:
    one = drawn(4)
    apart = replace(one, cluster=one.cluster + 1000)
    paired, unpaired = (powered_difference(one, other, target="tasks") for other in (one, apart))
    widths = [float(found.high) - float(found.low) for found in (paired, unpaired)]  # type: ignore[arg-type]
    assert widths[0] < 0.5 * widths[1]


@given(st.integers(0, 10_000), st.sampled_from(["runs", "tasks"]))
def test_the_estimate_is_in_its_interval_and_between_0_and_1(seed: int, target: Any) -> None:
    found = powered_rate(drawn(seed, world=World(rate=0.95, error=0.3), n=30), target=target)
    assert isinstance(found.low, float)
    assert isinstance(found.high, float)
    assert 0 <= found.low <= found.value <= found.high <= 1  # type: ignore[operator]


@pytest.mark.parametrize("target", ["runs", "tasks"])
@pytest.mark.parametrize(
    ("desc", "draw"), [("labels", some(40)), ("whole tasks", whole_tasks(10)), ("odds", unequal(40))]
)
def test_intervals_hold_the_truth_of_simulated_worlds(desc: str, draw: Any, target: Any) -> None:
    found = world_coverage(World(), draw, target, worlds=500)
    assert found.held >= 0.925, (desc, found)
    assert found.width < found.people_width


def test_labels_of_whole_tasks_taken_for_independent_hold_the_truth_too_rarely() -> None:
    items = World(tasks=40, items=12).draw(np.random.default_rng(11))
    clustered, naive = (coverage(items, whole_tasks(10), draws=500, naive=flag) for flag in (False, True))
    assert clustered.held >= 0.925
    assert naive.held <= 0.9


def test_the_difference_of_two_agents_holds_the_truth() -> None:
    random = np.random.default_rng(7)
    first, second = World(rate=0.7).draw(random), World(rate=0.5).draw(random)
    assert difference_coverage(first, second, some(40), draws=500).held >= 0.925


def test_without_pseudo_labels_the_estimate_is_that_of_ppi_python(monkeypatch: pytest.MonkeyPatch) -> None:
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    monkeypatch.setattr("untaken.stats.prediction_powered.PSEUDO_LABELS", 0.0)
    items = World(tasks=300, items=1).draw(np.random.default_rng(9))
    labels = items.labelled(*some(60)(items, np.random.default_rng(9)))
    found = powered_rate(labels, target="tasks")
    at = ~np.isnan(labels.people)
    said = labels.people[at], labels.judge[at], labels.judge[~at]
    assert found.value == pytest.approx(float(ppi.ppi_mean_pointestimate(*said)[0]), abs=1e-3)
    low, high = (float(end[0]) for end in ppi.ppi_mean_ci(*said, alpha=0.05))
    assert isinstance(found.low, float)
    assert isinstance(found.high, float)
    assert found.high - found.low == pytest.approx(high - low, rel=0.05)
