"""GitHub Copilot CLI: logs of events after the published reference of its session events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, lines, put

from untaken.ledger import Message, Observation, Plan, Run, ToolCall
from untaken.traces import Conversion, sniff

REQUEST = {"toolCallId": "t1", "name": "bash", "arguments": {"command": "ls"}}


def event(number: int, kind: str, /, **data: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{number:02}.000Z"
    parent = f"e{number - 1}" if number else None
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": at, "parentId": parent}


def complete(number: int = 4, **data: Any) -> dict[str, Any]:
    return event(number, "tool.execution_complete", toolCallId="t1", **data)


START = event(
    0,
    "session.start",
    sessionId="s1",
    version=1,
    producer="copilot-agent",
    startTime="2026-01-01T00:00:00.000Z",
)
ASK = event(1, "user.message", content="List files", transformedContent="<now/> List files", attachments=[])
CALLED = event(
    2,
    "assistant.message",
    content="",
    reasoningText="I look.",
    toolRequests=[REQUEST],
    outputTokens=3,
    model="gpt-x",
)
BEGUN = event(3, "tool.execution_start", toolCallId="t1", toolName="bash", arguments={"command": "ls"})
WORKED = complete(success=True, result={"content": "a.py", "detailedContent": "a.py\n"})
DONE = event(5, "assistant.message", content="One file.", toolRequests=[], outputTokens=4, model="gpt-x")
EVENTS = [START, ASK, CALLED, BEGUN, WORKED, DONE]
USAGE = {"inputTokens": 20, "outputTokens": 7, "cacheReadTokens": 8, "cacheWriteTokens": 0}
END = event(
    6,
    "session.shutdown",
    shutdownType="routine",
    modelMetrics={"gpt-x": {"requests": {"count": 2, "cost": 1}, "usage": USAGE}},
)


def read(tmp_path: Path, *events: Any) -> tuple[Conversion, list[Run]]:
    source = put(tmp_path / "in" / "events.jsonl", lines(*events))
    assert sniff("x.bin", source.read_bytes()) == "copilot-cli"
    return converted("copilot-cli", tmp_path / "out", source)


DELTA = event(2, "assistant.message_delta", messageId="m", deltaContent="One") | {"ephemeral": True}
RESULT = {"type": "result", "sessionId": "s1", "exitCode": 0, "usage": {"premiumRequests": 1}}
SHAPES = {
    "a log": EVENTS,
    "the output of a run as JSON": [ASK, CALLED, DELTA, BEGUN, WORKED, DONE, RESULT],
    "thoughts in events of their own": [
        *EVENTS[:2],
        event(2, "assistant.reasoning", content="I look."),
        *EVENTS[2:],
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_session_is_the_same_run(tmp_path: Path, shape: str) -> None:
    done, (run,) = read(tmp_path, *SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("copilot-cli/s1", "copilot-cli/gpt-x", "s1")
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "List files"),
        ("reasoning", "I look."),
        ("assistant", "One file."),
    ]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("bash", {"command": "ls"})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("a.py", True)]
    assert (run.finished.success, run.finished.cost, run.finished.steps) == (None, None, 2)
    assert run.finished.metrics == {"output_tokens": 7.0}
    assert codes(done).keys() == {"missing-outcome"}


ENDS = [
    ([END], {"input_tokens": 20.0, "output_tokens": 7.0, "cached_tokens": 8.0, "cache_creation_tokens": 0.0}),
    ([END, {**END, "id": "e7"}], {"output_tokens": 7.0}),
    ([event(6, "assistant.usage", model="gpt-x", inputTokens=9, outputTokens=2)],
     {"input_tokens": 9.0, "output_tokens": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize(("ends", "want"), ENDS)
def test_tokens_are_those_of_the_only_end_else_of_the_calls_else_of_the_replies(
    tmp_path: Path, ends: list[Any], want: dict[str, float]
) -> None:
    _, (run,) = read(tmp_path, *EVENTS, *ends)
    assert run.finished.metrics == want


ANSWERS = [
    (WORKED, ("a.py", True)),
    (complete(success=False, error={"message": "denied", "code": "denied"}), ("denied", False)),
    (complete(success=False, result={"content": "no such file"}), ("no such file", False)),
    (complete(success=False, output="no such file"), ("no such file", False)),
    (complete(success=True, result={"content": "boom\n<exited with exit code 2>"}),
     ("boom\n<exited with exit code 2>", False)),
    (complete(success=True, result={"content": "a\n<shellId: 0 completed with exit code 0>"}),
     ("a\n<shellId: 0 completed with exit code 0>", True)),
    (complete(success=True), (None, True)),
    (complete(result={"content": "a.py"}), ("a.py", None)),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "want"), ANSWERS)
def test_the_end_of_a_call_says_whether_it_worked(
    tmp_path: Path, answer: dict[str, Any], want: tuple[Any, bool | None]
) -> None:
    _, (run,) = read(tmp_path, START, ASK, CALLED, BEGUN, answer)
    assert [(o.content, o.ok) for o in run.of(Observation)] == [want]


def test_an_exit_code_in_the_output_of_another_tool_is_no_failure(tmp_path: Path) -> None:
    asked = event(2, "tool.execution_start", toolCallId="t1", toolName="view", arguments={"path": "log"})
    shown = complete(success=True, result={"content": "<exited with exit code 2>"})
    _, (run,) = read(tmp_path, START, ASK, asked, shown)
    assert [(c.tool, o.ok) for c, o in zip(run.of(ToolCall), run.of(Observation), strict=True)] == [
        ("view", True)
    ]


def test_a_call_of_the_user_and_a_message_of_a_skill_are_named_as_such(tmp_path: Path) -> None:
    asked = event(2, "tool.user_requested", toolCallId="t1", toolName="bash", arguments={"command": "ls"})
    skill = event(3, "user.message", content="Read the PDF so.", source="skill-pdf")
    _, (run,) = read(tmp_path, START, ASK, asked, WORKED, skill)
    assert [call.requestor for call in run.of(ToolCall)] == ["user"]
    assert [m.role for m in run.of(Message)] == ["user", "context"]


def test_a_sub_agent_is_a_run_of_its_own(tmp_path: Path) -> None:
    child = {**event(4, "assistant.message", content="Found it."), "agentId": "a1"}
    older = event(5, "assistant.message", content="Me, too.", parentToolCallId="t9")
    _, runs = read(tmp_path, *EVENTS[:4], child, older, WORKED, DONE)
    named = {run.run_id: [m.content for m in run.of(Message) if m.role == "assistant"] for run in runs}
    assert named == {
        "copilot-cli/s1": ["One file."],
        "copilot-cli/s1/a1": ["Found it."],
        "copilot-cli/s1/t9": ["Me, too."],
    }
    parents = {run.started.metadata.get("parent") for run in runs if run.started and run.started.metadata}
    assert parents == {None, "s1"}


def test_what_a_rewind_took_back_is_left_out_and_named(tmp_path: Path) -> None:
    rewind = event(6, "session.snapshot_rewind", upToEventId="e2", eventsRemoved=4)
    done, (run,) = read(tmp_path, *EVENTS, rewind, event(7, "assistant.message", content="Nothing."))
    assert [m.content for m in run.of(Message)] == ["List files", "Nothing."]
    assert not run.of(ToolCall)
    assert "taken-back" in codes(done)


def test_what_was_done_before_a_compaction_stays(tmp_path: Path) -> None:
    compaction = event(5, "session.compaction_complete", success=True, summaryContent="Listed files.")
    _, (run,) = read(tmp_path, *EVENTS[:5], compaction, DONE)
    assert [m.role for m in run.of(Message)] == ["user", "reasoning", "compaction", "assistant"]
    assert len(run.of(ToolCall)) == 1


def test_a_list_of_todos_is_a_plan(tmp_path: Path) -> None:
    todo = {"toolCallId": "t1", "name": "update_todo", "arguments": {"todos": "- [x] look\n- [ ] report"}}
    _, (run,) = read(tmp_path, START, ASK, event(2, "assistant.message", content="", toolRequests=[todo]))
    assert [plan.sub_goals for plan in run.of(Plan)] == [["look", "report"]]


STOPS = [
    ([event(6, "session.error", errorType="quota", message="quota exceeded")], "quota exceeded"),
    ([event(6, "abort", reason="user initiated")], "user initiated"),
    ([event(6, "session.shutdown", shutdownType="error", errorReason="crash")], "crash"),
    ([event(6, "session.error", message="lost"), event(7, "assistant.message", content="Back.")], None),
    ([END], None),
]


@pytest.mark.parametrize(("ends", "error"), STOPS)
def test_a_session_that_ends_in_an_error_has_it(tmp_path: Path, ends: list[Any], error: str | None) -> None:
    _, (run,) = read(tmp_path, *EVENTS, *ends)
    assert run.finished.error == error


def test_two_sessions_in_a_file_are_two_runs(tmp_path: Path) -> None:
    _, runs = read(tmp_path, *EVENTS, event(0, "session.start", sessionId="s2"), ASK)
    assert sorted(run.run_id for run in runs) == ["copilot-cli/s1", "copilot-cli/s2"]


def test_a_session_without_messages_is_refused(tmp_path: Path) -> None:
    done, runs = read(tmp_path, START)
    assert runs == []
    assert "not-this-format" in codes(done)
