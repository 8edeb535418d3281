"""What must hold of blame and of expected gains, whatever the graph and whatever happened."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import pytest
from builders import a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.corpus import evaluate_corpus
from untaken.fix_first import triage
from untaken.fix_first.blame import First, frontier, is_failed, measured, shape_of
from untaken.plans import GraphSet, PlanGraph, ancestors
from untaken.subgoals import RunScore, score_run

IDS = tuple("abcdefg")
VERDICT = st.sampled_from([True, False, False, None])


@st.composite
def graphs(draw: st.DrawFn, *, edges: bool = True, groups: bool = True) -> PlanGraph:
    """Sub-goals that may need earlier ones, or be groups of earlier ones."""
    nodes = []
    for place, name in enumerate(IDS[: draw(st.integers(1, 7))]):
        earlier = st.lists(st.sampled_from(IDS[:place]), max_size=3, unique=True) if place else st.just([])
        node = {"id": name, "critical": draw(st.booleans()), "deps": draw(earlier) if edges else []}
        options = draw(earlier) if groups and draw(st.integers(0, 3)) == 0 else []
        nodes.append(node | ({"any_of": options} if options else {"check": {"verdict": True}}))
    return a_graph(*nodes)


@st.composite
def scored(draw: st.DrawFn, **kind: bool) -> tuple[PlanGraph, RunScore]:
    graph = draw(graphs(**kind))
    run = a_run().call("look round")
    for node in graph.sub_goals:
        if draw(st.booleans()):
            run.call("try", node.id)
        verdict = None if node.any_of else draw(VERDICT)
        if verdict is not None:
            run.verdict(node.id, verdict)
    return graph, score_run(run.finish().run(), graph, missing=draw(st.sampled_from(["fail", "drop"])))


def known_shortfall(graph: PlanGraph, score: RunScore) -> float:
    """Share of what counts that is known not to be completed."""
    critical = any(node.critical for node in graph.sub_goals)
    lost = sum(is_failed(node) and (node.critical or not critical) for node in score.counted)
    whole = measured(score, shape_of(graph))
    return lost / whole if whole else 0.0


@given(scored())
def test_no_first_failure_holds_up_more_than_was_lost_and_together_they_hold_up_all_of_it(
    case: tuple[PlanGraph, RunScore],
) -> None:
    graph, score = case
    much = [first.much for first in frontier(score, shape_of(graph))]
    lost = known_shortfall(graph, score)
    assert max(much, default=0.0) <= lost + 1e-12
    assert fsum(much) >= lost - 1e-12


@given(scored(groups=False))
def test_every_failure_is_a_first_one_or_depends_on_one(case: tuple[PlanGraph, RunScore]) -> None:
    graph, score = case
    first = {one.node.sub_goal for one in frontier(score, shape_of(graph))}
    before = ancestors(graph)
    for node in score.nodes:
        if is_failed(node):
            assert node.sub_goal in first or before[node.sub_goal] & first


@given(scored(groups=False))
def test_a_first_failure_has_no_failed_dependency(case: tuple[PlanGraph, RunScore]) -> None:
    graph, score = case
    deps = {node.id: node.deps for node in graph.sub_goals}
    for first in frontier(score, shape_of(graph)):
        assert is_failed(first.node)
        assert not any(is_failed(score.node(dep)) for dep in deps[first.node.sub_goal])


@given(st.lists(st.dictionaries(st.sampled_from(IDS[:4]), st.booleans()), min_size=1, max_size=6))
def test_without_edges_gains_are_plain_failure_rates_and_add_up_to_what_is_missing(
    runs: Sequence[dict[str, bool]],
) -> None:
    graph = a_graph(*({"id": name, "critical": True, "check": {"verdict": True}} for name in IDS[:4]))
    built = []
    for place, verdicts in enumerate(runs):
        run = a_run(f"r{place}", task=f"t{place}")
        for name in IDS[:4]:
            run.verdict(name, verdicts.get(name, True))
        built.append(run.finish().run())
    found = triage(evaluate_corpus(built, GraphSet.of([graph]), resamples=0))
    rates = {n: sum(v.get(n, True) is False for v in runs) / len(runs) for n in IDS[:4]}
    assert {item.sub_goal: item.gain for item in found.items} == pytest.approx(
        {name: rate / 4 for name, rate in rates.items() if rate}
    )


def _firsts(found: Sequence[First]) -> set[str]:
    return {first.node.sub_goal for first in found}


@given(scored(), st.randoms(use_true_random=False))
def test_blame_does_not_depend_on_the_order_of_the_sub_goals(
    case: tuple[PlanGraph, RunScore], shuffle: object
) -> None:
    graph, score = case
    nodes = [*graph.sub_goals]
    shuffle.shuffle(nodes)  # type: ignore[attr-defined]
    other = PlanGraph(id=graph.id, tasks=graph.tasks, sub_goals=nodes)
    assert _firsts(frontier(score, shape_of(other))) == _firsts(frontier(score, shape_of(graph)))
