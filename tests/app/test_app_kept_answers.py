"""The first page of a server that is started again comes from kept answers, and says what it said before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from sessions import go_to, said, session, show_tab
from streamlit.testing.v1 import AppTest

from components.shared import evaluating
from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.counterfactual.evaluate import Evaluations
from untaken.ledger import Draft, ReviewNote, Verdict
from untaken.views import first_page
from untaken.views.overview import Overview, overview
from untaken.workspace import Workspace
from untaken.workspace.derived import FOLDER


@pytest.fixture(autouse=True)
def server_started_anew() -> None:
    st.cache_resource.clear()
    st.cache_data.clear()


def started_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """A session of a server that holds nothing of this workspace in memory."""
    evaluating.keep_made().join()
    st.cache_resource.clear()
    st.cache_data.clear()
    return session(folder, monkeypatch)


def shown(app: AppTest) -> tuple[str, list[object]]:
    """All that the page says, and its tables."""
    return said(app), [table.value.to_dict("split") for table in app.dataframe]


def was_read(folder: Path) -> bool:
    """Whether this server has read a ledger of the workspace."""
    return evaluating.held(str(folder)).is_read


def test_a_server_started_again_shows_the_same_first_page_and_reads_no_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(session(folder, monkeypatch))
    assert was_read(folder)
    app = started_again(folder, monkeypatch)
    assert shown(app) == before
    assert not was_read(folder)
    go_to(app, "run")
    assert was_read(folder), "a page that needs the runs reads them"


def test_a_visit_keeps_all_that_a_server_needs_to_show_the_first_page_before_it_reads_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(folder, monkeypatch)
    evaluating.keep_made().join()
    with Workspace(folder) as store:
        assert evaluating.first_page_is_kept(store)


def test_under_another_rule_runs_are_read_once_and_its_answers_kept_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(folder, monkeypatch)
    app = started_again(folder, monkeypatch)
    app.sidebar.radio(key="rules_missing").set_value("drop").run()
    assert was_read(folder)
    before = shown(app)
    app = started_again(folder, monkeypatch)
    app.sidebar.radio(key="rules_missing").set_value("drop").run()
    assert not was_read(folder)
    assert shown(app) == before


def test_a_verdict_makes_kept_answers_stale(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(session(folder, monkeypatch))
    with Workspace(folder) as store:
        for run in store.read_runs()[0]:
            if not run.integrity.broken:
                judged = {"sub_goal": "polite", "passed": False, "by": "human:zoe"}
                store.append_events(run, [Draft(Verdict, judged)])
    app = started_again(folder, monkeypatch)
    assert was_read(folder)
    assert "human:zoe" in app.sidebar.multiselect(key="rules_verdicts").options
    assert shown(app) != before


def test_a_ledger_changed_by_hand_is_read_and_shown_as_broken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "broken" not in said(session(folder, monkeypatch))
    with Workspace(folder) as store:
        path = store.ledgers()[0].path
    data = bytearray(path.read_bytes())
    data[data.index(b'"search"') + 1] ^= 1
    path.write_bytes(data)
    app = started_again(folder, monkeypatch)
    assert was_read(folder)
    assert "1 broken ledger, excluded" in said(app)


def test_damaged_answers_are_worked_out_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(session(folder, monkeypatch))
    evaluating.keep_made().join()
    for file in (folder / FOLDER).glob("answer.*"):
        file.write_bytes(file.read_bytes()[:-1])
    assert shown(started_again(folder, monkeypatch)) == before
    assert was_read(folder)
    assert shown(started_again(folder, monkeypatch)) == before
    assert not was_read(folder), "they were kept again"


def test_without_the_folder_nothing_is_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(session(folder, monkeypatch))
    evaluating.keep_made().join()
    for file in (folder / FOLDER).iterdir():
        file.unlink()
    assert shown(started_again(folder, monkeypatch)) == before


def test_nothing_is_kept_of_what_nobody_opens_again(folder: Path) -> None:
    with Workspace(folder) as store:
        workspace = WorkspaceCorpus(keeps=False)
        assert workspace.state(store) is None
        assert workspace.read(store).state is None


def test_a_server_started_again_shows_decisions_without_evaluating_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = "without-open"  # no alternative has a history here
    before = shown(show_tab(go_to(session(folder, monkeypatch), "decisions"), fold, True))
    assert before[1]
    app = started_again(folder, monkeypatch)
    assert shown(show_tab(go_to(app, "decisions"), fold, True)) == before
    assert not was_read(folder)


def test_a_note_works_nothing_out_again_and_a_verdict_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(folder, monkeypatch)
    calls = []

    def counted(*given: Any, **named: Any) -> Overview:
        calls.append(given)
        return overview(*given, **named)

    monkeypatch.setattr(first_page, "overview", counted)
    app = session(folder, monkeypatch)
    assert not calls
    with Workspace(folder) as store:
        run = next(run for run in store.read_runs()[0] if not run.integrity.broken)
        store.append_events(run, [Draft(ReviewNote, {"author": "human:zoe", "text": "late"})])
        app.run()
        assert not calls
        judged = {"sub_goal": "polite", "passed": False, "by": "human:zoe"}
        store.append_events(run, [Draft(Verdict, judged)])
    app.run()
    assert calls


def test_a_server_started_again_shows_the_signals_that_wait_without_evaluating_a_decision(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(go_to(session(folder, monkeypatch), "memory"))
    app = started_again(folder, monkeypatch)
    asked: list[str] = []
    monkeypatch.setattr(Evaluations, "signals", lambda _, digest: asked.append(digest))
    assert shown(go_to(app, "memory")) == before
    assert not asked
