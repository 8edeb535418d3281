"""A ranking from facts is that of the runs, to the last digit."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders import RunBuilder, a_run
from hypothesis import given, settings
from hypothesis import strategies as st

from untaken import facts
from untaken.analysis.corpus import evaluate_corpus
from untaken.analysis.ranking import RankReport, rank_facts
from untaken.facts.scaling.ledger_record import Scoring
from untaken.facts.scaling.places import find_ledgers
from untaken.plans import GraphSet, parse_graph
from untaken.scoring import MissingRule

GRAPH = """schema: untaken.plan/1
id: desk
tasks: ["t*"]
sub_goals:
- {id: look, title: Look, rules: [{tool: look}], check: {tool_call: {name: look}}}
- {id: pay, title: Pay, deps: [look], critical: true, weight: WEIGHT, check: {tool_call: {name: pay}}}
- {id: mail, title: Mail, deps: [pay], check: {tool_call: {name: mail}}}
- {id: told, title: Tell, any_of: [mail, call]}
- {id: call, title: Call, critical: true, check: {tool_call: {name: call}}}
- {id: polite, title: Polite, check: {verdict: true}}
"""
RUNS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cid"]),
        st.sampled_from(["t1", "t2", "t3", "no plan"]),
        st.sampled_from(["", "look", "look pay", "look pay mail", "pay call", "call"]),
        st.sampled_from([True, False, None]),
        st.sampled_from([True, False, None]),
    ),
    max_size=14,
)


def desk(weight: float = 1.0) -> GraphSet:
    return GraphSet.of([parse_graph(GRAPH.replace("WEIGHT", str(weight)).encode(), name="desk.plan.yaml")])


def a_desk_run(
    number: int, agent: str, task: str, tools: str, success: bool | None, polite: bool | None
) -> RunBuilder:
    run = a_run(f"r{number}", agent=agent, task=task)
    for tool in tools.split():
        run.call(tool)
    if polite is not None:
        run.verdict("polite", polite)
    return run if success is None else run.finish(success)


def both(runs: list[RunBuilder], graphs: GraphSet, rule: MissingRule) -> tuple[RankReport, RankReport]:
    """The ranking of the runs without what looks at single ones, and that of their facts; equal pairs."""
    with TemporaryDirectory() as name:
        for number, run in enumerate(runs):
            (Path(name) / f"{number}.jsonl").write_bytes(run.ledger())
        of_runs = evaluate_corpus([name] if runs else [], graphs, missing=rule, resamples=300).ranking
        where, out = find_ledgers([name]) if runs else ([], []), Path(name) / "facts"
        facts.write_facts(out, *where, scoring=Scoring(graphs=graphs, missing=rule))
        with facts.open(out) as opened:
            of_facts = rank_facts(opened, resamples=300)
            assert (of_facts.comparisons, of_facts.pass_k) == (of_runs.comparisons, of_runs.pass_k)
            known = {one.name: getattr(of_facts, one.name) for one in fields(RankReport)}
            return replace(of_runs, runs=(), contradictions=()), RankReport(**known)


@settings(max_examples=25, deadline=None)
@given(runs=RUNS, weight=st.sampled_from([1.0, 2.5]), rule=st.sampled_from(["fail", "drop"]))
def test_a_ranking_from_facts_is_that_of_the_runs(
    runs: list[tuple[str, str, str, bool | None, bool | None]], weight: float, rule: MissingRule
) -> None:
    made = [a_desk_run(number, *run) for number, run in enumerate(runs)]
    of_runs, of_facts = both(made, desk(weight), rule)
    assert of_facts == of_runs


@pytest.mark.parametrize(
    ("some", "ranked", "others"),
    [("ann t1 bob t1 cid t2 dan t2 dan t2 eve t3", "cid dan", "t1 t3"),
     ("ann t2 bob t2 ann t3 bob t3 cid t1 dan t1 cid t4 dan t4", "cid dan", "t2 t3")],
    ids=["most runs", "the first task"],
)  # fmt: skip
def test_of_several_sets_of_agents_the_one_with_most_runs_is_ranked(some, ranked, others) -> None:
    pairs = zip(some.split()[::2], some.split()[1::2], strict=True)
    made = [a_desk_run(n, agent, task, "look", True, None) for n, (agent, task) in enumerate(pairs)]
    of_runs, of_facts = both(made, desk(), "fail")
    assert of_facts == of_runs
    assert {one.agent for one in of_facts.metrics["success_rate"]} == {*ranked.split()}
    assert of_facts.unmatched_tasks == (*others.split(),)


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_weights_are_a_metric_of_their_own_only_where_there_are_any(weight: float) -> None:
    made = [a_desk_run(n, agent, "t1", "look", True, None) for n, agent in enumerate(("ann", "bob"))]
    _, of_facts = both(made, desk(weight), "fail")
    assert ("completion_weighted" in of_facts.metrics) is (weight != 1)
