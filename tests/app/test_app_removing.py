"""What was removed from the workspace, on the Data page."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from sessions import said, session

from untaken.store import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of two files, one of them removed."""
    with Workspace(tmp_path / "w") as store:
        store.add("careful.jsonl", desk.careful(1).ledger())
        store.remove(store.add("lucky.jsonl", desk.lucky(1).ledger()).digest)
    return tmp_path / "w"


def test_a_removed_file_is_in_no_figure_and_is_brought_back_with_a_button(
    folder: Path, monkeypatch: Patch
) -> None:
    app = session(folder, monkeypatch, "data")
    assert "1 files · 1 runs" in said(app)
    assert app.expander[0].label == "Removed: 1"
    app.button(key="restore").click().run()
    assert not app.exception
    assert "2 files · 2 runs" in said(app)
    assert not [box for box in app.expander if box.label.startswith("Removed")]
    with Workspace(folder) as store:
        assert [entry.code for entry in store.audit_log()] == ["file-removed", "file-restored"]


def test_the_last_file_can_be_brought_back_too(folder: Path, monkeypatch: Patch) -> None:
    with Workspace(folder) as store:
        store.remove(store.files()[0].digest)
    app = session(folder, monkeypatch, "data")
    assert "Nothing here yet" in said(app)
    app.button(key="restore").click().run()
    assert "1 files · 1 runs" in said(app)


def test_a_damaged_database_is_said_in_words_on_every_page(folder: Path, monkeypatch: Patch) -> None:
    database = folder / "untaken.sqlite3"
    database.write_bytes(database.read_bytes()[:8192] + b"\xff" * 60_000)
    for page in ("overview", "data", "review"):
        app = session(folder, monkeypatch, page)
        assert not app.exception
        assert any("database is damaged" in error.value and "doctor" in error.value for error in app.error)
