"""The Run page beside a failed sub-goal: the tool's words, and what its agent was shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import RunBuilder, a_run
from sessions import said, session

from untaken.workspace import Workspace

GRAPH = {
    "schema": "untaken.plan/1",
    "id": "desk",
    "tasks": ["trip"],
    "sub_goals": [
        {"id": "book", "check": {"tool_call": {"name": "book", "arguments": {"flight": "HAT276"}}}},
        {"id": "pay", "check": {"expr": "state.paid"}, "rules": [{"tool": "pay"}]},
    ],
}


def a_trip(run_id: str, currency: str, *, ok: bool) -> RunBuilder:
    run = a_run(run_id, task="trip").say("A flight to SEA, HAT201 is fine", "user")
    if ok:
        run.call("search", to="SEA").observe("HAT276 at nine", ok=True, call_id="c1")
    run.call("book", flight="HAT276" if ok else "HAT201", ok=True)
    run.call("pay", currency=currency).observe(
        "done" if ok else "<b>window closed</b>", ok=ok, call_id="c3" if ok else "c2"
    )
    return run.state(paid=ok).finish(ok)


@pytest.fixture
def failed(tmp_path: Path) -> str:
    runs = [a_trip("good", "EUR", ok=True), a_trip("bad", "CHF", ok=False)]
    with Workspace(tmp_path) as store:
        store.add("desk.plan.json", json.dumps(GRAPH).encode())
        store.add("runs.jsonl", b"".join(run.ledger() for run in runs))
    return runs[1].head.sha256


def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digest: str, sub_goal: str) -> str:
    app = session(tmp_path, monkeypatch, "run", run=digest, sub_goal=sub_goal)
    return "\n".join([said(app), *(text.value for text in app.text)])


def test_an_unused_value_is_traced_and_another_run_named(
    failed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = shown(tmp_path, monkeypatch, failed, "book")
    assert "Was it there to know?" in page
    assert 'flight "HAT276" was never shown to this run; "HAT201" was used, shown in event 1 (user)' in page
    assert 'Run good was shown it in event 3 by search {"to":"SEA"}' in page


def test_the_tools_words_and_what_no_successful_call_had(
    failed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = shown(tmp_path, monkeypatch, failed, "pay")
    assert "Pay failed: “<b>window closed</b>” (event 4" in page
    assert "paid: false, expected true" in page
    assert 'No successful call of pay in other runs (1 call) had currency "CHF"' in page
