"""tau-bench: outcomes, pass^k and expected actions met, as computed elsewhere."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from real_records import Converted

from untaken.analysis.ranking import pass_hat_k
from untaken.counterfactual import evaluate_run
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import Unscored
from untaken.ledger import Message, Observation, context_hash


@pytest.fixture(scope="module")
def tau(converted: Callable[[str, str], Converted]) -> Converted:
    return converted("tau-bench", "tau_bench")


@pytest.fixture(scope="module")
def wanted(reference: dict[str, Any]) -> dict[str, Any]:
    return reference["tau_bench"]


def test_runs_and_tasks_are_all_there(tau: Converted, wanted: dict[str, Any]) -> None:
    assert (len(tau.runs), len({run.task_id for run in tau.runs})) == (wanted["runs"], wanted["tasks"])
    assert {run.agent for run in tau.runs} == {"gpt-4o"}


def test_success_is_a_reward_of_one(tau: Converted, wanted: dict[str, Any]) -> None:
    score, want = tau.agents()["gpt-4o"], wanted["outcome_success"]
    assert (score.successes, score.outcome_runs, score.success_rate) == (want["n"], want["of"], want["rate"])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_hat_k_is_that_of_the_reference(tau: Converted, wanted: dict[str, Any], k: int) -> None:
    trials: defaultdict[str, list[bool]] = defaultdict(list)
    for run in tau.runs:
        trials[run.task_id].append(bool(run.success))
    assert pass_hat_k(trials, k) == pytest.approx(wanted[f"pass^{k}"], abs=1e-12)


def test_expected_actions_met_are_those_of_the_reference(tau: Converted, wanted: dict[str, Any]) -> None:
    score, want = tau.agents(by_benchmark=True)["gpt-4o"], wanted["subgoals_met_micro"]
    assert (score.completed, score.sub_goals, score.completion) == (want["n"], want["of"], want["rate"])
    assert score.completion_macro == pytest.approx(
        wanted["subgoals_met_macro_over_runs_with_expected"], abs=1e-12
    )
    assert score.runs - score.scored_runs == wanted["runs_with_no_expected_action"]


def test_free_text_that_is_given_meets_five_actions_more(tau: Converted) -> None:
    """A summary and four calculations that the benchmark compares word for word."""
    score = tau.agents()["gpt-4o"]
    assert (score.completed, score.sub_goals) == (80, 200)
    strict = {(s.digest, n.sub_goal): n.status for s in tau.scores(by_benchmark=True) for n in s.nodes}
    changed = {
        n.sub_goal.partition("_")[2]
        for s in tau.scores()
        for n in s.nodes
        if strict[s.digest, n.sub_goal] != n.status
    }
    assert changed == {"calculate", "transfer_to_human_agents"}


def test_runs_that_expected_nothing_are_unscored(tau: Converted, wanted: dict[str, Any]) -> None:
    empty = [score for score in tau.scores() if not score.nodes]
    assert len(empty) == wanted["runs_with_no_expected_action"]
    assert all(isinstance(score.completion, Unscored) for score in empty)
    want = wanted["no_expected_action_outcome_ok"]
    assert (sum(score.success is True for score in empty), len(empty)) == (want["n"], want["of"])


def test_runs_that_contradict_their_outcome_are_as_many(tau: Converted, wanted: dict[str, Any]) -> None:
    scores = [score for score in tau.scores(by_benchmark=True) if score.nodes]
    lucky = sum(score.success is True and score.completed < score.required for score in scores)
    unlucky = sum(score.success is False and score.completed == score.required for score in scores)
    assert lucky == wanted["outcome_ok_but_expected_action_missing"]
    assert unlucky == wanted["all_expected_met_but_outcome_failed"]


def test_messages_calls_and_cost_of_the_user_are_kept(tau: Converted, wanted: dict[str, Any]) -> None:
    finished = [run.finished for run in tau.runs if run.finished]
    assert sum(f.steps or 0 for f in finished) == wanted["assistant_messages"]
    assert sum(len(run.actions) for run in tau.runs) == wanted["tool_calls"]
    spent = math.fsum((f.metrics or {}).get("user_cost", 0.0) for f in finished)
    assert spent == pytest.approx(wanted["user_cost_total"], abs=1e-12)
    assert {f.cost for f in finished} == {None}


def test_runs_the_benchmark_never_checked_are_found(tau: Converted, wanted: dict[str, Any]) -> None:
    found = [f for f in tau.conversion.findings if f.code == "missing-reward-info"]
    assert len(found) == wanted["runs_without_reward_info"]


def test_every_call_is_a_decision_in_a_documented_context(tau: Converted) -> None:
    for run in tau.runs:
        selections = run.selections
        assert [s.selected for s in selections] == [call.tool for call in run.actions]
        for selection in selections:
            assert selection.selected not in selection.alternatives
            assert selection.alternatives == sorted(selection.alternatives)
            assert selection.context["task"] == run.task_id
            assert selection.context_hash == context_hash(selection.context)


def test_alternatives_are_the_other_tools_the_tasks_runs_used(tau: Converted) -> None:
    used: defaultdict[str, set[str]] = defaultdict(set)
    for run in tau.runs:
        used[run.task_id].update(call.tool for call in run.actions)
    for run in tau.runs:
        for selection in run.selections:
            assert {selection.selected, *selection.alternatives} == used[run.task_id]


def test_only_answers_that_are_no_error_count_as_done(tau: Converted) -> None:
    for run in tau.runs:
        succeeded = {
            e.call_id
            for e in run.events
            if isinstance(e, Observation) and not str(e.content).startswith("Error")
        }
        last = run.selections[-1] if run.selections else None
        if last is not None:
            before = [call for call in run.actions if call.seq < last.seq and call.call_id in succeeded]
            assert sum(last.context["done"].values()) == len(before)


def test_memory_as_of_a_run_holds_exactly_the_earlier_trials(tau: Converted) -> None:
    ends = defaultdict(list)
    for run in tau.runs:
        ends[run.started.task_repeat].append(run)
    for trial in range(3):
        last = max(run.events[-1].ts for run in ends[trial])
        assert last < min(run.started.ts for run in ends[trial + 1])


def test_repeated_trials_give_real_counterfactuals(tau: Converted) -> None:
    memory = PolicyMemory.build(tau.runs)
    evaluations = [evaluate_run(run, memory) for run in tau.runs]
    known = sum(b.known for e in evaluations for d in e.decisions for b in d.branches)
    first = [e for e, run in zip(evaluations, tau.runs, strict=True) if run.started.task_repeat == 0]
    assert known > 0
    assert not any(b.known for e in first for d in e.decisions for b in d.branches), (
        "the first trial has no past"
    )


def test_no_text_is_lost_on_the_way(tau: Converted, wanted: dict[str, Any]) -> None:
    (loss,) = tau.conversion.losses
    held = {field.path: (field.held, field.kept) for field in loss.fields}
    assert held["[].traj[].role"] == (2962, 2962)
    assert sum(isinstance(e, Message) for run in tau.runs for e in run.events) > wanted["assistant_messages"]
