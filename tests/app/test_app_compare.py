"""The pages Compare and Audit, and plan changes: what comes first, doubts, and words that stay words."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import desk
import pytest
from builders import a_run, run_of
from sessions import filled, go_to, open_tab, said, sent, session
from test_app_pages import HOSTILE, acted_upon

from components.annotate.session import CURRENT
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def test_a_task_whose_runs_differ_at_a_sub_goal_comes_first(tmp_path: Path, monkeypatch: Patch) -> None:
    runs = [desk.careful(1), desk.lucky(1)]
    for number in range(1, 5):  # more runs, of which two failed, and no sub-goal tells them apart
        run = a_run(f"same-{number}", agent=("careful", "lucky")[number % 2], task="refund-0")
        runs.append(run.say("Hello", "user").finish(number > 2))
    app = session(filled(tmp_path, *runs, plan=desk.GRAPH), monkeypatch, "compare")
    picker = app.selectbox(key="compare_task_picker")
    assert str(picker.options[picker.index or 0]).startswith("refund-1 · 2 runs")


def test_hostile_words_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        for name, ok in (("a", True), ("b", False)):
            run = a_run(f"{name}{HOSTILE}", agent=f"{name}{HOSTILE}", task=HOSTILE)
            run.select(f"{name}{HOSTILE}", "x", context=HOSTILE)
            run.call(HOSTILE, ok=ok, **{HOSTILE: f"{name}{HOSTILE}"}).call(f"{name}{HOSTILE}")
            store.add(f"{name}.jsonl", run.say(HOSTILE).observe(HOSTILE).finish(ok).ledger())
    app = session(tmp_path, monkeypatch, "compare")
    assert acted_upon(app) == set()
    assert any("onerror" in words for place, words in sent(app) if place == "Code.code_text")


CHANGES = """schema: untaken.plan/1
id: desk
tasks: ["ticket-*"]
mutates: ["write_*", "*img*"]
sub_goals:
  - {id: refund, check: {tool_call: {name: write_refund}}}
"""


def test_names_of_tools_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    """In each task, two trials refund and succeed, two make another change and fail."""
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", CHANGES.encode())
        for task, trial in product(range(5), range(4)):
            did = "write_refund" if trial % 2 else HOSTILE
            about = {"task_repeat": trial, "metadata": {"seed": trial}}  # no run is a copy of another
            run = a_run(f"{task}-{trial}", agent="clerk", task=f"ticket-{task}", **about)
            store.add(f"{task}-{trial}.jsonl", run.call(did).finish(did != HOSTILE).ledger())
        first = run_of(store, "0-0")
    app = open_tab(session(tmp_path, monkeypatch, "run", run=first.digest), "Plan changes")
    assert acted_upon(app) == set()
    assert "took an option that succeeded more often" in said(app)


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
        assert app.title[0].value == "Annotate"
        (node,) = app.session_state[CURRENT].graph.sub_goals
        assert node.check.tool_call.arguments == {"amount": 67}
        assert store.newest_version("refund").version == 1


def test_a_plan_that_no_run_has_is_called_that_on_audit_and_overview(tmp_path, monkeypatch) -> None:
    run = a_run("r", task="t").call("pay", ok=True).finish()
    app = session(filled(tmp_path, run, plan=GRAPH.replace(b'"*"', b'"other-*"')), monkeypatch, "audit")
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
    assert "0 of 5 successful runs complete it" in said(app)
    assert "doubtful · booking" in said(app)
