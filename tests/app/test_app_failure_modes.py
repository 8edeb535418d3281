"""The Failure modes page: what it counts and opens, and what it says before there is anything to count."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import a_run
from sessions import said, sent, session
from streamlit.testing.v1 import AppTest

from untaken.analysis.failure_modes import FailureMode, Taxonomy, save_taxonomy
from untaken.analysis.failure_modes.issue_file import ISSUES, adding, change_issues, kept_issues, setting
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueRule
from untaken.analysis.failure_modes.reading_order import random_order
from untaken.ledger import ModeAssignment, ReviewNote, Run
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
    app = session(folder, patch, "failure_modes")
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def plain(app: AppTest) -> str:
    return said(app).replace("\\", "").replace("\u2060", "")


def run_of(store: Workspace, run_id: str) -> Run:
    return next(run for run in store.read_runs()[0] if run.run_id == run_id)


def with_issue(store: Workspace) -> datetime:
    """Adds an issue of every run that failed, two days before the first began; gives when that was."""
    began = run_of(store, "r0").started.ts
    opened_at = IssueChange(status="open", by="human:ann", at=began - timedelta(days=2))
    issue = Issue(id="i", title="Again", rule=IssueRule(expr="!state.success"), history=[opened_at])
    change_issues(store.path / ISSUES, adding(issue))
    return began


def add_issue(app: AppTest, title: str, rule: str) -> None:
    app.text_input(key="reviewer_field").input("ann").run()
    app.text_input(key="issue-title").input(title)
    app.text_area(key="issue-expr").input(rule)
    next(one for one in app.button if one.label == "Add issue").click().run()
    assert not app.exception


def button(app: AppTest, key: str) -> Any:
    (found,) = [one for one in app.button if one.key == key]
    return found


def test_an_empty_workspace_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Workspace(tmp_path)
    assert "Upload run ledgers" in plain(opened(tmp_path, monkeypatch))


def test_without_a_run_read_every_view_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path, read=False)
    assert "No run has been read yet" in plain(opened(tmp_path, monkeypatch))
    assert "No failure mode assigned yet" in plain(opened(tmp_path, monkeypatch, view="read"))
    assert "No run has been read yet" in plain(opened(tmp_path, monkeypatch, view="time"))
    assert "No issues yet" in plain(opened(tmp_path, monkeypatch, view="issues"))


def test_modes_are_counted_over_failed_runs_that_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path)
    app = opened(tmp_path, monkeypatch, by="version")
    assert "6 of 6 runs read · 4 of them failed · 1 failure mode seen" in plain(app)
    for folded in ("mode-rates-open", "mode-contrast-table-open"):
        app.session_state[folded] = True
    app.run()
    rates = next(table.value for table in app.dataframe if "rate" in table.value)
    assert rates[["group", "runs", "n"]].to_numpy().tolist() == [["all", 4, 4], ["1.0", 2, 2], ["1.1", 2, 2]]
    contrast = next(table.value for table in app.dataframe if "difference" in table.value)
    assert contrast[["in_failed", "in_successes", "difference"]].to_numpy().tolist() == [[4, 0, 1.0]]


def test_an_address_with_mode_and_group_lists_the_runs_behind_the_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path)
    app = opened(tmp_path, monkeypatch, by="task", mode="loop", group="t1")
    runs = next(table.value for table in app.dataframe if "run_id" in table.value)
    assert list(runs["run_id"]) == ["r3", "r4"]


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


def test_the_random_draw_opens_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = workspace(tmp_path, read=False)
    app = opened(tmp_path, monkeypatch, view="read")
    button(app, "random-run").click().run()
    assert not app.exception
    assert app.session_state["selected_run"] in {run.digest for run in store.read_runs()[0]}


def test_an_issue_is_added_and_called_fixed_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path)
    app = opened(tmp_path, monkeypatch, view="issues")
    add_issue(app, "Orders are not found", '"look" in state.failed_tools')
    (issue,) = kept_issues(tmp_path).issues
    assert (issue.id, issue.rule.expr, issue.last.by) == (
        "orders-are-not-found",
        '"look" in state.failed_tools',
        "human:ann",
    )
    table = next(table.value for table in app.dataframe if "first_seen" in table.value)
    assert table[["matches", "runs"]].to_numpy().tolist() == [[6, 6]]


def test_a_rule_that_cannot_be_read_is_refused_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path)
    app = opened(tmp_path, monkeypatch, view="issues")
    add_issue(app, "Python", "state.success is True")
    assert "Expressions are CEL, not Python" in plain(app)
    assert kept_issues(tmp_path).issues == []


def test_a_reopened_issue_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = with_issue(workspace(tmp_path))
    change_issues(tmp_path / ISSUES, setting("i", "fixed", by="human:bob", at=began - timedelta(days=1)))
    app = opened(tmp_path, monkeypatch, view="issues")
    table = next(table.value for table in app.dataframe if "first_seen" in table.value)
    assert table[["state", "since_fix"]].to_numpy().tolist() == [["⚠ reopened", "4 of 6"]]


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
    usual = next(table.value for table in app.dataframe if "case" in table.value)
    assert [run.rpartition(" on ")[2] for run in usual["case"]] == ["t0", "t1", "t2", "t3", "t4"]
    app.query_params["order"] = "teaches"
    app.run()
    assert not app.exception
    taught = next(table.value for table in app.dataframe if "case" in table.value)
    assert [run.rpartition(" on ")[2] for run in taught["case"]] == ["t2", "t0", "t1", "t3", "t4"]


def test_the_random_run_of_the_review_page_opens_the_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = workspace(tmp_path, read=False)
    app = session(tmp_path, monkeypatch, "review")
    button(app, "review-random").click().run()
    assert not app.exception
    runs = [run.digest for run in store.read_runs()[0]]
    assert app.session_state["selected_run"] == random_order(runs)[0]


def test_an_issue_has_an_address_that_lists_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_issue(workspace(tmp_path))
    app = opened(tmp_path, monkeypatch, view="issues", issue="i")
    runs = next(table.value for table in app.dataframe if "after_fix" in table.value)
    assert sorted(runs["run_id"]) == ["r0", "r1", "r3", "r4"]
    rates = next(
        table.value for table in app.dataframe if "high" in table.value and "title" not in table.value
    )
    assert list(rates["version"]) == ["all", "1.0", "1.1"]
