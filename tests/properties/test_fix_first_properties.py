"""What must hold of the fix-first list, whatever the graph and whatever happened."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

import pytest
from builders import RunBuilder, a_graph, a_run
from hypothesis import given, settings
from hypothesis import strategies as st

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import triage
from untaken.errors import Unscored
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import RunScore
from untaken.scoring.causes.places import is_failed, undone_in_order

IDS = tuple("abcdef")
VERDICT = st.sampled_from([True, True, False, None])
ENDS = st.sampled_from(
    [{"success": True}, {"success": False}, {"success": False, "limit": "max_steps"}, {"success": None}]
)
FEW = settings(max_examples=40)
"""An example is a corpus, which takes long to make and to evaluate."""


@st.composite
def graphs(draw: st.DrawFn) -> PlanGraph:
    """Sub-goals that may need earlier ones, or be groups of earlier ones."""
    nodes = []
    for place, name in enumerate(IDS[: draw(st.integers(1, 6))]):
        earlier = st.lists(st.sampled_from(IDS[:place]), max_size=3, unique=True) if place else st.just([])
        node = {"id": name, "critical": draw(st.booleans()), "deps": draw(earlier)}
        options = draw(earlier) if draw(st.integers(0, 3)) == 0 else []
        nodes.append(node | ({"any_of": options} if options else {"check": {"verdict": True}}))
    return a_graph(*nodes, tasks=["t*"])


def a_case(draw: st.DrawFn, graph: PlanGraph, number: int) -> RunBuilder:
    task = draw(st.sampled_from(["t0", "t1", "t2", "x"]))
    run = a_run(f"r{number}", task=task, agent=draw(st.sampled_from(["ann", "bob"]))).call("look round")
    for node in draw(st.permutations(graph.sub_goals)):
        if draw(st.booleans()):
            run.call("try", node.id, ok=draw(st.booleans()))
        verdict = None if node.any_of else draw(VERDICT)
        if verdict is not None:
            run.verdict(node.id, verdict)
    return run.finish(**draw(ENDS))


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    graph = draw(graphs())
    runs = [a_case(draw, graph, n).run() for n in range(draw(st.integers(1, 9)))]
    rule = draw(st.sampled_from(["fail", "drop"]))
    return evaluate_corpus(runs, GraphSet.of([graph]), resamples=0, missing=rule)


def scores_of(corpus: Corpus) -> Mapping[str, RunScore]:
    return {d: score for d, score in corpus.scores.items() if not isinstance(score, Unscored)}


@FEW
@given(corpora())
def test_every_failed_run_is_in_one_item_or_apart(corpus: Corpus) -> None:
    found = triage(corpus)
    failed = [digest for digest, run in corpus.runs.items() if run.success is False]
    placed = [digest for item in found.items if item.failed_runs for digest in item.runs]
    placed += [d for group in found.infrastructure for d in group.runs if corpus.runs[d].success is False]
    placed += found.unscored_failed_runs
    assert sorted(placed) == sorted(failed)
    assert (
        sum(item.failed_runs for item in found.items)
        + sum(group.failed_runs for group in found.infrastructure)
        + len(found.unscored_failed_runs)
        == found.failed
    )


@FEW
@given(corpora())
def test_every_critical_sub_goal_that_some_run_did_not_complete_is_on_the_list(corpus: Corpus) -> None:
    named = {goal for item in triage(corpus).items for _, goal in item.members}
    for score in scores_of(corpus).values():
        assert {n.sub_goal for n in score.counted if n.critical and n.completed is not True} <= named


@FEW
@given(corpora())
def test_the_critical_gains_add_up_to_all_the_critical_completion_that_is_missing(corpus: Corpus) -> None:
    scores = scores_of(corpus).values()
    critical = sum(score.critical for score in scores)
    missing = critical - sum(score.critical_completed for score in scores)
    gained = fsum(item.critical_gain for item in triage(corpus).items)
    assert gained == pytest.approx(missing / critical if critical else 0.0)


@FEW
@given(corpora())
def test_what_a_failed_run_left_uncompleted_is_named_somewhere(corpus: Corpus) -> None:
    found = triage(corpus)
    named = {goal for item in found.items for _, goal in item.members}
    named |= {one.sub_goal for one in found.left_out}
    apart = {d for group in found.infrastructure for d in group.runs} | set(found.unscored_failed_runs)
    for digest, score in scores_of(corpus).items():
        if corpus.runs[digest].success is False and digest not in apart:
            assert {node.sub_goal for node in score.counted if is_failed(node)} <= named


@FEW
@given(corpora())
def test_undone_sub_goals_are_those_that_failed_and_the_first_has_no_earlier_place(corpus: Corpus) -> None:
    for digest, score in scores_of(corpus).items():
        graph = corpus.graphs.get(score.graph_id)
        assert graph is not None
        undone = undone_in_order(score, graph, corpus.runs[digest])
        assert {one.node.sub_goal for one in undone} == {n.sub_goal for n in score.counted if is_failed(n)}
        places = [one.place for one in undone]
        assert places == sorted(places)


@FEW
@given(corpora())
def test_the_list_does_not_depend_on_the_order_of_the_runs(corpus: Corpus) -> None:
    runs = list(corpus.runs.values())[::-1]
    other = evaluate_corpus(runs, corpus.graphs, resamples=0, missing=corpus.missing)
    assert triage(other).items == triage(corpus).items
