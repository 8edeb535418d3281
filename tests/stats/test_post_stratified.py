"""Rates from a few labels and a judge (docs/concepts.md §5, "A few labels and a judge").

Worlds are simulated with a fixed seed; bounds leave room for chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.labels import (
    World,
    coverage,
    difference_coverage,
    some,
    unequal,
    whole_tasks,
    world_coverage,
    worlds,
)
from untaken.errors import Unscored
from untaken.stats.post_stratified import Labels, corrected_difference, corrected_rate


def labels_of(people: list[float | None], judge: list[float | None], **more: Any) -> Labels:
    """Two items a task, drawn with even odds, unless said otherwise."""
    arrays = [np.array([np.nan if v is None else v for v in values]) for values in (people, judge)]
    n = len(people)
    odds = more.get("odds", np.full(n, 0.5))
    return Labels(
        people=arrays[0],
        judge=arrays[1],
        odds=odds,
        cluster=more.get("cluster", np.arange(n) // 2),
        agent=more.get("agent", np.zeros(n)),
    )


USUAL = World()


def drawn(seed: int, *, world: World = USUAL, n: int = 60) -> Labels:
    random = np.random.default_rng(seed)
    items = world.draw(random)
    return items.labelled(*some(n)(items, random))


def test_a_judge_that_is_always_right_adds_what_labels_alone_miss() -> None:
    truth = [1.0, 0.0, 1.0, 1.0] * 10
    labels = [value if place % 4 != 3 else None for place, value in enumerate(truth)]
    found = corrected_rate(labels_of(labels, [*truth], odds=np.full(40, 0.75)))
    assert found.value == pytest.approx(0.75)
    assert found.judge == pytest.approx(0.75)
    assert found.worth > 2


def test_where_everything_is_labelled_the_rate_is_the_peoples_and_certain_for_these_runs() -> None:
    items = World().draw(np.random.default_rng(5))
    everything = items.labelled(np.ones(200, bool), np.ones(200))
    found = corrected_rate(everything)
    assert found.value == pytest.approx(items.people.mean())
    assert found.low == pytest.approx(found.high)
    assert found.worth == Unscored("every item has a label")
    tasks = corrected_rate(everything, target="tasks")
    assert tasks.high - tasks.low > 0.1


def test_a_label_drawn_with_low_odds_weighs_more() -> None:
    people = [1.0] * 10 + [0.0] * 10 + [None] * 20
    odds = np.array([0.8] * 10 + [0.2] * 30)
    found = corrected_rate(labels_of(people, [0.5] * 40, odds=odds))
    assert found.people == pytest.approx((10 / 0.8) / (10 / 0.8 + 10 / 0.2))


def test_where_a_judge_could_not_tell_the_labels_on_such_items_count() -> None:
    people = [1.0, 0.0] * 15 + [1.0] * 9 + [None]
    sure = [1.0, 0.0] * 15
    found = corrected_rate(labels_of(people, [*sure, *[None] * 10]))
    assert found.judge == pytest.approx(0.5)
    assert (found.items, found.value) == (40, pytest.approx(0.75 * 0.5 + 0.25))


def test_an_agent_without_labels_makes_the_rate_of_all_uncertain_and_not_wrong() -> None:
    people = [1.0] * 40 + [None] * 40
    agent = np.repeat([0.0, 1.0], 40)
    found = corrected_rate(labels_of(people, [1.0] * 40 + [0.0] * 40, agent=agent))
    assert found.value == pytest.approx(0.75)  # a half, where nothing is known
    assert found.low <= 0.5
    assert found.high >= 0.99


@pytest.mark.parametrize(
    ("labels", "basis"), [(9, "none"), (10, "labels"), (29, "labels"), (30, "labels_and_judge")]
)
def test_the_judge_is_used_from_thirty_labels_on_and_no_rate_is_given_below_ten(labels, basis) -> None:
    people = [float(place % 3 > 0) if place < labels else None for place in range(80)]
    found = corrected_rate(labels_of(people, [float(place % 4 > 0) for place in range(80)]))
    assert found.basis == basis
    assert isinstance(found.low, Unscored) == (basis == "none")
    assert ((found.value, found.low) == (found.people, found.people_low)) == (basis == "labels")


@pytest.mark.parametrize(
    ("desc", "people", "tasks", "why"),
    [
        ("none", [None] * 20, 10, "no item that the judge decided has a label"),
        ("nine labels", [1.0] * 9 + [None] * 11, 10, "too few labels: a rate needs 10"),
        (
            "four tasks",
            [1.0] * 20,
            4,
            "labels from too few tasks: a rate needs 5 tasks (or runs of one task)",
        ),
    ],
)
def test_no_interval_where_labels_are_too_few(desc, people, tasks, why) -> None:
    found = corrected_rate(labels_of(people, [1.0] * 20, cluster=np.arange(20) % tasks))
    assert found.low == found.high == found.worth == Unscored(why), desc


def test_the_difference_of_two_agents_is_that_of_their_rates() -> None:
    first, second = drawn(1), drawn(2, world=World(rate=0.3))
    rates = [corrected_rate(one) for one in (first, second)]
    found = corrected_difference(*rates)
    for name in ("value", "people", "judge"):
        assert getattr(found, name) == pytest.approx(getattr(rates[0], name) - getattr(rates[1], name))
    assert found.labels == 120
    turned = corrected_difference(*rates[::-1])
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


@given(st.integers(0, 10_000), st.sampled_from(["runs", "tasks"]))
def test_the_estimate_is_in_its_interval_and_between_0_and_1(seed: int, target: Any) -> None:
    found = corrected_rate(drawn(seed, world=World(rate=0.95, error=0.3), n=30), target=target)
    assert 0 <= found.low <= found.value <= found.high <= 1  # type: ignore[operator]


TRIED = {
    "rate 0.6, judge wrong 0.12: 30 labels, runs",
    "rate 0.9, judge wrong 0.05: 40 labels, runs",
    "rate 0.9, judge wrong 0.05: 40 labels, tasks",
    "rate 0.9, judge wrong 0.05: 10 whole tasks, tasks",
    "rate 0.97, judge wrong 0.03: 30 labels, tasks",
    "rate 0.97, judge wrong 0.03: 12 labels, runs",
    "two agents, 0.8 and 0.4: 50 and 10 labels, runs",
    "two agents, 0.8 and 0.4: 50 and 1 labels, tasks",
    "two agents, 0.8 and 0.4: 50 and 0 labels, runs",
    "two agents, 0.8 and 0.4: 20 and 5 labels, runs",
}


@pytest.mark.parametrize("name", sorted(TRIED))
def test_intervals_hold_the_truth_of_simulated_worlds(name: str) -> None:
    assert world_coverage(*worlds()[name], worlds=250).held >= 0.925


def test_with_a_good_judge_intervals_are_narrower_than_those_of_the_labels() -> None:
    found = world_coverage(World(), unequal(60), "runs", worlds=250)
    assert found.held >= 0.925
    assert found.width < 0.8 * found.people_width


def test_labels_of_whole_tasks_taken_for_independent_hold_the_truth_too_rarely() -> None:
    items = World(tasks=40, items=12).draw(np.random.default_rng(11))
    clustered, naive = (coverage(items, whole_tasks(10), draws=500, naive=flag) for flag in (False, True))
    assert clustered.held >= 0.925
    assert naive.held <= 0.9


def test_the_difference_of_two_agents_holds_the_truth() -> None:
    random = np.random.default_rng(7)
    first, second = World(rate=0.7).draw(random), World(rate=0.5).draw(random)
    assert difference_coverage(first, second, some(40), draws=500).held >= 0.925
