"""goose: exports, session files and the output of its runs, after its published message types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, lines, put

from untaken.ledger import Message, Observation, Plan, Run, ToolCall
from untaken.traces import Conversion, sniff

START = 1767225600
"""The first of January 2026, in seconds."""


def message(number: int, role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "role": role, "created": START + number, "content": list(content), **more}


def words(text: str, *audience: str) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"annotations": {"audience": audience}} if audience else {})}


def called(name: str = "developer__shell", **arguments: Any) -> dict[str, Any]:
    value = {"name": name, "arguments": arguments or {"command": "ls"}}
    return {"type": "toolRequest", "id": "t1", "toolCall": {"status": "success", "value": value}}


def answered(**result: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": "t1", "toolResult": result}


def used(cost: float) -> dict[str, Any]:
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cacheReadTokens": 4, "cost": cost}
    return {"metadata": {"inference": {"requestedModel": "claude-x"}, "usage": usage}}


THOUGHT = {"type": "thinking", "thinking": "I look.", "signature": ""}
ASK = message(1, "user", words("List files"))
CALL = message(2, "assistant", THOUGHT, called(), **used(0.25))
GIVEN = answered(status="success", value={"content": [words("a.py")], "isError": False})
ANSWER = message(3, "user", GIVEN)
DONE = message(4, "assistant", words("One file."), **used(0.5))
MESSAGES = [ASK, CALL, ANSWER, DONE]
HEADER = {"working_dir": "/x", "description": "List", "message_count": 4, "input_tokens": 99}
EXPORT = {
    "id": "20260101_1",
    "working_dir": "/x",
    "name": "List",
    "created_at": "2026-01-01T00:00:00Z",
    "extension_data": {},
    "message_count": 4,
    "conversation": MESSAGES,
}


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    source = put(tmp_path / "in" / "20260101_1.jsonl", content)
    assert sniff("x.bin", source.read_bytes()) == "goose"
    return converted("goose", tmp_path / "out", source)


SHAPES = {
    "an export": EXPORT,
    "a session file": lines(HEADER, *MESSAGES),
    "the messages of a run": {"messages": MESSAGES, "metadata": {"status": "completed"}},
    "the stream of a run": lines(
        *({"type": "message", "message": each} for each in MESSAGES), {"type": "complete", "total_tokens": 30}
    ),
    "a list of messages": MESSAGES,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_session_is_the_same_run(tmp_path: Path, shape: str) -> None:
    done, (run,) = read(tmp_path, SHAPES[shape])
    assert (run.run_id, run.agent, run.task_id) == ("goose/20260101_1", "goose/claude-x", "20260101_1")
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "List files"),
        ("reasoning", "I look."),
        ("assistant", "One file."),
    ]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("developer__shell", {"command": "ls"})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("a.py", True)]
    assert (run.finished.success, run.finished.cost, run.finished.steps) == (None, 0.75, 2)
    assert run.finished.metrics == {"input_tokens": 20.0, "output_tokens": 10.0, "cached_tokens": 8.0}
    assert codes(done).keys() == {"missing-outcome"}


def test_the_totals_of_a_session_count_before_those_of_its_messages(tmp_path: Path) -> None:
    known = {"accumulated_input_tokens": 70, "accumulated_output_tokens": 7, "accumulated_cost": 2.0}
    _, (run,) = read(tmp_path, {**EXPORT, **known, "model_config": {"model_name": "gpt-x"}})
    assert run.agent == "goose/gpt-x"
    assert run.finished.cost == 2.0
    assert run.finished.metrics == {"input_tokens": 70.0, "output_tokens": 7.0}


ANSWERS = [
    (GIVEN, ("a.py", True)),
    (answered(status="success", value=[words("a.py")]), ("a.py", True)),
    (answered(status="success", value={"content": [words("no such file")], "isError": True}),
     ("no such file", False)),
    (answered(status="error", error="refused"), ("refused", False)),
    (answered(value=[words("a.py")]), ("a.py", None)),
    (answered(status="success", value=[words("long", "assistant"), words("short", "user")]), ("long", True)),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "want"), ANSWERS)
def test_the_result_of_a_call_says_whether_it_worked(
    tmp_path: Path, answer: dict[str, Any], want: tuple[str, bool | None]
) -> None:
    _, (run,) = read(tmp_path, {**EXPORT, "conversation": [ASK, CALL, message(3, "user", answer)]})
    assert [(o.content, o.ok) for o in run.of(Observation)] == [want]


def test_a_call_that_goose_could_not_read_is_a_call_without_a_name(tmp_path: Path) -> None:
    broken = {"type": "toolRequest", "id": "t1", "toolCall": {"status": "error", "error": "no such tool"}}
    answer = message(3, "user", answered(status="error", error="no such tool"))
    done, (run,) = read(tmp_path, {**EXPORT, "conversation": [ASK, message(2, "assistant", broken), answer]})
    assert [o.ok for o in run.of(Observation)] == [False]
    assert "call-without-name" in codes(done)


def test_a_checklist_in_markdown_is_a_plan(tmp_path: Path) -> None:
    todo = called("todo__todo_write", content="# To do\n- [x] look\n  * [ ] report [soon]\nnothing else")
    _, (run,) = read(tmp_path, {**EXPORT, "conversation": [ASK, message(2, "assistant", todo)]})
    assert [plan.sub_goals for plan in run.of(Plan)] == [["look", "report [soon]"]]


def test_what_goose_adds_to_a_prompt_is_not_the_user_speaking(tmp_path: Path) -> None:
    added = message(1, "user", words("It is Monday."), metadata={"userVisible": False, "turnContext": True})
    _, (run,) = read(tmp_path, {**EXPORT, "conversation": [ASK, added, DONE]})
    assert [m.role for m in run.of(Message)] == ["user", "context", "assistant"]


def test_a_session_that_ends_in_an_error_has_it(tmp_path: Path) -> None:
    failed = message(2, "assistant", {"type": "error", "kind": "other", "message": "quota exceeded"})
    _, (run,) = read(tmp_path, {**EXPORT, "conversation": [ASK, failed]})
    assert run.finished.error == "quota exceeded"


def test_the_session_of_a_sub_agent_names_its_parent(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, {**EXPORT, "parent_session_id": "20260101_0"})
    assert run.started.metadata == {"format": "goose", "parent": "20260101_0"}


def test_two_sessions_in_a_file_are_two_runs(tmp_path: Path) -> None:
    _, runs = read(tmp_path, lines({**HEADER, "id": "a"}, *MESSAGES, {**HEADER, "id": "b"}, ASK))
    assert sorted(run.run_id for run in runs) == ["goose/a", "goose/b"]


def test_a_session_without_messages_is_refused(tmp_path: Path) -> None:
    done, runs = read(tmp_path, HEADER)
    assert runs == []
    assert "not-this-format" in codes(done)
