"""Gemini CLI: sessions after its published types (`ConversationRecord`), as an object and as a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, lines, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion, sniff

ABOUT = {
    "sessionId": "s1",
    "projectHash": "f0",
    "startTime": "2026-01-01T00:00:00Z",
    "lastUpdated": "2026-01-01T00:01:00Z",
}


def message(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{number:02}Z"
    return {"id": f"m{number}", "timestamp": at, "type": kind, "content": content, **more}


def call(status: str = "success", response: Any = None, **more: Any) -> dict[str, Any]:
    given = {
        "functionResponse": {"id": "c1", "name": "read_file", "response": response or {"output": "x = 1"}}
    }
    about = {"id": "c1", "name": "read_file", "args": {"path": "a.py"}, "timestamp": "2026-01-01T00:00:02Z"}
    return {**about, "status": status, "result": [given], **more}


ASK = message(1, "user", [{"text": "What is in a.py?"}])
REPLY = message(
    2,
    "gemini",
    "",
    model="gemini-x",
    thoughts=[{"subject": "Plan", "description": "read it"}],
    tokens={"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 0, "total": 15},
    toolCalls=[call()],
)
DONE = message(3, "gemini", "One line.", model="gemini-x", tokens={"input": 20, "output": 5, "cached": 0})
MESSAGES = [ASK, REPLY, DONE]


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    return converted("gemini-cli", tmp_path / "out", put(tmp_path / "in" / "session.json", content))


SHAPES = {
    "an object": {**ABOUT, "messages": MESSAGES},
    "a log": lines({**ABOUT, "messages": []}, *MESSAGES, {"$set": {"lastUpdated": "2026-01-01T00:02:00Z"}}),
    "a log that begins with what was said before": lines(ABOUT, {"$set": {"messages": [ASK]}}, REPLY, DONE),
    "a log that writes a message again": lines(ABOUT, ASK, {**REPLY, "toolCalls": []}, REPLY, DONE),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_session_is_the_same_run(tmp_path: Path, shape: str) -> None:
    source = put(tmp_path / "in" / "session.json", SHAPES[shape])
    assert sniff("x.bin", source.read_bytes()) == "gemini-cli"
    done, (run,) = read(tmp_path, SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("gemini-cli/s1", "gemini-cli/gemini-x", "s1")
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "What is in a.py?"),
        ("reasoning", "Plan: read it"),
        ("assistant", "One line."),
    ]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("read_file", {"path": "a.py"})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("x = 1", True)]
    assert (run.finished.success, run.finished.cost, run.finished.steps) == (None, None, 2)
    assert run.finished.metrics == {
        "input_tokens": 30.0,
        "output_tokens": 10.0,
        "cached_tokens": 4.0,
        "reasoning_tokens": 3.0,
    }
    assert codes(done).keys() == {"missing-outcome"}


ANSWERS = [
    (call(), [("x = 1", True)]),
    (call("error", {"error": "no such file"}), [("no such file", False)]),
    (call("cancelled", {"error": "refused"}), [("refused", False)]),
    (call("executing", result=None), []),
]


@pytest.mark.parametrize(("made", "want"), ANSWERS)
def test_the_status_of_a_call_says_whether_it_worked(
    tmp_path: Path, made: dict[str, Any], want: list[Any]
) -> None:
    _, (run,) = read(tmp_path, {**ABOUT, "messages": [ASK, {**REPLY, "toolCalls": [made]}]})
    assert [(o.content, o.ok) for o in run.of(Observation)] == want


def test_what_a_rewind_took_back_is_left_out_and_named(tmp_path: Path) -> None:
    done, (run,) = read(tmp_path, lines(ABOUT, ASK, REPLY, {"$rewindTo": "m2"}, DONE))
    assert [m.content for m in run.of(Message)] == ["What is in a.py?", "One line."]
    assert not run.of(ToolCall)
    assert "taken-back" in codes(done)


def test_a_session_that_ends_in_an_error_has_it(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, {**ABOUT, "messages": [ASK, message(2, "error", "quota exceeded")]})
    assert run.finished.error == "quota exceeded"


def test_two_sessions_in_a_file_are_two_runs(tmp_path: Path) -> None:
    _, runs = read(tmp_path, lines(ABOUT, ASK, DONE, {**ABOUT, "sessionId": "s2"}, ASK))
    assert sorted(run.run_id for run in runs) == ["gemini-cli/s1", "gemini-cli/s2"]


@pytest.mark.parametrize("content", [ABOUT, lines(ASK, ABOUT)])
def test_a_file_without_a_session_or_without_messages_is_refused(tmp_path: Path, content: Any) -> None:
    done, runs = read(tmp_path, content)
    assert runs == []
    assert "not-this-format" in codes(done)


def test_a_stream_has_its_calls_and_whole_replies(tmp_path: Path) -> None:
    def at(second: int, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "timestamp": f"2026-01-01T00:00:{second:02}.000Z", **more}

    lines = [
        at(0, "init", session_id="s9", model="m"),
        at(1, "message", role="user", content="Go."),
        at(2, "tool_use", tool_name="look", tool_id="c1", parameters={"day": 1}),
        at(3, "tool_result", tool_id="c1", status="error", output="", error={"message": "closed"}),
        at(4, "message", role="assistant", content="I am ", delta=True),
        at(4, "message", role="assistant", content="done.", delta=True),
        at(5, "result", status="success", stats={"input_tokens": 5, "output_tokens": 2}),
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    assert sniff("x.bin", content.encode()) == "gemini-cli"
    _, (run,) = converted("gemini-cli", tmp_path / "out", put(tmp_path / "in" / "o.jsonl", content))
    assert (run.run_id, run.agent) == ("gemini-cli/s9", "gemini-cli/m")
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "I am done.")]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(o.ok, o.content) for o in run.of(Observation)] == [(False, "closed")]
    assert (run.finished.metrics or {})["input_tokens"] == 5


def test_a_log_of_several_streams_is_a_run_for_each(tmp_path: Path) -> None:
    """A program that runs the CLI may write lines of its own before each stream, and append to one file."""

    def stream(name: str) -> list[dict[str, Any]]:
        at = "2026-01-01T00:00:00.000Z"
        return [
            {"type": "message", "role": "user", "content": f"Task of {name}."},
            {"type": "init", "timestamp": at, "session_id": name, "model": "m"},
            {"type": "message", "timestamp": at, "role": "assistant", "content": f"Done {name}."},
            {
                "type": "result",
                "timestamp": at,
                "status": "success",
                "stats": {"input_tokens": 9, "cached": 4},
            },
        ]

    content = lines(*stream("s1"), *stream("s2"), {"type": "message", "role": "user", "content": "Bye."})
    assert sniff("x.bin", content.encode()) == "gemini-cli"
    _, runs = read(tmp_path, content)
    assert [(run.run_id, [m.content for m in run.of(Message)]) for run in runs] == [
        ("gemini-cli/s1", ["Task of s1.", "Done s1."]),
        ("gemini-cli/s2", ["Task of s2.", "Done s2.", "Bye."]),
    ]
    (finished, _) = [run.finished for run in runs]
    assert finished is not None
    assert finished.metrics == {"input_tokens": 9, "cached_tokens": 4}
