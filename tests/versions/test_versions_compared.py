"""What got worse from one version to the next is named, how, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from builders import a_graph, a_run

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.versions import FirstSuspect, VersionComparison, versions_of
from untaken.analysis.versions.sides import most_paired
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans import PlanGraph
from untaken.stats import Stratum, exact_test
from untaken.views.documents import entry
from untaken.views.versions import no_change_words, version_changes, version_headline, versions_document

STEPS = ("find", "check", "pay")
STEP_GRAPHS = {"find": {}, "check": {"deps": ["find"], "critical": True}, "pay": {"deps": ["check"]}}
GRAPH = a_graph(
    *(
        {"id": step, "rules": [{"tool": step}], "check": {"expr": f"state.{step} == 'done'"}, **more}
        for step, more in STEP_GRAPHS.items()
    )
)


def worked(name: str, task: str, fault: str = "", *, retried: int = 0, **started: Any) -> Run:
    """A run of three steps; ``skip check``, ``fail pay`` or ``stop find``."""
    run = a_run(name, task=task, **started)
    how, _, where = fault.partition(" ")
    bad: set[str] = set()
    for step in STEPS:
        if step == where and how == "skip":
            bad.add(step)
            continue
        for n in range(retried):
            run.call(step, ok=False, n=n, who=name)
        ok = step != where
        run.call(step, ok=True, who=name).state(**{step: "done" if ok else "wrong"})
        if not ok:
            bad.add(step)
        if step == where and how == "stop":
            break
    return run.finish(not bad).run()


def corpus_of(runs: Iterable[Run], graph: PlanGraph | list[PlanGraph] = GRAPH) -> Corpus:
    return evaluate_corpus(list(runs), graph, memory=PolicyMemory.build([]), resamples=0)


def versions(fault: Callable[[int], str] = lambda _: "", tasks: int = 20, **second: Any) -> list[Run]:
    """Two runs of each version in each task; a run of A goes wrong in one of ten."""
    made = []
    for n in range(tasks * 2):
        task, repeat = f"t{n % tasks}", n // tasks
        usual = "fail pay" if n % 10 == 0 else ""
        made.append(worked(f"a{n}", task, usual, version="A", task_repeat=repeat))
        made.append(worked(f"b{n}", task, fault(n), version="B", task_repeat=repeat, **second))
    return made


def compared(runs: Iterable[Run], **how: Any) -> VersionComparison:
    return version_changes(corpus_of(runs), how.pop("a", "A"), how.pop("b", "B"), **how)


@pytest.mark.parametrize(
    ("desc", "fault", "sub_goal", "kind"),
    [
        ("a step is skipped", "skip check", "check", "skipped"),
        ("a step fails", "fail pay", "pay", "failed"),
        ("the first step fails and the run stops", "stop find", "find", "failed"),
    ],
)
def test_what_got_worse_is_called_by_name_and_kind_and_nothing_else(desc, fault, sub_goal, kind) -> None:
    found = compared(versions(lambda n: fault if n % 2 else ""))
    assert [(one.sub_goal, one.kind) for one in found.called] == [(sub_goal, kind)], desc
    assert found.called[0].difference is not None
    assert found.called[0].difference < -0.3
    assert found.first_suspect.sub_goal == found.sub_goals[0].sub_goal == sub_goal  # the least p first


def test_a_version_against_itself_calls_nothing_and_says_what_would_have_been_found() -> None:
    found = compared(versions(lambda n: "fail pay" if n % 10 == 5 else ""))
    assert found.called == ()
    assert not found.outcome.called
    assert "would be found" in no_change_words(found)
    assert [one.drop for one in found.power] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(("tasks", "repeats"), [(1, 1), (6, 1), (20, 2), (30, 3), (1, 501)])
def test_the_power_is_how_often_the_exact_test_would_call_a_drop(tasks: int, repeats: int) -> None:
    made = [worked(f"{v}{n}", f"t{n % tasks}", version=v, task_repeat=n // tasks)
            for v in "AB" for n in range(tasks * repeats)]  # fmt: skip
    rng = random.Random(tasks)

    def calls(drop: float) -> bool:
        done = [(sum(rng.random() >= drop for _ in range(repeats)), repeats) for _ in range(tasks)]
        return exact_test([Stratum(*one, repeats, repeats) for one in done]).p <= 0.05

    for one in compared(made).power:
        assert one.found == pytest.approx(sum(calls(one.drop) for _ in range(400)) / 400, abs=0.08)


def test_each_side_is_counted_by_itself() -> None:
    faults = ("", "skip check", "", "fail pay")
    found = compared(versions(lambda n: faults[n % 4]))
    counts = {
        one.sub_goal: (one.a_completed, one.a_reached, one.b_completed, one.b_reached, one.kind, one.critical)
        for one in found.sub_goals
    }
    assert counts == {
        "check": (40, 40, 30, 40, "skipped", True),
        "pay": (36, 40, 20, 30, "failed", False),  # what skipped the critical step did not reach it
        "find": (40, 40, 40, 40, None, False),
    }
    assert (found.tasks, found.a_runs, found.b_runs, found.largest) == (20, 40, 40, 0.25)
    assert found.first_suspect == FirstSuspect(sub_goal="check", difference=-0.25)
    check, pay, find = found.sub_goals
    assert (check.p_holm, pay.p_holm) == (pytest.approx(2 * (check.p or 0)), pay.p)
    assert find.p_holm is None  # no number of runs like these could call it, so it does not count as a test
    assert {one.sub_goal: one.difference for one in found.sub_goals} == pytest.approx(
        {"check": -0.25, "pay": -0.2, "find": 0}
    )
    outcome = found.outcome
    assert (outcome.a_succeeded, outcome.a_runs, outcome.b_succeeded, outcome.b_runs) == (36, 40, 20, 40)
    assert [(one.measure, one.a, one.b, one.difference, one.tasks) for one in found.costs] == [
        ("retries", 0, 0, 0, 20),
        ("cost", 0.5, 0.5, 0, 20),
        ("steps", 3, 2.75, -0.25, 20),
    ]


def test_runs_that_did_nothing_are_in_no_difference_and_are_said() -> None:
    runs = versions()
    idle = [a_run(f"i{n}", task=f"t{n}", version="B").finish(False).run() for n in range(9)]
    found = compared([*runs, *idle])
    assert (found.a_silent, found.b_silent, found.b_runs) == (0, 9, 49)
    assert all(one.b_reached == 40 for one in found.sub_goals)
    assert "40 and 49 runs, of which 0 and 9 show nothing of any sub-goal." in version_headline(found)
    assert "show nothing" not in version_headline(compared(runs))


def test_a_step_that_was_passed_over_at_any_distance_is_counted_and_none_after_a_stop() -> None:
    made = [worked(f"a{n}", f"t{n}", version="A") for n in range(6)]
    for n in range(6):
        run = a_run(f"b{n}", task=f"t{n}", version="B").call("pay", who=n).state(pay="wrong")
        made.append(run.finish(False).run())
    reached = {one.sub_goal: (one.b_completed, one.b_reached) for one in compared(made).sub_goals}
    assert reached == {"find": (0, 6), "check": (0, 0), "pay": (0, 0)}
    found = compared(versions(lambda n: "stop find" if n % 2 else ""))
    assert {one.sub_goal: one.b_reached for one in found.sub_goals} == {"find": 40, "check": 20, "pay": 20}


def test_costs_are_compared_in_tasks_where_both_versions_record_them() -> None:
    made = [
        a_run(f"{version}{n}", task=f"t{n}", version=version).call("find", ok=True).finish(True, cost=cost)
        for version, costs in (("A", [1.0] * 5), ("B", [None, *[2.0] * 4]))
        for n, cost in enumerate(costs)
    ]
    cost = next(one for one in compared(run.run() for run in made).costs if one.measure == "cost")
    assert (cost.tasks, cost.difference) == (4, 1.0)


def test_several_agents_on_a_task_are_one_difference_in_cost() -> None:
    made = [
        worked(f"{version}{agent}{n}", f"t{n}", version=version, agent=agent, retried=version == "B")
        for version in "AB"
        for agent in ("ann", "bob")
        for n in range(5)
    ]
    found = compared(made)
    retries = next(one for one in found.costs if one.measure == "retries")
    assert (found.tasks, retries.tasks, retries.difference) == (5, 5, 3.0)
    assert retries.p == 2 / 2**5


def test_retries_are_called_where_no_sub_goal_is() -> None:
    found = compared(versions(lambda n: "fail pay" if n % 10 == 0 else "", retried=1))
    assert found.called == ()
    assert [one.measure for one in found.costs if one.called and one.measure == "retries"] == ["retries"]
    assert {one.measure for one in found.costs} == {"retries", "cost", "steps"}


def test_plans_of_one_task_each_are_pooled_by_the_tool_of_their_checks() -> None:
    def plan(task: str) -> PlanGraph:
        checks = [{"id": f"{task}-{n}", "check": {"tool_call": {"name": s}}} for n, s in enumerate(STEPS)]
        return a_graph(*checks, graph_id=task, tasks=[task])

    graphs = [plan(f"t{n}") for n in range(20)]
    made = corpus_of(versions(lambda n: "skip check" if n % 2 else ""), graphs)
    found = version_changes(made, "A", "B")
    assert [(one.sub_goal, one.kind) for one in found.called] == [("check", "skipped")]
    assert sorted(one.sub_goal for one in found.sub_goals) == sorted(STEPS)


def test_versions_are_compared_inside_agents_and_agents_inside_tasks() -> None:
    made = [worked(f"a{n}", f"t{n}", version="A", agent="one") for n in range(4)]
    made += [worked(f"b{n}", f"t{n}", version="B", agent="two") for n in range(4)]
    with pytest.raises(UntakenError) as refused:
        compared(made)
    assert refused.value.code == "versions-not-paired"
    assert compared(made, a="one", b="two", by="agent").tasks == 4


@pytest.mark.parametrize(
    ("desc", "tasks", "want"),
    [
        ("the most tasks in common", {"A": "12", "B": "1", "C": "12"}, ("A", "C")),
        ("of as many the last", {"A": "1", "B": "1", "C": "2", "D": "2"}, ("C", "D")),
        ("none in common", {"A": "1", "B": "2"}, None),
        ("one version", {"A": "12"}, None),
    ],
)
def test_versions_to_compare_are_those_with_the_most_tasks_in_common(desc, tasks, want) -> None:
    made = [worked(f"{name}{task}", task, version=name) for name, some in tasks.items() for task in some]
    assert most_paired(made, "version") == want, desc


def test_an_unknown_version_is_refused_with_those_there_are() -> None:
    with pytest.raises(UntakenError) as refused:
        compared(versions(), b="C")
    assert refused.value.code == "version-unknown"
    assert "'A', 'B'" in refused.value.hint
    assert versions_of(versions(tasks=1), "version") == {"A": 2, "B": 2}


def test_tasks_of_one_version_only_and_copies_are_left_out_and_counted() -> None:
    made = [*versions(), worked("x", "only-a", version="A")]
    for name in ("c1", "c2", "c3"):
        run = a_run(name, task="t0", version="A").call("find", ok=True).state(find="done").finish(True)
        made.append(run.run())
    found = compared(made)
    assert (found.left_out, found.copies) == (1, 2)


def test_a_discordant_pair_names_the_sub_goal_that_only_the_success_completed() -> None:
    made = corpus_of(versions(lambda n: "skip check" if n == 3 else "", tasks=6))
    found = version_changes(made, "A", "B")
    pair = next(one for one in found.discordant if not one.second_succeeded)
    assert (pair.task_id, pair.sub_goal) == ("t3", "check")
    assert (found.a_only, found.b_only) == (1, 2)
    document = entry(versions_document(found, made.runs, discordant=True))
    assert {"a": "a3", "b": "b3", "succeeded": "A"}.items() <= next(
        one for one in document["discordant"] if one["task_id"] == "t3"
    ).items()
    assert entry(versions_document(found, made.runs))["discordant"] == []


def test_runs_in_any_order_give_the_same_comparison() -> None:
    made = versions(lambda n: "fail pay" if n % 3 == 0 else "")
    shuffled = random.Random(1).sample(made, len(made))
    assert compared(made) == compared(shuffled)


def test_without_a_plan_outcome_and_costs_are_still_compared() -> None:
    found = version_changes(corpus_of(versions(lambda n: "fail pay" if n % 2 else ""), []), "A", "B")
    assert found.sub_goals == ()
    assert (found.largest, found.relabelled, found.first_suspect) == (None, None, None)
    assert found.outcome.called
