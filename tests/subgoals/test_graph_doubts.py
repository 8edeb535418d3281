"""A typo in a plan graph is a finding about the graph, never an agent's failure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from builders import a_graph, a_run

from untaken.corpus import score_runs
from untaken.plans import GraphSet, PlanGraph
from untaken.subgoals import GraphDoubt, graph_doubts, score_run
from untaken.subgoals.graph_doubts import MIN_RUNS


def doubts(graph: PlanGraph, runs: int, *tools: str, success: bool = True) -> tuple[GraphDoubt, ...]:
    """What so many runs, each of which called the tools, say of the graph."""
    made = []
    for number in range(runs):
        run = a_run(f"r{number}")
        for tool in tools:
            run.call(tool)
        made.append(run.finish(success).run())
    return graph_doubts([graph], [(run, score_run(run, graph)) for run in made])


def ruled(tool: str, **fields: object) -> dict:
    return {"id": "order", "rules": [{"tool": tool}], "check": {"expr": "1 == 1"}, **fields}


def expected(tool: str) -> dict:
    return {"id": "order", "check": {"tool_call": {"name": tool}}}


TYPOS = [
    # desc, sub-goal, what is meant
    ("a letter is missing in a rule", ruled("serch_orders"), ("search_orders",)),
    ("a letter is missing in a check", expected("search_order"), ("search_orders",)),
    ("another spelling", expected("Search-Orders"), ("search_orders",)),
    ("a glob that matches no tool", ruled("serch_*"), ("search_orders",)),
]


@pytest.mark.parametrize(("desc", "sub_goal", "meant"), TYPOS, ids=[case[0] for case in TYPOS])
def test_a_misspelled_tool_is_named_from_the_first_run_on(desc, sub_goal, meant: Sequence[str]) -> None:
    (doubt,) = doubts(a_graph(sub_goal), 1, "search_orders", "refund")
    assert (doubt.code, doubt.sub_goal, doubt.runs, doubt.suggestions) == (
        "graph-tool-unknown",
        "order",
        1,
        meant,
    )
    assert doubt.hint == "Did you mean 'search_orders'?"
    assert "which none of 1 run calls" in doubt.message


TWO_NAMES = ruled("search_order", rules=[{"tool": "search_order"}, {"tool": "search_orders"}])
FINE = [
    ("the tool is called", a_graph(ruled("search_orders")), ("search_orders",)),
    ("the glob matches", a_graph(ruled("search_*")), ("search_orders",)),
    ("two names for one tool", a_graph(TWO_NAMES), ("search_orders",)),
    ("another tool, few runs", a_graph(expected("find_user_id_by_email")), ("find_user_id_by_name_zip",)),
    ("nothing is called", a_graph(expected("search_orders")), ()),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "graph", "tools"), FINE, ids=[case[0] for case in FINE])
def test_a_graph_that_may_be_right_is_not_doubted(desc, graph: PlanGraph, tools: Sequence[str]) -> None:
    assert doubts(graph, MIN_RUNS - 1, *tools) == ()


def test_a_tool_that_nobody_calls_is_doubted_from_five_runs_on_and_says_how_many() -> None:
    graph = a_graph(expected("escalate"))
    assert doubts(graph, MIN_RUNS - 1, "search_orders") == ()
    (doubt,) = doubts(graph, MIN_RUNS, "search_orders")
    assert (doubt.code, doubt.runs, doubt.suggestions) == ("graph-tool-unknown", 5, ())
    assert doubt.hint == "They call 'search_orders'."


def test_a_sub_goal_that_nobody_attempts_is_doubted_from_five_runs_on() -> None:
    graph = a_graph({"id": "order", "rules": [{"tool": "refund", "arguments": {"id": 7}}]})
    assert doubts(graph, MIN_RUNS - 1, "refund") == ()
    (doubt,) = doubts(graph, MIN_RUNS, "refund")
    assert (doubt.code, doubt.runs) == ("graph-never-attempted", 5)


def test_a_sub_goal_that_no_successful_run_completes_is_doubted() -> None:
    graph = a_graph(ruled("refund", check={"expr": "1 == 2"}))
    assert doubts(graph, MIN_RUNS, "refund", success=False) == ()
    assert doubts(graph, MIN_RUNS - 1, "refund") == ()
    (doubt,) = doubts(graph, MIN_RUNS, "refund")
    assert (doubt.code, doubt.runs) == ("graph-never-completed", 5)
    assert doubt.message == "the plan graph 'g' may be wrong: none of 5 successful runs completes 'order'"


def test_an_option_that_nobody_uses_is_not_doubted() -> None:
    options = [ruled(name, id=name) for name in ("card", "cash")]
    graph = a_graph({"id": "pay", "any_of": ["card", "cash"]}, *options)
    assert [d.sub_goal for d in doubts(graph, MIN_RUNS, "card")] == []


def test_scoring_runs_tells_the_doubts_among_its_findings() -> None:
    graph = a_graph(ruled("serch_orders"))
    _, findings = score_runs([a_run().call("search_orders").finish().run()], GraphSet.of([graph]))
    assert [f.code for f in findings if f.code.startswith("graph-tool")] == ["graph-tool-unknown"]
