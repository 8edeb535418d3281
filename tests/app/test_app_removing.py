"""What was removed from the workspace, on the Data page."""

from __future__ import annotations

from pathlib import Path

import desk
import msgspec
import pytest
from sessions import said, session

from untaken.workspace import Workspace
from untaken.workspace.adding_many import KeptTrace

Patch = pytest.MonkeyPatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of two files, one of them removed."""
    with Workspace(tmp_path / "w") as store:
        store.add("careful.jsonl", desk.careful(1).ledger())
        store.remove(store.add("lucky.jsonl", desk.lucky(1).ledger()).digest)
    return tmp_path / "w"


def test_a_removed_file_is_in_no_figure_and_is_restored_with_a_button(
    folder: Path, monkeypatch: Patch
) -> None:
    app = session(folder, monkeypatch, "data")
    assert "1 file · 1 run" in said(app)
    assert "Removed: 1" in [box.label for box in app.expander]
    app.button(key="restore").click().run()
    assert not app.exception
    assert "2 files · 2 runs" in said(app)
    assert not [box for box in app.expander if box.label.startswith("Removed")]
    with Workspace(folder) as store:
        assert [entry.code for entry in store.audit_log()] == ["file-removed", "file-restored"]


def test_the_last_file_can_be_restored_too(folder: Path, monkeypatch: Patch) -> None:
    with Workspace(folder) as store:
        store.remove(store.files()[0].digest)
    app = session(folder, monkeypatch, "data")
    assert "No files yet" in said(app)
    app.button(key="restore").click().run()
    assert "1 file · 1 run" in said(app)


def test_a_damaged_database_is_said_in_words_on_every_page(folder: Path, monkeypatch: Patch) -> None:
    database = folder / "untaken.sqlite3"
    database.write_bytes(database.read_bytes()[:8192] + b"\xff" * 60_000)
    for page in ("overview", "data", "review"):
        app = session(folder, monkeypatch, page)
        assert not app.exception
        assert any("database is damaged" in error.value and "doctor" in error.value for error in app.error)


def test_imported_events_count_once_somebody_confirms_them(tmp_path: Path, monkeypatch: Patch) -> None:
    run = desk.careful(1)
    with Workspace(tmp_path / "w") as store:
        store.add("a.jsonl", run.ledger())
        run.verdict("intent", True, by="human:boss")
        heads = msgspec.json.encode({run.run_id: run.head})
        store.add("b.jsonl", run.ledger(), heads=heads)
    app = session(tmp_path / "w", monkeypatch, "data")
    assert "human:boss" in said(app)
    key = next(button.key for button in app.button if (button.key or "").startswith("confirm-"))
    assert app.button(key=key).disabled
    app.text_input(key="confirm_author").set_value("ann").run()
    app.button(key=key).click().run()
    assert not app.exception
    with Workspace(tmp_path / "w") as store:
        assert store.heads()[run.run_id] == run.head
        (line,) = [entry for entry in store.audit_log() if entry.code == "run-extended"]
        assert line.message.startswith("ann confirmed 1 VERDICT signed human:boss")


def test_the_loss_of_a_trace_that_is_converted_again_is_there_at_once(
    folder: Path, monkeypatch: Patch
) -> None:
    with Workspace(folder) as store:
        for loss in ("one message left out", "two messages left out"):
            store.keep_traces([KeptTrace(name="t.json", data=b"[]", kind="tau-bench", loss=(loss,))])
            app = session(folder, monkeypatch, "data")
            app.segmented_control(key="files_group").set_value("other").run()
            files = next(table.value for table in app.dataframe if "added_at" in table.value)
            assert loss in set(files["loss"])
