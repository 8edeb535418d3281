"""The Compare page, and plan changes: what comes first, and that hostile words stay words."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import desk
import pytest
from builders import a_run, run_of
from sessions import open_tab, said, sent, session
from test_app_pages import HOSTILE, acted_upon

from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def test_a_task_whose_runs_differ_at_a_sub_goal_comes_first(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for number in range(1, 5):  # more runs, of which two failed, and no sub-goal tells them apart
            run = a_run(f"same-{number}", agent=("careful", "lucky")[number % 2], task="refund-0")
            store.add(f"same-{number}.jsonl", run.say("Hello", "user").finish(number > 2).ledger())
        for run in (desk.careful(1), desk.lucky(1)):
            store.add(f"{run.run_id}.jsonl", run.ledger())
    picker = session(tmp_path, monkeypatch, "compare").selectbox(key="compare_task_picker")
    assert str(picker.options[picker.index or 0]).startswith("refund-1 · 2 runs")


def test_hostile_words_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        for name, ok in (("a", True), ("b", False)):
            run = a_run(f"{name}{HOSTILE}", agent=f"{name}{HOSTILE}", task=HOSTILE)
            run.select(f"{name}{HOSTILE}", "x", context=HOSTILE)
            run.call(HOSTILE, ok=ok, **{HOSTILE: f"{name}{HOSTILE}"}).call(f"{name}{HOSTILE}")
            store.add(f"{name}.jsonl", run.say(HOSTILE).observe(HOSTILE).finish(ok).ledger())
    app = session(tmp_path, monkeypatch, "compare")
    assert acted_upon(app) == set()
    assert any("onerror" in words for place, words in sent(app) if place == "Code.code_text")


CHANGES = """schema: untaken.plan/1
id: desk
tasks: ["ticket-*"]
mutates: ["write_*", "*img*"]
sub_goals:
  - {id: refund, check: {tool_call: {name: write_refund}}}
"""


def test_names_of_tools_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    """In each task, two trials refund and succeed, two make another change and fail."""
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", CHANGES.encode())
        for task, trial in product(range(5), range(4)):
            did = "write_refund" if trial % 2 else HOSTILE
            about = {"task_repeat": trial, "metadata": {"seed": trial}}  # no run is a copy of another
            run = a_run(f"{task}-{trial}", agent="clerk", task=f"ticket-{task}", **about)
            store.add(f"{task}-{trial}.jsonl", run.call(did).finish(did != HOSTILE).ledger())
        first = run_of(store, "0-0")
    app = open_tab(session(tmp_path, monkeypatch, "run", run=first.digest), "Plan changes")
    assert acted_upon(app) == set()
    assert "took an option that succeeded more often" in said(app)
