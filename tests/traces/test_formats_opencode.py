"""opencode: exports, lists of messages and logs of events, after its published message types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, lines, put

from untaken.ledger import Message, Observation, Plan, Run, ToolCall
from untaken.traces import Conversion, sniff

START = 1767225600000
"""The first of January 2026, in milliseconds."""


def info(number: int, role: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "sessionID": "ses_1",
        "role": role,
        "time": {"created": START + number},
        **more,
    }


def text(words: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"id": f"prt_{words}", "type": kind, "text": words, **more}


def call(status: str = "completed", tool: str = "bash", **state: Any) -> dict[str, Any]:
    about = {"status": status, "input": {"command": "ls"}, "time": {"start": START + 3, "end": START + 4}}
    if status == "completed":
        about = {**about, "output": "a.py", "title": "ls", "metadata": {"exit": 0}}
    return {"id": "prt_c", "type": "tool", "callID": "c1", "tool": tool, "state": {**about, **state}}


def finish() -> dict[str, Any]:
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 4, "write": 1}}
    return {"id": "prt_f", "type": "step-finish", "reason": "stop", "cost": 0.5, "tokens": tokens}


def reply(number: int, *parts: Any, **more: Any) -> dict[str, Any]:
    about = info(number, "assistant", modelID="claude-x", providerID="anthropic", **more)
    return {"info": about, "parts": [{"id": "prt_s", "type": "step-start"}, *parts]}


ABOUT = {"id": "ses_1", "title": "List", "version": "1.0", "time": {"created": START, "updated": START + 9}}
ASK = {"info": info(1, "user", agent="build", model={"modelID": "claude-x"}), "parts": [text("List files")]}
CALLED = reply(2, text("I look.", "reasoning"), call(), finish())
DONE = reply(5, text("One file."), finish())
MESSAGES = [ASK, CALLED, DONE]


def event(part: dict[str, Any], number: int) -> dict[str, Any]:
    kind = {"tool": "tool_use", "step-finish": "step_finish"}.get(part["type"], part["type"])
    about = {"sessionID": "ses_1", "messageID": f"msg_{number}"}
    return {"type": kind, "timestamp": START + number, "sessionID": "ses_1", "part": {**part, **about}}


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    source = put(tmp_path / "in" / "session.json", content)
    assert sniff("x.bin", source.read_bytes()) == "opencode"
    return converted("opencode", tmp_path / "out", source)


SHAPES = {
    "an export": {"info": ABOUT, "messages": MESSAGES, "todos": []},
    "a list of messages": MESSAGES,
    "a line for each message": lines(*MESSAGES),
}
ITEMS = [("user", "List files"), ("reasoning", "I look."), ("assistant", "One file.")]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_session_is_the_same_run(tmp_path: Path, shape: str) -> None:
    done, (run,) = read(tmp_path, SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("opencode/ses_1", "opencode/claude-x", "ses_1")
    assert [(m.role, m.content) for m in run.of(Message)] == ITEMS
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("bash", {"command": "ls"})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("a.py", True)]
    assert (run.finished.success, run.finished.cost, run.finished.steps) == (None, 1.0, 2)
    assert run.finished.metrics == {
        "input_tokens": 30.0,
        "output_tokens": 14.0,
        "reasoning_tokens": 4.0,
        "cached_tokens": 8.0,
        "cache_creation_tokens": 2.0,
    }
    assert codes(done).keys() == {"missing-outcome"}


def test_a_log_of_events_is_the_run_without_the_prompt_and_the_model(tmp_path: Path) -> None:
    events = [event(part, n) for n, each in ((2, CALLED), (5, DONE)) for part in each["parts"]]
    _, (run,) = read(tmp_path, lines(*events))
    assert (run.run_id, run.agent) == ("opencode/ses_1", "opencode")
    assert [(m.role, m.content) for m in run.of(Message)] == ITEMS[1:]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("a.py", True)]
    assert (run.finished.cost, run.finished.steps) == (1.0, 2)


def test_an_older_message_without_finished_steps_has_its_own_tokens(tmp_path: Path) -> None:
    old = reply(2, text("One file."), cost=0.25, tokens={"input": 7, "output": 3})
    _, (run,) = read(tmp_path, {"info": ABOUT, "messages": [ASK, old]})
    assert (run.finished.cost, run.finished.steps) == (0.25, 1)
    assert run.finished.metrics == {"input_tokens": 7.0, "output_tokens": 3.0}


ANSWERS = [
    (call(), [("a.py", True)]),
    (call("error", error="boom"), [("boom", False)]),
    (call(metadata={"exit": 2}), [("a.py", False)]),
    (call(metadata={}), [("a.py", True)]),
    (call("running"), []),
    (call("pending", time=None), []),
]


@pytest.mark.parametrize(("made", "want"), ANSWERS)
def test_the_state_of_a_call_says_whether_it_worked(
    tmp_path: Path, made: dict[str, Any], want: list[Any]
) -> None:
    _, (run,) = read(tmp_path, {"info": ABOUT, "messages": [ASK, reply(2, made)]})
    assert len(run.of(ToolCall)) == 1
    assert [(o.content, o.ok) for o in run.of(Observation)] == want


REVERTS = [
    ({"messageID": "msg_2"}, ["List files"]),
    ({"messageID": "msg_2", "partID": "prt_c"}, ["List files", "I look."]),
]


@pytest.mark.parametrize(("revert", "want"), REVERTS)
def test_what_a_revert_took_back_is_left_out_and_named(
    tmp_path: Path, revert: dict[str, Any], want: list[str]
) -> None:
    done, (run,) = read(tmp_path, {"info": {**ABOUT, "revert": revert}, "messages": MESSAGES})
    assert [m.content for m in run.of(Message)] == want
    assert not run.of(ToolCall)
    assert "taken-back" in codes(done)


def test_the_summary_of_a_compaction_is_a_message_of_its_own(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, {"info": ABOUT, "messages": [ASK, reply(2, text("We listed."), summary=True)]})
    assert [(m.role, m.content) for m in run.of(Message)][1] == ("compaction", "We listed.")


def test_a_list_of_todos_is_a_plan(tmp_path: Path) -> None:
    todos = [{"id": "1", "content": "look", "status": "pending"}, {"id": "2", "content": "tell"}]
    made = call(tool="todowrite", input={"todos": todos})
    _, (run,) = read(tmp_path, {"info": ABOUT, "messages": [ASK, reply(2, made)]})
    assert [plan.sub_goals for plan in run.of(Plan)] == [["look", "tell"]]


ERROR = {"name": "APIError", "data": {"message": "quota exceeded"}}
ENDS = [
    ([ASK, reply(2, error=ERROR)], "quota exceeded"),
    ([ASK, reply(2, error={"name": "MessageOutputLengthError", "data": {}})], "MessageOutputLengthError"),
    ([ASK, reply(2, error=ERROR), DONE], None),
]


@pytest.mark.parametrize(("messages", "error"), ENDS)
def test_a_session_whose_last_reply_failed_has_its_error(
    tmp_path: Path, messages: list[Any], error: str | None
) -> None:
    _, (run,) = read(tmp_path, {"info": ABOUT, "messages": messages})
    assert run.finished.error == error


def test_the_session_of_a_sub_agent_names_its_parent(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, {"info": {**ABOUT, "parentID": "ses_0"}, "messages": MESSAGES})
    assert run.started.metadata == {"format": "opencode", "parent": "ses_0"}


def test_an_export_without_messages_is_refused(tmp_path: Path) -> None:
    done, runs = read(tmp_path, {"info": ABOUT, "messages": []})
    assert runs == []
    assert "not-this-format" in codes(done)
