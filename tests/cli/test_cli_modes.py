"""``untaken modes``: what the Run page writes and shows, for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import a_run

from untaken.cli import main
from untaken.failure_modes import kept_taxonomy
from untaken.report import json_schema
from untaken.store import Workspace


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


def test_a_preset_is_imported_and_a_mode_assigned_by_name_counts_in_the_list(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = modes(capsys, folder, "import", "mast", "--by", "ann")
    assert (len(told["modes"]), told["version"], told["read"]) == (14, 1, 0)
    told = assign(capsys, folder, "r1", "--mode", "Off Task", "--event", "1", "--note", "went for a walk")
    assert [(n["text"], n["author"], n["event"]) for n in told["notes"]] == [
        ("went for a walk", "human:ann", 1)
    ]
    assert [(a["mode"], a["status"], a["event"]) for a in told["assignments"]] == [
        ("off-task", "accepted", 1)
    ]
    told = modes(capsys, folder, "list")
    assert {mode["id"]: mode["runs"] for mode in told["modes"] if mode["runs"]} == {"off-task": 1}
    assert (told["runs"], told["read"]) == (3, 1)


def test_a_new_mode_is_created_in_place_and_withdrawn_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assign(capsys, folder, "r0", "--mode", "Forgot the receipt", "--new")
    assign(capsys, folder, "r1", "--mode", "Forgot the receipt", "--new")
    assert [mode.id for mode in kept_taxonomy(folder).modes] == ["forgot-the-receipt"]
    told = assign(capsys, folder, "r1", "--mode", "forgot-the-receipt", "--withdraw")
    assert [a["status"] for a in told["assignments"]] == ["withdrawn"]
    assert [mode["runs"] for mode in modes(capsys, folder, "list")["modes"]] == [1]


def test_notes_without_a_mode_are_given_suggestions_that_count_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assign(capsys, folder, "r0", "--note", "paid twice for one order", "--mode", "Paid twice", "--new")
    assign(capsys, folder, "r1", "--note", "the order was paid twice")
    told = modes(capsys, folder, "suggest")
    (note,) = told["notes"]
    assert (note["run_id"], [one["mode"] for one in note["suggestions"]]) == ("r1", ["paid-twice"])
    assert note["suggestions"][0]["like_run_id"] == "r0"
    assert (told["quality"]["notes"], told["quality"]["right"]) == (1, None)
    assert [mode["runs"] for mode in modes(capsys, folder, "list")["modes"]] == [1]


WRONG = [
    ("an unknown run", ["--run", "r9", "--note", "x"], "run-unknown"),
    ("an unknown event", ["--run", "r0", "--note", "x", "--event", "99"], "event-unknown"),
    ("an unknown mode", ["--run", "r0", "--mode", "nothing"], "mode-unknown"),
    ("neither a note nor a mode", ["--run", "r0"], "mode-unknown"),
    ("an empty note", ["--run", "r0", "--note", " "], "note-invalid"),
]


@pytest.mark.parametrize(("_desc", "words", "code"), WRONG, ids=[desc for desc, _, _ in WRONG])
def test_what_cannot_be_written_says_why_and_writes_nothing(
    _desc: str, words: list[str], code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["modes", "assign", "--workspace", str(folder), "--by", "ann", *words]) == 2
    assert f"[{code}]" in capsys.readouterr().err
    assert modes(capsys, folder, "notes") == {
        "schema": "untaken.modes-notes/1",
        "notes": [],
        "assignments": [],
    }


def test_what_people_typed_cannot_steer_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assign(capsys, folder, "r0", "--note", "red \x1b[31m text", "--mode", "M \x1b[2J", "--new")
    for verb in ("notes", "list"):
        assert main(["modes", verb, "--workspace", str(folder)]) == 0
        assert "\x1b" not in capsys.readouterr().out
