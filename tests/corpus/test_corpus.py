"""Evaluating many runs at once."""

from __future__ import annotations

import desk
import pytest
from builders import a_graph, a_run

from untaken.analysis.corpus import evaluate_corpus, part_of, score_runs, with_run
from untaken.errors import Unscored
from untaken.plans import GraphSet, parse_graph


@pytest.fixture(scope="module")
def corpus() -> object:
    return desk.corpus()


REASONS = {"stray": "no plan graph for its task: 'other'", "lucky-99": "the ledger is ALTERED"}


def test_every_run_has_a_score_and_an_evaluation_and_one_that_cannot_be_scored_says_why(corpus) -> None:
    assert set(corpus.runs) == set(corpus.scores) == set(corpus.evaluations)
    assert len(corpus.runs) == len(desk.runs())
    named = {run.run_id: corpus.scores[digest] for digest, run in corpus.runs.items()}
    why = {name: score.reason for name, score in named.items() if isinstance(score, Unscored)}
    assert why.keys() == REASONS.keys()
    assert all(why[name].startswith(words) for name, words in REASONS.items())


def test_a_chain_that_comes_twice_counts_once_and_two_runs_of_one_id_are_both_scored() -> None:
    run = desk.careful(1).run()
    assert len(evaluate_corpus([run, run], desk.graphs(), resamples=0).runs) == 1
    same = [a_run("same", agent=agent, task="refund-1").call("search").finish().run() for agent in "ab"]
    assert len(evaluate_corpus(same, desk.graphs(), resamples=0).agents) == 2


def test_a_task_that_two_graphs_match_is_a_finding_and_unscored() -> None:
    twin = parse_graph(desk.GRAPH.replace(b"id: desk", b"id: twin", 1), name="twin.plan.yaml")
    graphs = GraphSet.of([*desk.graphs().graphs, twin])
    scores, findings = score_runs([desk.careful(1).run()], graphs)
    assert [type(score) for score in scores.values()] == [Unscored]
    assert [finding.code for finding in findings] == ["task-matched-twice"]


def test_a_broken_ledger_aborts_its_evaluation_and_stays_out_of_rates(corpus) -> None:
    assert [(e.run_id, e.code) for e in corpus.aborted] == [("lucky-99", "DTL-STRAT-006")]
    (stray,) = (agent for agent in corpus.agents if agent.agent == "stray")
    assert (stray.success_rate, stray.scored_runs, type(stray.completion)) == (1.0, 0, Unscored)
    assert {a.agent: a.runs for a in corpus.agents} == {"careful": 4, "lucky": 4, "failing": 4, "stray": 1}
    assert [(c.kind, c.agent) for c in corpus.contradictions] == [("lucky", "lucky")] * 4
    empty = evaluate_corpus([], GraphSet.of([]), resamples=10)
    assert (empty.runs, empty.agents, empty.contradictions) == ({}, (), ())


def test_an_agent_that_ran_other_tasks_is_set_aside_and_named(corpus) -> None:
    ranked = {standing.agent for standing in corpus.ranking.metrics["success_rate"]}
    assert ranked == {"careful", "lucky", "failing"}
    assert corpus.ranking.unmatched_tasks == ("other",)
    (finding,) = (f for f in corpus.findings if f.code == "agents-not-compared")
    assert "stray" in finding.message
    alone = part_of(corpus, [d for d, run in corpus.runs.items() if run.agent == "stray"])
    assert [standing.agent for standing in alone.ranking.metrics["success_rate"]] == ["stray"]
    assert "agents-not-compared" not in [f.code for f in alone.findings]


def test_another_rule_keeps_what_was_made_of_the_paths_not_taken(corpus) -> None:
    known = {"memory": corpus.memories, "evaluations": corpus.evaluations, "known": corpus}
    again = evaluate_corpus(desk.runs(), desk.graphs(), missing="drop", resamples=200, **known)
    anew = evaluate_corpus(desk.runs(), desk.graphs(), missing="drop", resamples=200)
    assert again.evaluations == anew.evaluations
    assert all(again.evaluations[digest] is made for digest, made in corpus.evaluations.items())
    assert again.choices is corpus.choices
    assert again.choices == anew.choices != ()
    assert again.agents == anew.agents != corpus.agents
    assert (again.ranking, again.findings) == (anew.ranking, anew.findings)


def test_a_run_as_it_is_now_is_scored_again_and_no_other(corpus) -> None:
    judged = desk.failing(10).verdict("polite", True).run()
    now = with_run(corpus, judged)
    assert now.runs[judged.digest] is judged
    assert [digest for digest, score in now.scores.items() if score != corpus.scores[digest]] == [
        judged.digest
    ]
    assert now.scores[judged.digest].node("polite").completed


def test_what_is_known_of_unchanged_runs_is_taken_over_and_changes_nothing() -> None:
    graph = a_graph({"id": "s", "check": {"verdict": True}, "critical": True})
    before = [
        a_run(f"r{i}", agent=f"a{i % 2}", task=f"t{i // 2}").call("x", "s").finish().run() for i in range(6)
    ]
    first = evaluate_corpus(before, graph)
    judged = a_run("r1", agent="a1", task="t0").call("x", "s").finish().verdict("s", False).run()
    after = [judged if run.run_id == "r1" else run for run in before]
    again = evaluate_corpus(after, graph, memory=first.memories, evaluations=first.evaluations, known=first)
    fresh = evaluate_corpus(after, graph)
    for part in ("scores", "agents", "evaluations", "ranking", "findings"):
        assert getattr(again, part) == getattr(fresh, part)
    assert again.scores[before[0].digest] is first.scores[before[0].digest]
    assert again.scores[judged.digest] != first.scores[judged.digest]
    dropped = evaluate_corpus(after, graph, known=first, missing="drop")
    assert dropped.scores == evaluate_corpus(after, graph, missing="drop").scores
