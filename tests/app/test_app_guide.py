"""The guided round of error analysis: live progress over three pages, dismissed and remembered."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from builders import a_run
from sessions import go_to, said, session
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from components.shared import frame
from untaken.analysis.failure_modes import RUN, assignment_draft, change_taxonomy, create_mode, note_draft
from untaken.analysis.failure_modes.issue_file import ISSUES, adding, change_issues
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange
from untaken.ledger import Run
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
ANN = "human:ann"


@pytest.fixture
def store(tmp_path: Path) -> Workspace:
    """Three failed runs, nothing read."""
    store = Workspace(tmp_path)
    for n in range(3):
        store.add(f"{n}.jsonl", a_run(f"r{n}", task=f"t{n}").call("look").finish(success=False).ledger())
    return store


def read(store: Workspace, *, mode: str = "") -> None:
    """Ann writes a note on every run, and sees a mode there."""
    for run in store.read_runs()[0]:
        drafts = [note_draft("paid twice", author=ANN)]
        store.append_events(run, drafts + ([assignment_draft(mode, by=ANN, place=RUN)] if mode else []))


def keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button if (button.key or "").startswith("guide_")}


def digests(store: Workspace) -> set[str]:
    return {run.digest for run in store.read_runs()[0]}


def test_it_is_offered_on_failure_modes_only_and_followed_on_review_and_run_too(
    store: Workspace, tmp_path: Path, monkeypatch: Patch
) -> None:
    app = session(tmp_path, monkeypatch, "review")
    assert keys(app) == set()
    go_to(app, "failure_modes")
    app.button(key="guide_start").click().run()
    assert "0 of 3 read" in said(app)
    app.button(key="guide_next").click().run()
    assert app.session_state["selected_run"] in digests(store)
    for page in ("run", "review"):
        go_to(app, page)
        assert {"guide_next", "guide_dismiss"} <= keys(app)


def test_every_step_shows_how_far_it_is_and_the_next_one_is_offered(
    store: Workspace, tmp_path: Path, monkeypatch: Patch
) -> None:
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.button(key="guide_start").click().run()
    assert app.button(key="guide_next").label == "Open the next run"
    read(store)
    app.run()
    assert "3 of 3 runs with a note" in said(app)
    assert "0 of 3 notes have a mode" in said(app)
    assert app.button(key="guide_next").label == "Open a note without a mode"
    change_taxonomy(store.path, lambda known: create_mode(known, "Paid twice", by=ANN)[0])
    for run in store.read_runs()[0]:
        store.append_events(run, [assignment_draft("paid-twice", by=ANN, place=RUN)])
    app.run()
    assert "3 of 3 notes have a mode" in said(app)
    app.button(key="guide_next").click().run()
    assert "4 of 5 steps done" in progress(app)
    opened = IssueChange(status="open", by=ANN, at=an_instant(store))
    change_issues(tmp_path / ISSUES, adding(Issue(id="i", title="x", mode="paid-twice", history=[opened])))
    app.run()
    assert not app.exception
    assert "One round done" in said(app)
    assert keys(app) == {"guide_dismiss"}


def progress(app: AppTest) -> str:
    return " ".join(str(one.proto.text) for one in app.get("progress"))


def an_instant(store: Workspace) -> object:
    run: Run = store.read_runs()[0][0]
    return run.started.ts


def test_dismissed_it_stays_away_until_it_is_asked_for_and_the_browser_remembers(
    store: Workspace, tmp_path: Path, monkeypatch: Patch
) -> None:
    assert store.read_runs()[0]
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.button(key="guide_dismiss").click().run()
    assert keys(app) == {"guide_start"}
    monkeypatch.setattr(ContextProxy, "cookies", {frame.cookie(): quote(json.dumps({"guide": "off"}))})
    fresh = session(tmp_path, monkeypatch, "failure_modes")
    assert keys(fresh) == {"guide_start"}
    fresh.button(key="guide_start").click().run()
    assert "guide_next" in keys(fresh)
