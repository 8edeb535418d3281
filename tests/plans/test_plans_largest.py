"""The largest graph that is allowed is handled like any other."""

from __future__ import annotations

import pytest
from builders import a_run
from msgspec.structs import replace

from untaken import limits
from untaken.plans import PlanGraph, Rule, SubGoal, map_actions, validate
from untaken.plans.plan_graph import Check


def chain(n: int) -> PlanGraph:
    """A chain with shortcuts, an expression on each sub-goal."""
    nodes = [
        SubGoal(
            id=f"s{i}",
            deps=[f"s{j}" for j in (i - 1, i - 2, i - 50) if j >= 0],
            check=Check(expr=f"state.done{i} == true"),
            rules=[Rule(tool=f"tool_{i}_*")],
        )
        for i in range(n)
    ]
    return PlanGraph(id="large", sub_goals=nodes)


LARGE = chain(limits.SUB_GOALS)


@pytest.fixture(autouse=True)
def _compiled_once() -> None:
    validate(LARGE)


def test_a_circle_through_the_largest_graph_is_found() -> None:
    circle = replace(LARGE, sub_goals=[replace(LARGE.sub_goals[0], deps=["s4999"]), *LARGE.sub_goals[1:]])
    (finding,) = [f for f in validate(circle) if f.code == "graph-cycle"]
    assert "more …" in finding.message


def test_a_graph_of_catch_all_rules_cannot_hold_up_a_review() -> None:
    greedy = PlanGraph(
        id="greedy", sub_goals=[SubGoal(id=f"s{i}", rules=[Rule(tool="*x*")]) for i in range(5000)]
    )
    builder = a_run()
    for i in range(300):
        builder.call(f"x{i}")
    mapping = map_actions(builder.run(), greedy)
    assert [f.code for f in mapping.findings if f.code == "mapping-limit"] == ["mapping-limit"]
    assert len(mapping.mapped) == limits.MAPPING_COMPARISONS // 5000
    assert len(mapping.mapped) + len(mapping.extra) == 300
