"""Review and Run: verdicts, notes and failure modes, written where they belong, seen by the other reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import a_run, run_of
from judges import model_that
from sessions import button, component_data, field, filled, go_to, plain, press, said, session, show_tab
from streamlit.testing.v1 import AppTest

from untaken.analysis.failure_modes import (
    Place,
    assignment_draft,
    assignments_of,
    change_taxonomy,
    counted,
    create_mode,
    filed_texts,
    judged_suggestions,
    kept_taxonomy,
    note_draft,
    notes_of,
    retire_mode,
)
from untaken.analysis.failure_modes.model_suggesting import model_suggestions
from untaken.judging.asking import ModelAccess, ReplyStore
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


def test_a_case_that_its_new_status_took_out_of_the_filters_stays_until_the_next_is_asked_for(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    workspace(tmp_path).close()
    app = session(tmp_path, monkeypatch, "review", who="ann")
    field(app, "Status").select("new").run()
    press(app, "step_J")
    chosen = app.query_params["run"]
    press(app, "status-4")
    assert (app.query_params["run"], "outside the filters" in said(app)) == (chosen, True)
    assert "**2 of 3**" in said(press(app, "step_J"))


def test_a_metadata_key_is_called_as_it_is_and_apart_from_our_own_fields(tmp_path, monkeypatch) -> None:
    metadata = [{"customer_tier": f"tier {i}", "**task**": i, "task": i} for i in range(3)]
    runs = [a_run(f"r{i}", metadata=one).finish(success=False) for i, one in enumerate(metadata)]
    app = session(filled(tmp_path, *runs), monkeypatch, "review")
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
    assert [field(go_to(app, "review"), "Graph").value] == [[]]
    app.query_params["graph"], app.query_params["agent"] = ["desk"], ["agent 0", "agent 1"]
    app.run()
    press(app, "step_J")
    assert field(app, "Graph").value == ["desk"]
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
        assert "decided by the verdict of judge:m" in hidden  # scored without her, too
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


def test_what_was_saved_in_another_run_is_not_said_to_be_of_this_one(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with workspace(tmp_path) as store:
        first, other = run_of(store, "r0"), run_of(store, "r1")
        app = press(on_run(tmp_path, monkeypatch, first), "mark-met")
        assert "✓ Verdict saved: met\n" in plain(app)
        app.query_params["run"] = other.digest
        app.run()
        assert "✓ Verdict saved: met, in another run" in plain(app)
        press(app, "undo-note")
        assert "↩ Undone: verdict saved: met, in another run" in plain(app)
        assert [v.withdrawn for v in run_of(store, "r0").of(Verdict)][-1]


BOB = "human:bob"
PAY = Place(sub_goal="pay")


def with_modes(folder: Path, *names: str) -> None:
    for name in names:
        change_taxonomy(folder, lambda known, name=name: create_mode(known, name, by=BOB)[0])


def picker(app: AppTest) -> Any:
    (found,) = [one for one in app.selectbox if one.label == "Failure mode"]
    return found


def choose(app: AppTest, mode: str) -> AppTest:
    picker(app).set_value(mode).run()
    return app


def test_a_note_with_the_name_of_a_mode_becomes_it_and_a_retired_mode_is_shown_where_it_was_assigned(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with workspace(tmp_path) as store:
        with_modes(tmp_path, "Paid twice")
        app = opened(tmp_path, monkeypatch, store)
        field(app, "Note").input("PAID  twice").run()
        press(press(app, "add-note"), "make-mode")
        assert [mode.id for mode in kept_taxonomy(tmp_path).modes] == ["paid-twice"]
        assert modes_of(run_of(store, "r1")) == [("paid-twice", "human:ann", Place(sub_goal="pay"))]
        assert picker(app).value is None
        change_taxonomy(tmp_path, lambda known: retire_mode(known, "paid-twice", by=BOB))
        app = opened(tmp_path, monkeypatch, store)
        assert "Paid twice" in [text.value for text in app.text]
        assert "ann · retired" in plain(app)
        assert picker(app).options == []


def opened(folder: Path, patch: Patch, store: Workspace, run_id: str = "r1") -> AppTest:
    return on_run(folder, patch, run_of(store, run_id))


def about(app: AppTest, words: str) -> AppTest:
    (control,) = [one for one in app.get("button_group") if one.label == "About"]
    (value,) = [o for o in control.options if words in str(getattr(o, "content", o)).replace("\\", "")]
    control.set_value(value).run()
    return app


def modes_of(run: Run) -> list[tuple[str, str, Place]]:
    return [(one.mode, one.by, one.place) for one in counted(run)]


def test_a_note_can_be_about_the_event_that_is_chosen_in_the_table_of_events(tmp_path, monkeypatch) -> None:
    with workspace(tmp_path) as store:
        app = opened(tmp_path, monkeypatch, store)
        app.session_state["timeline"] = {"selection": {"cells": [[2, "what"]]}}
        app.run()
        field(app, "Note").input("asked twice").run()
        press(app, "add-note")
        (note,) = notes_of(run_of(store, "r1"))
        assert note.place == Place(event=2)


def test_a_mode_and_a_note_can_be_withdrawn_by_who_wrote_them_only(tmp_path, monkeypatch) -> None:
    with workspace(tmp_path) as store:
        with_modes(tmp_path, "Paid twice")
        notes = [note_draft(f"by {who}", author=f"human:{who}") for who in ("ann", "bob")]
        store.append_events(run_of(store, "r1"), [*notes, assignment_draft("paid-twice", by=BOB)])
        app = choose(opened(tmp_path, monkeypatch, store), "paid-twice")
        press(app, "withdraw-mode")
        assert modes_of(run_of(store, "r1")) == [("paid-twice", BOB, Place())]
        assert not [one for one in app.button if str(one.key).startswith("withdraw-mode")]
        (withdraw,) = [one for one in app.button if str(one.key).startswith("withdraw-note-")]
        withdraw.click().run()
        assert [note.text for note in notes_of(run_of(store, "r1"))] == ["by bob"]


def test_a_judges_suggestion_is_shown_with_its_reason_and_can_be_dismissed(tmp_path, monkeypatch) -> None:
    with workspace(tmp_path) as store:
        with_modes(tmp_path, "Paid twice")
        told = {"by": "judge:m", "status": "suggested", "place": PAY, "reason": "two calls of pay"}
        store.append_events(run_of(store, "r1"), [assignment_draft("paid-twice", **told)])
        app = opened(tmp_path, monkeypatch, store)
        assert "judge:m: two calls of pay" in plain(app)
        press(app, "dismiss")
        assert "two calls of pay" not in plain(app)
        run = run_of(store, "r1")
        assert modes_of(run) == []
        said_of = [(a.by, a.status) for a in assignments_of(run)]
        assert said_of == [("judge:m", "suggested"), ("human:ann", "withdrawn")]


def test_drafts_of_two_places_of_a_run_are_kept_apart_and_survive_a_reload(tmp_path, monkeypatch) -> None:
    with workspace(tmp_path) as store:
        app = opened(tmp_path, monkeypatch, store)
        field(app, "Note").input("about paying").run()
        about(app, "Whole run")
        assert field(app, "Note").value == ""
        field(app, "Note").input("about all of it").run()
        again = opened(tmp_path, monkeypatch, store)
        assert field(again, "Note").value == "about paying"
        assert field(about(again, "Whole run"), "Note").value == "about all of it"
        other = opened(tmp_path, monkeypatch, store, "r2")
        assert field(other, "Note").value == ""
        assert notes_of(run_of(store, "r1")) == ()


def test_a_broken_ledger_takes_no_note(tmp_path: Path, monkeypatch: Patch) -> None:
    with workspace(tmp_path) as store:
        whole = a_run("cut").call("look").finish(success=False)
        data = whole.verdict("look", True, "test").ledger()
        store.add("cut.jsonl", data[:-30], heads=None)
        app = session(tmp_path, monkeypatch, "run", run=run_of(store, "cut").digest)
        assert "You cannot add a note: the ledger is broken." in said(app)
        assert not [one for one in app.text_area if one.label == "Note"]


def test_the_model_that_the_server_names_is_asked_about_the_last_note(tmp_path, monkeypatch) -> None:
    """Its answer is in the reply store already, so that no model is needed."""
    store = workspace(tmp_path)
    with_modes(tmp_path, "Paid twice", "Wrong order")
    store.append_events(run_of(store, "r1"), [note_draft("two charges", author=BOB, place=PAY)])
    taxonomy, runs = kept_taxonomy(tmp_path), store.read_runs()[0]
    answers = model_that(lambda _, code: {"code": code, "number": 1, "reason": "charged again"})
    with ModelAccess(answers, ReplyStore(tmp_path / "replies")) as model:
        filed = filed_texts(runs, taxonomy)
        model_suggestions(notes_of(run_of(store, "r1")), taxonomy, filed, model)
    monkeypatch.setenv("UNTAKEN_MODEL", "stand-in")
    app = opened(tmp_path, monkeypatch, store)
    button(app, "ask-model").click().run()
    (suggested,) = judged_suggestions(run_of(store, "r1"), taxonomy)
    assert (suggested.by, suggested.mode) == ("judge:stand-in", "paid-twice")
    assert "judge:stand-in: charged again" in plain(app)
    assert modes_of(run_of(store, "r1")) == []


@pytest.mark.parametrize("page", ["run", "review"])
def test_an_unsaved_note_on_a_sub_goal_is_mentioned_where_the_whole_run_is_shown_with_a_way_there(
    tmp_path: Path, monkeypatch: Patch, page: str
) -> None:
    with workspace(tmp_path) as store:
        app = opened(tmp_path, monkeypatch, store)
        field(app, "Note").input("never paid").run()
        assert unsaved(app) == []
        if page == "review":
            app = go_to(app, page)
        app = about(app, "Whole run")
        (way,) = unsaved(app)
        assert way.label.replace("\\", "") == "Unsaved note · Pay back"
        assert field(app, "Note").value == ""
        way.click().run()
        assert field(app, "Note").value == "never paid"
        press(app, "add-note")
        assert unsaved(about(app, "Whole run")) == []


def unsaved(app: AppTest) -> list[Any]:
    return [one for one in app.button if one.label.startswith("Unsaved")]
