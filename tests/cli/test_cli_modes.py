"""``untaken modes``: what the Run page writes and shows, for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import a_run

from untaken.cli import main
from untaken.views import json_schema
from untaken.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Workspace(tmp_path / "w") as store:
        for i in range(3):
            store.add(f"{i}.jsonl", a_run(f"r{i}").call("look").finish(success=False).ledger())
    return tmp_path / "w"


def modes(capsys: pytest.CaptureFixture[str], folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """The document of one command, checked against its schema."""
    capsys.readouterr()
    assert main(["modes", words[0], "--workspace", str(folder), *words[1:], "--json"]) == code
    told: dict[str, Any] = json.loads(capsys.readouterr().out or "{}")
    if told:
        name = told["schema"].removeprefix("untaken.").removesuffix("/1")
        jsonschema.validate(told, json_schema(name))
    return told


def assign(capsys: pytest.CaptureFixture[str], folder: Path, run: str, *words: str) -> dict[str, Any]:
    return modes(capsys, folder, "assign", "--run", run, "--by", "ann", *words)


@pytest.mark.parametrize(
    ("mode", "warned"), [("Paid twice", False), (None, True)], ids=["every note is filed", "no mode at all"]
)
def test_a_taxonomy_without_modes_is_warned_of_only_where_it_is(
    mode: str | None,
    warned: bool,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UNTAKEN_MODEL", "http://127.0.0.1:9/v1#m")
    filed = ("--mode", mode, "--new") if mode else ()
    assign(capsys, folder, "r0", "--note", "paid twice for one order", *filed)
    capsys.readouterr()
    replies = ("--offline", "--replies", str(tmp_path / "replies"))
    assert main(["modes", "suggest", "--workspace", str(folder), *replies]) == 0
    assert ("no active mode" in capsys.readouterr().err) is warned
