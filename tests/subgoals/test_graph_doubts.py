"""A typo in a plan graph is a finding about the graph, never an agent's failure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from builders import a_graph, a_run

from untaken.plans import PlanGraph
from untaken.scoring import GraphDoubt, alike, graph_doubts, score_run
from untaken.scoring.graph_doubts import MIN_RUNS, MIN_SUCCESSES


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
def test_a_misspelled_tool_is_named_from_five_runs_on(desc, sub_goal, meant: Sequence[str]) -> None:
    (doubt,) = doubts(a_graph(sub_goal), MIN_RUNS, "search_orders", "refund")
    assert (doubt.code, doubt.sub_goal, doubt.runs, doubt.suggestions) == (
        "graph-tool-unknown",
        "order",
        MIN_RUNS,
        meant,
    )
    assert doubt.hint == "Did you mean 'search_orders'?"
    assert f"which none of {MIN_RUNS} runs calls" in doubt.message


@pytest.mark.parametrize(("count", "more"), [(4, ""), (5, ""), (6, " and 1 more")])
def test_tools_that_are_called_instead_are_named_up_to_five(count: int, more: str) -> None:
    tools = [f"t{n}" for n in range(count)]
    (doubt,) = [one for one in doubts(a_graph(ruled("elsewhere")), MIN_RUNS, *tools) if one.hint]
    assert doubt.hint == f"They call {', '.join(map(repr, tools[:5]))}{more}."


ALIKE = [
    # name in a graph, tools called, the alike ones with their likeness: twice the letters in common by all
    ("search", ["find", "SEARCH", "search_it"], [("SEARCH", 1), ("search_it", 0.8)]),
    ("read-file", ["read_file", "read_files"], [("read_file", 1), ("read_files", 18 / 19)]),
    ("abcd", ["abcz", "abz"], [("abcz", 0.75)]),
    ("abc", ["abxyzvw", "abcwxyz", "abczz", "cab"], [("abczz", 0.75), ("cab", 2 / 3), ("abcwxyz", 0.6)]),
    ("abc", ["bca", "cab"], [("bca", 2 / 3), ("cab", 2 / 3)]),  # by name where equal
    ("abcxy", ["abczvw", "abczv"], [("abczv", 0.6)]),  # 0.6 is enough
    ("serch_*", ["search_orders"], [("search_orders", 12 / 13)]),  # one letter more
    ("seaarch_*", ["search_orders"], [("search_orders", 14 / 15)]),  # one letter less
    ("*_serch", ["orders_search"], [("orders_search", 12 / 13)]),
    ("*_seaarch", ["orders_search"], [("orders_search", 14 / 15)]),
    ("se[ae]rch?", ["seaerch"], [("seaerch", 1)]),
    ("*", ["search"], []),
    ("a*", ["b", "ab"], [("ab", 1)]),
    ("x" * 300 + "a", ["x" * 300 + "b"], [("x" * 300 + "b", 300 / 301)]),  # frequent letters count
    ("t", [f"{n:03}" for n in range(200)] + ["t"], []),  # of two hundred, by name
    ("t", [f"{n:03}" for n in range(199)] + ["t"], [("t", 1)]),
]


@pytest.mark.parametrize(("name", "tools", "want"), ALIKE)
def test_tools_are_alike_by_the_letters_in_common(name, tools, want) -> None:
    found = alike(name, reversed(tools))
    assert [tool for _, tool in found] == [tool for tool, _ in want]
    assert [likeness for likeness, _ in found] == pytest.approx([likeness for _, likeness in want])


TOO_FEW = [
    # desc, runs, success
    ("one failed run: the agent's miss", 1, False),
    ("one successful run", 1, True),
    ("four runs", MIN_RUNS - 3, True),
    ("many runs, none a success", 20, False),
]


@pytest.mark.parametrize(("desc", "runs", "success"), TOO_FEW, ids=[case[0] for case in TOO_FEW])
@pytest.mark.parametrize("tool", ["serch_orders", "escalate"], ids=["typo", "other tool"])
def test_a_plan_is_not_doubted_from_too_few_runs(desc, runs: int, success: bool, tool: str) -> None:
    (doubt,) = doubts(a_graph(expected(tool)), runs, "search_orders", success=success)
    assert (doubt.code, doubt.severity) == ("graph-too-few-runs", "note")
    assert "too few runs to doubt the plan" in doubt.message
    assert "Did you mean" not in doubt.hint


def test_a_tool_that_runs_of_another_plan_call_is_known() -> None:
    """A plan of one task, whose runs happen not to call a tool that exists."""
    graph, other = a_graph(expected("escalate")), a_graph({"id": "x"}, graph_id="other")
    made = [a_run(f"r{n}").call("search").finish(n > 1).run() for n in range(MIN_RUNS)]
    scored = [(run, score_run(run, graph)) for run in made]
    elsewhere = a_run("e").call("escalate").finish().run()
    assert graph_doubts([graph], scored)[0].code == "graph-tool-unknown"
    beside = [*scored, (elsewhere, score_run(elsewhere, other))]
    for found in (graph_doubts([graph, other], beside), graph_doubts([graph], scored, tools={"escalate"})):
        assert [doubt.code for doubt in found] == ["graph-never-attempted"]


@pytest.mark.parametrize("tools", [["search_orders"], []], ids=["the tool is called", "nothing is called"])
def test_a_graph_that_may_be_right_is_not_doubted(tools: Sequence[str]) -> None:
    assert doubts(a_graph(expected("search_orders")), MIN_RUNS, *tools) == ()


def test_a_sub_goal_that_nobody_attempts_is_doubted_from_three_successes_on() -> None:
    graph = a_graph({"id": "order", "rules": [{"tool": "refund", "arguments": {"id": 7}}]})
    assert [d.code for d in doubts(graph, MIN_SUCCESSES - 1, "refund")] == ["graph-too-few-runs"]
    (doubt,) = doubts(graph, MIN_SUCCESSES, "refund")
    assert (doubt.code, doubt.runs) == ("graph-never-attempted", 3)


def test_a_sub_goal_that_no_successful_run_completes_is_doubted() -> None:
    graph = a_graph(ruled("refund", check={"expr": "1 == 2"}))
    assert doubts(graph, MIN_RUNS, "refund", success=False) == ()
    assert [d.code for d in doubts(graph, MIN_SUCCESSES - 1, "refund")] == ["graph-too-few-runs"]
    (doubt,) = doubts(graph, MIN_SUCCESSES, "refund")
    assert (doubt.code, doubt.runs) == ("graph-never-completed", 3)
    assert doubt.message == "the plan graph 'g' may be wrong: none of 3 successful runs completes 'order'"


def test_a_check_that_holds_without_an_action_is_listed_from_the_first_run_on() -> None:
    (doubt,) = doubts(a_graph(ruled("search")), 1, "refund", success=False)
    assert (doubt.code, doubt.sub_goal, doubt.runs) == ("graph-check-without-action", "order", 1)
    assert "holds in 1 run in which no mapped action was seen" in doubt.message
    assert "needs_action: false" in doubt.hint
    assert doubts(a_graph(ruled("search", needs_action=False)), 1, "refund") == ()
