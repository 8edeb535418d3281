"""Runs of a task side by side: one row per sub-goal, whatever tools the runs used."""

from __future__ import annotations

import desk
import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.comparing import SideBySide, align_runs, tasks_of
from untaken.analysis.corpus import score_runs
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph

GRAPH = a_graph(
    {"id": "pay", "deps": ["look"], "check": {"tool_call": {"name": "pay"}}, "rules": [{"tool": "pay"}]},
    {"id": "look", "title": "Look it up", "critical": True, "check": {"expr": "state.seen == true"}}
    | {"rules": [{"tool": "search*"}]},
    {"id": "polite", "check": {"verdict": True}},
)


def a(n: int, *, agent: str = "ann", task: str = "task", **started: object) -> RunBuilder:
    return a_run(f"{agent}-{n}", agent=agent, task=task, task_repeat=n, **started)


def good(n: int, agent: str = "ann") -> RunBuilder:
    run = a(n, agent=agent).call("search_by_number", ok=True).state(seen=True)
    return run.call("pay", ok=True).finish(True)


def bad(n: int, agent: str = "bob") -> RunBuilder:
    run = a(n, agent=agent).call("search_by_mail", ok=False).call("search_by_mail", ok=True)
    return run.state(seen=False).finish(False)


def side_by_side(
    builders: list[RunBuilder | Run], graph: PlanGraph | None = GRAPH, **asked: object
) -> SideBySide:
    runs = [one if isinstance(one, Run) else one.run() for one in builders]
    graphs = GraphSet.of([graph] if graph else [])
    scores, _ = score_runs(runs, graphs)
    return align_runs("task", runs, scores, graphs, **asked)  # type: ignore[arg-type]


def statuses(found: SideBySide) -> dict[str, list[str]]:
    return {row.key: [cell.status for cell in row.cells] for row in found.rows}


def names(found: SideBySide) -> list[str]:
    return [run.name for run in found.runs]


def test_rows_follow_the_plan_and_cells_the_runs_although_their_tools_differ() -> None:
    found = side_by_side([bad(1), good(1)])
    assert names(found) == ["ann #1", "bob #1"]  # the reference first
    assert list(statuses(found).items()) == [
        ("look", ["completed", "attempted"]),
        ("pay", ["completed", "skipped"]),
        ("polite", ["unscored", "unscored"]),
    ]
    assert [(row.parts, row.critical, row.title) for row in found.rows] == [
        (True, True, "Look it up"),
        (True, False, "pay"),
        (False, False, "polite"),
    ]


def test_a_cell_says_when_how_often_with_what_and_whether_a_failure_was_seen() -> None:
    cell = side_by_side([bad(1), good(1)]).rows[0].cells[1]
    assert (cell.first, cell.last, cell.steps, cell.failures) == (1, 3, 2, 1)
    assert cell.tools == (("search_by_mail", 2),)
    assert cell.decided_by == "expr"
    assert "seen: false, expected true" in cell.reason


CRITICAL = a(2).state(seen=True).call("search_x").finish(True)
REFERENCES = {
    "the one success": ([bad(1), good(1)], "ann #1", "the successful run with most"),
    "fewer actions": ([good(1), good(2).call("pay", ok=True), bad(1)], "ann #1", "fewest actions"),
    "most sub-goals completed": ([a(1).call("search_x").finish(True), good(2)], "ann #2", "most sub-goals"),
    "the critical one of as many": (
        [a(1).call("pay", ok=True).finish(True), CRITICAL],
        "ann #2",
        "most sub-goals",
    ),
    "one whose plan is not there comes last": (
        [a(1, graph="elsewhere").finish(True), good(2)],
        "ann #2",
        "most sub-goals",
    ),
    "no success at all": ([bad(1), bad(2)], "bob #1", "no shown run succeeded"),
}


@pytest.mark.parametrize(("builders", "want", "why"), REFERENCES.values(), ids=REFERENCES)
def test_the_reference_is_the_best_success(builders: list[RunBuilder], want: str, why: str) -> None:
    found = side_by_side(list(builders))
    assert found.run(found.reference).name == want
    assert why in found.reference_reason


def test_any_run_shown_can_be_the_reference_and_broken_runs_are_left_out_and_counted() -> None:
    asked = bad(1).run().digest
    found = side_by_side([bad(1), good(1), good(9).run("ALTERED")], reference=asked)
    assert (found.reference, found.reference_reason, found.runs[0].digest) == (asked, "as asked for", asked)
    assert (len(found.runs), found.of_task, found.broken) == (2, 2, 1)


NOTHING = a_graph(metadata={"nothing_expected": True})


@pytest.mark.parametrize(
    ("graph", "why"),
    [(None, "2 of 2 runs have no sub-goal score"), (NOTHING, "their plan graph has no sub-goals")],
)
def test_without_sub_goals_runs_are_aligned_by_tool_and_it_is_said(graph: PlanGraph | None, why: str) -> None:
    found = side_by_side([bad(1), good(1)], graph)
    assert (found.basis, found.basis_reason, found.graph_id) == ("tool", why, None)
    assert statuses(found) == {
        "search_by_number": ["called", "not_called"],
        "pay": ["called", "not_called"],
        "search_by_mail": ["not_called", "called"],
    }


def test_runs_on_different_graphs_are_aligned_by_tool() -> None:
    graphs = GraphSet.of([a_graph("x", graph_id=name, tasks=[]) for name in ("one", "other")])
    runs = [a(n, graph=name).call("dance").finish().run() for n, name in ((1, "one"), (2, "other"))]
    found = align_runs("task", runs, score_runs(runs, graphs)[0], graphs)
    why = "the runs were scored against 2 different plan graphs"
    assert (found.basis, found.basis_reason) == ("tool", why)


def test_one_success_and_one_failure_of_each_agent_are_chosen_and_then_whatever_looks_otherwise() -> None:
    alike = [good(n) for n in range(1, 9)] + [bad(n) for n in range(1, 9)]
    odd = a(77).call("search_x").call("pay").finish(False)
    odder = a(78).finish(False)
    found = side_by_side([*alike, odd, odder])
    assert names(found) == ["ann #1", "ann #77", "ann #78", "bob #1"]
    assert found.of_task == 18


def test_of_each_agent_the_best_success_and_the_worst_failure_are_chosen() -> None:
    def partly(n: int, agent: str) -> RunBuilder:
        return a(n, agent=agent).call("search_by_mail", ok=True).state(seen=True).finish(False)

    def unknown(n: int, agent: str) -> RunBuilder:
        return a(n, agent=agent).call("pay", ok=True).finish(None)

    def slow(n: int, agent: str) -> RunBuilder:
        return good(n, agent) if n == 1 else a(n, agent=agent).call("pay", ok=True).finish(True)

    offered = [
        one(n, agent) for agent in ("x", "y") for n, one in enumerate((unknown, good, bad, partly, slow))
    ]
    assert set(names(side_by_side([*offered], most=4))) == {"x #1", "x #2", "y #1", "y #2"}
    alone = [unknown(0, "z"), unknown(1, "z")]
    assert "z #0" in names(side_by_side([*offered, *alone], most=5))


def test_at_most_so_many_are_chosen_and_those_differ_most() -> None:
    agents = [good(1, agent) for agent in "abcdefgh"] + [bad(1, agent) for agent in "ijklmnop"]
    found = side_by_side(list(agents), most=3)
    assert names(found)[:2] == ["a #1", "b #1"]
    assert {run.success for run in found.runs} == {True, False}
    assert [len(side_by_side(list(agents), most=most).runs) for most in (0, 1, 2, 3)] == [2, 2, 2, 3]


def test_a_run_that_differs_from_all_that_are_chosen_comes_before_one_that_is_like_one_of_them() -> None:
    asked, like_it = bad(1), bad(1, "cy")
    between = a(1, agent="di").call("search_x", ok=True).state(seen=True).finish(False)
    found = side_by_side([good(1), asked, like_it, between], most=3, include=[asked.run().digest])
    assert set(names(found)) == {"ann #1", "bob #1", "di #1"}


def test_of_many_runs_that_are_all_alike_two_are_shown_and_one_that_is_asked_for() -> None:
    many = [good(n) for n in range(1, 15)]
    assert names(side_by_side(list(many))) == ["ann #1", "ann #2"]
    asked = many[9].run().digest
    assert asked in {run.digest for run in side_by_side(list(many), most=2, include=[asked]).runs}


@pytest.mark.parametrize(
    ("builders", "asked", "code"),
    [
        ([good(1)], {}, "compare-too-few"),
        ([], {}, "compare-too-few"),
        ([good(1), bad(1)], {"shown": ["nobody"]}, "run-unknown"),
        ([good(1), bad(1)], {"reference": "nobody"}, "run-unknown"),
        ([good(1), a(2, task="another").finish()], {}, "compare-too-few"),
    ],
)
def test_what_cannot_be_compared_is_refused(builders, asked, code) -> None:
    with pytest.raises(UntakenError) as refused:
        side_by_side(list(builders), **asked)
    assert refused.value.code == code


def test_tasks_with_most_to_compare_come_first() -> None:
    runs = desk.runs()
    found = tasks_of(runs)
    assert [task.task_id for task in found] == ["refund-1", "refund-2"]  # the stray ran alone
    counts = [(task.agents, task.successes, task.failures, len(task.digests)) for task in found]
    assert counts == [(3, 4, 2, 6)] * 2
    failed = [a(n, task="a-task").finish(False).run() for n in (5, 6)]
    assert tasks_of([*failed, *runs])[-1].task_id == "a-task"


def test_runs_of_one_agent_without_a_repeat_are_told_apart_by_their_ids() -> None:
    again = [a_run(name, agent="ann", task="task").finish(False) for name in ("first", "second")]
    assert names(side_by_side([good(1), *again, bad(1)])) == ["ann #1", "ann first", "ann second", "bob #1"]
