"""The page Audit: what the runs put in doubt, and the edit that one click drafts."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import go_to, said, session

from components.annotate.session import CURRENT
from untaken.workspace import Workspace

GRAPH = b"""
id: refund
tasks: ["*"]
sub_goals:
  - {id: pay, title: "Pay <b>back</b>", check: {tool_call: {name: pay, arguments: {amount: 76}}}}
"""


def test_a_click_drafts_the_proposed_edit_and_scores_nothing_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path) as store:
        store.add("refund.plan.yaml", GRAPH)
        runs = [
            a_run(f"r{n}", task=f"t{n}").call("pay", ok=True, amount=67, n=n).finish().ledger()
            for n in range(5)
        ]
        store.add("runs.jsonl", b"".join(runs))
    app = session(tmp_path, monkeypatch, "audit")
    assert "0 of 5 successful runs complete it" in said(app)
    assert "Pay <b>" not in said(app)
    app.button(key="audit-node-0").click().run()
    assert not app.exception
    assert app.title[0].value == "Annotate"
    (node,) = app.session_state[CURRENT].graph.sub_goals
    assert node.check.tool_call.arguments == {"amount": 67}
    with Workspace(tmp_path) as store:
        assert store.newest_version("refund").version == 1


def test_a_plan_that_no_run_has_is_called_that_on_audit_and_overview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path) as store:
        store.add("refund.plan.yaml", GRAPH.replace(b'"*"', b'"other-*"'))
        store.add("runs.jsonl", a_run("r", task="t").call("pay", ok=True).finish().ledger())
    app = session(tmp_path, monkeypatch, "audit")
    assert "No run here has a plan." in said(app)
    assert not app.metric
    assert "1 plan graph names no task of these runs" in said(go_to(app, "overview"))


def test_plans_of_agents_that_are_not_compared_come_with_all_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path) as store:
        for name in ("refund", "booking"):
            graph = GRAPH.replace(b"id: refund", b"id: " + name.encode())
            store.add(f"{name}.plan.yaml", graph.replace(b'"*"', f'"{name}-*"'.encode()))
            many = 5 + (name == "refund")
            runs = [
                a_run(f"{name}{n}", agent=f"{name}-{n % 2}", task=f"{name}-{n // 2}")
                .call("pay", ok=True, amount=67, n=n)
                .finish()
                .ledger()
                for n in range(many)
            ]
            store.add(f"{name}.jsonl", b"".join(runs))
    app = session(tmp_path, monkeypatch, "audit")
    assert "0 of 6 successful runs complete it" in said(app)
    assert "0 of 5 successful runs complete it" not in said(app)
    app.segmented_control(key="listed_switch").set_value("all").run()
    assert not app.exception
    assert "0 of 5 successful runs complete it" in said(app)
    assert "doubtful · booking" in said(app)
