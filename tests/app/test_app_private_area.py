"""A private area: what is uploaded to it is seen by one browser, until its owner shares or discards it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import desk
import pytest
from builders import a_run
from sessions import filled, go_to, said, sent, session
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from components.shared import frame, private_session
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
SECRET = "quiet-otter"
PAGES = ("overview", "review", "run", "data")


@pytest.fixture(autouse=True)
def areas(tmp_path: Path, monkeypatch: Patch) -> Iterator[None]:
    """The private areas of a server of its own."""
    (tmp_path / "areas").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "areas"))
    private_session.close_all()
    yield
    private_session.close_all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A shared workspace with a plan graph and a run."""
    return filled(tmp_path / "w", desk.careful(1), plan=desk.GRAPH)


def uploaded_privately(folder: Path, monkeypatch: Patch) -> AppTest:
    """A session that has uploaded a run of the agent `SECRET`, to look at it privately first."""
    app = session(folder, monkeypatch, "data")
    run = a_run(f"{SECRET}-1", agent=SECRET, task="refund-1", task_repeat=1)
    ledger = run.call("search", ok=True).finish(False).ledger()
    app.file_uploader[0].set_value((f"{SECRET}.jsonl", ledger, "application/jsonl")).run()
    (alone,) = [box for box in app.checkbox if box.label == "Look at it privately first"]
    alone.check().run()
    next(button for button in app.button if button.label == "Add 1 file").click().run()
    return app


def everything(app: AppTest) -> str:
    """All texts that the browser gets, those in tables too."""
    tables = (table.value.to_csv() for table in app.dataframe)
    return "\n".join([*(words for _, words in sent(app)), *tables])


def test_a_private_upload_is_scored_on_the_same_pages_and_nobody_else_sees_it(folder, monkeypatch) -> None:
    mine, other = uploaded_privately(folder, monkeypatch), session(folder, monkeypatch)
    token = str(mine.session_state[private_session.TOKEN])
    for page in PAGES:
        assert "Private area." in said(go_to(mine, page)), page
        assert SECRET in everything(mine), page
        assert "careful-1" not in everything(mine), page
        assert "Private area." not in said(go_to(other, page)), page
        assert SECRET not in everything(other), page
        assert not any(token in value for values in mine.query_params.values() for value in values)
    with Workspace(folder) as shared:
        assert [file.name for file in shared.files()] == ["a.plan.yaml", "careful-1.jsonl"]


def test_the_browser_that_keeps_the_token_comes_back_to_it_until_it_is_discarded(folder, monkeypatch) -> None:
    mine = uploaded_privately(folder, monkeypatch)
    kept = quote(json.dumps({"area": mine.session_state[private_session.TOKEN]}))
    monkeypatch.setattr(ContextProxy, "cookies", {frame.cookie(): kept})
    reloaded = session(folder, monkeypatch, "data")
    assert "Private area." in said(reloaded)
    assert SECRET in everything(reloaded)
    place = private_session._areas().folder
    assert [path for path in place.iterdir() if path.is_dir()]
    reloaded.button(key="private-discard").click().run()
    assert "Private area." not in said(reloaded)
    assert "careful-1.jsonl" in everything(go_to(reloaded, "data"))
    assert [path for path in place.iterdir() if path.is_dir()] == []
    assert "Private area." not in said(go_to(mine, "overview"))  # its other tab, too
    assert "Private area." not in said(session(folder, monkeypatch))


def test_sharing_makes_it_the_upload_that_everybody_sees(folder: Path, monkeypatch: Patch) -> None:
    mine = uploaded_privately(folder, monkeypatch)
    mine.button(key="private-share").click().run()
    assert "Private area." not in said(mine)
    assert "1 of 1 file added" in said(mine)
    other = session(folder, monkeypatch, "data")
    assert f"{SECRET}.jsonl" in everything(other)
    with Workspace(folder) as shared:
        assert {run.agent for run in shared.read_runs()[0]} == {"careful", SECRET}
