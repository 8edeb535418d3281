"""The Review page, and verdicts on the Run page: what one reviewer saves, another sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import a_run, run_of
from sessions import component_data, go_to, plain, said, session, show_tab
from streamlit.testing.v1 import AppTest

from untaken.analysis.failure_modes import note_draft
from untaken.ledger import Draft, Run, Verdict
from untaken.workspace import Workspace
from untaken.workspace.reviews import Review

Patch = pytest.MonkeyPatch

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, rules: [{tool: look}], check: {verdict: true}}
- {id: pay, title: Pay back, critical: true, deps: [look], check: {verdict: true}}
"""


def workspace(folder: Path, *, runs: int = 4) -> Workspace:
    """Failing runs of two agents over two tasks, judged by a test as looked up and not paid."""
    store = Workspace(folder)
    store.add("desk.plan.yaml", GRAPH)
    for i in range(runs):
        run = a_run(
            f"r{i}", agent=f"agent {i % 2}", task=f"t{i // 2}", metadata={"shift": "night" if i else "day"}
        )
        run.call("look").verdict("look", True, "test").verdict("pay", False, "judge:m").finish(success=False)
        store.add(f"{i}.jsonl", run.ledger())
    return store


def on_run(folder: Path, patch: Patch, run: Run, sub_goal: str = "pay", who: str = "ann") -> AppTest:
    return session(folder, patch, "run", who=who, run=run.digest, sub_goal=sub_goal)


def press(app: AppTest, key: str) -> AppTest:
    button(app, key).click().run()
    assert not app.exception
    return app


def button(app: AppTest, key: str) -> Any:
    """The button whose key begins so; the rest names what it is about."""
    (found,) = [one for one in app.button if one.key == key or str(one.key).startswith(f"{key}-")]
    return found


def field(fields: Sequence[Any], label: str) -> Any:
    """The text field with this label; its key depends on what it is about."""
    (found,) = [one for one in fields if one.label == label]
    return found


def test_a_case_that_its_new_status_took_out_of_the_filters_stays_until_the_next_is_asked_for(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    workspace(tmp_path).close()
    app = session(tmp_path, monkeypatch, "review", who="ann")
    field(app.multiselect, "Status").select("new").run()
    press(app, "step_J")
    chosen = app.query_params["run"]
    press(app, "status-4")
    assert (app.query_params["run"], "outside the filters" in said(app)) == (chosen, True)
    assert "**2 of 3**" in said(press(app, "step_J"))


def test_a_metadata_key_is_called_as_it_is_and_apart_from_our_own_fields(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with Workspace(tmp_path) as store:
        for i in range(3):
            metadata = {"customer_tier": f"tier {i}", "**task**": i, "task": i}
            store.add(f"{i}.jsonl", a_run(f"r{i}", metadata=metadata).finish(success=False).ledger())
    app = session(tmp_path, monkeypatch, "review")
    labels = [field.label for field in app.multiselect]
    assert {"Task", "task", "customer_tier", r"\*\*task\*\*"} <= set(labels)
    assert "Metadata of the runs" in said(app)
    next(field for field in app.multiselect if field.label == "customer_tier").select("tier 1").run()
    assert "0 of 1 reviewed" in str(app.get("progress")[0].proto.text)


def test_who_saves_after_another_is_warned_and_overwrites_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    with workspace(tmp_path, runs=1) as store:
        app = show_tab(session(tmp_path, monkeypatch, "review", who="ann"), "review-people", True)
        run = run_of(store, "r0")
        store.reviews.change([Review(run=run.digest, run_id="r0")], author="human:bob", status="fixed")
        press(app, "status-2")
        assert "human:bob changed the review of r0 in the meantime" in plain(app)
        assert store.reviews.every()[run.digest].status == "fixed"
        press(app, "status-2")
        assert store.reviews.every()[run.digest].status == "in review"
        press(app, "assign-me")
        next(one for one in app.multiselect if str(one.key).startswith("tags-")).set_value(["refund"]).run()
        assert not app.exception
        review = store.reviews.every()[run.digest]
        assert (review.assignee, review.tags) == ("ann", ("refund",))


def test_the_graph_chosen_on_annotate_is_no_filter_and_a_filter_by_graph_outlives_a_click(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with workspace(tmp_path) as store:
        store.add("other.plan.yaml", GRAPH.replace(b"id: desk", b"id: other", 1).replace(b"t*", b"x*"))
        failed = a_run("x", agent="agent 0", task="x").call("look").finish(success=False)
        linking = a_run("both", agent="agent 1", task="x").finish(success=False)
        store.add("x.jsonl", failed.ledger() + linking.ledger())
    app = session(tmp_path, monkeypatch, "annotate", graph="other")
    app.query_params.clear()  # as a click in the navigation does
    assert [field(go_to(app, "review").multiselect, "Graph").value] == [[]]
    app.query_params["graph"], app.query_params["agent"] = ["desk"], ["agent 0", "agent 1"]
    app.run()
    app.button(key="step_J").click().run()
    assert field(app.multiselect, "Graph").value == ["desk"]
    assert app.query_params["graph"] in ("desk", ["desk"])


def test_a_second_reader_sees_nothing_of_the_first_until_their_own_reading_is_saved_and_settles_it_there(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with workspace(tmp_path) as store:
        run = run_of(store, "r1")
        met = Draft(Verdict, {"sub_goal": "pay", "passed": True, "by": "human:ann", "reason": "it was paid"})
        store.append_events(run, [met, note_draft("seen by ann", author="human:ann")])
        app = session(tmp_path, monkeypatch, "review", who="bob")
        button(app, "review-second").click().run()
        assert app.query_params["blind"] in ("1", ["1"])
        app.query_params["sub_goal"] = "pay"
        app.run()
        hidden = plain(app)
        assert "Second reading" in hidden
        assert "seen by ann" not in hidden
        assert "it was paid" not in hidden
        assert "decided by verdict:judge:m" in hidden  # scored without her, too
        assert "pay" not in str(component_data(app, "untaken_queue")).lower()
        assert "Hidden until you have saved" in said(show_tab(app, "review_tabs", "Agreement"))
        show_tab(app, "review_tabs", "Queue")
        shown = plain(press(app, "mark-not-met"))
        assert "seen by ann" in shown
        assert "it was paid" in shown
        assert "Reviewers disagree" in shown
        (own,) = [v for v in run_of(store, "r1").of(Verdict) if v.by == "human:bob"]
        assert own.blind
        press(app, "settle-True")
        assert "Reviewers disagree" not in plain(app)
        now = run_of(store, "r1").of(Verdict)
        assert [(v.by, v.passed, v.settles) for v in now][-3:] == [
            ("human:ann", True, False),
            ("human:bob", False, False),
            ("human:bob", True, True),
        ]
        assert "Reviewers disagree" in plain(press(app, "undo-note"))
