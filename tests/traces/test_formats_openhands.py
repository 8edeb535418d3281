"""OpenHands and browser-use: trajectories, evaluations and events, whatever the version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import lines
from reading import Case, case, each
from trace_records import put_record

from untaken.traces import sniff

AT = "2026-01-01T00:00:00Z"


def old(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": AT, "source": "agent", "message": "", **fields}


def sdk(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": kind, "timestamp": AT, "source": "agent", "kind": kind, **fields}


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def state(key: str, value: Any) -> dict[str, Any]:
    return sdk("ConversationStateUpdateEvent", key=key, value=value)


REPLY = {"function_name": "bash", "tool_call_id": "c1", "model_response": {"model": "m", "choices": []}}
CALLED = {"tool_call_metadata": REPLY}
RUN = {"command": "ls", "thought": "Look.", "confirmation_state": "confirmed"}
OLD = [
    old(0, source="user", action="message", args={"content": "Go."}),
    old(1, source="environment", observation="agent_state_changed", content="", extras={}),
    old(2, action="run", args=RUN, llm_metrics={"accumulated_cost": 0.25}, **CALLED),
    old(3, observation="run", content="none", cause=2, extras={"metadata": {"exit_code": 2}}, **CALLED),
    old(4, action="finish", args={"final_thought": "Done."}),
]
SDK = [
    sdk("MessageEvent", llm_message={"role": "user", "content": text("Go.")}),
    sdk("ActionEvent", thought=text("Look."), tool_name="bash", tool_call_id="c1",
        tool_call={"id": "c1", "name": "bash", "arguments": json.dumps({"command": "ls"})}),
    sdk("ObservationEvent", source="environment", tool_name="bash", tool_call_id="c1",
        observation={"content": text("none"), "exit_code": 2}),
    state("execution_status", "finished"),
    sdk("MessageEvent", llm_message={"role": "assistant", "content": text("Done.")}),
]  # fmt: skip
SPENT = {"usage_to_metrics": {"agent": {"accumulated_cost": 0.25}}}
STATE = {"id": "x", "agent": {"llm": {"model": "m"}}, "stats": SPENT}
FIRST, LAST = (
    state("stats", {"usage_to_metrics": {"default": {"model_name": "m", "accumulated_cost": cost}}})
    for cost in (0.125, 0.25)
)
EVALUATED = {
    "instance_id": "box", "history": OLD, "metadata": {"llm_config": {"model": "m"}},
    "metrics": {"accumulated_cost": 0.25}, "report": {"resolved": False},
}  # fmt: skip
FILES: dict[str, dict[str, Any]] = {
    "a trajectory": {"box.json": OLD},
    "an evaluation": {"output.jsonl": [EVALUATED]},
    "an evaluation of the first versions": {
        "output.jsonl": [{**EVALUATED, "history": [OLD[:2], OLD[2:4], OLD[4:]]}]},
    "events of the SDK with what was spent so far": {"box.json": [*SDK[:3], FIRST, *SDK[3:], LAST]},
    "events of the SDK with the whole state": {"box.json": [*SDK, FIRST, state("full_state", STATE)]},
    "a conversation of the SDK": {"box/base_state.json": STATE,
        **{f"box/events/event-0000{n}-x.json": event for n, event in enumerate(SDK)}},
}  # fmt: skip


@pytest.mark.parametrize("form", FILES)
def test_every_form_of_a_conversation_gives_the_same_run(tmp_path: Path, form: str) -> None:
    case(form, None, format="openhands", agent="openhands/m", task="box", cost=0.25,
         said=[("user", "Go."), ("assistant", "Look."), ("assistant", "Done.")],
         calls=[("bash", {"command": "ls"})], answers=[("none", False)],
         ).of(None, tmp_path / "out", put_record(tmp_path / "in", FILES[form]))  # fmt: skip


def test_an_evaluation_says_whether_the_task_was_solved_and_what_went_wrong(tmp_path: Path) -> None:
    stuck = {**EVALUATED, "instance_id": "bag", "error": "Stuck.", "report": {"resolved": True}}
    want = case("two", lines(EVALUATED, stuck), tasks=["box", "bag"], all_success=[False, True],
                errors=[None, "Stuck."])  # fmt: skip
    want.holds(None, tmp_path, "output.jsonl")


def test_two_conversations_of_the_sdk_are_two_runs(tmp_path: Path) -> None:
    files = {f"{name}/events/event-{n}-x.json": e for name in ("one", "two") for n, e in enumerate(SDK)}
    files["two/events/event-1-x.json"] = {**SDK[1], "tool_name": "look"}
    want = case("two", None, tasks=["one", "two"], all_tools=[["bash"], ["look"]])
    want.of(None, tmp_path / "out", put_record(tmp_path / "in", files))


ANSWERS = [
    ("still running", OLD[2], old(3, observation="run", content="", cause=2, extras={"exit_code": -1}), None),
    ("an error", OLD[2], old(3, observation="error", content="x", cause=2, extras={}), False),
    ("no such tool", SDK[1], sdk("AgentErrorEvent", tool_call_id="c1", error="no such tool"), False),
    ("not allowed", SDK[1], sdk("UserRejectObservation", tool_call_id="c1", rejection_reason="no"), False),
]


@pytest.mark.parametrize(("desc", "call", "answer", "ok"), ANSWERS, ids=[one[0] for one in ANSWERS])
def test_an_answer_belongs_to_its_call(tmp_path, desc, call, answer, ok) -> None:
    case(desc, [call, answer], answered=["c1"], ok=[ok]).holds(None, tmp_path)


def test_a_list_of_actions_of_another_program_is_not_recognised() -> None:
    others = [{"action": "run", "args": {}}, {"kind": "ActionEvent"}]
    assert sniff("x.json", json.dumps(others).encode()) is None


def step(*actions: str, results: list[dict[str, Any]], at: int = 0, **said: Any) -> dict[str, Any]:
    times = {"step_start_time": 1_754_000_000 + at, "step_end_time": 1_754_000_001 + at, "input_tokens": 5}
    output = {**said, "action": [{tool: {"index": number}} for number, tool in enumerate(actions)]}
    about = {"result": results, "state": {"url": "x"}, "metadata": times}
    return {"model_output": output if actions else None, **about}


def history(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"history": list(steps)}


SEEN = [{"extracted_content": "x"}]
CLAIMED = {"is_done": True, "success": True, "extracted_content": "Done."}
FAILED = step("click", "type", "send", results=[{"extracted_content": "clicked"}, {"error": "no field"}])
LATER = history(FAILED, step("wait", results=[{"extracted_content": "waited"}], at=5))
CASES = [
    case("actions after one that failed have no result and later ones keep theirs", LATER,
         tools=["click", "type", "send", "wait"], steps=2, metrics={"input_tokens": 10.0},
         joined=[({"index": 0}, "clicked"), ({"index": 1}, "no field"), ({"index": 0}, "waited")],
         answers=[("clicked", True), ("no field", False), ("waited", True)]),
    case("both versions say where the agent is",
         history(step("click", results=SEEN, current_state={"memory": "one"}),
                 step("click", results=SEEN, thinking="Hm.", memory="two")),
         said=[("assistant", {"memory": "one"}), ("reasoning", "Hm."), ("assistant", {"memory": "two"})]),
    case("the agent's own word is no outcome", history(step("done", results=[CLAIMED])), success=None),
    case("a verdict is", history(step("done", results=[{**CLAIMED, "judgement": {"verdict": False}}])),
         success=False),
    case("a step without an answer of the model has its error",
         history(step(results=[{"error": "rate limited"}])), error="rate limited",
         said=[("tool", "rate limited")]),
]  # fmt: skip


@each(CASES)
def test_a_history_of_browser_use_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("browser-use", tmp_path, sniffed=True)
