"""pi and OpenClaw: sessions as their documentation and published session files have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, lines, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion, sniff

ABOUT = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x"}
USAGE = {
    "input": 10,
    "output": 5,
    "cacheRead": 4,
    "cacheWrite": 0,
    "totalTokens": 19,
    "cost": {"input": 0.25, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.5},
}
CALL = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}}


def entry(number: int, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A message entry; its parent is the entry with the number before."""
    at = f"2026-01-01T00:00:{number:02}.000Z"
    parent = f"e{number - 1}" if number > 1 else None
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": parent,
        "timestamp": at,
        "message": message,
        **more,
    }


def reply(*content: Any, **more: Any) -> dict[str, Any]:
    about = {"api": "x", "provider": "anthropic", "model": "claude-x", "usage": USAGE, "stopReason": "stop"}
    return {"role": "assistant", "content": list(content), **about, **more}


def result(**more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": "a.py"}]
    return {"role": "toolResult", "toolCallId": "t1", "toolName": "bash", "content": content, **more}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


ASK = {"role": "user", "content": [words("List files")]}
CALLED = reply({"type": "thinking", "thinking": "I look."}, CALL, stopReason="toolUse")
DONE = reply(words("One file."))
MESSAGES = [ASK, CALLED, result(isError=False), DONE]
LINES = [entry(n, message) for n, message in enumerate(MESSAGES, 1)]


def read(tmp_path: Path, *records: Any) -> tuple[Conversion, list[Run]]:
    source = put(tmp_path / "in" / "session.jsonl", lines(*records))
    assert sniff("x.bin", source.read_bytes()) == "pi"
    return converted("pi", tmp_path / "out", source)


FIRST_VERSION = {key: value for key, value in ABOUT.items() if key != "version"} | {"modelId": "claude-x"}
UNLINKED = [{key: line[key] for key in ("type", "timestamp", "message")} for line in LINES]
SHAPES = {
    "a tree of entries": [ABOUT, *LINES],
    "the first version, without a tree": [FIRST_VERSION, *UNLINKED],
    "the log of pi --mode json": [
        ABOUT,
        {"type": "agent_start"},
        *({**line, "type": "message_end"} for line in UNLINKED),
        {"type": "agent_end", "messages": MESSAGES},
    ],
    "entries that other programs added without a parent": [ABOUT, *LINES[:3], UNLINKED[3]],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_session_is_the_same_run(tmp_path: Path, shape: str) -> None:
    done, (run,) = read(tmp_path, *SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("pi/s1", "pi/claude-x", "s1")
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "List files"),
        ("reasoning", "I look."),
        ("assistant", "One file."),
    ]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("bash", {"command": "ls"})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("a.py", True)]
    assert (run.finished.success, run.finished.cost, run.finished.steps) == (None, 1.0, 2)
    assert run.finished.metrics == {
        "input_tokens": 28.0,
        "output_tokens": 10.0,
        "cached_tokens": 8.0,
        "cache_creation_tokens": 0.0,
    }
    assert codes(done).keys() == {"missing-outcome"}


ANSWERS = [
    (result(isError=False), True),
    (result(isError=True), False),
    (result(), None),
    (result(isError=False, details={"status": "error", "error": "ENOENT"}), False),
    (result(isError=False, details={"status": "completed", "exitCode": 2}), False),
    (result(isError=False, details={"status": "completed", "exitCode": 0}), True),
]


@pytest.mark.parametrize(("answer", "ok"), ANSWERS)
def test_an_answer_says_whether_its_call_worked(
    tmp_path: Path, answer: dict[str, Any], ok: bool | None
) -> None:
    _, (run,) = read(tmp_path, ABOUT, *LINES[:2], entry(3, answer))
    assert [o.ok for o in run.of(Observation)] == [ok]


def test_the_run_is_the_branch_that_the_last_entry_ends(tmp_path: Path) -> None:
    summary = {"type": "branch_summary", "id": "b1", "parentId": "e1", "fromId": "e4", "summary": "Tried ls."}
    other = entry(5, reply(words("Nothing to do.")), parentId="b1")
    done, (run,) = read(tmp_path, ABOUT, *LINES, summary, other)
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "List files"),
        ("branch_summary", "Tried ls."),
        ("assistant", "Nothing to do."),
    ]
    assert not run.of(ToolCall)
    assert "branches-left-out" in codes(done)


def test_what_was_done_before_a_compaction_stays(tmp_path: Path) -> None:
    compaction = {
        "type": "compaction",
        "id": "c1",
        "parentId": "e3",
        "summary": "Listed files.",
        "retainedTail": [ASK],
    }
    done, (run,) = read(tmp_path, ABOUT, *LINES[:3], compaction, entry(4, DONE, parentId="c1"))
    assert [m.role for m in run.of(Message)] == ["user", "reasoning", "compaction", "assistant"]
    assert len(run.of(ToolCall)) == 1
    assert "branches-left-out" not in codes(done)


def test_a_command_of_the_user_is_no_call_of_the_agent(tmp_path: Path) -> None:
    command = {"role": "bashExecution", "command": "make", "output": "failed", "exitCode": 2}
    _, (run,) = read(tmp_path, ABOUT, entry(1, command), entry(2, DONE))
    assert [(c.tool, c.requestor) for c in run.of(ToolCall)] == [("bash", "user")]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("failed", False)]


FAILED = reply(stopReason="error", errorMessage="fetch failed", usage={"input": 0, "output": 0})
ENDS = [
    ([ASK, FAILED], "fetch failed"),
    ([ASK, reply(words("I"), stopReason="aborted")], "aborted"),
    ([ASK, FAILED, DONE], None),
]


@pytest.mark.parametrize(("messages", "error"), ENDS)
def test_a_session_whose_last_reply_failed_has_its_error(
    tmp_path: Path, messages: list[Any], error: str | None
) -> None:
    _, (run,) = read(tmp_path, ABOUT, *(entry(n, message) for n, message in enumerate(messages, 1)))
    assert run.finished.error == error


def test_a_reply_that_openclaw_wrote_itself_names_no_model(tmp_path: Path) -> None:
    own = reply(words("No API key found."), provider="openclaw", model="gateway-injected")
    _, (run,) = read(tmp_path, ABOUT, entry(1, own), entry(2, ASK), entry(3, DONE))
    assert run.agent == "pi/claude-x"


def test_a_forked_session_names_the_session_it_came_from(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, {**ABOUT, "parentSession": "/home/x/2026_s0.jsonl"}, *LINES)
    assert run.started.metadata == {"format": "pi", "parent": "2026_s0"}


def test_two_sessions_in_a_file_are_two_runs(tmp_path: Path) -> None:
    _, runs = read(tmp_path, ABOUT, *LINES, {**ABOUT, "id": "s2"}, entry(1, ASK))
    assert sorted(run.run_id for run in runs) == ["pi/s1", "pi/s2"]


def test_a_session_of_droid_is_not_called_one_of_pi(tmp_path: Path) -> None:
    blocks = [{"type": "tool_use", "id": "t1", "name": "Execute", "input": {"command": "ls"}}]
    found = [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]
    talk = [ASK, {"role": "assistant", "content": blocks}, {"role": "user", "content": found}]
    header = {"type": "session_start", "id": "d1", "title": "List files", "cwd": "/x"}
    _, (run,) = read(tmp_path, header, *(entry(n, message) for n, message in enumerate(talk, 1)))
    assert (run.agent, run.task_id) == ("droid", "d1")
    assert [call.tool for call in run.of(ToolCall)] == ["Execute"]
    assert [answer.content for answer in run.of(Observation)] == ["a.py"]


def test_a_session_without_messages_is_refused(tmp_path: Path) -> None:
    done, runs = read(tmp_path, ABOUT)
    assert runs == []
    assert "not-this-format" in codes(done)
