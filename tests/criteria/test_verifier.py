"""The verifier keeps what is stable, tells good from bad and is said once; every rejection has its reason."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run
from msgspec.structs import replace

from untaken.errors import Unscored
from untaken.judging.criteria import (
    Criterion,
    CriterionCheck,
    Quantified,
    QuantifierRun,
    Value,
    quantify,
    quantify_disturbed,
    verify_criteria,
)
from untaken.ledger import Run
from untaken.plans import PlanGraph

SCALE = ["a", "b", "c", "d", "e"]


def a_pass(levels: dict[str, list[int | None]], *, successes: int = 0, seed: int = 0) -> QuantifierRun:
    """Levels by criterion, subject by subject; the first subjects succeeded."""
    n = max(map(len, levels.values()))
    items = tuple(
        Quantified(
            subject=f"s{i}",
            success=i < successes,
            values={
                name: Value(text=SCALE[level], level=level)
                for name, found in levels.items()
                if (level := found[i]) is not None
            },
        )
        for i in range(n)
    )
    criteria = tuple(Criterion(name=name, accepted_values=SCALE) for name in levels)
    return QuantifierRun(name=f"seed {seed}", by="model", criteria=criteria, items=items, seed=seed)


def verified(*passes: QuantifierRun, **more: Any) -> dict[str, CriterionCheck]:
    return {check.name: check for check in verify_criteria(passes, **more).criteria}


# Stability


def test_the_spread_is_the_mean_over_subjects_as_a_share_of_the_scale() -> None:
    steady = verified(a_pass({"x": [4, 2]}), a_pass({"x": [2, 2]}, seed=1))["x"].stability
    assert (steady.cv, steady.sd, steady.sd_share) == (pytest.approx(1 / 6), 0.5, 0.125)
    assert (steady.subjects, steady.passes, steady.stable) == (2, 2, True)


def test_an_unstable_criterion_is_rejected_with_its_numbers() -> None:
    good, bad = [4] * 10 + [0] * 10, [0] * 10 + [4] * 10
    check = verified(a_pass({"x": good}, successes=10), a_pass({"x": bad}, successes=10, seed=1))["x"]
    assert (check.stability.stable, check.keep) == (False, False)
    assert check.reason.startswith("rejected: not stable (mean CV 1.000, at most 0.5 allowed)")


def test_one_pass_says_nothing_about_stability_and_that_is_not_stable() -> None:
    check = verified(a_pass({"x": [4] * 10 + [0] * 10}, successes=10))["x"]
    assert (check.stability.stable, check.keep) == (None, False)
    assert "it needs two passes" in check.reason


# Discrimination


def test_a_disturbance_that_lowers_most_runs_is_noticed_ties_stated() -> None:
    passes = (a_pass({"x": [3] * 12}), a_pass({"x": [3] * 12}, seed=1))
    worse = a_pass({"x": [2] * 10 + [3, 4]})
    check = verified(*passes, disturbed={"drop_sentences": [worse]})["x"]
    (test,) = check.discrimination.attacks
    assert (test.n, test.wins, test.ties, test.losses, test.win_rate) == (12, 10, 1, 1, 10.5 / 12)
    assert check.discrimination.drop == test
    assert check.keep
    assert (
        "a quarter of the agent's sentences removed (10 worse, 1 equal, 1 better of 12 tasks)" in check.reason
    )


def test_what_was_not_tried_is_said_not_to_be_done() -> None:
    check = verified(a_pass({"x": [3] * 8}), a_pass({"x": [3] * 8}, seed=1))["x"]
    assert check.discrimination.discriminates is None
    assert check.discrimination.drop == Unscored("not done: no values of disturbed runs were given")
    assert not check.keep


@pytest.mark.parametrize(
    ("tasks", "discriminates"), [((4,), None), ((5,), False), ((5, 5), None), ((6, 1), False)]
)
def test_so_few_tasks_that_no_loss_could_be_told_from_chance_reject_nothing(tasks, discriminates) -> None:
    passes = (a_pass({"x": [3] * 6}), a_pass({"x": [3] * 6}, seed=1))
    disturbed = {f"{i}": [a_pass({"x": [3] * n + [None] * (6 - n)})] for i, n in enumerate(tasks)}
    check = verified(*passes, disturbed=disturbed)["x"]
    assert (check.discrimination.discriminates, check.keep) == (discriminates, False)
    assert ("too few tasks to tell disturbed runs apart" in check.reason) is (discriminates is None)


# The naive criterion

PLAN: PlanGraph = a_graph(
    {"id": "open", "check": {"tool_call": {"name": "open"}}},
    {"id": "save", "deps": ["open"], "critical": True, "check": {"tool_call": {"name": "save"}}},
)


def a_careful_run(n: int) -> Run:
    """Tries again what failed, and gets there."""
    run = a_run(f"careful-{n}", agent="careful", task=f"task-{n}").call("open", "open", ok=True, n=n)
    run.call("save", "save", ok=False).call("save", "save", ok=True)
    return run.finish(success=True).run()


def a_random_run(n: int) -> Run:
    """Does anything at all, and never the same again after a failure."""
    random = Random(n)
    run: RunBuilder = a_run(f"random-{n}", agent="random", task=f"task-{n}")
    for step in range(8):
        run.call(random.choice(["jump", "spin", "open"]), ok=random.random() < 0.3, step=step)
    return run.finish(success=False).run()


def test_the_naive_response_to_feedback_scores_random_agents_best_and_is_rejected() -> None:
    runs = [make(n) for make in (a_careful_run, a_random_run) for n in range(12)]
    passes = quantify(runs, graphs=[PLAN])
    checks = verified(*passes, disturbed=quantify_disturbed(runs, graphs=[PLAN]))
    naive = checks["Response to feedback"]
    assert naive.stability.deterministic
    assert naive.discrimination.separation.reversed
    assert (naive.keep, naive.redundant_with) == (False, None)
    assert "failed runs score higher" in naive.reason
    assert checks["Plan completion"].keep or checks["Plan completion"].redundant_with
    assert [check for check in checks.values() if check.keep]


LEVELS = ["0", "1", "2", "3"]
CRITERIA = tuple(
    Criterion(name=name, description="", accepted_values=LEVELS) for name in ("up", "noise", "twin")
)


def a_corpus(seed: int, tasks: int) -> QuantifierRun:
    """Runs of two agents on each task: some succeed, one criterion goes with it, one by itself."""
    random, items = Random(seed), []
    for n in range(tasks * 2):
        success = random.random() < 0.5
        up = min(3, random.randrange(3) + success)
        levels = {"up": up, "noise": random.randrange(4), "twin": up}
        values = {name: Value(text=LEVELS[level], level=level) for name, level in levels.items()}
        items.append(
            Quantified(
                subject=f"r{n}", success=success, task_id=f"t{n // 2}", agent=f"a{n % 2}", values=values
            )
        )
    return QuantifierRun(
        name="one", by="ledger", seed=0, criteria=CRITERIA, items=tuple(items), deterministic=True
    )


def worse(whole: QuantifierRun) -> QuantifierRun:
    """The same runs, of every second task each a level lower."""

    def lower(item: Quantified, place: int) -> Quantified:
        if place % 4 > 1:
            return item
        found = {
            name: max(0, value.level - 1) for name, value in item.values.items() if value.level is not None
        }
        return replace(item, values={name: Value(text=LEVELS[at], level=at) for name, at in found.items()})

    return replace(whole, items=tuple(lower(item, place) for place, item in enumerate(whole.items)))


def repeated(whole: QuantifierRun, times: int) -> QuantifierRun:
    """Each run so many times, as repeats of its task."""
    copies = [replace(item, subject=f"{item.subject}-{k}") for item in whole.items for k in range(times)]
    return replace(whole, items=tuple(copies))


def checks(whole: QuantifierRun, disturbed: QuantifierRun) -> tuple[CriterionCheck, ...]:
    return verify_criteria([whole], disturbed={"shuffle": [disturbed]}).criteria


@pytest.mark.parametrize("tasks", [3, 6, 12, 30])
@pytest.mark.parametrize("seed", range(5))
def test_repeats_of_runs_change_no_verdict_and_no_interval(seed: int, tasks: int) -> None:
    whole = a_corpus(seed, tasks)
    once = checks(whole, worse(whole))
    often = checks(repeated(whole, 4), repeated(worse(whole), 4))
    assert [one.discrimination for one in often] == [one.discrimination for one in once]
    assert [(one.keep, one.redundant_with) for one in often] == [
        (one.keep, one.redundant_with) for one in once
    ]
