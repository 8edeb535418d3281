"""Claude Code: the branch that ends last, side chains, the log of ``claude -p``, and who writes alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import lines
from reading import Case, case, each

from untaken.traces.claude_code import parents_first


def line(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, "id": f"m-{uuid}", "model": "opus"}
    about = {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "message": message}
    return {**about, "timestamp": f"2026-01-01T00:00:0{len(uuid)}Z", **more}


def use(call_id: str, tool: str = "Bash", **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call_id, "name": tool, "input": given}]


def result(call_id: str, content: Any = "ok", **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": content, **more}]


def streamed(role: str, content: Any, parent: str | None = None, name: str = "m1") -> dict[str, Any]:
    message = {"role": role, "content": content, "id": name, "model": "opus"}
    return {"type": role, "message": message, "parent_tool_use_id": parent, "session_id": "s1"}


def spent(one: dict[str, Any], tokens: int, output: int = 0, **more: Any) -> dict[str, Any]:
    usage = {"usage": {"input_tokens": tokens, "output_tokens": output}}
    return {**one, "message": {**one["message"], **usage, **more}}


INIT = {"type": "system", "subtype": "init", "session_id": "s1", "model": "opus"}
GO = line("a", None, "user", "Go.")
FAILED = line("bb", "a", "assistant", [{"type": "text", "text": "API Error: 500"}], isApiErrorMessage=True)
REPLY = {"role": "assistant", "id": "m1", "model": "opus"}
AT_ONCE = [
    GO,
    line("bb", "a", "assistant", [], message={**REPLY, "content": use("t1")}),
    line("ccc", "bb", "assistant", [], message={**REPLY, "content": use("t2", "Read")}),
    line("dddd", "bb", "user", result("t1", "one")),
    line("eeee", "ccc", "user", result("t2", "two", is_error=True)),
    line("fffff", "eeee", "assistant", "Done."),
]
CALLED, ANSWERED = line("b", "a", "assistant", use("c1")), line("c", "b", "user", result("c1"))
LEFT = [
    GO,
    line("bb", "a", "assistant", use("t1")),
    line("ccc", "bb", "user", result("t1", "left")),
    line("dd", "a", "user", "Another way."),
    line("eee", "dd", "assistant", use("t2")),
    line("ffff", "eee", "user", result("t2", "kept")),
]
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
TODOS = [{"content": "look"}, {"content": "fix"}]
FREE = [line("b", "a", "assistant", "Hm."), line("c", "b", "assistant", "Done.")]
UNNAMED = [{k: v for k, v in one.items() if k != "sessionId"} for one in (GO, FREE[1])]
SESSIONS = [
    case("a session that ends with an error of the service has that error", lines(GO, FAILED),
         error="API Error: 500"),
    case("a session that goes on after an error has none",
         lines(GO, FAILED, line("ccc", "bb", "assistant", "Done.")), error=None),
    case("a session is its last branch",
         lines(GO, line("b", "a", "assistant", "left"), line("c", "a", "assistant", "kept")),
         words=["Go.", "kept"], found={"branches-left-out"}, agent="claude-code/opus", model="opus"),
    case("calls made at once keep all their answers", lines(*AT_ONCE), tools=["Bash", "Read"],
         seen=["one", "two"], answered=["t1", "t2"], missing={"branches-left-out"}),
    case("an answer that is written before its call answers it",
         lines(GO, ANSWERED, CALLED, line("d", "c", "assistant", "Done.")), tools=["Bash"], answered=["c1"],
         kinds=["RunStarted", "Message", "SkillSelection", "ToolCall", "Observation", "Message",
                "RunFinished"],
         words=["Go.", "Done."], missing={"observation-without-call", "time-goes-back"}),
    *(case(f"tokens of two replies, of which the second has {second}",
           lines(GO, spent(FREE[0], 0), spent(FREE[1], second)), input=want, **{named: {"uncounted-tokens"}})
      for second, want, named in ((0, None, "found"), (7, 7, "missing"))),
    case("tokens of one reply count once",
         lines(*(spent(line(name, parent, "assistant", "x"), 5, 2, id="same")
                 for name, parent in (("a", None), ("bb", "a")))),
         metrics={"input_tokens": 5.0, "output_tokens": 2.0}),
    case("answers of a branch that was left stay out", lines(*LEFT), seen=["kept"]),
    case("a compaction is crossed by its logical parent",
         lines(GO, {**BOUNDARY, "logicalParentUuid": "a"}, line("c", "b", "user", "after")),
         words=["Go.", "after"]),
    case("calls, answers, failures and plans are there",
         lines(line("a", None, "assistant", use("t1", command="ls") + use("t2", "TodoWrite", todos=TODOS)),
               line("b", "a", "user", result("t1", "no", is_error=True) + result("t2"))),
         tools=["Bash", "TodoWrite"], answers=[("no", False), ("ok", None)], plans=[["look", "fix"]]),
    *(case(f"a side chain marked with {mark} is a run that names its parent",
           lines(GO, line("b", None, "user", "Help.", **mark)), all_words=[["Go."], ["Help."]],
           parents=[None, "s1"])
      for mark in ({"isSidechain": True}, {"isSidechain": True, "agentId": "x"})),
    case("a session that no line names is named by its file", lines(*UNNAMED), run="claude-code/in",
         words=["Go.", "Done."], found={"session-unnamed"}),
]  # fmt: skip
ENDED = {
    "type": "result", "subtype": "error_max_turns", "is_error": True, "num_turns": 7, "total_cost_usd": 0.5,
}  # fmt: skip
NUMBERED = [streamed("assistant", use("Bash:0", n=n), name=f"m{n}") for n in (1, 2, 3)]
"""Some models number the calls of each reply from 0; the first of these was cut off."""
REPLIED = [streamed("user", result("Bash:0", words)) for words in ("two", "three")]
LOGS = [
    case("an id that a later reply uses again is of another call",
         lines(INIT, *NUMBERED[:2], REPLIED[0], NUMBERED[2], REPLIED[1]), tools=["Bash"] * 3,
         joined=[({"n": 2}, "two"), ({"n": 3}, "three")]),
    case("a log says how the program ended and not whether it succeeded",
         lines(INIT, streamed("assistant", use("t1")), {**ENDED, "session_id": "s1"}),
         success=None, limit="turns", steps=7, cost=0.5, error="error_max_turns"),
    case("a call that is streamed twice is one call",
         lines(INIT, *[streamed("assistant", use("t1"))] * 2), tools=["Bash"]),
    case("a sub-agent of a log is a run",
         lines(INIT, streamed("user", "Go."), streamed("user", "Help.", "t1")),
         all_words=[["Go."], ["Help."]]),
]  # fmt: skip


@each(SESSIONS)
def test_a_session_of_claude_code_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("claude-code", tmp_path, "in.jsonl", sniffed=True)


@each(LOGS)
def test_a_log_of_claude_code_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("claude-code", tmp_path, "log.txt", sniffed=True)


@pytest.mark.parametrize("parents", [("b", "a"), ("a", "a"), ("c", "b")])
def test_parents_that_form_a_ring_lose_no_line(parents: tuple[str, str]) -> None:
    lines = [line(name, parent, "user", name) for name, parent in zip("ab", parents, strict=True)]
    assert sorted(one["uuid"] for one in parents_first(lines)) == ["a", "b"]


def cursor(number: int, kind: str, done: dict[str, Any] | None = None) -> dict[str, Any]:
    about = {"args": {"path": "a"}, **({"result": done} if done else {})}
    state = {"subtype": "completed" if done else "started", "timestamp_ms": 1_760_000_000_000 + number}
    return {
        "type": "tool_call", **state, "call_id": f"c{number}", "session_id": "s", "tool_call": {kind: about},
    }  # fmt: skip


CURSOR = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
    {
        "type": "user",
        "session_id": "s",
        "message": {"role": "user", "content": [{"type": "text", "text": "Go."}]},
    },
    *(cursor(1, "readToolCall"), cursor(1, "readToolCall", {"success": {"content": "x"}})),
    *(cursor(2, "shellToolCall"), cursor(2, "shellToolCall", {"error": {"message": "no"}})),
    {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
]


def qwen(number: int, kind: str, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    place = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
    about = {"type": kind, "sessionId": "q1", "timestamp": f"2026-01-01T00:00:0{number}Z"}
    return {**about, **place, "message": {"role": role, "parts": list(parts)}, **more}


LOOK = {"id": "c1", "name": "look"}
USED = {"promptTokenCount": 9, "candidatesTokenCount": 2}
QWEN = [
    qwen(0, "user", "user", {"text": "Go."}),
    qwen(1, "assistant", "model", {"text": "Hm.", "thought": True},
         {"functionCall": {**LOOK, "args": {"day": 1}}}, model="q", usageMetadata=USED),
    qwen(2, "tool_result", "user", {"functionResponse": {**LOOK, "response": {"output": "closed"}}},
         toolCallResult={"callId": "c1", "status": "error"}),
    qwen(3, "assistant", "model", {"text": "Done."}, model="q"),
]  # fmt: skip
BARE = [{name: one[name] for name in ("type", "timestamp", "message")} for one in (GO, FREE[1])]
OTHERS = [
    case("a log of Cursor has its calls and its name", lines(*CURSOR), agent="cursor/m",
         calls=[("read", {"path": "a"}), ("shell", {"path": "a"})],
         answers=[({"content": "x"}, True), ({"message": "no"}, False)]),
    case("a session of Qwen Code has its messages and its name", lines(*QWEN), agent="qwen-code/q",
         task="q1", said=[("user", "Go."), ("reasoning", "Hm."), ("assistant", "Done.")],
         calls=[("look", {"day": 1})], answers=[("closed", False)],
         metrics={"input_tokens": 9, "output_tokens": 2}),
    case("lines that name no session are a session in their order", lines(*BARE),
         words=["Go.", "Done."], task="in", dropped=set()),
    case("the download of a page", {"loglines": BARE, "title": "x"}, words=["Go.", "Done."], task="in",
         dropped={"title"}),
]  # fmt: skip


@each(OTHERS)
def test_what_others_write_in_its_form_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("claude-code", tmp_path, sniffed=True)
