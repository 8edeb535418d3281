"""The transcript on the Run page, and what a failed check expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import RunBuilder, a_run
from sessions import component_data, go_to, open_tab, session, show_tab, table
from streamlit.testing.v1 import AppTest
from test_app_pages import HOSTILE, acted_upon

from components.run import events
from untaken.scoring.transcript import reading
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
REFUND = {"tool_call": {"name": "refund", "arguments": {"amount": 5, "to": "card"}}}
GRAPH = {
    "schema": "untaken.plan/1",
    "id": "desk",
    "title": "Desk",
    "tasks": ["ticket-*"],
    "sub_goals": [
        {"id": "order", "title": "Look up order", "check": {"tool_call": {"name": "search"}}},
        {"id": "refund", "title": "Refund", "deps": ["order"], "check": REFUND},
    ],
}
TABS = ("Reviews", "Sub-goals", "Events", "Decision points", "Plan changes", "Progress", "Findings")


def wrong_amount() -> RunBuilder:
    run = a_run("wrong", agent="lost", task="ticket-1").say("Please refund me", "user")
    return run.call("search", ok=True).call("refund", ok=False, amount=7, to="card").finish(False)


def opened(folder: Path, monkeypatch: Patch, run: RunBuilder, **asked: str) -> AppTest:
    with Workspace.open_folder(folder) as store:
        store.add("run.jsonl", run.ledger())
        store.add("desk.plan.json", json.dumps(GRAPH).encode())
    return session(folder, monkeypatch, "run", run=run.run().digest, **asked)


def sent_transcript(app: AppTest) -> dict[str, Any] | None:
    """What the page sends to its transcript, where it draws one."""
    data = component_data(app, "untaken_transcript")
    return data and data | json.loads(data["items"])


def test_a_run_opens_on_its_transcript_with_its_sub_goals_and_what_a_failed_check_expected(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    app = opened(tmp_path, monkeypatch, wrong_amount(), sub_goal="refund")
    found = sent_transcript(app)
    assert [(one["kind"], one["title"] or one["text"]) for one in found["items"]] == [
        ("start", "lost on ticket-1"),
        ("message", "Please refund me"),
        ("call", "search"),
        ("call", "refund"),
        ("end", "failure"),
    ]
    marks = [(one["kind"], one["words"]) for item in found["items"] for one in item["marks"]]
    assert marks == [("completed", "Look up order"), ("attempted", "Refund")]
    assert [goal["words"] for goal in found["goals"]] == ["✓ Look up order", "✗ Refund"]
    assert "≠ **amount**" in [one.value for one in app.markdown]
    assert "expected: 5\nactual: 7" in [one.value for one in app.text]  # whole, on a screen of any width
    assert "✓ 1 field is as expected: to" in [one.value for one in app.caption]
    assert any("nearest call: event 4" in one.value for one in app.markdown)
    assert not any("time" in frame.value for frame in app.dataframe)  # only the open tab is drawn
    open_tab(app, "Events")
    assert sent_transcript(app) is not None  # beside the plan, with any tab open
    assert len(table(app, "Events of this run")) == 7
    beside = sent_transcript(go_to(app, "review"))
    assert [one["title"] for one in beside["items"] if one["kind"] == "call"] == ["search", "refund"]


@pytest.mark.parametrize("name", TABS)
def test_hostile_words_stay_words_in_every_tab(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    run = a_run(f"x{HOSTILE}", agent=HOSTILE, task=f"ticket-{HOSTILE}").plan(HOSTILE).say(HOSTILE)
    run.select(HOSTILE, "other").call(HOSTILE, ok=False, **{HOSTILE: HOSTILE}).finish(False, error=HOSTILE)
    app = opened(tmp_path, monkeypatch, run, sub_goal="refund")
    assert acted_upon(open_tab(app, name)) == set()


def test_a_broken_run_still_reads_as_a_conversation(tmp_path: Path, monkeypatch: Patch) -> None:
    lines = wrong_amount().ledger().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"search", b"serach")
    with Workspace.open_folder(tmp_path) as store:
        store.add("run.jsonl", b"".join(lines))
    app = session(tmp_path, monkeypatch, "run")
    found = sent_transcript(app)
    assert found["goals"] == []


def test_a_run_that_is_too_long_for_a_browser_is_shown_in_parts_and_the_page_says_so(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(reading, "ITEMS", 3)
    monkeypatch.setattr(events, "MOST_EVENTS", 4)
    run = a_run("in parts", task="ticket-1").say("hello", "user").call("search", ok=True)
    app = opened(tmp_path, monkeypatch, run.call("refund", ok=False).finish(False))
    (parts,) = [one for one in app.selectbox if "in 2 parts" in one.label]
    assert parts.options == ["Events 0 to 3", "Events 4 to 6"]
    for name, kinds in ((0, ["start", "message", "call"]), (1, ["call", "end"])):
        parts.set_value(name).run()
        found = sent_transcript(app)
        assert [one["kind"] for one in found["items"]] == kinds
    open_tab(app, "Events")
    assert "The first 4 of 7 events." in [one.value for one in app.caption]
    assert len(table(app, "Events of this run")) == 4


def test_compare_lays_two_transcripts_side_by_side_and_marks_what_differs(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    right = a_run("right", agent="sure", task="ticket-1").say("Please refund me", "user")
    right.call("search", ok=True).call("refund", ok=True, amount=5, to="card").finish()
    with Workspace.open_folder(tmp_path) as store:
        store.add("desk.plan.json", json.dumps(GRAPH).encode())
        for run in (wrong_amount(), right):
            store.add(f"{run.run_id}.jsonl", run.ledger())
    app = session(tmp_path, monkeypatch, "compare")
    assert sent_transcript(app) is None
    found = sent_transcript(show_tab(app, "compare_tabs", "Transcripts"))
    same = [found["items"][one["left"]] for one in found["lines"] if one["aligned"] and not one["differs"]]
    assert [one["text"] or one["title"] for one in same] == ["Please refund me", "search"]
    assert len(found["heads"]) == 2
