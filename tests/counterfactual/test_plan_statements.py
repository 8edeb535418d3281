"""Statements: what is supported, in which layer, and that noise is not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pandas as pd
import pytest
from builders import a_run
from msgspec.structs import replace

from untaken.counterfactual.plan import (
    Option,
    PlanDecision,
    PlanEvaluation,
    PlanPath,
    PlanState,
    calibration_card,
    evaluate_plans,
)
from untaken.counterfactual.plan.evaluate import EvaluatedDecision
from untaken.counterfactual.plan.statements import contrasts, statements
from untaken.errors import Unscored
from untaken.plans import map_actions, parse_graph

GRAPH = parse_graph(
    """
schema: untaken.plan/1
id: desk
mutates: ["write_*"]
sub_goals:
  - {id: refund, check: {tool_call: {name: write_refund}}}
""",
    name="desk.plan.yaml",
)

Success = Callable[[str, str, str], float]
"""The chance of success of (task, agent, what it did)."""


def world(
    success: Success,
    *,
    tasks: int = 12,
    agents: int = 1,
    trials: int = 4,
    seed: int = 0,
    chance: Callable[[str, str], float] = lambda task, agent: 0.5,
) -> PlanEvaluation:
    """Runs that either refund or write something else, then stop."""
    rng, rows = Random(seed), []
    for task in range(tasks):
        for agent in range(agents):
            for trial in range(trials):
                names = f"t{task}", f"a{agent}"
                did = "refund" if rng.random() < chance(*names) else "other"
                built = a_run(f"{task}-{agent}-{trial}", task=names[0], agent=names[1])
                built.call(f"write_{did}").finish(rng.random() < success(*names, did))
                run = built.run()
                rows.append((run, GRAPH, map_actions(run, GRAPH).mapped))
    return evaluate_plans(rows)


def test_a_choice_that_decides_is_supported_and_says_so() -> None:
    found = world(lambda _t, _a, did: 0.95 if did == "refund" else 0.05)
    first = found.statements[0]
    assert first.supported
    assert (str(first.option), str(first.against)) == ("advance", "unplanned")
    assert first.low > 0.3
    assert first.k1 / first.n1 > first.k0 / first.n0
    strayed = [
        d
        for run in found.runs.values()
        for d in run.decisions
        if d.decision.option.kind == "unplanned" and d.alternatives
    ]
    assert strayed
    assert all(a.better for d in strayed for a in d.alternatives if a.option.kind == "advance")


@pytest.mark.parametrize(("tasks", "compared"), [(3, False), (4, True)])
def test_agents_are_compared_from_four_tasks_on_in_which_they_chose_differently(tasks, compared) -> None:
    found = world(
        lambda *_: 0.5, tasks=tasks, agents=2, trials=1, chance=lambda t, a: (int(t[1:]) + int(a[1:])) % 2
    )
    assert any(each.estimate == "between_agents" for each in found.statements) == compared


def test_the_decisive_step_of_a_failed_run_is_its_largest_fall() -> None:
    found = world(lambda _t, _a, did: 0.95 if did == "refund" else 0.05)
    failed = next(run for run in found.runs.values() if run.path.success is False and len(run.decisions) > 1)
    falls = {d.decision.seq: d.change for d in failed.decisions if isinstance(d.change, float)}
    assert failed.decisive_seq == min(falls, key=lambda seq: falls[seq])


def test_a_forecast_leans_on_the_coarser_layer_the_more_the_fewer_runs_chose_alike() -> None:
    runs = world(lambda _t, _a, did: float(did == "refund")).runs.values()
    for run in runs:
        first, *_ = run.decisions
        took = first.decision.option
        others = [one for one in runs if one.path.task_id != run.path.task_id]
        alike = [one.path.success for one in others if one.decisions[0].decision.option == took]
        want = sum(one.path.success for one in others) / len(others)
        for weight in (8, 8, 3):
            want = (sum(alike) + weight * want) / (len(alike) + weight)
        assert first.forecast == pytest.approx(want)


def test_an_alternative_names_the_first_runs_of_the_task_that_took_it_and_counts_all() -> None:
    runs = world(lambda *_: 0.5, tasks=2, trials=120).runs.values()
    for run in runs:
        first, *_ = run.decisions
        (other,) = first.alternatives
        same = [one for one in runs if one.path.task_id == run.path.task_id]
        took = [one.path for one in same if one.decisions[0].decision.option == other.option]
        assert other.siblings == tuple(path.digest for path in took[:50])
        assert other.siblings_succeeded == (sum(path.success for path in took), len(took))
        assert len(took) > 50


def test_a_card_is_what_pandas_makes_of_the_forecasts() -> None:
    found = world(lambda t, _a, did: 0.95 if did == "refund" else 0.05 + 0.3 * (t == "t1"), tasks=5)
    card = calibration_card(found)

    def named(each: EvaluatedDecision) -> str:
        supported = {alternative.supported for alternative in each.alternatives}
        return "supported" if True in supported else "not supported" if supported else "no alternative"

    rows = [
        (d.forecast, float(run.path.success), run.path.task_id, digest, named(d), d.decision.option.kind)
        for digest, run in found.runs.items()
        for d in run.decisions
    ]
    every = pd.DataFrame(rows, columns=["forecast", "outcome", "task", "run", "support", "kind"])
    every["squared"] = (every.forecast - every.outcome) ** 2
    every["everybody"] = (every.drop_duplicates("run").outcome.mean() - every.outcome) ** 2
    ends = every.kind.str.startswith("stop")
    points, after = every[~ends], every[ends]
    own = points.drop_duplicates("run").groupby("task").outcome.mean()

    def skill(some: pd.DataFrame, reference: pd.Series) -> object:
        return pytest.approx(1 - some.squared.mean() / reference.mean())

    assert (card.n, card.runs, card.tasks) == (len(points), points.run.nunique(), points.task.nunique())
    assert (card.brier, card.hindsight.brier) == pytest.approx((points.squared.mean(), after.squared.mean()))
    assert (card.skill, card.hindsight.skill) == (
        skill(points, points.everybody),
        skill(after, after.everybody),
    )
    assert card.skill_over_task == skill(points, (points.task.map(own) - points.outcome) ** 2)
    assert [(one.support, one.n, one.brier, one.skill) for one in card.by_support] == [
        (name, len(part), pytest.approx(part.squared.mean()), skill(part, part.everybody))
        for name in ("supported", "not supported", "no alternative")
        if len(part := points[points.support == name])
    ]
    bins = points.groupby((points.forecast * 5).clip(upper=4).astype(int))
    assert [(b.above, b.up_to, b.n, b.runs, b.tasks) for b in card.bins] == [
        (at / 5, (at + 1) / 5, len(part), part.run.nunique(), part.task.nunique()) for at, part in bins
    ]
    assert [b.predicted for b in card.bins] == pytest.approx([*bins.forecast.mean()])
    assert [b.observed for b in card.bins] == pytest.approx([*bins.outcome.mean()])
    assert all(each.low <= each.observed <= each.high for each in card.bins)


@pytest.mark.parametrize(
    ("tasks", "trials", "enough"), [(3, 7, True), (4, 5, True), (2, 10, False), (19, 1, False)]
)
def test_a_card_needs_twenty_runs_of_three_tasks(tasks: int, trials: int, enough: bool) -> None:
    card = calibration_card(world(lambda *_: 0.5, tasks=tasks, trials=trials))
    assert isinstance(card, Unscored) is not enough


@pytest.mark.parametrize(("decisive", "want"), [(None, 2), (1, 1)])
def test_the_better_way_is_at_the_decisive_step_else_that_of_the_largest_difference(decisive, want) -> None:
    found = world(lambda _t, _a, did: 0.95 if did == "refund" else 0.05)
    run = next(run for run in found.runs.values() if run.better_way)
    made, way = run.better_way or pytest.fail("none")
    decisions = tuple(
        replace(
            made,
            decision=replace(made.decision, seq=seq),
            alternatives=(replace(way, difference=difference), replace(way, difference=0.0)),
        )
        for seq, difference in ((1, 0.3), (2, 0.5), (3, 0.5))
    )
    better = replace(run, decisions=decisions, decisive_seq=decisive).better_way
    assert better
    assert (better[0].decision.seq, better[1].better) == (want, True)


def test_a_part_of_the_runs_has_the_statements_about_its_tasks() -> None:
    found = world(lambda _t, _a, did: 0.95 if did == "refund" else 0.05)
    part = found.among({digest for digest, run in found.runs.items() if run.path.task_id == "t0"})
    assert {each.situation.task_id for each in part.statements} == {"", "t0"}
    assert found.among(set()).statements == ()


def drifting(seed: int) -> list[PlanPath]:
    """Runs of agents that get better and come to prefer the planned change, at the same time."""
    rng, options = Random(seed), (Option("unplanned", "write"), Option("advance", "goal"))
    pairs = [(f"t{task}", f"a{agent}") for task in range(12) for agent in range(2) for _ in range(8)]
    rng.shuffle(pairs)
    paths = []
    for n, (task, agent) in enumerate(pairs):
        time = n / len(pairs)
        planned = rng.random() < 0.1 + 0.8 * time
        paths.append(
            PlanPath(
                digest=str(n),
                run_id=f"run-{n:03d}",
                task_id=task,
                agent=agent,
                graph_id="desk",
                domain=("write",),
                success=rng.random() < 0.6 * time,
                decisions=(PlanDecision(1, PlanState(), 1, options[planned]),),
                as_planned=planned,
                started=float(n),
            )
        )
    return paths


@pytest.mark.parametrize("seed", [2, 5])
def test_an_order_in_time_seen_over_all_tasks_is_held_against_the_statements_of_each_task(seed: int) -> None:
    paths = drifting(seed)
    success = np.array([float(path.success is True) for path in paths])
    made = [each for each in statements(contrasts(paths), paths, success) if each is not None]
    assert {each.situation.layer for each in made} == {1, 2, 3, 4}
    assert not any(each.supported for each in made)


def test_statements_of_the_same_runs_are_one_group_and_the_coarsest_stands_for_it() -> None:
    """The option decides: the same runs say so in every layer, each of which has statements of its own."""
    found = world(lambda _t, _a, did: 1.0 if did == "refund" else 0.0, trials=4, tasks=8)
    supported = [statement for statement in found.statements if statement.supported]
    leading = [statement for statement in supported if statement.leads]
    assert {statement.group for statement in supported} == {statement.group for statement in leading}
    assert len(leading) == sum(found.groups.values()) < len(supported)
    for lead in leading:
        nested = [statement for statement in supported if statement.group == lead.group]
        assert lead.n1 == max(statement.n1 for statement in nested)
        same = [statement for statement in nested if statement.n1 == lead.n1]
        assert lead.situation.layer == max(statement.situation.layer for statement in same)
    assert all(s.group is None and not s.leads for s in found.statements if not s.supported)
