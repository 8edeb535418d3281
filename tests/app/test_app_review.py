"""The Review page, and verdicts on the Run page: what one reviewer saves, another sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import a_run
from sessions import go_to, said, session, show_tab
from streamlit.testing.v1 import AppTest

from untaken.analysis.failure_modes import note_draft
from untaken.ledger import Draft, ReviewNote, Run, Verdict
from untaken.workspace import Workspace
from untaken.workspace.reviews import Review

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


def run_of(store: Workspace, run_id: str) -> Run:
    return next(run for run in store.read_runs()[0] if run.run_id == run_id)


def named(app: AppTest, name: str = "ann") -> AppTest:
    app.session_state["reviewer_name"] = name
    app.run()
    assert not app.exception
    return app


def on_run(
    folder: Path, patch: pytest.MonkeyPatch, run: Run, sub_goal: str = "pay", who: str = "ann"
) -> AppTest:
    app = session(folder, patch, "run")
    app.query_params["run"], app.query_params["sub_goal"] = run.digest, sub_goal
    app.run()
    assert not app.exception
    return named(app, who)


def plain(app: AppTest) -> str:
    """What the page says, without the marks that keep words from being markdown."""
    return said(app).replace("\\", "").replace("\u2060", "")


def press(app: AppTest, key: str) -> AppTest:
    button(app, key).click().run()
    assert not app.exception
    return app


def button(app: AppTest, key: str) -> Any:
    """The button whose key begins so; the rest names what it is about."""
    (found,) = [one for one in app.button if one.key == key or str(one.key).startswith(f"{key}-")]
    return found


def has_button(app: AppTest, key: str) -> bool:
    return any(str(one.key).startswith(f"{key}-") for one in app.button)


def field(fields: Sequence[Any], label: str) -> Any:
    """The text field with this label; its key depends on what it is about."""
    (found,) = [one for one in fields if one.label == label]
    return found


def positions(app: AppTest) -> str:
    return next(m.value for m in app.markdown if " of " in m.value and m.value.startswith("**"))


def test_a_verdict_is_written_to_the_ledger_and_decides_the_sub_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        run = run_of(store, "r1")
        app = on_run(tmp_path, monkeypatch, run)
        field(app.text_input, "Why").input("the money went back")
        press(app, "mark-met")
        (verdict,) = [v for v in run_of(store, "r1").of(Verdict) if v.by == "human:ann"]
        assert (verdict.sub_goal, verdict.passed, verdict.reason) == ("pay", True, "the money went back")
        assert field(app.text_input, "Why").value == ""
        assert "the money went back" in said(app)
        assert "decided by verdict:human:ann" in plain(app)


def test_a_second_word_replaces_the_first_and_two_who_differ_leave_it_unscored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        run = run_of(store, "r1")
        app = press(on_run(tmp_path, monkeypatch, run), "mark-met")
        press(press(app, "mark-unsure"), "mark-met")
        press(on_run(tmp_path, monkeypatch, run, who="bob"), "mark-not-met")
        app.run()
        assert "Reviewers disagree: human:ann say met, human:bob say not met" in said(app)
        app = show_tab(go_to(app, "review"), "review_tabs", "Disagreements")
        assert "1 sub-goal where one reviewer says met and another not" in said(app)


def test_a_verdict_can_be_withdrawn_and_the_history_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        run = run_of(store, "r1")
        app = on_run(tmp_path, monkeypatch, run)
        assert not has_button(app, "withdraw")
        press(app, "mark-met")
        assert "✓ Verdict saved: met" in plain(app)
        press(app, "withdraw")
        assert "✓ Verdict withdrawn" in plain(app)
        assert "decided by verdict:judge:m" in plain(app)
        assert not has_button(app, "withdraw")
        by_ann = [v for v in run_of(store, "r1").of(Verdict) if v.by == "human:ann"]
        assert [(v.passed, v.withdrawn) for v in by_ann] == [(True, False), (None, True)]
        press(app, "mark-not-met")
        assert "decided by verdict:human:ann" in plain(app)


def sign(app: AppTest, name: str) -> AppTest:
    """The name that the first save asks for, given."""
    field(app.text_input, "Your name").input(name)
    (confirm,) = [one for one in app.button if one.label == "Sign and save"]
    confirm.click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        ("mark-met", lambda store: [v.by for v in run_of(store, "r1").of(Verdict) if v.passed][1:]),
        ("status-2", lambda store: [one.updated_by for one in store.reviews.every().values()]),
    ],
)
def test_forms_are_open_and_the_first_save_asks_for_the_name_and_then_saves(
    first: str, kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        app = session(tmp_path, monkeypatch, "run")
        app.query_params["run"], app.query_params["sub_goal"] = run_of(store, "r1").digest, "pay"
        app.run()
        assert "Not signed yet" in plain(app)
        press(app, first)
        assert kept(store) == []  # nothing without an author
        sign(app, "ann")
        assert kept(store) == ["human:ann"]
        assert "Signed as ann" in plain(app)


def test_a_note_is_kept_in_the_ledger_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "<script>alert(1)</script> **not bold**\n:red[no]"
    with workspace(tmp_path) as store:
        app = named(session(tmp_path, monkeypatch, "review"))
        field(app.text_area, "Note").input(words)
        press(app, "add-note")
        (note,) = [n for run in store.read_runs()[0] for n in run.of(ReviewNote)]
        assert (note.author, note.text) == ("human:ann", words)
        assert words in [text.value for text in app.text]


def test_status_moves_the_progress_and_stays_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        app = named(session(tmp_path, monkeypatch, "review"))
        assert "0 of 4 reviewed" in str(app.get("progress")[0].proto.text)
        press(app, "status-3")
        assert "1 of 4 reviewed" in str(app.get("progress")[0].proto.text)
        (review,) = store.reviews.every().values()
        assert (review.status, review.updated_by, review.revision) == ("explained", "human:ann", 1)
        assert "status: new → explained" in said(show_tab(app, "review-people", True))


def test_j_and_k_go_through_the_cases_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace(tmp_path).close()
    app = named(session(tmp_path, monkeypatch, "review"))
    assert positions(app) == "**1 of 4**"
    assert positions(press(app, "step_J")) == "**2 of 4**"
    assert positions(press(app, "step_K")) == "**1 of 4**"
    assert app.button(key="step_K").disabled


def test_a_case_that_its_new_status_took_out_of_the_filters_stays_until_the_next_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path).close()
    app = named(session(tmp_path, monkeypatch, "review"))
    field = next(m for m in app.multiselect if m.label == "Status")
    field.select("new").run()
    press(app, "step_J")
    chosen = app.query_params["run"]
    press(app, "status-4")
    assert (app.query_params["run"], "outside the filters" in said(app)) == (chosen, True)
    assert positions(press(app, "step_J")) == "**2 of 3**"


def test_filters_stand_in_the_address_and_come_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path).close()
    app = session(tmp_path, monkeypatch, "review")
    next(m for m in app.multiselect if m.label == "Agent").select("agent 1").run()
    assert app.query_params["agent"] in ("agent 1", ["agent 1"])
    other = session(tmp_path, monkeypatch, "review")
    other.query_params["meta.shift"] = ["day"]
    other.session_state["link-open"] = other.session_state["review-people"] = True
    other.run()
    assert not other.exception
    assert "0 of 1 reviewed" in str(other.get("progress")[0].proto.text)
    assert "meta.shift=day" in next(
        code.value for code in other.code if "http" in code.value or "meta" in code.value
    )
    press(other, "filters-clear")
    assert "0 of 4 reviewed" in str(other.get("progress")[0].proto.text)


def test_a_metadata_key_is_called_as_it_is_and_apart_from_our_own_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_who_saves_after_another_is_warned_and_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path, runs=1) as store:
        app = named(session(tmp_path, monkeypatch, "review"))
        run = run_of(store, "r0")
        store.reviews.change([Review(run=run.digest, run_id="r0")], author="human:bob", status="fixed")
        press(app, "status-2")
        assert "human:bob changed the review of r0 in the meantime" in said(app).replace("\\", "").replace(
            "\u2060", ""
        )
        assert store.reviews.every()[run.digest].status == "fixed"
        press(app, "status-2")
        assert store.reviews.every()[run.digest].status == "in review"


def test_all_shown_are_set_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace(tmp_path) as store:
        app = named(session(tmp_path, monkeypatch, "review"))
        next(m for m in app.multiselect if m.label == "Agent").select("agent 1").run()
        app.selectbox(key="bulk-status").select("fixed").run()
        press(app, "bulk-set")
        assert sorted(r.run_id for r in store.reviews.every().values()) == ["r1", "r3"]
        assert {r.status for r in store.reviews.every().values()} == {"fixed"}


def test_assignee_and_tags_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace(tmp_path, runs=1) as store:
        app = show_tab(named(session(tmp_path, monkeypatch, "review")), "review-people", True)
        press(app, "assign-me")
        (review,) = store.reviews.every().values()
        assert review.assignee == "ann"
        app.multiselect(key=f"tags-{review.run[:16]}-1").set_value(["refund"]).run()
        assert not app.exception
        assert next(iter(store.reviews.every().values())).tags == ("refund",)


@pytest.mark.parametrize(
    "words", [["agent", "<b>x</b>"], ["meta.nothing", "x"], ["status", "gone"], ["run", "0" * 64]]
)
def test_whatever_the_address_says_the_page_is_drawn(
    words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path, runs=2).close()
    app = session(tmp_path, monkeypatch, "review")
    app.query_params[words[0]] = [words[1]]
    app.run()
    assert not app.exception
    assert "Which runs are still unexplained?" in said(app)


def test_the_agreement_tab_shows_every_two_reviewers_with_n_interval_and_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_by = {"ann": (1, 1, 0, 0), "bob": (1, 0, 0, 0), "cy": (1, 1, 1, 1), "dee": (1, 1, 1, 1)}
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", GRAPH)
        for i in range(4):
            run = a_run(f"r{i}", task=f"t{i}").call("look").finish(success=False)
            for name, told in said_by.items():
                run.verdict("pay", bool(told[i]), f"human:{name}")
            store.add(f"{i}.jsonl", run.ledger())
    app = show_tab(session(tmp_path, monkeypatch, "review"), "review_tabs", "Agreement")
    (table,) = [one.value for one in app.dataframe if "kappa" in one.value.columns]
    rows = {(row.a, row.b): row for row in table.itertuples()}
    assert len(rows) == 6
    pair = rows["human:ann", "human:bob"]
    assert (pair.n, pair.agreed, round(pair.kappa, 6)) == (4, 3, 0.5)
    assert pd.isna(pair.kappa_low)
    assert pair.kappa_low_reason
    none = rows["human:cy", "human:dee"]
    assert (none.agreement, none.kappa is pd.NA or none.kappa != none.kappa) == (1.0, True)
    assert "chance explains the agreement" in none.kappa_low_reason
    assert "κ of 1 is unscored" in said(app)
    assert "κ of 1 has no interval" in said(app)  # one who always says the same gives an interval
    names = {button.label for button in app.get("download_button")}
    assert {"⤓ Agreement by pair of reviewers (HTML)", "⤓ Agreement by pair of reviewers (CSV)"} <= names


def test_the_graph_chosen_on_annotate_is_no_filter_and_a_filter_by_graph_outlives_a_click(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        store.add("other.plan.yaml", GRAPH.replace(b"id: desk", b"id: other", 1).replace(b"t*", b"x*"))
        failed = a_run("x", agent="agent 0", task="x").call("look").finish(success=False)
        linking = a_run("both", agent="agent 1", task="x").finish(success=False)
        store.add("x.jsonl", failed.ledger() + linking.ledger())
    app = session(tmp_path, monkeypatch, "annotate")
    app.query_params["graph"] = "other"
    app.run()
    app.query_params.clear()  # as a click in the navigation does
    assert [field(go_to(app, "review").multiselect, "Graph").value] == [[]]
    app.query_params["graph"], app.query_params["agent"] = ["desk"], ["agent 0", "agent 1"]
    app.run()
    app.button(key="step_J").click().run()
    assert field(app.multiselect, "Graph").value == ["desk"]
    assert app.query_params["graph"] in ("desk", ["desk"])


def test_a_second_reader_sees_nothing_of_the_first_until_their_own_reading_is_saved_and_settles_it_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace(tmp_path) as store:
        run = run_of(store, "r1")
        met = Draft(Verdict, {"sub_goal": "pay", "passed": True, "by": "human:ann", "reason": "it was paid"})
        store.append_events(run, [met, note_draft("seen by ann", author="human:ann")])
        app = named(session(tmp_path, monkeypatch, "review"), "bob")
        button(app, "review-second").click().run()
        assert app.query_params["blind"] in ("1", ["1"])
        app.query_params["sub_goal"] = "pay"
        app.run()
        hidden = plain(app)
        assert "Second reading" in hidden
        assert "seen by ann" not in hidden
        assert "it was paid" not in hidden
        assert "decided by verdict:judge:m" in hidden  # scored without her, too
        assert not any("Pay" in words or "pay" in words for words in app.dataframe[0].value["case"])
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
