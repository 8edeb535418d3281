"""From an import without a graph to the first plan graph: offered, drafted, accepted, edited or left."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from builders import a_run
from sessions import go_to, said, session, show_tab
from streamlit.testing.v1 import AppTest

from components.annotate.session import CURRENT
from untaken.plans import PlanGraph
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def pressed(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def signed(app: AppTest) -> AppTest:
    app.text_input(key="reviewer_field").set_value("Ann").run()
    assert not app.exception
    return app


def saved(folder: Path) -> dict[str, PlanGraph]:
    with Workspace(folder) as store:
        ids = [file.graph_id for file in store.graphs() if file.graph_id]
        newest = {name: store.newest_version(name) for name in ids}
        return {name: store.graph_version(name, v.version) for name, v in newest.items() if v}


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    with Workspace(tmp_path) as store:
        desk.add_to(store, graph=None)
    return tmp_path


def drafting(folder: Path, monkeypatch: Patch, page: str = "overview") -> AppTest:
    app = session(folder, monkeypatch, page)
    app = pressed(app, "first_graph")
    return signed(go_to(app, "annotate"))


@pytest.mark.parametrize("page", ["overview", "run"])
def test_a_draft_is_accepted_with_one_click_and_scores_the_runs(imported, monkeypatch, page) -> None:
    app = drafting(imported, monkeypatch, page)
    assert "From **8 successful runs**" in said(app)
    meant = [run for run in desk.runs() if "refund-" in run.task_id and not run.integrity.broken]
    tasks = len({run.task_id for run in meant})
    assert f"it scores **{len(meant)} runs** of **{tasks} tasks**. 1 run would still have" in said(app)
    app = pressed(app, "suggest_accept")
    graph = saved(imported)["suggested"]
    assert graph.tasks == ["refund-*"]
    assert {node.id for node in graph.sub_goals} >= {"search", "pay"}
    assert graph.metadata.get("draft") is None
    app = go_to(app, "overview")
    assert not [one for one in app.button if one.key == "first_graph"]


@pytest.mark.parametrize(
    ("how", "told"), [("suggest_take", "unsaved changes"), ("suggest_leave", "No plan graph yet")]
)
def test_a_draft_can_be_edited_first_or_left(how: str, told: str, imported: Path, monkeypatch: Patch) -> None:
    assert told in said(pressed(drafting(imported, monkeypatch), how))
    assert saved(imported) == {}


@pytest.mark.parametrize("page", ["overview", "run"])
def test_where_every_run_failed_a_plan_is_written_for_a_task(tmp_path, monkeypatch, page) -> None:
    with Workspace(tmp_path) as store:
        run = a_run("lost", agent="lost", task="swap-[1]").call("look", ok=True).finish(False)
        store.add("lost.jsonl", run.ledger())
    app = session(tmp_path, monkeypatch, page)
    if page == "overview":
        assert app.button(key="first_graph").label == "Write a plan graph"
        assert "and none of these did" in said(app)
        app = go_to(pressed(app, "first_graph"), "annotate")
        assert "None of these does." in said(app)
        assert "Accept the draft" not in said(app)
    else:
        assert not [one for one in app.button if one.key == "first_graph"]  # it could not draft anything
    app = signed(go_to(pressed(app, "write_plan"), "annotate"))
    assert "New plan. Add what should have happened." in said(app).replace("\\", "")
    app = pressed(app, "annotate_save")
    (graph,) = saved(tmp_path).values()
    assert (graph.id, graph.tasks) == ("swap-[1]", ["swap-[[]1]"])
    assert len([one for one in app.button if one.key == "write_plan"]) == 0


def test_beside_another_graph_the_draft_applies_to_its_own_tasks_and_those_that_are_added(
    imported: Path, monkeypatch: Patch
) -> None:
    with Workspace(imported) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        run = a_run("new", agent="careful", task="swap-*").call("look", ok=True).finish(True)
        store.add("new.jsonl", run.ledger())
    app = drafting(imported, monkeypatch)
    app.selectbox(key="suggest_tasks").set_value(2).run()  # all tasks
    applies = next(one for one in app.multiselect if one.label == "Applies to tasks")
    assert applies.value == ["other", "swap-[*]"]
    applies.set_value(["other"]).run()
    app = pressed(app, "suggest_accept")
    assert saved(imported)["suggested"].tasks == ["other"]
    assert not app.error


def test_a_plan_of_one_run_is_edited_before_it_is_saved(tmp_path: Path, monkeypatch: Patch) -> None:
    run = a_run("r", task="fix").plan("Read the code", "Fix it").call("bash").finish(None)
    with Workspace(tmp_path) as store:
        store.add("runs.jsonl", run.ledger())
    app = drafting(tmp_path, monkeypatch)
    assert app.button(key="suggest_accept").disabled
    pressed(pressed(app, "suggest_take"), "annotate_save")
    assert saved(tmp_path)["suggested"].tasks == ["fix"]
    assert [node.id for node in saved(tmp_path)["suggested"].sub_goals] == ["Read the code", "Fix it"]


def test_a_draft_has_the_name_by_which_its_runs_call_their_plan(tmp_path: Path, monkeypatch: Patch) -> None:
    run = a_run("r", task="fix", graph="repairs").plan("Read the code", "Fix it").call("bash").finish(True)
    with Workspace(tmp_path) as store:
        store.add("runs.jsonl", run.ledger())
    app = signed(session(tmp_path, monkeypatch, "annotate"))
    app = pressed(app, "suggest_take")
    assert "No run in this workspace is scored" not in said(app)
    pressed(app, "annotate_save")
    assert list(saved(tmp_path)) == ["repairs"]


def test_a_read_is_in_the_draft_only_if_it_is_ticked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(tmp_path) as store:
        runs = [
            a_run(f"r{n}").call("find", ok=True, order="A1").call("pay", ok=True, amount=67).finish().ledger()
            for n in range(3)
        ]
        store.add("runs.jsonl", b"".join(runs))
    app = session(tmp_path, monkeypatch, "annotate")
    show_tab(app, "suggest_source", "calls")
    assert "pay" in said(app)
    (read,) = [box for box in app.checkbox if box.label.startswith("find")]
    assert read.value is False
    app.button(key="suggest_take").click().run()
    assert not app.exception
    (node,) = app.session_state[CURRENT].graph.sub_goals
    assert node.check.tool_call.arguments == {"amount": 67}
