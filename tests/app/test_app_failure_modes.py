"""The Failure modes page and the guided round: what it counts and opens, and what is to be done next."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from builders import a_run, run_of
from sessions import component_data, go_to, said, sent, session
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from components.shared import frame
from untaken.analysis.failure_modes import (
    RUN,
    FailureMode,
    Taxonomy,
    assignment_draft,
    change_taxonomy,
    create_mode,
    note_draft,
    save_taxonomy,
)
from untaken.analysis.failure_modes.issue_file import ISSUES, adding, change_issues, setting
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueRule
from untaken.ledger import ModeAssignment, ReviewNote
from untaken.workspace import Workspace

HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$"


def workspace(folder: Path, *, read: bool = True) -> Workspace:
    """Two tasks, each with two failed runs (with a mode where `read`) and one success with a note."""
    store = Workspace(folder)
    save_taxonomy(Taxonomy(modes=[FailureMode(id="loop", name=HOSTILE)]), store.path / "failure_modes.yaml")
    for n in range(6):
        ok = n % 3 == 2
        run = a_run(f"r{n}", agent=f"agent {n % 2}", task=f"t{n // 3}", metadata={"version": f"1.{n // 3}"})
        run.call("look").observe(f"no order {n}", ok=False).finish(ok)
        if read and ok:
            run.add(ReviewNote, author="human:ann", text="fine")
        elif read:
            run.add(ModeAssignment, mode="loop", by="human:ann")
        store.add(f"{n}.jsonl", run.ledger())
    return store


def opened(folder: Path, patch: pytest.MonkeyPatch, **query: str) -> AppTest:
    return session(folder, patch, "failure_modes", **query)


def with_issue(store: Workspace) -> datetime:
    """Adds an issue of every run that failed, two days before the first began; gives when that was."""
    began = run_of(store, "r0").started.ts
    opened_at = IssueChange(status="open", by="human:ann", at=began - timedelta(days=2))
    issue = Issue(id="i", title="Again", rule=IssueRule(expr="!state.success"), history=[opened_at])
    change_issues(store.path / ISSUES, adding(issue))
    return began


def test_names_of_modes_are_never_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace(tmp_path)
    for view in ("modes", "read", "time", "issues"):
        app = opened(tmp_path, monkeypatch, view=view, mode="loop", group="agent 0")
        loose = [
            place
            for place, words in sent(app)
            if "<img src=x" in words and not place.startswith(("Arrow", "Selectbox", "SelectBox"))
        ]
        assert loose == []


def test_a_reopened_issue_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = with_issue(workspace(tmp_path))
    change_issues(tmp_path / ISSUES, setting("i", "fixed", by="human:bob", at=began - timedelta(days=1)))
    app = opened(tmp_path, monkeypatch, view="issues")
    table = next(table.value for table in app.dataframe if "first_seen" in table.value)
    assert table[["state", "since_fix"]].to_numpy().tolist() == [["⚠ reopened", "4 of 6"]]


def tasks(app: AppTest) -> list[str]:
    """The tasks of the runs in the queue, in its order."""
    found = component_data(app, "untaken_queue")
    assert found is not None
    return [row["run"].rpartition(" on ")[2] for row in found["rows"]]


def test_an_issue_has_an_address_that_lists_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_issue(workspace(tmp_path))
    app = opened(tmp_path, monkeypatch, view="issues", issue="i")
    runs = next(table.value for table in app.dataframe if "after_fix" in table.value)
    assert sorted(runs["run_id"]) == ["r0", "r1", "r3", "r4"]
    rates = next(
        table.value for table in app.dataframe if "high" in table.value and "title" not in table.value
    )
    assert list(rates["version"]) == ["all", "1.0", "1.1"]


Patch = pytest.MonkeyPatch
ANN = "human:ann"


@pytest.fixture
def store(tmp_path: Path) -> Workspace:
    """Three failed runs, nothing read."""
    store = Workspace(tmp_path)
    for n in range(3):
        store.add(f"{n}.jsonl", a_run(f"r{n}", task=f"t{n}").call("look").finish(success=False).ledger())
    return store


def keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button if (button.key or "").startswith("guide_")}


def test_it_is_offered_on_failure_modes_only_and_followed_on_review_and_run_too(
    store: Workspace, tmp_path: Path, monkeypatch: Patch
) -> None:
    app = session(tmp_path, monkeypatch, "review")
    assert keys(app) == set()
    go_to(app, "failure_modes")
    app.button(key="guide_start").click().run()
    assert "0 of 3 read" in said(app)
    app.button(key="guide_next").click().run()
    assert app.session_state["selected_run"] in {run.digest for run in store.read_runs()[0]}
    for page in ("run", "review"):
        go_to(app, page)
        assert {"guide_next", "guide_dismiss"} <= keys(app)


def test_every_step_shows_how_far_it_is_and_the_next_one_is_offered(store, tmp_path, monkeypatch) -> None:
    app = session(tmp_path, monkeypatch, "failure_modes")
    app.button(key="guide_start").click().run()
    assert app.button(key="guide_next").label == "Open the next run"
    for run in store.read_runs()[0]:
        store.append_events(run, [note_draft("paid twice", author=ANN)])
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
    assert "4 of 5 steps done" in " ".join(str(one.proto.text) for one in app.get("progress"))
    opened = IssueChange(status="open", by=ANN, at=run.started.ts)
    change_issues(tmp_path / ISSUES, adding(Issue(id="i", title="x", mode="paid-twice", history=[opened])))
    app.run()
    assert "One round done" in said(app)
    assert keys(app) == {"guide_dismiss"}


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
