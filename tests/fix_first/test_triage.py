"""What to fix first: the items, their order and numbers, and the message if there is nothing to fix."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import desk
import pytest
from builders import RunBuilder, a_graph, a_run

import untaken
from untaken.corpus import Corpus, evaluate_corpus
from untaken.counterfactual.choices import choices
from untaken.errors import UntakenError
from untaken.fix_first import FixFirst, Triage, triage, triage_by_agent
from untaken.plans import GraphSet, PlanGraph
from untaken.stats.rates import wilson

PASSES = {"verdict": True}
CHAIN = a_graph(
    {"id": "look", "check": PASSES},
    {"id": "think", "deps": ["look"], "critical": True, "check": PASSES},
    {"id": "act", "deps": ["think"], "critical": True, "check": PASSES},
    {"id": "smile", "check": PASSES},
)


def judged(
    name: str, met: str, *, agent: str = "ann", task: str = "task", graph: str | None = None
) -> RunBuilder:
    """A run of the chain that met the sub-goals named and none of the others."""
    run = a_run(name, agent=agent, task=task, graph=graph)
    for goal in ("look", "think", "act", "smile"):
        run.verdict(goal, goal in met.split())
    return run.finish(goal in met.split())


def corpus_of(runs: Sequence[RunBuilder], *graphs: PlanGraph) -> Corpus:
    return evaluate_corpus([run.run() for run in runs], GraphSet.of(graphs or (CHAIN,)), resamples=0)


def named(found: Triage) -> list[str]:
    return [item.sub_goal or f"{item.selected}→{item.alternative}" for item in found.items]


WHOLE = "look think act smile"


def test_gain_is_how_often_times_how_much_and_orders_the_list() -> None:
    runs = [
        judged("r1", "smile", task="1"),
        judged("r2", "look smile", task="2"),
        judged("r3", "look think smile", task="3"),
        judged("r4", "look think smile", task="4"),
        judged("r5", WHOLE, task="5"),
    ]
    found = triage(corpus_of(runs))
    by_name = {item.sub_goal: item for item in found.items}
    assert named(found) == ["act", "look", "think"]
    act, think = by_name["act"], by_name["think"]
    assert (act.often.count, act.often.n, act.much, act.gain) == (2, 5, 0.5, pytest.approx(0.2))
    assert (think.often.count, think.often.n, think.much, think.gain) == (1, 5, 1.0, pytest.approx(0.2))
    assert (act.often.low, act.often.high) == pytest.approx(wilson(2, 5))
    assert (act.low, act.high) == pytest.approx([end * 0.5 for end in wilson(2, 5)])
    assert all(item.unit == "critical completion" and item.kind == "sub_goal" for item in found.items)
    assert (by_name["look"].critical, think.critical) == (False, True)
    assert found.scored == 5
    assert not found.reason


def test_what_holds_up_nothing_critical_is_counted_and_not_listed() -> None:
    found = triage(corpus_of([judged("r1", "look think act")]))
    assert not found.items
    assert found.harmless == 1
    assert found.reason == (
        "no sub-goal that failed in the 1 scored runs blocks a critical one; "
        "no run has decisions that can be evaluated"
    )


def test_the_runs_of_an_item_come_with_the_weightiest_first() -> None:
    runs = [
        judged("a", "think act smile", task="1"),
        judged("b", "act smile", task="2"),
        judged("c", "", task="3"),
    ]
    corpus = corpus_of([*runs, judged("d", WHOLE, task="4")], CHAIN)
    look = next(item for item in triage(corpus).items if item.sub_goal == "look")
    assert [corpus.runs[digest].run_id for digest in look.runs] == ["c", "b"]
    assert look.often.count == 2
    assert look.much == pytest.approx(0.75)


def test_runs_that_say_nothing_are_counted_apart() -> None:
    silent = a_run("silent", task="other").finish()
    found = triage(corpus_of([judged("r1", ""), silent, judged("broken", "", graph="nowhere")]))
    assert (found.scored, found.unscored, found.items[0].often.n) == (1, 2, 1)


def test_an_unscored_sub_goal_is_not_blamed_but_reported() -> None:
    quiet = a_run("quiet", task="2").verdict("think", True).verdict("act", True).finish()
    found = triage(corpus_of([judged("r1", "", task="1"), quiet]))
    assert (found.items[0].sub_goal, found.items[0].often.count, found.items[0].unknown) == ("look", 1, 1)


def test_gains_of_graphs_of_different_use_are_means_over_all_scored_runs() -> None:
    rare = a_graph({"id": "sign", "critical": True, "check": PASSES}, graph_id="rare", tasks=["rare"])
    usual = a_graph(
        *({"id": s, "critical": True, "check": PASSES} for s in ("look", "act")), tasks=["task-*"]
    )
    once = a_run("once", task="rare").verdict("sign", False).finish(False)
    often = [
        a_run(f"r{i}", task=f"task-{i}").verdict("look", i < 3).verdict("act", True).finish()
        for i in range(9)
    ]
    found = triage(corpus_of([once, *often], rare, usual))
    assert named(found) == ["look", "sign"]
    assert [(item.often.count, item.often.n, item.required) for item in found.items] == [
        (6, 10, 9),
        (1, 10, 1),
    ]


def test_without_critical_sub_goals_the_unit_is_completion() -> None:
    plain = a_graph({"id": "a", "check": PASSES}, {"id": "b", "check": PASSES})
    found = triage(corpus_of([a_run().verdict("a", False).verdict("b", True).finish()], plain))
    assert [(item.unit, item.gain) for item in found.items] == [("completion", 0.5)]


def test_of_an_agent_only_its_own_runs_count() -> None:
    runs = [
        judged("r1", "look", agent="ann"),
        judged("r2", "", agent="bob"),
        judged("r3", WHOLE, agent="cid"),
    ]
    corpus = corpus_of(runs)
    assert named(triage(corpus, agents=["ann"])) == ["think"]
    both = triage(corpus, agents=["ann", "bob"])
    assert (both.scored, [dict(item.agents) for item in both.items]) == (2, [{"bob": 1}, {"ann": 1}])
    assert triage_by_agent(corpus) == {
        None: triage(corpus),
        **{agent: triage(corpus, agents=[agent]) for agent in ("ann", "bob", "cid")},
    }
    with pytest.raises(UntakenError) as error:
        triage(corpus, agents=["dan"])
    assert error.value.code == "agent-unknown"


def a_choice(name: str, skill: str, success: bool, *, task: str = "task") -> RunBuilder:
    """Twice chooses between two skills, or three."""
    run = a_run(name, task=task, agent="agent")
    run.select(skill, *({"old", "new", "odd"} - {skill}), context="here")
    return run.select("rest", "more", context="rest").finish(success, cost=0.5, steps=3)


def chosen() -> Corpus:
    """The old skill mostly fails, the new one and the odd one mostly succeed; the new one more often."""
    rates = {"old": 2, "new": 19, "odd": 16}
    runs = [
        a_choice(f"{skill}-{i}", skill, i < wins, task=f"task-{i}")
        for skill, wins in rates.items()
        for i in range(20)
    ]
    return evaluate_corpus([run.run() for run in runs], GraphSet.of(()), resamples=0)


def decisions(found: Triage) -> tuple[FixFirst, ...]:
    return found.of_kind("decision")


def test_a_decision_is_listed_once_with_its_best_supported_alternative() -> None:
    corpus = chosen()
    found = triage(corpus)
    (item,) = decisions(found)
    assert (item.selected, item.alternative, item.also, item.unit) == ("old", "new", ("odd",), "score")
    made = next(
        c
        for c in choices(corpus.evaluations, corpus.runs, corpus.memories)
        if (c.selected, c.alternative) == ("old", "new")
    )
    assert (item.much, item.q, item.q_family) == (made.advantage, made.q, made.q_family)
    assert item.often.count == len({point.run for point in made.points})
    assert item.gain == pytest.approx(item.often.share * item.much)
    assert 0 < item.low < item.gain < item.high
    assert dict(item.agents) == {"agent": item.often.count}
    assert found.scored == 0
    assert found.evaluated == item.often.n == 60


def test_each_run_of_a_decision_comes_with_the_decision_point() -> None:
    corpus = chosen()
    (item,) = decisions(triage(corpus))
    for digest, point in zip(item.runs, item.points, strict=True):
        assert [s.selected for s in corpus.runs[digest].selections if s.seq == point] == ["old"]


def test_weak_and_reverse_advantages_are_not_listed() -> None:
    few = [a_choice(f"{skill}-{i}", skill, skill == "new") for skill in ("old", "new") for i in range(2)]
    corpus = evaluate_corpus([run.run() for run in few], GraphSet.of(()), resamples=0)
    found = triage(corpus)
    assert not found.items
    assert found.reason == (
        "no run is scored against a plan graph; "
        "no alternative is supported to succeed more often (q ≤ 0.05) in the 4 evaluated runs"
    )


def test_scored_runs_without_evidence_on_a_critical_sub_goal_are_called_so() -> None:
    graph = a_graph({"id": "a", "check": {"tool_call": {"name": "a"}}}, {"id": "b", "critical": True})
    corpus = evaluate_corpus(
        [a_run().call("z").finish(success=True).run()], GraphSet.of((graph,)), missing="drop", resamples=0
    )
    found = triage(corpus)
    assert (found.items, found.scored, found.unscored) == ((), 0, 1)
    assert found.reason.startswith("no run has evidence on a sub-goal that counts;")


def test_an_empty_corpus_has_nothing_to_fix_and_says_so() -> None:
    found = triage(evaluate_corpus([], GraphSet.of(()), resamples=0))
    assert (found.items, found.scored) == ((), 0)
    assert "no run is scored" in found.reason


def test_contradictory_runs_stand_beside_the_list() -> None:
    corpus = desk.corpus()
    assert triage(corpus).contradictions == corpus.contradictions
    assert {c.agent for c in triage(corpus, agents=["lucky"]).contradictions} == {"lucky"}
    assert not triage(corpus, agents=["careful"]).contradictions


def test_the_list_does_not_depend_on_the_order_of_the_runs() -> None:
    backwards = evaluate_corpus(desk.runs()[::-1], desk.graphs(), resamples=200)
    assert triage(backwards).items == triage(desk.corpus()).items


def test_the_public_name_is_the_verb_even_after_the_room_is_loaded() -> None:
    importlib.import_module("untaken.fix_first.listing")
    assert untaken.triage is triage
