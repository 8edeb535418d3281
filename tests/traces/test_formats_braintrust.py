"""Braintrust: rows of logs and experiments, as its API and its pages export them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion, sniff

GO = {"role": "user", "content": "Go."}
CALL = {"id": "k1", "type": "function", "function": {"name": "look", "arguments": '{"day": 1}'}}
SAYS = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}


def row(number: int, kind: str, name: str, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    metrics = {"start": 1767225600 + number, "end": 1767225600.5 + number, **more.pop("metrics", {})}
    return {
        "id": f"r{number}",
        "span_id": f"s{number}",
        "root_span_id": "s1",
        "span_parents": None if parent is None else [f"s{parent}"],
        "created": "2026-01-01T00:00:00Z",
        "span_attributes": {"name": name, "type": kind},
        "metrics": metrics,
        **more,
    }


ROOT = row(1, "task", "desk", None, input="Go.", output="Monday.", scores={"tone": 0.5})
ASKED = row(
    2,
    "llm",
    "Chat Completion",
    input=[GO],
    output=[{"index": 0, "message": SAYS}],
    metadata={"model": "m"},
    metrics={"prompt_tokens": 5, "completion_tokens": 2, "prompt_cached_tokens": 1, "estimated_cost": 0.25},
)
CALLED = row(3, "tool", "look", input={"day": 1}, output="monday")
ROWS = [ROOT, ASKED, CALLED]
SHAPES = {
    "a row on each line": "".join(json.dumps(each) + "\n" for each in reversed(ROWS)),
    "a list of rows": ROWS,
    "a page of the API": {"events": ROWS, "cursor": None},
    "the answer to a query": {"data": ROWS},
}


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    source = put(tmp_path / "in" / "rows.json", content)
    assert sniff("x.bin", source.read_bytes()) == "braintrust"
    return converted("braintrust", tmp_path / "out", source)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_the_same_trace_gives_the_same_run(tmp_path: Path, shape: str) -> None:
    done, (run,) = read(tmp_path, SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("braintrust/s1", "desk", "s1")
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "I look.")]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("monday", None)]
    assert (run.started.model, run.finished.cost, run.finished.success) == ("m", 0.25, None)
    assert run.finished.metrics == {
        "input_tokens": 5.0,
        "output_tokens": 2.0,
        "cached_tokens": 1.0,
        "evaluation:tone": 0.5,
    }
    assert codes(done).keys() == {"missing-outcome"}


def test_a_trace_without_a_model_is_what_its_root_was_given_and_gave(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, [ROOT])
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "Monday.")]


SCORES = [({"success": 1}, True), ({"success": 0}, False), ({"success": 0.5}, None), ({"tone": 1}, None)]


@pytest.mark.parametrize(("scores", "want"), SCORES)
def test_success_is_a_score_of_that_name(tmp_path: Path, scores: dict[str, Any], want: bool | None) -> None:
    _, (run,) = read(tmp_path, [{**ROOT, "scores": scores}, ASKED])
    assert run.finished.success is want


SCORERS = [{"name": "judge", "type": "score"}, {"name": "judge", "type": "task", "purpose": "scorer"}]


@pytest.mark.parametrize("about", SCORERS)
def test_what_a_scorer_did_is_no_part_of_the_run(tmp_path: Path, about: dict[str, str]) -> None:
    judge = {**row(4, "", ""), "span_attributes": about}
    asked = row(5, "llm", "Chat", 4, input=[{"role": "user", "content": "Is it good?"}], output="Yes.")
    _, (run,) = read(tmp_path, [asked, judge, *ROWS])
    assert [m.content for m in run.of(Message)] == ["Go.", "I look."]
    assert run.finished.steps == 1


TASKS = [
    ({"metadata": {"task_id": "refund-1"}}, "refund-1"),
    ({"origin": {"id": "row-7"}}, "row-7"),
    ({}, "s1"),
]


@pytest.mark.parametrize(("more", "task"), TASKS)
def test_the_task_is_in_the_metadata_or_the_row_of_the_dataset(
    tmp_path: Path, more: dict[str, Any], task: str
) -> None:
    _, (run,) = read(tmp_path, [{**ROOT, **more}, ASKED])
    assert run.task_id == task


def test_rows_of_two_traces_are_two_runs(tmp_path: Path) -> None:
    other = {**ROOT, "span_id": "s9", "root_span_id": "s9"}
    _, runs = read(tmp_path, [*ROWS, other])
    assert sorted(run.run_id for run in runs) == ["braintrust/s1", "braintrust/s9"]
