"""Pydantic AI and smolagents: what they wrote, and histories with one thing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, read, shapes

RECORDED = Path(__file__).parent / "recorded"


def request(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": [{"part_kind": kind, **fields}]}


def response(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": [{"part_kind": kind, **fields}], "model_name": "gpt-x"}


LOOK = {"tool_name": "look", "tool_call_id": "c1"}
ASK = request("user-prompt", content="Go.")
CALL = response("tool-call", args='{"day": 1}', **LOOK)
DONE = response("text", content="Done.")


def returned(**more: Any) -> dict[str, Any]:
    return request("tool-return", content="monday", **LOOK, **more)


HISTORY = [ASK, CALL, returned(), DONE]
SHAPES = {
    "a list": HISTORY, "a list of lists": [HISTORY], "a line a message": lines(*HISTORY),
    "a line a history": json.dumps(HISTORY) + "\n", "an object": {"message_history": HISTORY},
}  # fmt: skip
ANSWERS: list[tuple[dict[str, Any], bool | None]] = [
    (returned(), None),
    (returned(outcome="success"), True),
    *((returned(outcome=bad), False) for bad in ("failed", "denied", "retried", "interrupted")),
    (request("retry-prompt", content="no such day", **LOOK), False),
]
COSTS = [((0.25, 0.5), 0.75), ((0.25, None), None), ((None, None), None)]
CASES = [
    case("what Pydantic AI wrote", (RECORDED / "pydantic_ai.json").read_bytes(),
         roles=["system", "user", "reasoning", "assistant"], success=None, cost=None, steps=4,
         calls=[("look_up", {"order": "A7"}), ("refund", {"order": "A7", "amount": 40}),
                ("refund", {"order": "A7", "amount": 30})],
         answers=[("A7: paid 30", True), ("more than was paid", False), ("refunded 30 for A7", True)],
         metrics={"input_tokens": 247, "output_tokens": 68, "cached_tokens": 0, "cache_creation_tokens": 0},
         codes={"missing-outcome"}),
    *shapes(SHAPES, said=[("user", "Go."), ("assistant", "Done.")], calls=[("look", {"day": 1})],
            agent="pydantic-ai/gpt-x", task="in"),
    case("two histories are two runs", lines(HISTORY, [ASK, DONE]),
         runs=["pydantic-ai/in", "pydantic-ai/in/1"]),
    *(case(f"whether a call failed: {answer}", [ASK, CALL, answer], ok=[ok]) for answer, ok in ANSWERS),
    *(case(f"a {kind} of no tool is said to the model", [ASK, DONE, request(kind, content="In JSON.")],
           words=["Go.", "Done.", "In JSON."]) for kind in ("retry-prompt", "retry-feedback")),
    *(case(f"a run is priced where each reply is: {costs}",
           [ASK, {**CALL, "usage": {"cost": costs[0]}}, returned(), {**DONE, "usage": {"cost": costs[1]}}],
           cost=want) for costs, want in COSTS),
    case("older names of tokens", [ASK, {**DONE, "usage": {"request_tokens": 5, "response_tokens": 2}}],
         metrics={"input_tokens": 5.0, "output_tokens": 2.0}),
]  # fmt: skip


@each(CASES)
def test_a_history_of_pydantic_ai_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("pydantic-ai", tmp_path, sniffed=True)


TASK = {"task": "Go.", "task_images": None}


def step(number: int = 1, **fields: Any) -> dict[str, Any]:
    timing = {"start_time": 1_760_000_000.0 + number, "end_time": 1_760_000_000.5 + number}
    return {"step_number": number, "timing": timing, "observations": None, "error": None, **fields}


def call(tool: str, arguments: Any, number: int = 1) -> dict[str, Any]:
    return {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": arguments}}


STEPS = [TASK, step(tool_calls=[call("look", {"day": 1})], observations="monday")]
MEMORIES = {
    "a list of steps": STEPS, "an object with steps": {"steps": STEPS, "state": "success"},
    "a list of memories": [STEPS], "a line a step": lines(*STEPS),
}  # fmt: skip
CODE = step(tool_calls=[call("python_interpreter", "print(1)")], observations="1")
TWO = [call("look", {"day": 1}), call("look", {"day": 2}, 2)]
ANSWERED = step(tool_calls=[call("python_interpreter", "final_answer(7)")], observations="logs",
                action_output=7, is_final_answer=True)  # fmt: skip
REFUNDS = [("refund", {"order": "A7", "amount": amount}) for amount in (40, 30)]
STEPPED = [
    case("what smolagents wrote", (RECORDED / "smolagents.json").read_bytes(),
         calls=[("look_up", {"order": "A7"}), *REFUNDS,
                ("final_answer", {"answer": "Order A7 is refunded: 30."})],
         ok=[True, False, True, True], success=None, steps=4,
         metrics={"input_tokens": 400.0, "output_tokens": 40.0}, codes={"missing-outcome"}),
    *shapes(MEMORIES, calls=[("look", {"day": 1})], answers=[("monday", True)]),
    case("the code of an agent that writes code is an argument", [TASK, CODE],
         calls=[("python_interpreter", {"code": "print(1)"})]),
    case("of several calls in a step none is said to have failed",
         [TASK, step(tool_calls=TWO, error={"type": "X", "message": "no such day"})], tools=["look", "look"],
         answers=[], words=["Go.", "no such day"]),
    case("an answer given by code is said once", [TASK, ANSWERED], words=["Go.", 7]),
    case("a run that used all its steps reached a limit", {"state": "max_steps_error", "steps": STEPS},
         limit="max_steps", success=None),
]  # fmt: skip


@each(STEPPED)
def test_a_memory_of_smolagents_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("smolagents", tmp_path, sniffed=True)


def test_steps_out_of_order_begin_with_the_earliest(tmp_path: Path) -> None:
    steps = [TASK, step(2, model_output="b"), step(1, model_output="a")]
    _, (run,) = read(tmp_path, "smolagents", steps)
    assert run.started.ts.timestamp() == 1_760_000_001
