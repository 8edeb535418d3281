"""A judge's pass that any result could carry is shown as unanchored, and no gate counts it (§6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import a_graph, a_run

from untaken.cli import main
from untaken.ledger import Run
from untaken.scoring import score_run
from untaken.scoring.verdicts import ANCHORED_ONLY
from untaken.views import verdict_views

NODES: dict[str, tuple[dict[str, Any], bool]] = {
    "nothing": ({}, False),
    "a verdict alone": ({"check": {"verdict": True}}, False),
    "a verdict of certain authors": ({"check": {"verdict": {"by": ["judge:*"]}}}, False),
    "a description": ({"description": "pay it back", "check": {"verdict": True}}, False),
    "a rule for a tool": ({"rules": [{"tool": "other"}], "check": {"verdict": True}}, True),
    "a rule for messages": ({"rules": [{"text": "paid"}], "check": {"verdict": True}}, True),
    "a check of fields": ({"check": {"expr": "state.missing.paid == true"}, "needs_action": False}, True),
    "a check of calls": ({"check": {"tool_call": {"name": "other"}}}, True),
    "a message as evidence": ({"evidence": "message", "check": {"verdict": True}}, True),
}


def judged(*verdicts: tuple[str, bool]) -> Run:
    built = a_run("r", task="t1").call("find").observe("no such order: 17", call_id="c1").finish(True)
    for by, passed in verdicts:
        built.verdict("pay", passed, by, reason="seen")
    return built.run()


@pytest.mark.parametrize("kind", NODES)
def test_a_sub_goal_is_anchored_by_a_rule_a_check_or_a_message(kind: str) -> None:
    node, anchored = NODES[kind]
    graph = a_graph({"id": "pay", **node}, graph_id="desk")
    assert graph.sub_goals[0].anchored is anchored


PASSES = {
    "a judge's pass": ([("judge:m", True)], True),
    "two judges' pass": ([("judge:m", True), ("judge:n", True)], True),
    "a judge's fail": ([("judge:m", False)], False),
    "a reviewer's pass": ([("human:ada", True)], False),
    "a reviewer's pass above a judge's": ([("judge:m", True), ("human:ada", True)], False),
    "a recorded check's pass": ([("test", True)], False),
}


@pytest.mark.parametrize("kind", PASSES)
def test_a_recorded_pass_of_judges_alone_is_shown_as_unanchored(kind: str) -> None:
    verdicts, unanchored = PASSES[kind]
    run, graph = judged(*verdicts), a_graph({"id": "pay", "check": {"verdict": True}}, graph_id="desk")
    score = score_run(run, graph)
    node = score.node("pay")
    assert node.unanchored is unanchored
    assert ("unanchored" in node.reason) is unanchored
    assert ("verdict-unanchored" in {one.code for one in score.findings}) is unanchored
    views = verdict_views(run, node)
    assert [one.unanchored for one in views if one.standing == "decides"] == [unanchored] * len(
        [one for one in views if one.standing == "decides"]
    )
    again = score_run(run, graph, again=lambda: run)
    assert again == score


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize("missing", ["fail", "drop"])
@pytest.mark.parametrize("group", [False, True])
def test_where_judges_are_left_out_the_sub_goal_counts_nowhere(missing, passed, group) -> None:
    nodes: list[dict[str, Any]] = [{"id": "pay", "check": {"verdict": True}}]
    nodes += [{"id": "either", "any_of": ["pay"]}] if group else []
    graph = a_graph(*nodes, graph_id="desk")
    kept = score_run(judged(("judge:m", passed)), graph, missing=missing)
    left = score_run(judged(("judge:m", passed)), graph, missing=missing, verdicts=[ANCHORED_ONLY])
    assert (kept.required, kept.completed) == (1, int(passed))
    assert (left.required, left.completed) == (0, 0)
    human = judged(("judge:m", not passed), ("human:ada", passed))
    heard = score_run(human, graph, missing=missing, verdicts=[ANCHORED_ONLY])
    assert (heard.required, heard.completed) == (1, int(passed))


@pytest.mark.parametrize("missing", ["fail", "drop"])
@pytest.mark.parametrize("kind", ["a verdict alone", "a rule for messages", "a message as evidence"])
def test_a_gate_passes_nobody_on_unanchored_verdicts(kind, missing, tmp_path, capsys) -> None:
    node, anchored = NODES[kind]
    for task in range(6):
        built = a_run(f"r{task}", task=f"t{task}").call("find").observe("no such order: 17", call_id="c1")
        built.say("It is paid.").finish(True).verdict("pay", True, "judge:m")
        (tmp_path / f"{task}.jsonl").write_bytes(built.ledger())
    document = {"schema": "untaken.plan/1", "id": "g", "version": 1, "tasks": ["t*"]}
    text = json.dumps(document | {"sub_goals": [{"id": "pay", **node}]})
    (tmp_path / "g.plan.json").write_text(text, encoding="utf-8")
    words = [str(tmp_path), "--graphs", str(tmp_path / "g.plan.json"), "--missing", missing]
    code = main(["gate", *words, "--require", "completion>=0.5", "--json", "--allow-uncalibrated"])
    found = json.loads(capsys.readouterr().out)
    assert [one["verdict"] for one in found["checks"]] == ["met" if anchored else "unscored"]
    assert code == (0 if anchored else 1)
    assert found["verdicts"] == [ANCHORED_ONLY]
    assert not [one for one in found["findings"] if one["code"] == "verdicts-unmatched"]
