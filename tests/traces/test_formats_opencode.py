"""opencode: exports, lists of messages and logs of events, after its published message types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes

START = 1767225600000
"""The first of January 2026, in milliseconds."""


def info(number: int, role: str, **more: Any) -> dict[str, Any]:
    times = {"time": {"created": START + number}}
    return {"id": f"msg_{number}", "sessionID": "ses_1", "role": role, **times, **more}


def text(words: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"id": f"prt_{words}", "type": kind, "text": words, **more}


def call(status: str = "completed", tool: str = "bash", **state: Any) -> dict[str, Any]:
    about = {"status": status, "input": {"command": "ls"}, "time": {"start": START + 3, "end": START + 4}}
    if status == "completed":
        about = {**about, "output": "a.py", "title": "ls", "metadata": {"exit": 0}}
    return {"id": "prt_c", "type": "tool", "callID": "c1", "tool": tool, "state": {**about, **state}}


def reply(number: int, *parts: Any, **more: Any) -> dict[str, Any]:
    about = info(number, "assistant", modelID="claude-x", providerID="anthropic", **more)
    return {"info": about, "parts": [{"id": "prt_s", "type": "step-start"}, *parts]}


def event(part: dict[str, Any], number: int) -> dict[str, Any]:
    kind = {"tool": "tool_use", "step-finish": "step_finish"}.get(part["type"], part["type"])
    about = {"sessionID": "ses_1", "messageID": f"msg_{number}"}
    return {"type": kind, "timestamp": START + number, "sessionID": "ses_1", "part": {**part, **about}}


ABOUT = {"id": "ses_1", "title": "List", "version": "1.0", "time": {"created": START, "updated": START + 9}}
TOKENS = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 4, "write": 1}}
FINISH = {"id": "prt_f", "type": "step-finish", "reason": "stop", "cost": 0.5, "tokens": TOKENS}
ASK = {"info": info(1, "user", agent="build", model={"modelID": "claude-x"}), "parts": [text("List files")]}
CALLED = reply(2, text("I look.", "reasoning"), call(), FINISH)
DONE = reply(5, text("One file."), FINISH)
MESSAGES = [ASK, CALLED, DONE]


def export(*messages: Any, **about: Any) -> dict[str, Any]:
    return {"info": {**ABOUT, **about}, "messages": list(messages)}


SAID = [("user", "List files"), ("reasoning", "I look."), ("assistant", "One file.")]
SHAPES = {
    "an export": {**export(*MESSAGES), "todos": []},
    "a list of messages": MESSAGES,
    "a line for each message": lines(*MESSAGES),
}
EVENTS = lines(*(event(part, n) for n, one in ((2, CALLED), (5, DONE)) for part in one["parts"]))
ANSWERS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("worked", call(), [("a.py", True)]),
    ("failed", call("error", error="boom"), [("boom", False)]),
    ("ended with a code", call(metadata={"exit": 2}), [("a.py", False)]),
    ("has no code", call(metadata={}), [("a.py", True)]),
    ("runs", call("running"), []),
    ("waits", call("pending", time=None), []),
]
TODOS = [{"id": "1", "content": "look", "status": "pending"}, {"id": "2", "content": "tell"}]
ERROR = {"name": "APIError", "data": {"message": "quota exceeded"}}
TOO_LONG = {"name": "MessageOutputLengthError", "data": {}}
CASES = [
    *shapes(
        SHAPES,
        run="opencode/ses_1",
        agent="opencode/claude-x",
        task="ses_1",
        said=SAID,
        calls=[("bash", {"command": "ls"})],
        answers=[("a.py", True)],
        success=None,
        cost=1.0,
        steps=2,
        metrics={"input_tokens": 30.0, "output_tokens": 14.0, "reasoning_tokens": 4.0,
                 "cached_tokens": 8.0, "cache_creation_tokens": 2.0},
        codes={"missing-outcome"},
    ),
    case("a log of events is the run without the prompt and the model", EVENTS, run="opencode/ses_1",
         agent="opencode", said=SAID[1:], answers=[("a.py", True)], cost=1.0, steps=2),
    case("an older message without finished steps has its own tokens",
         export(ASK, reply(2, text("One file."), cost=0.25, tokens={"input": 7, "output": 3})),
         cost=0.25, steps=1, metrics={"input_tokens": 7.0, "output_tokens": 3.0}),
    *(case(f"a call that {desc}", export(ASK, reply(2, made)), tools=["bash"], answers=want)
      for desc, made, want in ANSWERS),
    case("what a revert took back is left out and named", export(*MESSAGES, revert={"messageID": "msg_2"}),
         words=["List files"], calls=[], found={"taken-back"}),
    case("a revert to a part of a message",
         export(*MESSAGES, revert={"messageID": "msg_2", "partID": "prt_c"}),
         words=["List files", "I look."], calls=[], found={"taken-back"}),
    case("the summary of a compaction is a message of its own",
         export(ASK, reply(2, text("We did."), summary=True)), said=[SAID[0], ("compaction", "We did.")]),
    case("a list of todos is a plan", export(ASK, reply(2, call(tool="todowrite", input={"todos": TODOS}))),
         plans=[["look", "tell"]]),
    case("a last reply that failed", export(ASK, reply(2, error=ERROR)), error="quota exceeded"),
    case("a last reply that failed without a message", export(ASK, reply(2, error=TOO_LONG)),
         error="MessageOutputLengthError"),
    case("a reply that failed before the last", export(ASK, reply(2, error=ERROR), DONE), error=None),
    case("the session of a sub-agent names its parent", export(*MESSAGES, parentID="ses_0"),
         metadata={"format": "opencode", "parent": "ses_0"}),
    case("an export without messages is refused", export(), runs=[], found={"not-this-format"}),
]  # fmt: skip


@each(CASES)
def test_a_session_of_opencode_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("opencode", tmp_path, "session.json", sniffed=True)
