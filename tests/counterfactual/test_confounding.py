"""Support must hold within task and agent: no clear difference between equal skills in confounded logs."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from builders import a_run
from histories import on_day, seen
from msgspec import UNSET
from one_by_one.records import mean_difference, order_of

from benchmarks.confounding import WORLDS, counted, memory_of, supported
from untaken.counterfactual import Weights, influence, placebo
from untaken.counterfactual.balance import balance_of
from untaken.counterfactual.diagnostics import Influence
from untaken.counterfactual.pairs import Pair, compare_pairs
from untaken.memory import Observed, PolicyMemory

CONFOUNDED = (
    "skill fixed by task",
    "strong agents prefer one",
    "strong agents take one",
    "hidden difficulty",
    "Simpson",
    "drift",
)


@pytest.mark.parametrize("name", CONFOUNDED)
def test_equal_skills_in_a_confounded_world_are_rarely_called_different(name: str) -> None:
    calls = [
        supported(memory_of(list(WORLDS[name](random, 0.0)), random))
        for random in map(np.random.default_rng, range(60))
    ]
    assert np.mean([guarded for _, guarded in calls]) <= 0.05
    assert np.mean([pooled for pooled, _ in calls]) > 0.1, "the world confounds nothing"


@pytest.mark.parametrize("name", ["drift", "retries", "strong agents prefer one", "hidden difficulty"])
def test_few_plan_statements_are_false_in_a_confounded_world(name: str) -> None:
    assert counted(WORLDS[name], 0.0, 25).statements <= 0.05


def test_a_true_difference_within_tasks_is_found() -> None:
    assert counted(WORLDS["choice by coin"], 0.4, 15).guarded > 0.6


def log(*runs: tuple[str, str, str, float]) -> list[Observed]:
    """A run each: skill, task, agent, success."""
    return [
        seen(f"r{n:03}", skill, day=n, success=success, task_id=task, agent=agent)
        for n, (skill, task, agent, success) in enumerate(runs)
    ]


class Case(NamedTuple):
    desc: str
    log: list[Observed]
    want: str


TURNS = [*product((0, 1, 1, 0, 0, 1, 1, 0), "xyz")]
CASES = [
    Case(
        "each task has its skill",
        log(*[("ab"[n % 2], "xy"[n % 2], "m", float(n % 2)) for n in range(20)]),
        "confounded: task and skill coincide",
    ),
    Case(
        "each agent has its skill",
        log(*[("ab"[n % 2], "xy"[n // 2 % 2], "mn"[n % 2], float(n % 2)) for n in range(20)]),
        "confounded: agent and skill coincide",
    ),
    Case(
        "both in one task, which says nothing",
        log(*[("ab"[n % 2], "xy"[n % 2], "m", float(n % 2)) for n in range(20)], ("a", "y", "m", 1.0)),
        "compared within task and agent: nothing varied, 10 and 1 runs",
    ),
    Case(
        "in every task the one came first",
        log(*[("ab"[n >= 12], "wxyz"[n % 4], "m", float(n >= 12)) for n in range(24)]),
        "confounded: time and skill coincide (within task and agent the alternative came after)",
    ),
    Case(
        "a file that names no tasks",
        [
            seen(f"r{n}", "ab"[n % 2], day=n, success=float(n % 2), task_id=UNSET, agent=UNSET)
            for n in range(20)
        ],
        "the memory does not name the task and agent of every run: rebuild it from its ledgers",
    ),
]


def compared(observations: list[Observed]) -> Influence:
    found = influence(PolicyMemory(observations), "ctx", selected="a", alternative="b")
    assert isinstance(found, Influence)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_a_confounded_comparison_is_weak_and_says_what_coincides(case: Case) -> None:
    assert support_of(case.log) == ("weak", case.want)


def support_of(observations: list[Observed]) -> tuple[str, str]:
    pair = Pair("ctx", selected="a", alternative="b")
    (trust,) = compare_pairs(PolicyMemory(observations).snapshot(), [pair], Weights(), 0.1)
    assert trust is not None
    assert isinstance(trust.low, float)
    assert trust.low > 0, "over all runs the difference is clear"
    return trust.support, trust.reason


def test_a_difference_that_holds_within_tasks_stays_supported() -> None:
    runs = [("ab"[turn], task, "m", float(turn)) for turn, task in TURNS]
    support, reason = support_of(log(*runs))
    assert support == "supported"
    assert "is above 0" in reason


def test_one_task_and_agent_are_one_stratum_and_keep_what_the_interval_says() -> None:
    assert (
        compared(log(*[("ab"[n >= 10], "x", "m", float(n >= 10)) for n in range(20)])).support == "supported"
    )


def test_an_order_reversed_within_tasks_is_not_supported_in_either_direction() -> None:
    easy = [("ab"[n % 5 > 0], "easy", "m", 0.8) for n in range(30)]
    hard = [("ab"[n % 5 == 0], "hard", "m", 0.1) for n in range(30)]
    lucky = [("a", "easy", "m", 1.0), ("a", "hard", "m", 0.3)] * 2
    assert support_of(log(*easy, *hard, *lucky))[0] == "weak"


def test_the_placebo_keeps_what_tasks_and_agents_differ_in() -> None:
    """Shuffled within task, a skill that was only used on the easy task keeps its good history."""
    runs = []
    for n in range(24):
        built = a_run(f"r{n:02}", task="xy"[n % 2])
        for _ in range(2):
            built.select(*("b" if n % 2 else "ab"), context="ctx")
        runs.append(on_day(built.finish(bool(n % 2), cost=1.0, steps=1).run(), n))
    found = placebo(runs, PolicyMemory.build(runs), rounds=3)
    assert isinstance(found.advantage, float)
    assert found.advantage > 0.3
    assert found.supported == 0


def test_the_balance_counts_tasks_agents_and_strata_with_both() -> None:
    runs = [("a", "x", "m"), ("b", "x", "m"), ("a", "y", "m"), ("b", "z", "n"), ("b", "z", "m")]
    found = balance_of(PolicyMemory(log(*[(*run, 1.0) for run in runs])).snapshot(), "ctx", "b", "a")
    assert (found.runs_selected, found.runs_alternative) == (2, 3)
    assert (found.tasks_selected, found.tasks_alternative) == (2, 2)
    assert (found.agents_selected, found.agents_alternative) == (1, 2)
    assert (found.strata_both, found.runs_both, found.unknown) == (1, 2, 0)


@pytest.mark.parametrize(("strata", "decides"), [(5, False), (6, True)])
def test_one_against_one_in_each_stratum_takes_six_as_the_sign_test_does(strata: int, decides: bool) -> None:
    numbers = np.repeat(np.arange(strata), 2)
    first = np.tile([True, False], strata)
    found = mean_difference(first.astype(float), first, numbers)
    assert found is not None
    assert found.value == 1.0
    assert (found.low > 0) == decides
    swapped = mean_difference(first.astype(float), ~first, numbers)
    assert swapped is not None
    assert (swapped.value, swapped.high) == (-found.value, -found.low)


def test_strata_with_one_option_or_without_variation_say_nothing() -> None:
    values, first = np.array([1.0, 0.0, 1.0, 1.0]), np.array([True, True, True, False])
    assert mean_difference(values, first, np.array([0, 0, 1, 1])) is None
    assert mean_difference(values[:2], first[:2], np.array([0, 0])) is None


def test_runs_of_one_moment_came_in_no_order() -> None:
    first = np.tile([True, False], 8)
    assert order_of(np.zeros(16), first, np.repeat(np.arange(4), 4)) is None
    assert order_of(np.arange(16.0), first, np.repeat(np.arange(8), 2)) == "before"
