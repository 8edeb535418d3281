"""goose: exports, session files and the output of its runs, after its published message types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes

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
DONE = message(4, "assistant", words("One file."), **used(0.5))
MESSAGES = [ASK, CALL, message(3, "user", GIVEN), DONE]
HEADER = {"working_dir": "/x", "description": "List", "message_count": 4, "input_tokens": 99}
ABOUT = {"id": "20260101_1", "working_dir": "/x", "name": "List", "created_at": "2026-01-01T00:00:00Z"}
EXPORT = {**ABOUT, "extension_data": {}, "message_count": 4, "conversation": MESSAGES}
TOTALS = {"accumulated_input_tokens": 70, "accumulated_output_tokens": 7, "accumulated_cost": 2.0}


def export(*conversation: Any) -> dict[str, Any]:
    return {**EXPORT, "conversation": list(conversation)}


STREAM = [
    *({"type": "message", "message": one} for one in MESSAGES),
    {"type": "complete", "total_tokens": 30},
]
SHAPES = {
    "an export": EXPORT,
    "a session file": lines(HEADER, *MESSAGES),
    "the messages of a run": {"messages": MESSAGES, "metadata": {"status": "completed"}},
    "the stream of a run": lines(*STREAM),
    "a list of messages": MESSAGES,
}
ANSWERS: list[tuple[str, dict[str, Any], tuple[str, bool | None]]] = [
    ("worked", GIVEN, ("a.py", True)),
    ("worked, as older versions write it", answered(status="success", value=[words("a.py")]), ("a.py", True)),
    ("failed", answered(status="success", value={"content": [words("no file")], "isError": True}),
     ("no file", False)),
    ("refused", answered(status="error", error="refused"), ("refused", False)),
    ("without a status", answered(value=[words("a.py")]), ("a.py", None)),
    ("for the assistant", answered(status="success", value=[words("l", "assistant"), words("s", "user")]),
     ("l", True)),
]  # fmt: skip
BROKEN = {"type": "toolRequest", "id": "t1", "toolCall": {"status": "error", "error": "no such tool"}}
TODO = called("todo__todo_write", content="# To do\n- [x] look\n  * [ ] report [soon]\nnothing else")
ADDED = message(1, "user", words("It is Monday."), metadata={"userVisible": False, "turnContext": True})
FAILED = message(2, "assistant", {"type": "error", "kind": "other", "message": "quota exceeded"})
CASES = [
    *shapes(
        SHAPES,
        run="goose/20260101_1",
        agent="goose/claude-x",
        task="20260101_1",
        said=[("user", "List files"), ("reasoning", "I look."), ("assistant", "One file.")],
        calls=[("developer__shell", {"command": "ls"})],
        answers=[("a.py", True)],
        success=None,
        cost=0.75,
        steps=2,
        metrics={"input_tokens": 20.0, "output_tokens": 10.0, "cached_tokens": 8.0},
        codes={"missing-outcome"},
    ),
    case(
        "the totals of a session count before those of its messages",
        {**EXPORT, **TOTALS, "model_config": {"model_name": "gpt-x"}},
        agent="goose/gpt-x",
        cost=2.0,
        metrics={"input_tokens": 70.0, "output_tokens": 7.0},
    ),
    *(case(f"a call that {desc}", export(ASK, CALL, message(3, "user", answer)), answers=[want])
      for desc, answer, want in ANSWERS),
    case("a call that goose could not read is a call without a name",
         export(ASK, message(2, "assistant", BROKEN), message(3, "user", ANSWERS[3][1])),
         ok=[False], found={"call-without-name"}),
    case("a checklist in markdown is a plan", export(ASK, message(2, "assistant", TODO)),
         plans=[["look", "report [soon]"]]),
    case("what goose adds to a prompt is not the user speaking", export(ASK, ADDED, DONE),
         roles=["user", "context", "assistant"]),
    case("a session that ends in an error has it", export(ASK, FAILED), error="quota exceeded"),
    case("the session of a sub-agent names its parent", {**EXPORT, "parent_session_id": "20260101_0"},
         metadata={"format": "goose", "parent": "20260101_0"}),
    case("two sessions in a file are two runs",
         lines({**HEADER, "id": "a"}, *MESSAGES, {**HEADER, "id": "b"}, ASK), runs=["goose/a", "goose/b"]),
    case("a session without messages is refused", HEADER, runs=[], found={"not-this-format"}),
]  # fmt: skip


@each(CASES)
def test_a_session_of_goose_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("goose", tmp_path, "20260101_1.jsonl", sniffed=True)
