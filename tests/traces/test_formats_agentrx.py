"""What becomes of AgentRx records: tau-bench runs and people's labels of the failing steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put, tau_record

from untaken.analysis.failure_modes import preset_modes
from untaken.ledger import ModeAssignment, ReviewNote, Run, Verdict
from untaken.traces import Conversion
from untaken.traces.agentrx_labels import MODES


def numbered() -> dict[str, Any]:
    record = tau_record(reward=0.0)
    for at, message in enumerate(record["traj"], start=1):
        message["index"] = at
    return record


def label(**changed: Any) -> dict[str, Any]:
    failures = [
        {"failure_id": 1, "step_number": 1, "step_reason": "too hasty", "failure_category": "Haste"},
        {"failure_id": 2, "step_number": 2, "step_reason": "wrong day", "failed_agent": "Assistant"},
    ]
    return {
        "trajectory_id": numbered()["task_id"],
        "failures": failures,
        "root_cause": {"failure_id": 2, "reason_for_root_cause": "no way back"},
    } | changed


def read(tmp_path: Path, *labels: dict[str, Any], format: str | None = "agentrx") -> tuple[Conversion, Run]:
    runs_file = put(tmp_path / "gpt-9-retail.json", [numbered()])
    done, (run,) = converted(format, tmp_path / "out", runs_file, put(tmp_path / "labels.json", list(labels)))
    return done, run


def test_the_root_cause_is_a_verdict_on_its_message_and_the_rest_are_notes(tmp_path: Path) -> None:
    conversion, run = read(tmp_path, label())
    (losses,) = [loss for loss in conversion.losses if loss.name == "labels.json"]
    assert (losses.runs, losses.shared, [f.code for f in losses.findings]) == (1, 1, [])
    (verdict,), (note,) = run.of(Verdict), run.of(ReviewNote)
    assert (verdict.by, verdict.passed, verdict.sub_goal) == ("human:agentrx", False, "work of Assistant")
    assert verdict.reason == "no category: wrong day"
    (evidence,) = verdict.evidence or []
    assert evidence.quote in str(run.events[evidence.seq])
    assert (note.author, note.text) == ("human:agentrx", "Step 1: Haste: too hasty")


def test_a_label_without_its_run_and_a_step_outside_the_run_are_named(tmp_path: Path) -> None:
    far = {"failure_id": 2, "step_number": 99, "step_reason": "late"}
    conversion, run = read(tmp_path, label(failures=[far]), label(trajectory_id="elsewhere"))
    assert {"label-out-of-range", "label-without-run"} <= set(codes(conversion))
    (verdict,) = run.of(Verdict)
    assert not verdict.evidence


def test_categories_become_failure_modes_of_the_preset_at_the_labelled_step(tmp_path: Path) -> None:
    """One category has two spellings; one that the preset lacks stays in the words of its note."""
    categories = ("Instruction/Plan Adherence Failure", "Invalid Invocation", "Haste")
    known = [
        {"failure_id": n, "step_number": n, "step_reason": f"why {n}", "failure_category": category}
        for n, category in enumerate(categories, 1)
    ]
    _, run = read(tmp_path, label(failures=known))
    (verdict,) = run.of(Verdict)
    modes = [(one.mode, one.event, one.reason) for one in run.of(ModeAssignment)]
    notes = [(one.text, one.event) for one in run.of(ReviewNote)]
    blamed = (verdict.evidence or [])[0].seq
    assert modes == [("instruction-not-followed", notes[0][1], "why 1"), ("invalid-call", blamed, "why 2")]
    assert [words for words, _ in notes] == ["Step 1: why 1", "Step 3: Haste: why 3"]
    assert all(isinstance(event, int) for _, event in notes)


def test_every_category_has_a_mode_of_the_preset() -> None:
    assert {*MODES.values()} == {mode.id for mode in preset_modes("agentrx")}


AGAIN = [(label(), "the same labels"), (label(root_cause={}), "which count")]


@pytest.mark.parametrize(("again", "says"), AGAIN, ids=["the same", "another"])
def test_of_two_labels_of_a_run_the_first_counts_and_the_other_is_named(tmp_path, again, says) -> None:
    conversion, run = read(tmp_path, label(), again, format=None)
    (message,) = [finding.message for finding in conversion.findings if finding.code == "duplicate-label"]
    assert says in message
    assert "labels.json" in message
    assert len(run.of(Verdict)) == 1
    assert not codes(conversion).keys() & {"nothing-added", "format-ambiguous", "format-mixed"}


def test_records_without_numbers_beside_numbered_ones_are_no_other_format(tmp_path: Path) -> None:
    plain = tau_record(task_id=8) | {"info": {"task": None, "source": "user", "user_cost": None}}
    source = put(tmp_path / "gpt-9-retail.json", [numbered(), plain])
    conversion, runs = converted(None, tmp_path / "out", source)
    assert (conversion.format, len(runs)) == ("agentrx", 2)
    assert not codes(conversion).keys() & {"format-ambiguous", "format-mixed"}
