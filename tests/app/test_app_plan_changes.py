"""Plan changes on the pages: what a run changed, who went another way, and what is supported."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import open_tab, said, session
from test_app_pages import HOSTILE, acted_upon

from untaken.ledger import Run
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
GRAPH = """schema: untaken.plan/1
id: desk
tasks: ["ticket-*"]
mutates: ["write_*", "*img*"]
sub_goals:
  - {id: refund, check: {tool_call: {name: write_refund}}}
"""


def a_desk(folder: Path, *, graph: str = GRAPH, tasks: int = 5, wrong: str = "write_other") -> dict[str, Run]:
    """In each task, two trials refund and succeed, two make another change and fail."""
    runs = {}
    with Workspace(folder) as store:
        store.add("desk.plan.yaml", graph.encode())
        for task in range(tasks):
            for trial in range(4):
                did = "write_refund" if trial % 2 else wrong
                about = {"task_repeat": trial, "metadata": {"seed": trial}}  # no run is a copy of another
                built = a_run(f"{task}-{trial}", agent="clerk", task=f"ticket-{task}", **about)
                built.call(did).finish(did == "write_refund")
                runs[f"{task}-{trial}"] = built.run()
                store.add(f"{task}-{trial}.jsonl", built.ledger())
    return runs


def run_page(folder: Path, monkeypatch: Patch, run: Run):
    return open_tab(session(folder, monkeypatch, "run", run=run.digest), "Plan changes")


def test_names_of_tools_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    app = run_page(tmp_path, monkeypatch, a_desk(tmp_path, wrong=HOSTILE)["0-0"])
    assert acted_upon(app) == set()
    assert "took an option that succeeded more often" in said(app)
