"""W&B Weave: calls as its API and its pages export them, of traces and of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes
from trace_pieces import GO, LOOK


def call(number: int, op: str, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    times = {
        f"{side}ed_at": f"2026-01-01T00:00:{number:02}{at}Z" for side, at in (("start", ""), ("end", ".5"))
    }
    ids = {"id": f"c{number}", "trace_id": "t1", "parent_id": None if parent is None else f"c{parent}"}
    about = {"project_id": "e/p", "op_name": f"weave:///e/p/op/{op}:digest", "attributes": {}, "inputs": {}}
    return {**ids, **about, **times, "exception": None, **more}


def completion(number: int, parent: int, model: str, asked: Any, gave: Any, **more: Any) -> dict[str, Any]:
    inputs = {"model": model, "messages": [asked]}
    output = {
        "choices": [{"index": 0, "message": gave}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    return call(number, "openai.chat.completions.create", parent, inputs=inputs, output=output, **more)


COSTS = {"m": {"prompt_tokens_total_cost": 0.25, "completion_tokens_total_cost": 0.5}}
USED = {"m": {"requests": 1, "prompt_tokens": 5, "completion_tokens": 2}}
SUMMARY = {"usage": USED, "weave": {"status": "success", "costs": COSTS}}
ROOT = call(1, "desk", None, inputs={"question": "Go."}, output="Monday.", summary=SUMMARY)
ASKED = completion(2, 1, "m", GO, LOOK, summary=SUMMARY)
CALLED = call(3, "look", inputs={"day": 1}, output="monday", summary={"weave": {"status": "success"}})
CALLS = [ROOT, ASKED, CALLED]
SHAPES = {
    "a call on each line": lines(*CALLS[::-1]),
    "a list of calls": CALLS,
    "the answer to a query": {"calls": CALLS},
    "a call without a summary": [ROOT, {**ASKED, "summary": SUMMARY | {"usage": {}}}, CALLED],
}
OUTER = call(1, "desk", None, inputs={"messages": [GO]}, output="Monday.")


def evaluated(first: int, row: str, scores: Any) -> list[dict[str, Any]]:
    """The calls for one example: the model predicts, and a scorer asks a model of its own."""
    example = f"weave:///e/p/object/D:x/attr/rows/id/{row}"
    inputs = {"model": "weave:///e/p/object/Desk:digest", "example": example}
    asked = {"role": "user", "content": "Is it good?"}
    said = {"role": "assistant", "content": "Yes."}
    return [
        call(
            first, "Evaluation.predict_and_score", 1, inputs=inputs, output={"output": "x", "scores": scores}
        ),
        {**ASKED, "id": f"c{first + 1}", "parent_id": f"c{first}"},
        call(first + 2, "Judge.score", first),
        completion(first + 3, first + 2, "judge", asked, said),
        call(first + 4, "match", first, output=True),
    ]


def metrics(success: float, tone: float) -> dict[str, float]:
    judged = {"evaluation:Judge.success": success, "evaluation:Judge.tone": tone, "evaluation:match": 1.0}
    spent = {"input_tokens": 5.0, "output_tokens": 2.0}
    return {**spent, "grader_input_tokens": 5.0, "grader_output_tokens": 2.0, "grader_steps": 1.0, **judged}


EVALUATION = [
    call(1, "Evaluation.evaluate", None),
    *evaluated(10, "r1", {"Judge": {"success": True, "tone": 0.5}, "match": True}),
    *evaluated(20, "r2", {"Judge": {"success": False, "tone": 1}, "match": True}),
    call(30, "Evaluation.summarize", 1),
]
CASES = [
    *shapes(
        SHAPES, run="weave/t1", agent="desk", task="t1", model="m", cost=0.75, success=None,
        said=[("user", "Go."), ("assistant", "I look.")], calls=[("look", {"day": 1})],
        answers=[("monday", True)], metrics={"input_tokens": 5.0, "output_tokens": 2.0},
        codes={"missing-outcome"},
    ),
    case("a tool is an op of that kind",
         [ROOT, ASKED, call(3, "search", attributes={"weave": {"kind": "tool"}})], tools=["search"]),
    case("without one, tools are what the messages say", [ROOT, ASKED, call(3, "tidy_up")], tools=["look"]),
    case("an op that was given messages and asked a model is not the model", [OUTER, ASKED, CALLED],
         words=["Go.", "I look."], steps=1),
    case("each example of an evaluation is a run with its scores and without its scorers", EVALUATION,
         runs=["weave/c10", "weave/c20"], agents=["Desk", "Desk"], tasks=["r1", "r2"],
         all_words=[["Go.", "I look."]] * 2, all_metrics=[metrics(1, 0.5), metrics(0, 1)]),
    case("success is a score of that name", evaluated(10, "r1", {"success": False}), success=False),
    case("calls whose parents form a ring are read", [{**ROOT, "parent_id": "c2"}, ASKED], run="weave/t1"),
]  # fmt: skip


@each(CASES)
def test_calls_of_weave_are_read(tmp_path: Path, case: Case) -> None:
    case.holds("weave", tmp_path, sniffed=True)
