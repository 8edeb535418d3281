"""What the sample runs show when they are scored: outcome and sub-goals disagree, and history has gaps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sample_runs.refund_desk.figures import BEGIN, END, figures
from untaken.analysis.ranking import RankReport, rank_agents
from untaken.counterfactual import RunEvaluation, evaluate_run
from untaken.counterfactual.memory import PolicyMemory
from untaken.ledger import Run, read_ledger
from untaken.plans import PlanGraph, load_graph, validate
from untaken.scoring import RunScore, score_run

SAMPLES = Path(__file__).parents[2] / "sample_runs"


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    folder = SAMPLES / "ledgers"
    return [run for p in sorted(folder.iterdir()) if p.suffix != ".json" for run in read_ledger(p)]


@pytest.fixture(scope="module")
def graph() -> PlanGraph:
    return load_graph(SAMPLES / "graphs" / "refund-desk.plan.yaml")


@pytest.fixture(scope="module")
def scores(runs: list[Run], graph: PlanGraph) -> list[RunScore]:
    return [score_run(run, graph) for run in runs]


@pytest.fixture(scope="module")
def ranking(scores: list[RunScore]) -> RankReport:
    return rank_agents(scores)


@pytest.fixture(scope="module")
def evaluations(runs: list[Run]) -> list[RunEvaluation]:
    memory = PolicyMemory.build(runs)
    return [evaluate_run(run, memory) for run in runs]


def test_the_plan_graph_is_valid_without_a_word_against_it(graph: PlanGraph) -> None:
    assert validate(graph) == []
    assert {node.id for node in graph.sub_goals if node.critical} == {"policy", "eligibility"}


def test_outcome_and_sub_goals_rank_the_agents_differently(ranking: RankReport) -> None:
    pairs = [
        p for p in ranking.discordant if (p.a_metric, p.b_metric) == ("success_rate", "critical_completion")
    ]
    assert len(pairs) >= 2
    for metric in ("coverage", "completion", "critical_completion"):
        agreement = next(a for a in ranking.agreement if (a.a, a.b) == ("success_rate", metric))
        assert 0 < agreement.tau_b < 1


def test_some_runs_succeed_without_a_critical_step_and_some_fail_with_all_done(ranking: RankReport) -> None:
    kinds = Counter(c.kind for c in ranking.contradictions)
    assert kinds["lucky"] > 0
    assert kinds["unlucky"] > 0


def test_every_status_and_diagnosis_is_there_to_be_seen_and_one_agent_replans(
    scores: list[RunScore],
) -> None:
    assert {score.agent for score in scores if score.replans} == {"careful-planner"}
    statuses = {node.status for score in scores for node in score.nodes}
    assert statuses == {"completed", "attempted", "skipped", "unscored", "not_required"}
    diagnoses = {"clean", "inside", "skipping", "violation", "not_detecting_errors"}
    assert {score.diagnosis for score in scores} >= diagnoses


def test_unlogged_intents_are_unscored_and_not_failed(scores: list[RunScore]) -> None:
    intents = {s.agent: {n.status for n in s.nodes if n.sub_goal == "intent"} for s in scores}
    quick = [s.node("intent") for s in scores if s.agent == "quick-workflow"]
    assert intents["quick-workflow"] == {"unscored"}
    assert all("intent" in node.reason for node in quick)


def test_history_says_why_it_supports_nothing_and_does_not_know_some_alternatives(
    evaluations: list[RunEvaluation],
) -> None:
    branches = [b for e in evaluations for d in e.decisions for b in d.branches]
    known = {"alternative_may_be_better", "actual_was_better", "equivalent"}
    assert {b.verdict for b in branches} == {*known, "unknown"}
    assert {b.support for b in branches} == {"none", "weak"}
    reasons = {b.support_reason.split(" and choice")[0] for b in branches if b.support == "weak"}
    assert {"confounded: task", "confounded: agent"} <= reasons


def test_history_grows_over_the_days(evaluations: list[RunEvaluation], runs: list[Run]) -> None:
    early = {run.run_id for run in runs if run.started.task_repeat == 1}
    unknown = Counter[bool]()
    known = Counter[bool]()
    for evaluation in evaluations:
        for branch in (b for d in evaluation.decisions for b in d.branches):
            (known if branch.known else unknown)[evaluation.run_id in early] += 1
    assert unknown[True] / known[True] > unknown[False] / known[False]


def test_a_workflow_without_choices_is_not_evaluated(evaluations: list[RunEvaluation]) -> None:
    codes = {e.code for e in evaluations if e.agent == "quick-workflow"}
    assert codes == {"insufficient_decision_points", "run_not_finished"}


def test_the_figures_in_the_readme_are_current() -> None:
    readme = (SAMPLES / "README.md").read_text("utf-8")
    written = readme.partition(BEGIN)[2].partition(END)[0]
    assert written.strip() == figures(SAMPLES).strip()
