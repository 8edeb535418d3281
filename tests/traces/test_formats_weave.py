"""W&B Weave: calls as its API and its pages export them, of traces and of evaluations."""

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


def call(number: int, op: str, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "project_id": "e/p",
        "op_name": f"weave:///e/p/op/{op}:digest",
        "trace_id": "t1",
        "parent_id": None if parent is None else f"c{parent}",
        "started_at": f"2026-01-01T00:00:{number:02}Z",
        "ended_at": f"2026-01-01T00:00:{number:02}.500Z",
        "attributes": {},
        "inputs": {},
        "exception": None,
        **more,
    }


SUMMARY = {
    "usage": {"m": {"requests": 1, "prompt_tokens": 5, "completion_tokens": 2}},
    "weave": {
        "status": "success",
        "costs": {"m": {"prompt_tokens_total_cost": 0.25, "completion_tokens_total_cost": 0.5}},
    },
}
ROOT = call(1, "desk", None, inputs={"question": "Go."}, output="Monday.", summary=SUMMARY)
ASKED = call(
    2,
    "openai.chat.completions.create",
    inputs={"model": "m", "messages": [GO]},
    output={
        "choices": [{"index": 0, "message": SAYS}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    },
    summary=SUMMARY,
)
CALLED = call(3, "look", inputs={"day": 1}, output="monday", summary={"weave": {"status": "success"}})
CALLS = [ROOT, ASKED, CALLED]
SHAPES = {
    "a call on each line": "".join(json.dumps(each) + "\n" for each in reversed(CALLS)),
    "a list of calls": CALLS,
    "the answer to a query": {"calls": CALLS},
    "a call without a summary": [ROOT, {**ASKED, "summary": SUMMARY | {"usage": {}}}, CALLED],
}


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    source = put(tmp_path / "in" / "calls.json", content)
    assert sniff("x.bin", source.read_bytes()) == "weave"
    return converted("weave", tmp_path / "out", source)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_the_same_trace_gives_the_same_run(tmp_path: Path, shape: str) -> None:
    done, (run,) = read(tmp_path, SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("weave/t1", "desk", "t1")
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "I look.")]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("monday", True)]
    assert (run.started.model, run.finished.cost, run.finished.success) == ("m", 0.75, None)
    assert run.finished.metrics == {"input_tokens": 5.0, "output_tokens": 2.0}
    assert codes(done).keys() == {"missing-outcome"}


TOOLS = [
    (CALLED, ["look"]),
    (call(3, "search", attributes={"weave": {"kind": "tool"}}), ["search"]),
    (call(3, "tidy_up"), ["look"]),
]


@pytest.mark.parametrize(("made", "want"), TOOLS)
def test_a_tool_is_an_op_of_that_kind_or_one_that_a_model_named_else_what_the_messages_say(
    tmp_path: Path, made: dict[str, Any], want: list[str]
) -> None:
    _, (run,) = read(tmp_path, [ROOT, ASKED, made])
    assert [c.tool for c in run.of(ToolCall)] == want


def test_an_op_that_was_given_messages_and_asked_a_model_is_not_the_model(tmp_path: Path) -> None:
    outer = call(1, "desk", None, inputs={"messages": [GO]}, output="Monday.")
    _, (run,) = read(tmp_path, [outer, ASKED, CALLED])
    assert [m.content for m in run.of(Message)] == ["Go.", "I look."]
    assert run.finished.steps == 1


def evaluated(first: int, row: str, **scores: Any) -> list[dict[str, Any]]:
    """The calls for one example: the model predicts, and a scorer asks a model of its own."""
    inputs = {
        "model": "weave:///e/p/object/Desk:digest",
        "example": f"weave:///e/p/object/D:x/attr/rows/id/{row}",
    }
    output = {"output": "Monday.", "scores": {"Judge": scores, "match": True}}
    judge = call(
        first + 3,
        "openai.chat.completions.create",
        first + 2,
        inputs={"model": "judge", "messages": [{"role": "user", "content": "Is it good?"}]},
        output={"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
    )
    return [
        call(first, "Evaluation.predict_and_score", 1, inputs=inputs, output=output),
        {**ASKED, "id": f"c{first + 1}", "parent_id": f"c{first}"},
        call(first + 2, "Judge.score", first),
        judge,
        call(first + 4, "match", first, output=True),
    ]


EVALUATION = [
    call(1, "Evaluation.evaluate", None),
    *evaluated(10, "r1", success=True, tone=0.5),
    *evaluated(20, "r2", success=False, tone=1),
    call(30, "Evaluation.summarize", 1),
]


def test_each_example_of_an_evaluation_is_a_run_with_its_scores_and_without_its_scorers(
    tmp_path: Path,
) -> None:
    _, runs = read(tmp_path, EVALUATION)
    assert [(run.run_id, run.agent, run.task_id) for run in runs] == [
        ("weave/c10", "Desk", "r1"),
        ("weave/c20", "Desk", "r2"),
    ]
    for run, success, tone in zip(runs, (1.0, 0.0), (0.5, 1.0), strict=True):
        assert [m.content for m in run.of(Message)] == ["Go.", "I look."]
        assert run.finished.metrics == {
            "input_tokens": 5.0,
            "output_tokens": 2.0,
            "grader_steps": 1.0,
            "evaluation:Judge.success": success,
            "evaluation:Judge.tone": tone,
            "evaluation:match": 1.0,
        }


def test_success_is_a_score_of_that_name(tmp_path: Path) -> None:
    example = evaluated(10, "r1")
    example[0]["output"]["scores"] = {"success": False}
    _, (run,) = read(tmp_path, example)
    assert run.finished.success is False


def test_calls_whose_parents_form_a_ring_are_read(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, [{**ROOT, "parent_id": "c2"}, ASKED])
    assert run.run_id == "weave/t1"
