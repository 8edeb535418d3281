"""Support must hold where nothing recorded differs: strata, copies, retries and time (§2a)."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from builders import a_run
from histories import on_day, seen
from msgspec import UNSET

from benchmarks.confounding import WORLDS, World, counted, plan_supported, ruling_on
from untaken.counterfactual import Weights
from untaken.counterfactual.balance import balance_of
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.counterfactual.pairs import Pair, compare_pairs
from untaken.counterfactual.support import IN_TIME, RETRIES, UNTIMED, OptionTest, more_runs
from untaken.counterfactual.words import COULD_BE_TIME
from untaken.ledger import Run

DRAWS = 20
SILENT = {"fixed by task", "strong agents, 1 trial", "retries", "retries that learn"}
FEW = {"one task upgrade", "upgrade, 2 trials", "copies × 4"}


def rulings(world: World, effect: float, draws: int = DRAWS) -> list[OptionTest | None]:
    return [ruling_on(list(world(np.random.default_rng((1, n)), effect))) for n in range(draws)]


def supported(world: World, effect: float) -> int:
    return sum(ruling is not None and ruling.holds for ruling in rulings(world, effect))


@pytest.mark.parametrize("name", WORLDS)
def test_equal_options_are_rarely_called_different_in_any_world_that_the_log_shows(name: str) -> None:
    assert supported(WORLDS[name], 0.0) <= 3  # 1 in 20 expected at most; more than 3 in 1.6 % of tests


@pytest.mark.parametrize("name", ["drift", "upgrade", "swings", "one task upgrade", "retries"])
def test_the_exact_test_alone_is_deceived_by_time_and_retries(name: str) -> None:
    exact = [ruling is not None and ruling.p_exact <= 0.05 for ruling in rulings(WORLDS[name], 0.0)]
    assert np.mean(exact) > 0.4, "the world confounds nothing"


@pytest.mark.parametrize("name", sorted({*WORLDS} - SILENT - FEW))
def test_a_true_difference_is_found_in_every_world_that_lets_it_be_found(name: str) -> None:
    assert supported(WORLDS[name], 0.4) >= 0.4 * DRAWS


@pytest.mark.parametrize("name", sorted(SILENT))
def test_where_nothing_can_be_told_apart_nothing_is_supported(name: str) -> None:
    assert supported(WORLDS[name], 0.4) == 0


@pytest.mark.parametrize("name", ["drift", "upgrade", "retries", "strong agents", "copies × 4"])
def test_plan_statements_follow_the_same_rule(name: str) -> None:
    assert counted(WORLDS[name], 0.0, 12).statements <= 0.05


def test_a_difference_hidden_by_pooling_is_found() -> None:
    hidden, found, of_plans = 0, 0, 0
    for n in range(12):
        log = list(WORLDS["Simpson"](np.random.default_rng((1, n)), 0.4))
        rates = [np.mean([ran.success for ran in log if ran.second == second]) for second in (False, True)]
        ruling = ruling_on(log)
        hidden += rates[1] - rates[0] < 0.2
        found += ruling is not None and ruling.holds and abs(ruling.difference) > 0.2
        of_plans += plan_supported(log)[0] > 0
    assert hidden >= 7
    assert min(found, of_plans) >= 5


def log(*runs: tuple[str, str, str, float], **recorded: Sequence[Any]) -> list[Observed]:
    """A run each: skill, task, agent, success; started a day before it ended."""
    made = []
    for n, (skill, task, agent, success) in enumerate(runs):
        one = seen(f"r{n:03}", skill, day=n, success=success, task_id=task, agent=agent)
        fields = {name: values[n] for name, values in recorded.items()}
        made.append(msgspec.structs.replace(one, **{"started": one.ts - timedelta(days=1), **fields}))
    return made


DRAWN = np.random.default_rng(5).permutation([*product((0, 1) * 4, "xyz")])
IN_ANY_ORDER = [("ab"[int(turn)], str(task), "m", float(turn)) for turn, task in DRAWN]
SIDE = [("ab"[n % 2], "x", "m", float(n % 2)) for n in range(20)]
"""One task and agent: what else is recorded decides."""
ODD = ["old", "new"] * 10
HALVES = [("ab"[n >= 12], "wxyz"[n % 4], "m", float(n >= 12)) for n in range(24)]
CASES = [
    ("each task has its skill", log(*[("ab"[n % 2], "xy"[n % 2], "m", float(n % 2)) for n in range(20)]), "confounded: task and choice coincide"),
    (
        "each agent has its skill",
        log(*[("ab"[n % 2], "xy"[n // 2 % 2], "mn"[n % 2], float(n % 2)) for n in range(20)]),
        "confounded: agent and choice coincide"
    ),
    ("each model has", log(*SIDE, model=ODD), "confounded: model and choice coincide"),
    ("each version has", log(*SIDE, version=ODD), "confounded: version and choice coincide"),
    ("each prompt version has", log(*SIDE, prompt_version=ODD), "confounded: prompt version and choice coincide"),
    (
        "each value of a field that the workspace names has",
        log(*SIDE, named=[(("temperature", old),) for old in ODD]),
        "confounded: temperature and choice coincide"
    ),
    (
        "the field is recorded for some runs only",
        log(*SIDE, named=[(("region", "eu"),) if old == "old" else UNSET for old in ODD]),
        "confounded: region and choice coincide"
    ),
    ("the coarsest of two is named", log(*SIDE, model=ODD, version=ODD), "confounded: model and choice coincide"),
    (
        "both in one task, which says nothing",
        log(*[("ab"[n % 2], "xy"[n % 2], "m", float(n % 2)) for n in range(20)], ("a", "y", "m", 1.0)),
        "needs about 6 more runs"
    ),
    ("in every task the one came first", log(*HALVES), IN_TIME),
    ("what failed is tried again with the other", log(*[("ab"[turn], f"t{n}", "m", float(turn)) for n in range(9) for turn in (0, 1)]), RETRIES),
    ("what failed is tried again with either", log(*[("ab"[(n + turn) % 2], f"t{n}", "m", float(turn)) for n in range(16) for turn in (0, 1)]), RETRIES),
    ("the one came first, and the difference is not clear yet", log(*[("ab"[n >= 12], "x", "m", float(n % 12 < (3, 8)[n >= 12])) for n in range(24)]), IN_TIME),
    (
        "a file that names no tasks",
        [
            seen(f"r{n}", "ab"[n % 2], day=n, success=float(n % 2), task_id=UNSET, agent=UNSET)
            for n in range(20)
        ],
        "the memory does not name the task and agent of every run: rebuild it from its ledgers"
    )
]  # fmt: skip


def support_of(observations: list[Observed]) -> tuple[str, str]:
    pair = Pair("ctx", selected="a", alternative="b")
    (trust,) = compare_pairs(PolicyMemory(observations).snapshot(), [pair], Weights(), 0.1)
    return trust.support, trust.reason


@pytest.mark.parametrize(("desc", "log", "want"), CASES, ids=[case[0] for case in CASES])
def test_a_comparison_that_is_weak_says_why(desc, log, want) -> None:
    assert support_of(log) == ("weak", want)


MORE = [
    ((30, 10, 1.5), "needs about 29 more runs"),
    ((10, 30, -1.5), "needs about 29 more runs"),
    ((10, 10, 0.3), "needs about 834 more runs"),
    ((8, 4, 3.0), "needs about 1 more run"),
    ((2, 1, 0.0), "needs about 3 more runs"),
    ((40, 40, 0.0), "needs more than 1000 more runs"),
]


@pytest.mark.parametrize(("seen", "want"), MORE)
def test_more_runs_are_those_that_a_difference_needs_if_it_stays(seen, want) -> None:
    assert more_runs(*seen) == want


def test_more_runs_are_asked_for_by_the_difference_inside_strata() -> None:
    """6 of 10 successes against 3 of 10 in one stratum, by the variance of Mantel and Haenszel."""
    won = {"a": (1, 4, 7), "b": (0, 2, 4, 5, 7, 9)}
    found = support_of(log(*[(s, "x", "m", float(n in won[s])) for n in range(10) for s in "ab"]))
    z = (6 - 9 * 10 / 20) / (10 * 10 * 9 * 11 / (20 * 20 * 19)) ** 0.5
    assert found == ("weak", more_runs(10, 10, z))


def test_what_holds_only_between_early_and_late_runs_could_be_time() -> None:
    found = [r.reason for r in rulings(WORLDS["one task drift"], 0.0, 12) if r and r.p_exact <= 0.05]
    assert found.count(COULD_BE_TIME) >= 0.7 * len(found) > 0


def test_a_difference_that_holds_within_tasks_is_supported_and_says_by_how_much() -> None:
    support, reason = support_of(log(*IN_ANY_ORDER))
    assert support == "supported"
    assert reason.startswith(
        "100 points more success where task, agent and version are the same (12 and 12 runs"
    )
    assert UNTIMED not in reason


def test_without_start_times_the_reason_says_that_time_cannot_be_excluded() -> None:
    support, reason = support_of(log(*HALVES, started=[UNSET] * len(HALVES)))
    assert support == "supported"
    assert reason.endswith(UNTIMED)


def test_two_runs_that_began_at_one_moment_came_in_no_order() -> None:
    """All began at once: no choice goes with time, however they are listed."""
    together = [log(*HALVES)[0].started] * len(HALVES)
    assert support_of(log(*HALVES, started=together))[0] == "supported"


def test_copies_are_one_unit_in_support_and_all_of_them_in_counts() -> None:
    once = [("ab"[n % 2], "xyz"[n % 3], "m", float(n % 4 in (1, 2))) for n in range(12)]
    once[0] = ("a", "x", "m", 1.0)
    fourfold, trails = once * 4, [str(n) for n in range(12)] * 4
    (one,), (four,) = (
        compare_pairs(PolicyMemory(each).snapshot(), [Pair("ctx", "a", "b")], Weights(), 0.1)
        for each in (log(*once), log(*fourfold, trail=trails))
    )
    assert (four.ruling.p_exact, four.ruling.n1) == (one.ruling.p_exact, one.ruling.n1)
    record = PolicyMemory(log(*fourfold, trail=trails)).snapshot().record("a", "ctx")
    assert (record.n, record.n_runs) == (24, 24)


def a_copy(number: int, *, answer: str = "sent", agent: str = "m", task: str = "t", **started: Any) -> Run:
    """A run with its own ids and times."""
    built = a_run(f"r{number}", agent=agent, task=task, task_repeat=number, **started)
    built.select("mail", "post").call("mail", ok=True, to="ann").say(answer).select("post", "mail")
    return on_day(built.finish(True, cost=1.0, steps=2, metrics={"total_time": float(number)}).run(), number)


DIFFERENT: list[tuple[str, dict[str, Any], bool]] = [
    ("only ids, repeat number and times", {}, True),
    ("what was said", {"answer": "gone"}, False),
    ("the task", {"task": "u"}, False),
    ("the version", {"version": "2"}, False),
    ("the model", {"model": "big"}, False),
]


@pytest.mark.parametrize(("desc", "changes", "same"), DIFFERENT, ids=lambda each: str(each)[:30])
def test_runs_are_copies_if_they_differ_in_nothing_but_ids_and_times(desc, changes, same) -> None:
    memory = PolicyMemory.build([a_copy(1), a_copy(2), a_copy(3, **changes)])
    trails = {(o.run_id, o.trail) for o in memory.log if o.trail is not UNSET}
    by_run = dict(trails)
    assert by_run["r1"] == by_run["r2"]
    assert (by_run.get("r3") == by_run["r1"]) == same, desc


def test_the_balance_counts_tasks_agents_and_strata_with_both() -> None:
    runs = [tuple(each) for each in ("axm", "bxm", "aym", "bzn", "bzm", "azm")]
    logged = log(*[(*run, 1.0) for run in runs])
    before_the_last = PolicyMemory(logged).snapshot(logged[-2].ts)
    found = balance_of(before_the_last, "ctx", "b", "a")
    assert (found.runs_selected, found.runs_alternative) == (2, 3)
    assert (found.tasks_selected, found.tasks_alternative) == (2, 2)
    assert (found.agents_selected, found.agents_alternative) == (1, 2)
    assert (found.strata_both, found.runs_both, found.unknown) == (1, 2, 0)
