"""OpenHands: older trajectories, evaluation output, and the event files of the SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion, sniff

AT = "2026-01-01T00:00:00Z"


def old(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": AT, "source": "agent", "message": "", **fields}


def sdk(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": kind, "timestamp": AT, "source": "agent", "kind": kind, **fields}


def called(call_id: str) -> dict[str, Any]:
    reply = {"model": "m", "choices": []}
    return {"tool_call_metadata": {"function_name": "bash", "tool_call_id": call_id, "model_response": reply}}


RUN = {"command": "ls", "thought": "Look.", "confirmation_state": "confirmed"}
EXIT = {"metadata": {"exit_code": 2}}
OLD = [
    old(0, source="user", action="message", args={"content": "Go."}),
    old(1, source="environment", observation="agent_state_changed", content="", extras={}),
    old(2, action="run", args=RUN, llm_metrics={"accumulated_cost": 0.25}, **called("c1")),
    old(3, observation="run", content="none", cause=2, extras=EXIT, **called("c1")),
    old(4, action="finish", args={"final_thought": "Done."}),
]
SDK = [
    sdk("MessageEvent", llm_message={"role": "user", "content": [{"type": "text", "text": "Go."}]}),
    sdk("ActionEvent", thought=[{"type": "text", "text": "Look."}], tool_name="bash", tool_call_id="c1",
        tool_call={"id": "c1", "name": "bash", "arguments": json.dumps({"command": "ls"})}),
    sdk("ObservationEvent", source="environment", tool_name="bash", tool_call_id="c1",
        observation={"content": [{"type": "text", "text": "none"}], "exit_code": 2}),
    sdk("ConversationStateUpdateEvent", key="execution_status", value="finished"),
    sdk("MessageEvent", llm_message={"role": "assistant", "content": [{"type": "text", "text": "Done."}]}),
]  # fmt: skip
STATE = {
    "id": "x",
    "agent": {"llm": {"model": "m"}},
    "stats": {"usage_to_metrics": {"agent": {"accumulated_cost": 0.25}}},
}
UPDATES = [
    sdk("ConversationStateUpdateEvent", key="stats", value={"usage_to_metrics": {"default": {
        "model_name": "m", "accumulated_cost": cost}}})
    for cost in (0.125, 0.25)
]  # fmt: skip
FULL = sdk("ConversationStateUpdateEvent", key="full_state", value=STATE)
EVALUATED = {
    "instance_id": "box",
    "history": OLD,
    "metadata": {"llm_config": {"model": "m"}},
    "metrics": {"accumulated_cost": 0.25},
    "report": {"resolved": False},
}
FILES: dict[str, dict[str, Any]] = {
    "a trajectory": {"box.json": OLD},
    "an evaluation": {"output.jsonl": EVALUATED},
    "an evaluation of the first versions": {
        "output.jsonl": {**EVALUATED, "history": [OLD[:2], OLD[2:4], OLD[4:]]}
    },
    "events of the SDK with what was spent so far": {
        "box.jsonl": [*SDK[:3], UPDATES[0], *SDK[3:], UPDATES[1]]
    },
    "events of the SDK with the whole state": {"box.jsonl": [*SDK, UPDATES[0], FULL]},
    "a conversation of the SDK": {
        "box/base_state.json": STATE,
        **{f"box/events/event-0000{n}-x.json": event for n, event in enumerate(SDK)},
    },
}


def read(tmp_path: Path, files: dict[str, Any]) -> tuple[Conversion, list[Run]]:
    for name, content in files.items():
        put(tmp_path / "in" / name, content)
    return converted(None, tmp_path / "out", tmp_path / "in")


@pytest.mark.parametrize("form", FILES)
def test_every_form_of_a_conversation_gives_the_same_run(tmp_path: Path, form: str) -> None:
    done, (run,) = read(tmp_path, FILES[form])
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "Go."),
        ("assistant", "Look."),
        ("assistant", "Done."),
    ]
    assert [(call.tool, call.arguments) for call in run.of(ToolCall)] == [("bash", {"command": "ls"})]
    assert [(answer.content, answer.ok) for answer in run.of(Observation)] == [("none", False)]
    assert (run.agent, run.task_id) == ("openhands/m", "box")
    assert run.finished.cost == 0.25
    assert not [finding for finding in done.findings if finding.severity == "error"]


def test_an_evaluation_says_whether_the_task_was_solved_and_what_went_wrong(tmp_path: Path) -> None:
    stuck = {**EVALUATED, "instance_id": "bag", "error": "Stuck.", "report": {"resolved": True}}
    records = "".join(json.dumps(each) + "\n" for each in (EVALUATED, stuck))
    _, runs = read(tmp_path, {"output.jsonl": records})
    ends = [(run.task_id, run.finished.success, run.finished.error) for run in runs if run.finished]
    assert ends == [("box", False, None), ("bag", True, "Stuck.")]


def test_two_conversations_of_the_sdk_are_two_runs(tmp_path: Path) -> None:
    files = {f"{name}/events/event-{n}-x.json": e for name in ("one", "two") for n, e in enumerate(SDK)}
    done, runs = read(tmp_path, {**files, "two/events/event-1-x.json": {**SDK[1], "tool_name": "look"}})
    assert [run.task_id for run in runs] == ["one", "two"]
    assert [len(run.of(ToolCall)) for run in runs] == [1, 1], codes(done)


ANSWERS = [
    ("still running", OLD[2], old(3, observation="run", content="", cause=2, extras={"exit_code": -1}), None),
    ("an error", OLD[2], old(3, observation="error", content="x", cause=2, extras={}), False),
    ("no such tool", SDK[1], sdk("AgentErrorEvent", tool_call_id="c1", error="no such tool"), False),
    ("not allowed", SDK[1], sdk("UserRejectObservation", tool_call_id="c1", rejection_reason="no"), False),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "call", "answer", "want"), ANSWERS)
def test_an_answer_belongs_to_its_call(
    tmp_path: Path, desc: str, call: Any, answer: Any, want: bool | None
) -> None:
    _, (run,) = read(tmp_path, {"t.json": [call, answer]})
    assert [(o.call_id, o.ok) for o in run.of(Observation)] == [("c1", want)], desc


def test_a_list_of_actions_of_another_program_is_not_recognised() -> None:
    others = [{"action": "run", "args": {}}, {"kind": "ActionEvent"}]
    assert sniff("x.json", json.dumps(others).encode()) is None
