"""``untaken modes pivot``, ``untaken issues`` and the gate that no issue may be reopened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import a_run

from untaken.analysis.failure_modes import FailureMode, Taxonomy, save_taxonomy
from untaken.cli import main
from untaken.ledger import ModeAssignment, ReviewNote
from untaken.views import json_schema
from untaken.workspace import Workspace

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, check: {tool_call: {name: look, match: subset, arguments: {}}}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tasks, each with a failed run that has a mode and a successful one with a note; one unread."""
    (tmp_path / "ledgers").mkdir()
    with Workspace(tmp_path / "w") as store:
        store.add("desk.plan.yaml", GRAPH)
        save_taxonomy(
            Taxonomy(modes=[FailureMode(id="loop", name="Runs in circles")]),
            store.path / "failure_modes.yaml",
        )
        for n in range(5):
            run = a_run(f"r{n}", task=f"t{n // 2}").call("look", ok=n % 2 == 0).finish(n % 2 == 1)
            if n < 4:
                mode = n % 2 == 0
                run.add(ModeAssignment, mode="loop", by="human:ann") if mode else run.add(
                    ReviewNote, author="human:ann", text="fine"
                )
            store.add(f"{n}.jsonl", run.ledger())
            (tmp_path / "ledgers" / f"{n}.jsonl").write_bytes(run.ledger())
    (tmp_path / "desk.plan.yaml").write_bytes(GRAPH)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> dict[str, Any]:
    """The document of one command, checked against its schema."""
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    name = document["schema"].removeprefix("untaken.").removesuffix("/1")
    jsonschema.validate(document, json_schema(name))
    return document


def test_the_pivot_counts_read_failures_and_compares_them_with_successes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "modes", "pivot", "--workspace", folder / "w", "--by", "task")
    (mode,) = found["modes"]
    assert (mode["name"], mode["runs"], mode["n"], mode["rate"]) == ("Runs in circles", 2, 2, 1.0)
    assert (mode["in_successes"], mode["successes"], mode["contrast"], mode["tasks"]) == (0, 2, 1.0, 2)
    assert [(cell["group"], cell["count"], cell["n"]) for cell in found["cells"]] == [
        ("t0", 1, 1),
        ("t1", 1, 1),
    ]
    assert (found["unseen_share"], found["unread"], found["read"]) == (0.0, 1, 4)
    assert [run["run_id"] for run in found["reading_order"]] == ["r4"]


def test_where_every_run_was_read_a_run_without_a_mode_lowers_the_rate(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "modes", "pivot", "--workspace", folder / "w", "--all-read")
    assert (found["modes"][0]["runs"], found["modes"][0]["n"]) == (2, 3)


def test_ledgers_give_the_same_pivot_as_the_workspace_they_are_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taxonomy = folder / "w" / "failure_modes.yaml"
    of_files = told(
        capsys,
        *("modes", "pivot", folder / "ledgers", "--graphs", folder / "desk.plan.yaml"),
        *("--taxonomy", taxonomy),
    )
    of_workspace = told(capsys, "modes", "pivot", "--workspace", folder / "w")
    assert of_files | {"findings": []} == of_workspace | {"findings": []}


def test_an_issue_is_added_fixed_and_reopened_by_a_later_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--workspace", folder / "w", "--by", "ann")
    rule = ("--expr", "!state.success", "--mode", "loop")
    found = told(capsys, "issues", *at, "--add", "fails", "--title", "It fails", *rule)
    (issue,) = found["issues"]
    assert (issue["state"], issue["runs"], issue["overall"]["runs"]) == ("open", ["r0", "r2", "r4"], 5)
    assert (issue["agreed"], issue["missed"], issue["extra"]) == (2, 0, 0)
    found = told(capsys, "issues", *at, "--fix", "fails")
    assert (found["issues"][0]["state"], found["issues"][0]["after"]["runs"]) == ("fixed", 0)
    found = told(capsys, "issues", *at, "--fix", "fails", "--at", "2025-12-31T00:00:00Z", code=1)
    assert (found["issues"][0]["state"], found["issues"][0]["reopened_by"]) == (
        "reopened",
        ["r0", "r2", "r4"],
    )


def test_the_gate_fails_where_an_issue_is_reopened_and_passes_where_it_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "issues.yaml"
    change = (
        "issues",
        folder / "ledgers",
        "--graphs",
        folder / "desk.plan.yaml",
        "--file",
        file,
        "--by",
        "ann",
    )
    told(capsys, *change, "--add", "fails", "--expr", "!state.success")
    gate = ("gate", folder / "ledgers", "--graphs", folder / "desk.plan.yaml", "--issues", file)
    assert told(capsys, *gate)["met"] is True
    told(capsys, *change, "--fix", "fails", "--at", "2025-12-31T00:00:00Z", code=1)
    found = told(capsys, *gate, code=1)
    assert (found["met"], found["issues"][0]["reopened_by"]) == (False, ["r0", "r2", "r4"])


REFUSED = [
    ("an issue nobody knows", ["--fix", "gone", "--by", "ann"], "there is no issue"),
    ("a change without a name", ["--add", "x", "--mode", "loop"], "need --by NAME"),
    ("a rule in Python", ["--add", "x", "--expr", "not state.success", "--by", "ann"], "CEL, not Python"),
]


@pytest.mark.parametrize(
    ("words", "want"),
    [
        (["--add", "known", "--mode", "loop"], "error: two issues have the id 'known' [issue-invalid]"),
        (["--add", "new"], "error: issue 'new' has neither a mode nor a rule [issue-invalid]"),
        (["--add", "new", "--expr", "1 +"], "error: the rule of issue 'new': the expression cannot be read"),
    ],
    ids=["id taken", "no rule", "unreadable rule"],
)
def test_an_issue_that_cannot_be_added_is_wrong_usage_and_names_no_line_of_the_file(
    words: list[str], want: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "issues.yaml"
    change = ("issues", str(folder / "ledgers"), "--file", str(file), "--by", "ann")
    main([*change, "--add", "known", "--mode", "loop"])
    before = file.read_bytes()
    capsys.readouterr()
    assert main([*change, *words]) == 2
    assert capsys.readouterr().err.startswith(want)
    assert file.read_bytes() == before


@pytest.mark.parametrize(("desc", "words", "want"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_done_is_refused_with_the_reason(
    desc: str, words: list[str], want: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["issues", "--workspace", str(folder / "w"), *words]) in (1, 2), desc
    assert want in capsys.readouterr().err
