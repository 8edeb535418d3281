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


def test_what_the_overview_shows_first_is_in_its_address(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch)
    assert app.segmented_control(key="fix_first_order").value == "failed"
    app.selectbox(key="fix_first_agent").select("bob").run()
    app.segmented_control(key="fix_first_order").set_value("gain").run()
    chosen = {"fix_agent": ["bob"], "fix_by": ["gain"]}
    assert {name: held(app, name) for name in chosen} == chosen

    theirs = session(folder, monkeypatch, **chosen)
    assert theirs.selectbox(key="fix_first_agent").value == "bob"
    assert theirs.segmented_control(key="fix_first_order").value == "gain"

    go_to(app, "data").query_params.clear()  # as a click in the navigation does
    app = go_to(app, "overview")
    assert app.selectbox(key="fix_first_agent").value == "bob"
    assert {name: held(app, name) for name in chosen} == chosen
    app.selectbox(key="fix_first_agent").set_value(None).run()
    assert held(app, "fix_agent") == []


def test_the_plan_graph_whose_sub_goals_are_shown_is_in_the_address(folder: Path, monkeypatch: Patch) -> None:
    app = show_tab(session(folder, monkeypatch, "rankings"), "rankings_tabs", "Sub-goals")
    app.selectbox(key="missed_graph").select("desk3").run()
    assert held(app, "missed") == ["desk3"]


def test_the_filters_of_decisions_are_in_its_address(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch, "decisions", view="skills")
    app.multiselect(key="decisions-agent").set_value(["bob"]).run()
    app.segmented_control(key="measure").set_value("Delta").run()
    assert (held(app, "agent"), held(app, "measure")) == (["bob"], ["Delta"])
    theirs = session(
        folder, monkeypatch, "decisions", view="skills", agent=["bob", "nobody"], measure="Delta"
    )
    assert theirs.multiselect(key="decisions-agent").value == ["bob"]
    assert theirs.segmented_control(key="measure").value == "Delta"
    assert [one.value for one in theirs.metric] == [one.value for one in app.metric]


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
