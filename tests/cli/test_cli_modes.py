"""``untaken modes``: what the Run page writes and shows, for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import a_run

from untaken.analysis.failure_modes import kept_taxonomy
from untaken.cli import main
from untaken.ledger import ModeAssignment
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


def test_modes_are_renamed_merged_split_retired_and_restored_without_losing_what_was_assigned(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts of runs by mode after each change; the ledgers are never touched."""

    def change(*words: str) -> dict[str, tuple[str, int]]:
        listed = modes(capsys, folder, *words, "--by", "bob", "--why", "tidy")["modes"]
        return {mode["name"]: (mode["status"], mode["runs"]) for mode in listed}

    assign(capsys, folder, "r0", "--mode", "Paid twice", "--new")
    assign(capsys, folder, "r1", "--mode", "Charged again", "--new")
    assert change("rename", "paid-twice", "Double payment", "--definition", "two charges") == {
        "Double payment": ("active", 1),
        "Charged again": ("active", 1),
    }
    merged = change("merge", "Charged again", "--into", "paid-twice")
    assert merged == {"Double payment": ("active", 2), "Charged again": ("merged", 0)}
    split = change("split", "paid-twice", "--into", "By the agent", "By the tool")
    assert split["Double payment"] == ("split", 2)
    assert split["By the tool"] == ("active", 0)
    assert change("restore", "charged-again")["Charged again"] == ("active", 1)
    assert change("retire", "charged-again")["Charged again"] == ("retired", 1)
    history = kept_taxonomy(folder).by_id["paid-twice"].history
    assert [(one.author, one.why) for one in history[1:]] == [("human:bob", "tidy")] * 2
    assert kept_taxonomy(folder).by_id["paid-twice"].definition == "two charges"


def test_a_note_is_withdrawn_by_its_author_only_and_the_run_still_counts_as_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (note,) = assign(capsys, folder, "r0", "--note", "wrong run")["notes"]
    others = ["modes", "assign", "--workspace", str(folder), "--run", "r0", "--by", "bob"]
    assert main([*others, "--withdraw-note", str(note["seq"])]) == 2
    assert "[note-invalid]" in capsys.readouterr().err
    assert assign(capsys, folder, "r0", "--withdraw-note", str(note["seq"]))["notes"] == []
    assert modes(capsys, folder, "list")["read"] == 1
    again = assign(capsys, folder, "r0", "--note", "wrong run")["notes"]
    assert [one["text"] for one in again] == ["wrong run"], "what was withdrawn can be written again"


def test_two_people_and_their_steps_are_compared_as_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for by, event in (("ann", "1"), ("bob", "2")):
        words = ["assign", "--run", "r0", "--by", by, "--mode", "Off task", "--new", "--event", event]
        modes(capsys, folder, *words)
    found = modes(capsys, folder, "agree")
    assert [(one["mode"], one["both"], one["near_step"]) for one in found["modes"]] == [
        (None, 1, 1),
        ("off-task", 1, 1),
    ]
    assert [(one["a"], one["b"], one["same_step"], one["near_step"]) for one in found["root_causes"]] == [
        ("human:ann", "human:bob", 0, 1)
    ]
    assert found["human_ceiling"].startswith("Human ceiling: two people named the same step in 0 of 1 runs")


def test_a_mode_of_no_run_with_an_outcome_is_not_said_to_lack_all_outcomes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, success in (("failed", False), ("good", True), ("unknown", None)):
        run = a_run(name).call("look").finish(success=success)
        run.add(ModeAssignment, mode="loop" if success is not None else "rare", by="human:ann")
        (tmp_path / f"{name}.jsonl").write_bytes(run.ledger())
    assert main(["modes", "pivot", str(tmp_path), "--json"]) == 0
    found = {mode["mode"]: mode for mode in json.loads(capsys.readouterr().out)["modes"]}
    assert {mode: (one["in_successes"], one["successes"]) for mode, one in found.items()} == {
        "loop": (1, 1),
        "rare": (0, 1),
    }
    assert found["rare"]["contrast_reason"] == "no run with a recorded outcome shows it"


def test_every_unscored_number_of_the_pivot_has_its_reason_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = modes(capsys, folder, "pivot")
    assert {key: found[key] for key in ("unseen_share_reason", "unseen_low_reason", "read_more_reason")} == {
        "unseen_share_reason": "no failure mode is assigned yet",
        "unseen_low_reason": "no failure mode is assigned yet",
        "read_more_reason": "no failure mode is assigned yet",
    }
    assign(capsys, folder, "r0", "--mode", "Paid twice", "--new")
    [mode] = modes(capsys, folder, "pivot")["modes"]
    assert all(
        f"{key}_reason" in mode for key, value in mode.items() if value is None and key != "contrast_reason"
    )
    assert mode["p"] is None


def test_a_mode_that_only_a_success_shows_has_an_interval_of_its_rate_in_failures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace(folder) as store:
        store.add("good.jsonl", a_run("good").call("look").finish(success=True).ledger())
    assign(capsys, folder, "r0", "--note", "nothing new")
    assign(capsys, folder, "good", "--mode", "Paid twice", "--new")
    [mode] = modes(capsys, folder, "pivot")["modes"]
    assert (mode["runs"], mode["n"], mode["rate"], mode["low"]) == (0, 1, 0.0, 0.0)
    assert mode["high"] > 0.5
