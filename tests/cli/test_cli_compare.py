"""``untaken compare``: which task and runs it takes, what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import jsonschema
import pytest

from untaken.cli import main
from untaken.views import json_schema


@pytest.mark.parametrize(
    ("words", "want", "says"),
    [
        ("{w}/ledgers", 0, ""),
        ("{w}/ledgers --task refund-2", 0, ""),
        ("{w}/ledgers --runs careful-10 failing-10", 0, ""),
        ("{w}/ledgers {w}/altered.jsonl", 1, "ledger-altered"),
        ("{w}/ledgers --task other", 2, "compare-too-few"),
        ("{w}/ledgers/careful-10.jsonl", 2, "no task has two runs"),
        ("{w}/ledgers --task nowhere", 2, "task-unknown"),
        ("{w}/ledgers --runs nobody", 2, "run-unknown"),
        ("{w}/ledgers --task refund-2 --runs careful-10", 2, "run-unknown"),
        ("{w}/ledgers --runs careful-10 careful-20", 2, "runs-of-different-tasks"),
        ("{w}/ledgers --runs careful-10", 2, "compare-too-few"),
        ("{w}/ledgers --reference nobody", 2, "run-unknown"),
    ],
)
def test_the_exit_code_says_what_became_of_it(
    words: str, want: int, says: str, world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words.format(w=world).split(), "--graphs", str(world / "graphs")]) == want
    assert says in capsys.readouterr().err


def document(world: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    main(["compare", str(world / "ledgers"), "--graphs", str(world / "graphs"), *words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json_schema("compare"))
    return found


def test_the_document_holds_what_the_page_shows(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(world, capsys)
    assert (found["task_id"], found["basis"], found["graph_id"], found["of_task"]) == (
        *("refund-1", "sub_goal", "desk", 6),
    )
    assert [row["key"] for row in found["rows"]] == ["order", "policy", "refund", "polite"]
    assert [run["run_id"] for run in found["runs"]][:2] == ["careful-10", "careful-11"]
    assert found["reference"] == found["runs"][0]["digest"]
    best = found["outcome_splits"][0]
    assert (
        best["key"],
        best["done_in_successes"],
        best["successes"],
        best["done_in_failures"],
        best["failures"],
    ) == (*("order", 4, 4, 0, 2),)


def test_runs_and_the_reference_are_named_by_run_id_or_digest(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = next(run.digest for run in desk.runs() if run.run_id == "failing-20")
    found = document(world, capsys, "--runs", "careful-20", digest, "--reference", "failing-20")
    assert [run["run_id"] for run in found["runs"]] == ["failing-20", "careful-20"]
    assert found["reference_reason"] == "as asked for"


def test_the_matrix_is_printed_with_a_mark_where_runs_part(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--graphs", str(world / "graphs"), "--runs", "careful-10", "lucky-10"]
    assert main(["compare", str(world / "ledgers"), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["Check", "policy", "★", "✓", "1", "–", "≠"] for line in lines)
    assert any("the reference chose by_number" in line for line in lines)
