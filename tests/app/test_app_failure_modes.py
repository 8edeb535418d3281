"""The Failure modes page: what it counts and opens, and what it says before there is anything to count."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import a_run, run_of
from sessions import component_data, sent, session
from streamlit.testing.v1 import AppTest

from untaken.analysis.failure_modes import FailureMode, Taxonomy, save_taxonomy
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


def button(app: AppTest, key: str) -> Any:
    (found,) = [one for one in app.button if one.key == key]
    return found


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


def test_the_review_queue_puts_one_run_of_each_unseen_way_to_fail_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Workspace(tmp_path)
    for n, error in enumerate(("a", "a", "b", "b", "b")):
        run = (
            a_run(f"r{n}", task=f"t{n}")
            .call("look")
            .observe(f"error {error}", ok=False)
            .finish(success=False)
        )
        store.add(f"{n}.jsonl", run.ledger())
    app = session(tmp_path, monkeypatch, "review")
    assert tasks(app) == ["t0", "t1", "t2", "t3", "t4"]
    app.query_params["order"] = "teaches"
    app.run()
    assert not app.exception
    assert tasks(app) == ["t2", "t0", "t1", "t3", "t4"]


def test_an_issue_has_an_address_that_lists_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_issue(workspace(tmp_path))
    app = opened(tmp_path, monkeypatch, view="issues", issue="i")
    runs = next(table.value for table in app.dataframe if "after_fix" in table.value)
    assert sorted(runs["run_id"]) == ["r0", "r1", "r3", "r4"]
    rates = next(
        table.value for table in app.dataframe if "high" in table.value and "title" not in table.value
    )
    assert list(rates["version"]) == ["all", "1.0", "1.1"]
