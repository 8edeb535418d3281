"""pi and OpenClaw: sessions as their documentation and published session files have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes

ABOUT = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x"}
COST = {"input": 0.25, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.5}
USAGE = {"input": 10, "output": 5, "cacheRead": 4, "cacheWrite": 0, "totalTokens": 19, "cost": COST}
CALL = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}}


def entry(number: int, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A message entry; its parent is the entry with the number before."""
    about = {"id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None}
    at = f"2026-01-01T00:00:{number:02}.000Z"
    return {"type": "message", **about, "timestamp": at, "message": message, **more}


def entries(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry(number, message) for number, message in enumerate(messages, 1)]


def reply(*content: Any, **more: Any) -> dict[str, Any]:
    about = {"api": "x", "provider": "anthropic", "model": "claude-x", "usage": USAGE, "stopReason": "stop"}
    return {"role": "assistant", "content": list(content), **about, **more}


def result(**more: Any) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": "t1", "toolName": "bash", "content": [words("a.py")], **more}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


ASK = {"role": "user", "content": [words("List files")]}
CALLED = reply({"type": "thinking", "thinking": "I look."}, CALL, stopReason="toolUse")
DONE = reply(words("One file."))
MESSAGES = [ASK, CALLED, result(isError=False), DONE]
LINES = entries(*MESSAGES)
FIRST_VERSION = {key: value for key, value in ABOUT.items() if key != "version"} | {"modelId": "claude-x"}
UNLINKED = [{key: line[key] for key in ("type", "timestamp", "message")} for line in LINES]
ENDED = ({**line, "type": "message_end"} for line in UNLINKED)
SHAPES = {
    "a tree of entries": lines(ABOUT, *LINES),
    "the first version, without a tree": lines(FIRST_VERSION, *UNLINKED),
    "the log of pi --mode json": lines(
        ABOUT, {"type": "agent_start"}, *ENDED, {"type": "agent_end", "messages": MESSAGES}
    ),
    "entries that other programs added without a parent": lines(ABOUT, *LINES[:3], UNLINKED[3]),
}
ANSWERS: list[tuple[dict[str, Any], bool | None]] = [
    ({"isError": False}, True),
    ({"isError": True}, False),
    ({}, None),
    ({"isError": False, "details": {"status": "error", "error": "ENOENT"}}, False),
    ({"isError": False, "details": {"status": "completed", "exitCode": 2}}, False),
    ({"isError": False, "details": {"status": "completed", "exitCode": 0}}, True),
]
SUMMARY = {"type": "branch_summary", "id": "b1", "parentId": "e1", "fromId": "e4", "summary": "Tried ls."}
OTHER = entry(5, reply(words("Nothing to do.")), parentId="b1")
COMPACTION = {"type": "compaction", "id": "c1", "parentId": "e3", "summary": "Listed.", "retainedTail": [ASK]}
COMMAND = {"role": "bashExecution", "command": "make", "output": "failed", "exitCode": 2}
FAILED = reply(stopReason="error", errorMessage="fetch failed", usage={"input": 0, "output": 0})
OWN = reply(words("No API key found."), provider="openclaw", model="gateway-injected")
USED = {"role": "assistant", "content": [
    {"type": "tool_use", "id": "t1", "name": "Execute", "input": {"command": "ls"}}]}  # fmt: skip
FOUND = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}
DROID = {"type": "session_start", "id": "d1", "title": "List files", "cwd": "/x"}
CASES = [
    *shapes(
        SHAPES,
        run="pi/s1",
        agent="pi/claude-x",
        task="s1",
        said=[("user", "List files"), ("reasoning", "I look."), ("assistant", "One file.")],
        calls=[("bash", {"command": "ls"})],
        answers=[("a.py", True)],
        success=None,
        cost=1.0,
        steps=2,
        metrics={"input_tokens": 28, "output_tokens": 10, "cached_tokens": 8, "cache_creation_tokens": 0},
        codes={"missing-outcome"},
    ),
    *(case(f"an answer with {more}", lines(ABOUT, *LINES[:2], entry(3, result(**more))), ok=[ok])
      for more, ok in ANSWERS),
    case("the run is the branch that the last entry ends", lines(ABOUT, *LINES, SUMMARY, OTHER),
         said=[("user", "List files"), ("branch_summary", "Tried ls."), ("assistant", "Nothing to do.")],
         calls=[], found={"branches-left-out"}),
    case("what was done before a compaction stays",
         lines(ABOUT, *LINES[:3], COMPACTION, entry(4, DONE, parentId="c1")),
         roles=["user", "reasoning", "compaction", "assistant"], tools=["bash"],
         missing={"branches-left-out"}),
    case("a command of the user is no call of the agent", lines(ABOUT, entry(1, COMMAND), entry(2, DONE)),
         tools=["bash"], requestors=["user"], answers=[("failed", False)]),
    case("a last reply that failed", lines(ABOUT, *entries(ASK, FAILED)), error="fetch failed"),
    case("a last reply that was stopped", lines(ABOUT, *entries(ASK, reply(stopReason="aborted"))),
         error="aborted"),
    case("a reply that failed before the last", lines(ABOUT, *entries(ASK, FAILED, DONE)), error=None),
    case("a reply that OpenClaw wrote itself names no model", lines(ABOUT, *entries(OWN, ASK, DONE)),
         agent="pi/claude-x"),
    case("a forked session names the session it came from",
         lines({**ABOUT, "parentSession": "/home/x/2026_s0.jsonl"}, *LINES),
         metadata={"format": "pi", "parent": "2026_s0"}),
    case("two sessions in a file are two runs", lines(ABOUT, *LINES, {**ABOUT, "id": "s2"}, entry(1, ASK)),
         runs=["pi/s1", "pi/s2"]),
    case("a session of Droid is not called one of pi", lines(DROID, *entries(ASK, USED, FOUND)),
         agent="droid", task="d1", tools=["Execute"], seen=["a.py"]),
    case("a session without messages is refused", lines(ABOUT), runs=[], found={"not-this-format"}),
]  # fmt: skip


@each(CASES)
def test_a_session_of_pi_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("pi", tmp_path, "session.jsonl", sniffed=True)
