"""Failure modes counts the runs that saw failures and never changed their plan, and leads to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_run
from sessions import said, sent, session

from untaken.workspace import Workspace

GRAPH = {
    "schema": "untaken.plan/1",
    "id": "g",
    "tasks": ["*"],
    "sub_goals": [{"id": "pay", "check": {"tool_call": {"name": "pay", "arguments": {"amount": 3}}}}],
}


def test_runs_that_never_changed_a_failing_plan_are_counted_and_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = a_run("deaf", agent="deaf").plan("pay").call("pay", ok=False).finish(False)
    alert = a_run("alert", agent="alert").plan("pay").call("pay", ok=False).plan("ask", "pay").finish(False)
    workspace = Workspace(tmp_path)
    workspace.add("g.plan.json", json.dumps(GRAPH).encode())
    for run in (deaf, alert):
        workspace.add(f"{run.run_id}.jsonl", run.ledger())
    app = session(tmp_path, monkeypatch, "failure_modes", view="causes")
    assert "never changed the plan" not in said(app)
    labels = [text for place, text in sent(app) if "never changed the plan" in text]
    assert labels == ["1 run had failures and never changed the plan"]
    linked = [text for place, text in sent(app) if "deaf on task" in text]
    assert linked
