"""A draft from successful runs: what comes before what, how often, and what it must not say."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from builders import a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans import (
    GraphSet,
    PlanGraph,
    ancestors,
    diff_graphs,
    edges,
    export_graph,
    load_graph,
    parse_graph,
    save_graph,
    validate,
)
from untaken.plans.discovery import ProposedGraph, discover
from untaken.plans.discovery.precedence import fewer_by_chance, without_circles


def in_order(number: int, order: str, *, success: bool | None = True, agent: str = "a") -> Run:
    """A run that calls one tool a letter."""
    run = a_run(f"{agent}-{number}", agent=agent)
    for tool in order:
        run.call(tool)
    return run.finish(success).run()


def many(*orders: tuple[str, int]) -> list[Run]:
    """So many runs of each order."""
    flat = [order for order, count in orders for _ in range(count)]
    return [in_order(number, order) for number, order in enumerate(flat)]


def pairs(draft: ProposedGraph) -> set[str]:
    return {edge.dependency + edge.sub_goal for edge in draft.edges}


def test_a_fixed_order_becomes_a_chain_and_the_draft_says_that_it_may_be_habit() -> None:
    draft = discover(many(("abcd", 10)))
    assert pairs(draft) == {"ab", "bc", "cd"}
    assert [finding.code for finding in draft.findings] == ["draft-one-order"]


@pytest.mark.parametrize(("against", "edge"), [(5, True), (6, False)])
def test_an_edge_is_there_from_theta_on(against: int, edge: bool) -> None:
    draft = discover(many(("ab", 100 - against), ("ba", against)))
    assert pairs(draft) == ({"ab"} if edge else set())


def test_an_edge_carries_its_counts_its_interval_and_its_agents() -> None:
    others = [in_order(1, "bcab", agent="other"), *(in_order(n, "b", agent="idle") for n in range(4))]
    draft = discover([*many(("ab", 38)), *others])
    (edge,) = draft.edges
    assert (edge.first, edge.both, edge.alone, edge.agents) == (38, 39, 4, 2)
    assert edge.share == pytest.approx(38 / 39)
    assert (edge.low, edge.high) == pytest.approx((0.868, 0.995), abs=5e-4)


def test_two_that_hardly_ever_stand_together_have_no_edge_however_sure_it_looks() -> None:
    draft = discover(many(("ab", 4), ("a", 10), ("b", 10)))
    assert draft.edges == ()
    assert [finding.code for finding in draft.findings] == ["draft-seldom-together"]
    assert pairs(discover(many(("ab", 4), ("a", 10), ("b", 10)), min_runs=4)) == {"ab"}


@pytest.mark.parametrize(("others", "rare"), [(9, [("x", 2, 2 / 11)]), (8, [])])
def test_what_less_than_a_fifth_of_the_runs_attempt_is_named_and_left_out(others, rare) -> None:
    draft = discover(many(("axb", 2), ("ab", others)))
    assert [found.sub_goal for found in draft.sub_goals] == (["a", "b"] if rare else ["a", "x", "b"])
    assert [(found.sub_goal, found.runs, found.share) for found in draft.rare] == rare


def test_runs_that_did_not_succeed_teach_nothing_and_are_counted() -> None:
    runs = [*many(("ab", 6)), *(in_order(n, "ba", success=None if n % 2 else False) for n in range(50))]
    broken = a_run("broken").call("b").call("a").finish().run("ALTERED")
    silent = a_run("silent").finish().run()
    draft = discover([*runs, broken, silent])
    assert draft.runs == 6
    assert pairs(draft) == {"ab"}
    assert draft.left_out == {
        "failed": 25,
        "with a broken ledger": 1,
        "without a recorded success": 25,
        "without actions": 1,
    }


@pytest.mark.parametrize(
    "wrong", [{"theta": 0.5}, {"theta": 1.1}, {"min_share": -0.1}, {"min_share": 1.1}, {"min_runs": 0}]
)
def test_thresholds_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UntakenError, match="draft-threshold-invalid"):
        discover(many(("ab", 5)), **wrong)  # type: ignore[arg-type]


def test_of_a_circle_the_weakest_edge_is_left_out_and_named() -> None:
    """Each pair is ordered in runs of its own: no run is in a circle, all together are."""
    draft = discover(many(("ab", 30), ("bc", 20), ("ca", 10)))
    assert pairs(draft) == {"ab", "bc"}
    assert [(e.dependency, e.sub_goal, e.both) for e in draft.dropped] == [("c", "a", 10)]
    assert [(e.dependency, e.sub_goal, e.first) for e in draft.implied] == [("a", "c", 0)]
    assert {finding.code for finding in draft.findings} >= {"draft-circle", "draft-implied"}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: p[0] != p[1]), unique=True))
def test_what_is_taken_has_no_circle_and_what_is_left_would_close_one(ways: list[tuple[int, int]]) -> None:
    taken, left = without_circles(ways, 6)
    assert sorted([*taken, *left]) == sorted(ways)

    def reach(start: int, before: list[tuple[int, int]]) -> set[int]:
        found, todo = {start}, [start]
        while todo:
            here = todo.pop()
            todo += [b for a, b in before if a == here and b not in found]
            found |= {b for a, b in before if a == here}
        return found

    assert not any(a in reach(b, taken) for a, b in taken)
    for a, b in left:
        stronger = [way for way in taken if ways.index(way) < ways.index((a, b))]
        assert a in reach(b, stronger)


# Alternatives


def test_what_excludes_each_other_at_one_place_is_proposed_as_a_choice() -> None:
    draft = discover(many(("abd", 30), ("acd", 20)))
    (group,) = draft.alternatives
    assert (group.options, group.runs, group.both) == (("b", "c"), 50, 0)
    node = next(node for node in draft.graph.sub_goals if node.id == group.sub_goal)
    assert (node.any_of, node.deps, node.metadata) == (["b", "c"], ["a"], {"proposed": True})
    last = next(node for node in draft.graph.sub_goals if node.id == "d")
    assert last.deps == [group.sub_goal], "to need one option would forbid the other"
    assert parse_graph(export_graph(draft.graph, "yaml").encode(), name="d.plan.yaml") == draft.graph


def test_what_only_one_way_passes_through_does_not_keep_the_ways_from_being_a_choice() -> None:
    (group,) = discover(many(("abed", 30), ("acd", 20))).alternatives
    assert (group.options, group.runs) == (("b", "c"), 50)


@pytest.mark.parametrize(
    ("desc", "orders", "want"),
    [
        ("together in as few runs as theta allows", [("abd", 15), ("acd", 15), ("abcd", 10)], (40, 10)),
        ("together in one more", [("abd", 15), ("acd", 14), ("abcd", 11)], None),
        ("in as many runs as theta asks for", [("abd", 15), ("acd", 15), ("ad", 10)], (30, 0)),
        ("in one run less", [("abd", 15), ("acd", 14), ("ad", 11)], None),
        ("a third one goes with one of them", [("abdz", 20), ("acz", 20)], (40, 0)),
        ("as rare as chance by six pairs", [("abd", 5), ("acd", 5)], (10, 0)),
        ("no rarer than chance by six pairs", [("abd", 4), ("acd", 4)], None),
    ],
)
def test_a_choice_is_proposed_from_thresholds_on(desc, orders, want) -> None:
    found = discover(many(*orders), theta=0.75, min_runs=4).alternatives
    assert [(one.options, one.runs, one.both) for one in found] == ([(("b", "c"), *want)] if want else []), (
        desc
    )


NO_CHOICE = {"at different places": [("abd", 30), ("adc", 30)], "alone in the world": [("b", 30), ("c", 30)]}


@pytest.mark.parametrize("orders", NO_CHOICE.values(), ids=NO_CHOICE)
def test_no_choice_is_proposed_where_it_is_not_one(orders: list[tuple[str, int]]) -> None:
    assert discover(many(*orders)).alternatives == ()


def test_chance_is_that_of_drawing_without_putting_back() -> None:
    assert fewer_by_chance(0, 1, 1, 2) == 0.5
    assert fewer_by_chance(0, 2, 2, 4) == pytest.approx(1 / 6)
    assert fewer_by_chance(2, 2, 2, 4) == 1


# Tags, tools and graphs


def test_tags_name_sub_goals_and_teach_what_an_untagged_tool_serves() -> None:
    tagged = [a_run(f"t{n}").call("find", "look").call("pay", "settle").finish().run() for n in range(5)]
    plain = [a_run(f"p{n}").call("find").call("pay").finish().run() for n in range(5)]
    draft = discover([*tagged, *plain])
    assert pairs(draft) == {"looksettle"}
    assert draft.edges[0].both == 10
    assert [(node.id, node.rules[0].tool) for node in draft.graph.sub_goals] == [
        ("look", "find"),
        ("settle", "pay"),
    ]


def test_a_tool_that_tags_disagree_on_is_a_sub_goal_of_its_own() -> None:
    runs = [a_run(f"t{n}").call("do", "one").call("do", "two").call("do").finish().run() for n in range(5)]
    draft = discover(runs)
    assert {node.id: len(node.rules) for node in draft.graph.sub_goals} == {"one": 0, "two": 0, "do": 1}


CURRENT = a_graph(
    {"id": "a", "title": "First", "rules": [{"tool": "a"}], "critical": True},
    {"id": "b", "rules": [{"tool": "b"}], "check": {"outcome": True}},
    {"id": "c", "rules": [{"tool": "c"}], "deps": ["a"]},
    {"id": "either", "any_of": ["b", "c"]},
    {"id": "z", "rules": [{"tool": "z"}], "deps": ["either"]},
    {"id": "never", "rules": [{"tool": "never"}]},
    version=3,
    metadata={"team": "desk"},
)


def test_with_a_graph_its_rules_map_its_groups_stay_and_the_draft_is_its_next_version() -> None:
    # A group begins with its first option.
    draft = discover(many(("abzcq", 10), ("aczbq", 10), ("acz", 20)), CURRENT)
    assert (draft.graph.id, draft.graph.version, draft.unmapped) == ("g", 4, 20)
    assert pairs(draft) == {"ab", "ac", "aeither", "eitherz"}
    found = diff_graphs(CURRENT, draft.graph)
    assert [node.id for node in found.removed] == ["never"]
    assert found.changed == ()
    assert [change.field for change in found.fields] == ["version", "metadata"]
    assert draft.graph.metadata["team"] == "desk"


# Nothing without a person


def test_no_run_is_scored_by_a_draft_until_its_mark_is_gone(tmp_path: Path) -> None:
    draft = discover(many(("abz", 20), ("acz", 20)), CURRENT).graph
    file = tmp_path / "g.plan.yaml"
    save_graph(draft, file)
    assert load_graph(file) == draft
    graphs = GraphSet.of([CURRENT, draft])
    assert graphs.graphs == (CURRENT,)
    assert [finding.code for finding in graphs.findings] == ["graph-draft"]
    file.write_text(file.read_text().replace("draft: true", "draft: false"))
    assert GraphSet.of([CURRENT, load_graph(file)]).graphs[0].version == 4


HOSTILE = "</b>*[\n: {x}\u202e"


def test_hostile_names_make_a_valid_graph_that_can_be_written(tmp_path: Path) -> None:
    runs = [a_run(f"h{n}").call(HOSTILE).call("b*").finish().run() for n in range(5)]
    draft = discover(runs)
    save_graph(draft.graph, tmp_path / "g.plan.yaml")
    assert load_graph(tmp_path / "g.plan.yaml") == draft.graph
    again = discover(runs, draft.graph)
    assert again.unmapped == 0
    assert edges(again.graph) == edges(draft.graph)


@st.composite
def worlds(draw: st.DrawFn) -> list[Run]:
    orders = draw(
        st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), min_size=1, max_size=14)
    )
    return [in_order(number, "".join(order)) for number, order in enumerate(orders)]


@given(runs=worlds(), theta=st.sampled_from([0.6, 0.95, 1.0]), min_runs=st.integers(1, 4))
def test_any_runs_give_a_valid_reduced_draft_whose_edges_hold(runs, theta, min_runs) -> None:
    draft = discover(runs, theta=theta, min_share=0, min_runs=min_runs)
    assert [f for f in validate(draft.graph) if f.severity == "error"] == []
    above = ancestors(draft.graph)
    for edge in draft.edges:
        assert edge.first >= theta * edge.both - 1e-9
        assert edge.both >= min_runs
        others = next(n.deps for n in draft.graph.sub_goals if n.id == edge.sub_goal)
        assert not any(edge.dependency in above[other] for other in others), "reduced"
    shuffled = list(runs)
    Random(0).shuffle(shuffled)
    again = discover(shuffled, theta=theta, min_share=0, min_runs=min_runs)
    assert set(edges(again.graph)) == set(edges(draft.graph)), "the order of runs means nothing"


def test_runs_in_every_allowed_order_give_the_graph_back() -> None:
    """With every order that a graph allows, equally often, the reduction is the graph itself."""
    wanted: PlanGraph = a_graph("a", {"id": "b", "deps": ["a"]}, "c", {"id": "d", "deps": ["b", "c"]})
    above = ancestors(wanted)
    allowed = [
        "".join(order)
        for order in permutations("abcd")
        if all(order.index(dep) < order.index(name) for name in order for dep in above[name])
    ]
    draft = discover(many(*((order, 20) for order in allowed)))
    assert pairs(draft) == {dep + name for dep, name in edges(wanted)}


def planning(number: int, *plans: tuple[str, ...], success: bool | None = None) -> Run:
    """A run that writes plans down."""
    run = a_run(f"planning-{number}")
    for steps in plans:
        run.plan(*steps)
    return run.call("bash").finish(success).run()


def test_steps_of_plans_are_sub_goals_that_verdicts_decide() -> None:
    runs = [planning(n, ("Read  the\ncode", "Fix it"), ("Fix it", "Run the tests")) for n in range(5)]
    draft = discover(runs, source="plans")
    assert [node.id for node in draft.graph.sub_goals] == ["Read the code", "Fix it", "Run the tests"]
    assert {node.check.verdict for node in draft.graph.sub_goals if node.check} == {True}
    assert [(edge.dependency, edge.sub_goal) for edge in draft.edges] == [
        ("Read the code", "Fix it"),
        ("Fix it", "Run the tests"),
    ]


def test_plans_of_failed_runs_and_runs_without_a_plan_are_left_out() -> None:
    runs = [planning(1, ("a",)), planning(2, ("b",), success=False), planning(3), planning(4, ("  ",))]
    draft = discover(runs, source="plans")
    assert draft.runs == 1
    assert draft.left_out == {"failed": 1, "without a plan": 2}
