"""The page Audit: what the runs put in doubt, and the edit that one click drafts."""

from __future__ import annotations

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


def paid(name: str, many: int, task: str = "t{}", agent: str = "agent") -> bytes:
    """So many successful runs that paid 67."""
    made = (a_run(f"{name}{n}", agent=agent.format(n % 2), task=task.format(n // 2)) for n in range(many))
    return b"".join(run.call("pay", ok=True, amount=67, n=run.run_id).finish().ledger() for run in made)


def test_a_click_drafts_the_proposed_edit_and_scores_nothing_by_it(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path) as store:
        store.add("refund.plan.yaml", GRAPH)
        store.add("runs.jsonl", paid("r", 5))
        app = session(tmp_path, monkeypatch, "audit")
        assert "0 of 5 successful runs complete it" in said(app)
        assert "Pay <b>" not in said(app)
        app.button(key="audit-node-0").click().run()
        assert not app.exception
        assert app.title[0].value == "Annotate"
        (node,) = app.session_state[CURRENT].graph.sub_goals
        assert node.check.tool_call.arguments == {"amount": 67}
        assert store.newest_version("refund").version == 1


def test_a_plan_that_no_run_has_is_called_that_on_audit_and_overview(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path) as store:
        store.add("refund.plan.yaml", GRAPH.replace(b'"*"', b'"other-*"'))
        store.add("runs.jsonl", a_run("r", task="t").call("pay", ok=True).finish().ledger())
    app = session(tmp_path, monkeypatch, "audit")
    assert "No run here has a plan." in said(app)
    assert not app.metric
    assert "1 plan graph names no task of these runs" in said(go_to(app, "overview"))


def test_plans_of_agents_that_are_not_compared_come_with_all_agents(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path) as store:
        for name, many in (("refund", 6), ("booking", 5)):
            graph = GRAPH.replace(b"id: refund", b"id: " + name.encode())
            store.add(f"{name}.plan.yaml", graph.replace(b'"*"', f'"{name}-*"'.encode()))
            store.add(f"{name}.jsonl", paid(name, many, f"{name}-{{}}", f"{name}-{{}}"))
    app = session(tmp_path, monkeypatch, "audit")
    assert "0 of 6 successful runs complete it" in said(app)
    assert "0 of 5 successful runs complete it" not in said(app)
    app.segmented_control(key="listed_switch").set_value("all").run()
    assert not app.exception
    assert "0 of 5 successful runs complete it" in said(app)
    assert "doubtful · booking" in said(app)
