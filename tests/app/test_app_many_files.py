"""Of very many files, the Data page shows a part at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import desk
import pytest
from sessions import said, session

from components.data import files
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture
def many(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A workspace of five files, more than a table shows."""
    monkeypatch.setattr(files, "ROWS", 2)
    with Workspace(tmp_path / "w") as store:
        for number, name in enumerate(("one", "two", "Three", "four", "five")):
            store.add(f"{name}.jsonl", desk.careful(number).ledger())
    return tmp_path / "w"


def names(app: Any) -> list[str]:
    """Of the files that are shown."""
    return next(list(shown.value["name"]) for shown in app.dataframe if "bytes" in shown.value)


def test_the_parts_of_the_files_follow_one_another(many: Path, monkeypatch: Patch) -> None:
    app = session(many, monkeypatch, "data")
    assert "5 files · 5 runs" in said(app)
    assert names(app) == ["one.jsonl", "two.jsonl"]
    assert "Files 1 to 2 of 5 files" in said(app)
    app.number_input(key="files_part").set_value(3).run()
    assert not app.exception
    assert names(app) == ["five.jsonl"]
    assert "Files 5 to 5 of 5 files" in said(app)


def test_files_are_found_by_name(many: Path, monkeypatch: Patch) -> None:
    app = session(many, monkeypatch, "data")
    app.number_input(key="files_part").set_value(3).run()
    app.text_input(key="files_named").set_value("THREE").run()
    assert not app.exception
    assert names(app) == ["Three.jsonl"]
    app.text_input(key="files_named").set_value("%").run()
    assert not app.exception
    assert names(app) == []
    assert "Files 0 to 0 of 0 files" in said(app)


def test_the_row_that_was_chosen_in_one_part_is_no_row_of_another(many: Path, monkeypatch: Patch) -> None:
    app = session(many, monkeypatch, "data")
    app.session_state["files"] = {"selection": {"cells": [[0, "name"]]}}
    app.number_input(key="files_part").set_value(2).run()
    assert not app.exception
    assert "Choose a row to remove its file." in said(app)


def test_few_files_are_all_in_one_table(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path / "w") as store:
        store.add("one.jsonl", desk.careful(1).ledger())
    app = session(tmp_path / "w", monkeypatch, "data")
    assert names(app) == ["one.jsonl"]
    assert [box.key for box in app.number_input] == []
