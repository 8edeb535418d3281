"""Choices on a page are in its address: a reload, a recipient and a click elsewhere lose none."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import go_to, session, show_tab
from streamlit.testing.v1 import AppTest

from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
GRAPH = """schema: untaken.plan/1
id: desk{n}
tasks: [t{n}]
sub_goals:
- {{id: look, title: Look it up, check: {{tool_call: {{name: look}}}}}}
- {{id: pay, title: Pay back, deps: [look], check: {{tool_call: {{name: pay}}}}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents that never pay, over eight tasks, each with a plan graph of its own."""
    at = tmp_path_factory.mktemp("options")
    with Workspace(at) as store:
        for n in range(8):
            store.add(f"{n}.plan.yaml", GRAPH.format(n=n).encode())
            for agent in ("ann", "bob"):
                run = a_run(f"{agent}{n}", agent=agent, task=f"t{n}")
                run.select("a", "b", context="c").select("b", "a", context="c").call("look")
                store.add(f"{agent}{n}.jsonl", run.finish(success=agent == "ann").ledger())
    return at


def held(app: AppTest, name: str) -> list[str]:
    value = app.query_params.get(name, [])
    return value if isinstance(value, list) else [value]


def test_the_plan_graph_whose_sub_goals_are_shown_is_in_the_address(folder: Path, monkeypatch: Patch) -> None:
    app = show_tab(session(folder, monkeypatch, "rankings"), "rankings_tabs", "Sub-goals")
    app.selectbox(key="missed_graph").select("desk3").run()
    assert held(app, "missed") == ["desk3"]


@pytest.mark.parametrize(
    ("page", "key", "tab"), [("run", "run_tabs", "Events"), ("rankings", "rankings_tabs", "Standings")]
)
def test_the_open_tab_is_in_the_address(
    folder: Path, monkeypatch: Patch, page: str, key: str, tab: str
) -> None:
    app = show_tab(session(folder, monkeypatch, page), key, tab)
    assert held(app, "tab") == [tab]
    theirs = session(folder, monkeypatch, "data")
    theirs.query_params["tab"] = tab
    theirs = go_to(theirs, page)
    assert theirs.session_state[key] == tab
    show_tab(theirs, key, {"run": "Reviews", "rankings": "Who is ahead?"}[page])
    assert held(theirs, "tab") == []
