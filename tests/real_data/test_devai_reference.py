"""DevAI: requirements met, outcomes, and agreement of judge and people, as computed elsewhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from real_records import Converted

from untaken.judging import verdict_agreement
from untaken.ledger import Message, Observation, Run, ToolCall, Verdict
from untaken.plans import edges

JUDGES = {"human": ("human:*",), "agent_as_a_judge": ("judge:*",)}
AGENTS = ("GPT-Pilot", "MetaGPT", "OpenHands")


@pytest.fixture(scope="module")
def devai(converted: Callable[[str, str], Converted]) -> Converted:
    return converted("devai", "devai")


@pytest.fixture(scope="module")
def wanted(reference: dict[str, Any]) -> dict[str, Any]:
    return reference["devai"]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("agent", AGENTS)
def test_requirements_met_are_those_of_the_reference(devai, wanted, judge, agent) -> None:
    score, want = devai.agents(verdicts=JUDGES[judge])[agent], wanted[judge][agent]
    independent, direct = want["requirements_met_I"], want["requirements_met_D_direct_prerequisites"]
    transitive = want["requirements_met_D_transitive"]
    got = (
        score.runs,
        score.sub_goals,
        score.completed,
        score.completed_with_deps,
        score.completed_with_deps_all,
    )
    assert got == (want["tasks"], independent["of"], independent["n"], direct["n"], transitive["n"])
    assert score.completion == independent["rate"]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("agent", AGENTS)
def test_tasks_solved_are_those_of_the_reference(devai, wanted, judge, agent) -> None:
    scores = [s for s in devai.scores(verdicts=JUDGES[judge]) if s.agent == agent]
    want = wanted[judge][agent]["task_solve_rate_all_requirements"]
    assert (sum(s.completed == s.required for s in scores), len(scores)) == (want["n"], want["of"])


@pytest.mark.parametrize("agent", AGENTS)
def test_success_is_executed_successfully(devai: Converted, wanted: dict[str, Any], agent: str) -> None:
    score, want = devai.agents()[agent], wanted["human"][agent]["flag_executed_successfully"]
    assert (score.successes, score.outcome_runs, score.success_rate) == (want["n"], want["of"], want["rate"])


@pytest.mark.parametrize("agent", AGENTS)
def test_other_flags_are_kept_as_metrics(devai: Converted, wanted: dict[str, Any], agent: str) -> None:
    flags = [
        run.finished.metrics["satisfied_all_requirements"] for run in of_agent(devai, agent) if run.finished
    ]
    want = wanted["human"][agent]["flag_satisfied_all_requirements"]
    assert (sum(flags), len(flags)) == (want["n"], want["of"])


@pytest.mark.parametrize("agent", AGENTS)
def test_judge_and_people_agree_as_often_as_in_the_reference(devai, wanted, agent) -> None:
    pairs: Counter[str] = Counter()
    for run in of_agent(devai, agent):
        said: dict[str, dict[str, bool | None]] = {}
        for event in run.events:
            if isinstance(event, Verdict):
                said.setdefault(event.sub_goal, {})[event.by.split(":")[0]] = event.passed
        pairs.update(f"human_{one['human']}_judge_{one['judge']}" for one in said.values())
    want = wanted["alignment_agent_judge_vs_human"][agent]
    assert dict(pairs) == {key: n for key, n in want.items() if key.startswith("human_")}
    assert pairs["human_True_judge_True"] + pairs["human_False_judge_False"] == want["n"]


def test_agreement_of_judge_and_people_has_the_counts_of_the_reference(devai, wanted) -> None:
    found = verdict_agreement(devai.runs)
    assert {one.name: (one.both_met + one.both_not, one.n) for one in found.agents} == {
        "GPT-Pilot": (177, 199),
        "MetaGPT": (185, 199),
        "OpenHands": (182, 199),
    }
    for one in found.agents:
        want = wanted["alignment_agent_judge_vs_human"][one.name]
        share = (want["human_True_judge_True"] + want["human_True_judge_False"]) / want["of"]
        other = (want["human_True_judge_True"] + want["human_False_judge_True"]) / want["of"]
        chance = share * other + (1 - share) * (1 - other)
        assert one.agreement == pytest.approx(want["rate"])
        assert one.kappa == pytest.approx((want["rate"] - chance) / (1 - chance))
        assert one.kappa_low < one.kappa < one.kappa_high
    assert found.overall.kappa == pytest.approx(0.816, abs=0.0005)
    assert found.left_out == 0


def test_rankings_disagree_as_in_the_reference(devai: Converted, wanted: dict[str, Any]) -> None:
    scores = devai.agents(verdicts=("human:*",)).values()
    for key, value in (
        ("by_outcome_executed_successfully", lambda s: s.success_rate),
        ("by_subgoals_I", lambda s: s.completion),
        ("by_subgoals_D_direct", lambda s: s.completed_with_deps),
    ):
        order = sorted(scores, key=value, reverse=True)
        assert {s.agent: rank for rank, s in enumerate(order, start=1)} == wanted["ranking"][key]


def test_plan_graphs_hold_every_requirement_and_prerequisite(devai, wanted) -> None:
    graphs, want = devai.graphs.graphs, wanted["plan_graphs"]
    got = (len(graphs), sum(len(g.sub_goals) for g in graphs), sum(len(edges(g)) for g in graphs))
    assert got == (want["tasks"], want["requirements"], want["prerequisite_edges"])
    assert sum(len(g.metadata.get("preferences", [])) for g in graphs) == want["preferences"]
    assert all(node.metadata["category"] for g in graphs for node in g.sub_goals)
    assert not any(node.critical for g in graphs for node in g.sub_goals)


def test_names_that_differ_from_their_file_are_found(devai: Converted, wanted: dict[str, Any]) -> None:
    found = [f for f in devai.conversion.findings if f.code == "record-name-differs"]
    want = wanted["plan_graphs"]["record_name_differs_from_file"]
    assert sorted(f.message.split("'")[1] for f in found) == sorted(name for *_, name in want)


def test_traps_that_are_not_in_these_records_are_not_reported(devai, wanted) -> None:
    codes = {finding.code for finding in devai.conversion.findings}
    assert not wanted["plan_graphs"]["self_prerequisites"]
    assert not wanted["plan_graphs"]["judgement_requirement_count_differs"]
    assert not codes & {"self-prerequisite", "verdict-without-sub-goal", "flag-contradicts-verdicts"}


def test_trajectory_keeps_steps_cost_tokens_and_time(devai: Converted, wanted: dict[str, Any]) -> None:
    (run,) = [run for run in devai.runs if run.actions]
    want = wanted["openhands_trajectory_39"]
    assert (run.agent, run.finished.steps, run.finished.cost) == (
        "OpenHands",
        want["steps"],
        want["total_cost_usd"],
    )
    metrics = run.finished.metrics or {}
    assert metrics["input_tokens"] == want["input_tokens"]
    assert metrics["output_tokens"] == want["output_tokens"]
    assert metrics["total_time"] == pytest.approx(want["total_time_s"], abs=1e-9)
    assert len(run.actions) == want["steps"] - want["null_actions"]
    assert sum(isinstance(e, Observation) for e in run.events) == len(run.actions)
    assert sum(isinstance(e, Message) and e.role == "assistant" for e in run.events) == want["steps"]
    spent = [e.ts for e in run.events if isinstance(e, ToolCall)]
    assert (spent[-1] - spent[0]).total_seconds() < want["total_time_s"]


def test_runs_without_a_trajectory_have_unknown_steps_and_cost(devai: Converted) -> None:
    finished = [run.finished for run in devai.runs if not run.actions and run.finished]
    assert {(f.steps, f.cost) for f in finished} == {(None, None)}


def test_each_file_has_its_account(devai: Converted, real_data: Path) -> None:
    report = json.loads(devai.conversion.loss_report.read_text(encoding="utf-8"))
    (conversion,) = report["conversions"]
    read = {entry["file"] for entry in conversion["files"]}
    assert read == {
        p.relative_to(real_data / "devai").as_posix() for p in (real_data / "devai").rglob("*.json")
    }


def of_agent(devai: Converted, agent: str) -> list[Run]:
    return [run for run in devai.runs if run.agent == agent]
