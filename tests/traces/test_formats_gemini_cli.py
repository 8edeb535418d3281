"""Gemini CLI: sessions after its published types (`ConversationRecord`), as an object and as a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes

TIMES = {"startTime": "2026-01-01T00:00:00Z", "lastUpdated": "2026-01-01T00:01:00Z"}
ABOUT = {"sessionId": "s1", "projectHash": "f0", **TIMES}


def at(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T00:00:{number:02}Z", "type": kind, **more}


def message(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "content": content, **at(number, kind, **more)}


def call(status: str = "success", response: Any = None, **more: Any) -> dict[str, Any]:
    about = {"id": "c1", "name": "read_file"}
    given = {"functionResponse": {**about, "response": response or {"output": "x = 1"}}}
    asked = {"args": {"path": "a.py"}, "timestamp": "2026-01-01T00:00:02Z"}
    return {**about, **asked, "status": status, "result": [given], **more}


TOKENS = {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 0, "total": 15}
THOUGHT = {"thoughts": [{"subject": "Plan", "description": "read it"}], "tokens": TOKENS}
ASK = message(1, "user", [{"text": "What is in a.py?"}])
REPLY = message(2, "gemini", "", model="gemini-x", **THOUGHT, toolCalls=[call()])
DONE = message(3, "gemini", "One line.", model="gemini-x", tokens={"input": 20, "output": 5, "cached": 0})
LATER = {"$set": {"lastUpdated": "2026-01-01T00:02:00Z"}}
SHAPES = {
    "an object": {**ABOUT, "messages": [ASK, REPLY, DONE]},
    "a log": lines({**ABOUT, "messages": []}, ASK, REPLY, DONE, LATER),
    "a log that begins with what was said before": lines(ABOUT, {"$set": {"messages": [ASK]}}, REPLY, DONE),
    "a log that writes a message again": lines(ABOUT, ASK, {**REPLY, "toolCalls": []}, REPLY, DONE),
}
ANSWERS = [
    ("worked", call(), [("x = 1", True)]),
    ("failed", call("error", {"error": "no such file"}), [("no such file", False)]),
    ("was refused", call("cancelled", {"error": "refused"}), [("refused", False)]),
    ("is under way", call("executing", result=None), []),
]
STREAM = [
    at(0, "init", session_id="s9", model="m"),
    at(1, "message", role="user", content="Go."),
    at(2, "tool_use", tool_name="look", tool_id="c1", parameters={"day": 1}),
    at(3, "tool_result", tool_id="c1", status="error", output="", error={"message": "closed"}),
    at(4, "message", role="assistant", content="I am ", delta=True),
    at(4, "message", role="assistant", content="done.", delta=True),
    at(5, "result", status="success", stats={"input_tokens": 5, "output_tokens": 2}),
]


def stream(name: str) -> list[dict[str, Any]]:
    """As a program writes it that runs the CLI: lines of its own before each stream, all in one file."""
    return [
        {"type": "message", "role": "user", "content": f"Task of {name}."},
        at(0, "init", session_id=name, model="m"),
        at(0, "message", role="assistant", content=f"Done {name}."),
        at(0, "result", status="success", stats={"input_tokens": 9, "cached": 4}),
    ]


BYE = {"type": "message", "role": "user", "content": "Bye."}
CASES = [
    *shapes(
        SHAPES,
        run="gemini-cli/s1",
        agent="gemini-cli/gemini-x",
        task="s1",
        said=[("user", "What is in a.py?"), ("reasoning", "Plan: read it"), ("assistant", "One line.")],
        calls=[("read_file", {"path": "a.py"})],
        answers=[("x = 1", True)],
        success=None,
        cost=None,
        steps=2,
        metrics={"input_tokens": 30, "output_tokens": 10, "cached_tokens": 4, "reasoning_tokens": 3},
        codes={"missing-outcome"},
    ),
    *(case(f"a call that {desc}", {**ABOUT, "messages": [ASK, {**REPLY, "toolCalls": [made]}]}, answers=want)
      for desc, made, want in ANSWERS),
    case("what a rewind took back is left out and named", lines(ABOUT, ASK, REPLY, {"$rewindTo": "m2"}, DONE),
         words=["What is in a.py?", "One line."], calls=[], found={"taken-back"}),
    case("a session that ends in an error has it",
         {**ABOUT, "messages": [ASK, message(2, "error", "quota exceeded")]}, error="quota exceeded"),
    case("two sessions in a file are two runs", lines(ABOUT, ASK, DONE, {**ABOUT, "sessionId": "s2"}, ASK),
         runs=["gemini-cli/s1", "gemini-cli/s2"]),
    case("a stream has its calls and whole replies", lines(*STREAM), run="gemini-cli/s9",
         agent="gemini-cli/m", said=[("user", "Go."), ("assistant", "I am done.")],
         calls=[("look", {"day": 1})], answers=[("closed", False)], input=5),
    case("a log of several streams is a run for each", lines(*stream("s1"), *stream("s2"), BYE),
         runs=["gemini-cli/s1", "gemini-cli/s2"],
         all_words=[["Task of s1.", "Done s1."], ["Task of s2.", "Done s2.", "Bye."]],
         all_metrics=[{"input_tokens": 9, "cached_tokens": 4}] * 2),
]  # fmt: skip
REFUSED = [
    case("without messages", ABOUT, runs=[], found={"not-this-format"}),
    case("without a session", lines(ASK, ABOUT), runs=[], found={"not-this-format"}),
]


@each(CASES)
def test_a_session_of_the_gemini_cli_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("gemini-cli", tmp_path, sniffed=True)


@each(REFUSED)
def test_a_file_without_a_session_or_without_messages_is_refused(tmp_path: Path, case: Case) -> None:
    case.holds("gemini-cli", tmp_path)
