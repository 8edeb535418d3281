"""A page with its filters under a name: saved for everybody, opened as it was saved, deleted again."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from sessions import go_to, session
from streamlit.testing.v1 import AppTest

from untaken.store import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", b"".join(run.ledger() for run in desk.builders()))
    return tmp_path


def save(app: AppTest, name: str) -> AppTest:
    app.text_input(key="view_name").set_value(name).run()
    return app.button(key="view-save").click().run()


def views(app: AppTest) -> list[str]:
    return [button.label for button in app.sidebar.button if button.key in {f"view-{n}" for n in range(9)}]


def test_a_saved_view_opens_its_page_with_its_filters_for_somebody_else(
    folder: Path, monkeypatch: Patch
) -> None:
    app = session(folder, monkeypatch, "review")
    app.query_params["agent"] = ["lucky"]
    app.run()
    assert views(save(app, "  Lucky   runs ")) == ["Lucky runs"]
    other = session(folder, monkeypatch, "rankings")
    other.button(key="view-0").click().run()
    assert not other.exception
    assert [title.value for title in other.title] == ["Review"]
    assert other.query_params["agent"] in ("lucky", ["lucky"])
    assert [box.value for box in other.multiselect if box.label == "Agent"] == [["lucky"]]


def test_a_view_without_filters_drops_those_of_the_session(folder: Path, monkeypatch: Patch) -> None:
    app = save(session(folder, monkeypatch, "review"), "All")
    app.query_params["agent"] = ["lucky"]
    app.radio(key="rules_missing").set_value("drop").run()
    assert app.query_params["missing"] in ("drop", ["drop"])
    app.button(key="view-0").click().run()
    assert not app.exception
    assert {"agent", "missing"}.isdisjoint(app.query_params)
    assert app.radio(key="rules_missing").value == "fail"
    assert [box.value for box in app.multiselect if box.label == "Agent"] == [[]]


def test_a_view_can_be_deleted(folder: Path, monkeypatch: Patch) -> None:
    app = save(session(folder, monkeypatch, "data"), "Files")
    app.button(key="view-delete-0").click().run()
    assert views(app) == []
    assert views(go_to(app, "overview")) == []


def test_a_view_needs_a_name_and_a_hostile_one_is_only_words(folder: Path, monkeypatch: Patch) -> None:
    app = save(session(folder, monkeypatch), " ")
    assert "Enter a name" in app.sidebar.error[0].value
    app = save(app, ":red[x] [l](http://a.example)")
    assert len(views(app)) == 1
    assert "](" not in views(app)[0]
