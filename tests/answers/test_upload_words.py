"""What an upload says of itself: plain counts, losses with what they mean, files beside the runs."""

from __future__ import annotations

import json
from pathlib import Path

import desk
import pytest
from builders import a_run
from foreign_files import tau_record

from untaken.analysis.corpus import evaluate_corpus
from untaken.views import files_table
from untaken.views.upload_results import uploads
from untaken.views.workspace_files import Contents, contents, runs_by_id, runs_in_words
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

LEDGER = b"".join(run.ledger() for run in desk.builders())


def taken(folder: Path, *files: tuple[str, bytes]) -> tuple:
    paths = []
    for number, (name, data) in enumerate(files):
        path = folder / str(number)
        path.write_bytes(data)
        paths.append((name, path))
    with Workspace(folder / "w") as store:
        return uploads(take_in(store, paths))


def test_the_counts_are_of_unbroken_runs_and_the_first_failing_one_is_named() -> None:
    runs = [run.run() for run in desk.builders()] + [a_run("free", agent="x", task="other").run()]
    found = contents(evaluate_corpus(runs, desk.graphs(), resamples=9))
    failing = next(run for run in runs if run.digest == found.failing)
    assert failing.success is False
    assert found == Contents(
        runs=len(runs),
        agents=len({run.agent for run in runs}),
        tasks=len({run.task_id for run in runs}),
        with_plan=sum(run.task_id.startswith("refund") for run in runs),
        with_outcome=sum(run.success in (True, False) for run in runs),
        failing=failing.digest,
    )
    assert contents(evaluate_corpus([], desk.graphs(), resamples=9)).failing == ""


def test_the_runs_of_an_upload_are_counted_by_agent_task_and_plan(tmp_path: Path) -> None:
    (ledger,) = taken(tmp_path, ("runs.jsonl", LEDGER))
    runs = [run.run() for run in desk.builders()]
    held = runs_by_id(evaluate_corpus([*runs, a_run("free").run()], desk.graphs(), resamples=9))
    ours = [run for run_id in ledger.run_ids for run in held[run_id]]
    agents = len({run.agent for run in runs})
    assert runs_in_words(ours) == f"{len(runs)} runs of {agents} agents, 3 tasks; 1 needs a plan"
    assert runs_in_words([*ours, *held["free"]]).endswith("; 2 need a plan")
    assert runs_in_words(held["free"]).endswith("; no plan yet")


@pytest.mark.parametrize("name", ["LICENSE", "README.md", "a/NOTICE.txt", ".DS_Store", "source.md"])
def test_a_file_beside_the_runs_is_no_fault(name: str, tmp_path: Path) -> None:
    runs, side = taken(tmp_path, ("runs.jsonl", LEDGER), (name, b"words of a project\n"))
    assert (runs.sides, side.sides) == ((), (name,))
    assert side.findings == ()


@pytest.mark.parametrize("name", ["notes.md", "license-server.log", "runs.txt"])
def test_any_other_file_without_runs_is_named_with_its_reason(name: str, tmp_path: Path) -> None:
    (other,) = taken(tmp_path, (name, b"words\n"))
    assert other.sides == ()
    assert other.mark == "✗"
    assert other.reasons or other.findings


def test_card_and_table_have_one_word_for_the_integrity_of_a_run(tmp_path: Path) -> None:
    (runs,) = taken(tmp_path, ("runs.jsonl", LEDGER))
    with Workspace(tmp_path / "w") as store:
        (row,) = files_table(store.files(), store.read_runs()[0]).to_dict("records")
    number = len(desk.builders())
    assert row["integrity"] == f"{number} INTACT"
    assert runs.integrity == f"{number} INTACT ({number} without a head until now)"


def test_a_loss_says_what_was_left_out_and_what_that_means(tmp_path: Path) -> None:
    (trace,) = taken(tmp_path, ("tau.json", json.dumps([tau_record()]).encode()))
    words = trace.loss_words
    assert f"Kept {trace.row.loss.kept:,} of {trace.row.loss.held:,} values." in words
    assert ("no score uses them" in words) == any(one.dropped for one in trace.row.loss.fields)
    assert "how the runs were graded" in words
    assert "reward" not in words
    assert "**" not in words
    assert "[]" not in words
