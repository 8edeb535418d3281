"""Claude Code: the branch that ends last, side chains, and the log of ``claude -p``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted

from untaken.ledger import Message, Observation, Plan, Run, ToolCall
from untaken.traces import Conversion, sniff
from untaken.traces.claude_code import parents_first


def line(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": f"2026-01-01T00:00:0{len(uuid)}Z",
        "message": {"role": role, "content": content, "id": f"m-{uuid}", "model": "opus"},
        **more,
    }


def use(call_id: str, tool: str = "Bash", **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call_id, "name": tool, "input": given}]


def result(call_id: str, content: Any = "ok", **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": content, **more}]


def streamed(role: str, content: Any, parent: str | None = None) -> dict[str, Any]:
    message = {"role": role, "content": content, "id": "m1", "model": "opus"}
    return {"type": role, "message": message, "parent_tool_use_id": parent, "session_id": "s1"}


INIT = {"type": "system", "subtype": "init", "session_id": "s1", "model": "opus"}


def read(tmp_path: Path, *lines: Any, name: str = "s.jsonl") -> tuple[Conversion, list[Run]]:
    source = tmp_path / "in" / name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return converted("claude-code", tmp_path / "out", source)


def said(run: Run) -> list[Any]:
    return [message.content for message in run.of(Message)]


def test_a_session_that_ends_with_an_error_of_the_service_has_that_error(tmp_path: Path) -> None:
    failed = line(
        "bb", "a", "assistant", [{"type": "text", "text": "API Error: 500"}], isApiErrorMessage=True
    )
    lines = [line("a", None, "user", "Go."), failed, line("ccc", "bb", "assistant", "Done.")]
    ends = [read(tmp_path / str(n), *lines[:n])[1][0].finished for n in (2, 3)]
    assert [end.error for end in ends if end is not None] == ["API Error: 500", None]


def test_a_session_is_its_last_branch(tmp_path: Path) -> None:
    done, (run,) = read(
        tmp_path,
        line("a", None, "user", "Go."),
        line("b", "a", "assistant", [{"type": "text", "text": "left"}]),
        line("c", "a", "assistant", [{"type": "text", "text": "kept"}]),
    )
    assert said(run) == ["Go.", "kept"]
    assert "branches-left-out" in codes(done)
    assert (run.agent, run.started.model) == ("claude-code/opus", "opus")


def test_calls_made_at_once_keep_all_their_answers(tmp_path: Path) -> None:
    reply = {"role": "assistant", "id": "m1", "model": "opus"}
    done, (run,) = read(
        tmp_path,
        line("a", None, "user", "Go."),
        line("bb", "a", "assistant", [], message={**reply, "content": use("t1")}),
        line("ccc", "bb", "assistant", [], message={**reply, "content": use("t2", "Read")}),
        line("dddd", "bb", "user", result("t1", "one")),
        line("eeee", "ccc", "user", result("t2", "two", is_error=True)),
        line("fffff", "eeee", "assistant", [{"type": "text", "text": "Done."}]),
    )
    assert [(call.tool, run.answers[call.seq].content) for call in run.of(ToolCall)] == [
        ("Bash", "one"),
        ("Read", "two"),
    ]
    assert "branches-left-out" not in codes(done)


def test_an_answer_that_is_written_before_its_call_answers_it(tmp_path: Path) -> None:
    asked, called = line("a", None, "user", "Go."), line("b", "a", "assistant", use("c1"))
    answered, done = line("c", "b", "user", result("c1")), line("d", "c", "assistant", "Done.")
    in_order = read(tmp_path / "1", asked, called, answered, done)[1]
    done_of, (run,) = read(tmp_path / "2", asked, answered, called, done)
    assert [type(event) for event in run.events] == [type(event) for event in in_order[0].events]
    assert [answer.call_id for answer in run.of(Observation)] == ["c1"]
    assert not {"observation-without-call", "time-goes-back"} & set(codes(done_of))


@pytest.mark.parametrize(("second", "want"), [(0, None), (7, 7)])
def test_no_tokens_in_any_reply_are_unknown(tmp_path: Path, second: int, want: int | None) -> None:
    lines = [
        line("a", None, "user", "Go."),
        line("b", "a", "assistant", "Hm."),
        line("c", "b", "assistant", "Done."),
    ]
    for each, tokens in zip(lines[1:], (0, second), strict=True):
        each["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 0}
    done, (run,) = read(tmp_path, *lines)
    assert run.finished is not None
    assert (run.finished.metrics or {}).get("input_tokens") == want
    assert ("uncounted-tokens" in codes(done)) is (want is None)


@pytest.mark.parametrize("parents", [("b", "a"), ("a", "a"), ("c", "b")])
def test_parents_that_form_a_ring_lose_no_line(tmp_path: Path, parents: tuple[str, str]) -> None:
    lines = [line(name, parent, "user", name) for name, parent in zip("ab", parents, strict=True)]
    assert sorted(each["uuid"] for each in parents_first(lines)) == ["a", "b"]


def test_a_session_that_no_line_names_is_named_by_its_file(tmp_path: Path) -> None:
    lines = [line("a", None, "user", "Go."), line("b", "a", "assistant", "Done.")]
    for each in lines:
        del each["sessionId"]
    assert sniff("x.bin", "".join(json.dumps(each) + "\n" for each in lines).encode()) == "claude-code"
    done, (run,) = read(tmp_path, *lines, name="talk.jsonl")
    assert (run.run_id, said(run)) == ("claude-code/talk", ["Go.", "Done."])
    assert "session-unnamed" in codes(done)


def test_answers_of_a_branch_that_was_left_stay_out(tmp_path: Path) -> None:
    _, (run,) = read(
        tmp_path,
        line("a", None, "user", "Go."),
        line("bb", "a", "assistant", use("t1")),
        line("ccc", "bb", "user", result("t1", "left")),
        line("dd", "a", "user", "Another way."),
        line("eee", "dd", "assistant", use("t2")),
        line("ffff", "eee", "user", result("t2", "kept")),
    )
    assert [answer.content for answer in run.of(Observation)] == ["kept"]


def test_a_compaction_is_crossed_by_its_logical_parent(tmp_path: Path) -> None:
    _, (run,) = read(
        tmp_path,
        line("a", None, "user", "before"),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "b",
            "parentUuid": None,
            "logicalParentUuid": "a",
        },
        line("c", "b", "user", "after"),
    )
    assert said(run) == ["before", "after"]


def test_calls_answers_failures_and_plans_are_there(tmp_path: Path) -> None:
    todos = [{"content": "look"}, {"content": "fix"}]
    _, (run,) = read(
        tmp_path,
        line("a", None, "assistant", use("t1", command="ls") + use("t2", "TodoWrite", todos=todos)),
        line("b", "a", "user", result("t1", "no", is_error=True) + result("t2")),
    )
    assert [call.tool for call in run.of(ToolCall)] == ["Bash", "TodoWrite"]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("no", False), ("ok", None)]
    assert [plan.sub_goals for plan in run.of(Plan)] == [["look", "fix"]]


@pytest.mark.parametrize("mark", [{"isSidechain": True}, {"isSidechain": True, "agentId": "x"}])
def test_a_side_chain_is_a_run_that_names_its_parent(tmp_path: Path, mark: dict[str, Any]) -> None:
    _, runs = read(tmp_path, line("a", None, "user", "Go."), line("b", None, "user", "Help.", **mark))
    assert [said(run) for run in runs] == [["Go."], ["Help."]]
    assert (runs[1].started.metadata or {})["parent"] == "s1"


def test_a_log_says_how_the_program_ended_and_not_whether_it_succeeded(tmp_path: Path) -> None:
    end = {
        "type": "result",
        "subtype": "error_max_turns",
        "is_error": True,
        "num_turns": 7,
        "total_cost_usd": 0.5,
    }
    _, (run,) = read(
        tmp_path, INIT, streamed("assistant", use("t1")), {**end, "session_id": "s1"}, name="log.txt"
    )
    assert run.finished is not None
    found = run.finished
    assert (found.success, found.limit, found.steps, found.cost) == (None, "turns", 7, 0.5)
    assert found.error == "error_max_turns"


def test_a_call_that_is_streamed_twice_is_one_call(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, INIT, streamed("assistant", use("t1")), streamed("assistant", use("t1")))
    assert len(run.of(ToolCall)) == 1


def test_an_id_that_a_later_reply_uses_again_is_of_another_call(tmp_path: Path) -> None:
    """Some models number the calls of each reply from 0; the first of these was cut off."""
    replies = [streamed("assistant", use("Bash:0", n=n)) for n in (1, 2, 3)]
    for number, reply in enumerate(replies):
        reply["message"]["id"] = f"m{number}"
    answers = [streamed("user", result("Bash:0", words)) for words in ("two", "three")]
    lines = (replies[0], replies[1], answers[0], replies[2], answers[1])
    _, (run,) = read(tmp_path, INIT, *lines, name="log.txt")
    calls = {call.call_id: call.arguments["n"] for call in run.of(ToolCall)}
    assert list(calls.values()) == [1, 2, 3]
    assert [(calls[o.call_id or ""], o.content) for o in run.of(Observation)] == [(2, "two"), (3, "three")]


def test_a_sub_agent_of_a_log_is_a_run(tmp_path: Path) -> None:
    _, runs = read(tmp_path, INIT, streamed("user", "Go."), streamed("user", "Help.", parent="t1"))
    assert [said(run) for run in runs] == [["Go."], ["Help."]]


def test_tokens_of_one_reply_count_once(tmp_path: Path) -> None:
    spread = [line(uuid, parent, "assistant", "x") for uuid, parent in (("a", None), ("bb", "a"))]
    for each in spread:
        each["message"] |= {"id": "same", "usage": {"input_tokens": 5, "output_tokens": 2}}
    _, (run,) = read(tmp_path, *spread)
    assert run.finished.metrics == {"input_tokens": 5.0, "output_tokens": 2.0}


@pytest.mark.parametrize("first", [line("a", None, "user", "x"), INIT, streamed("user", "x")])
def test_both_kinds_are_recognised(first: dict[str, Any]) -> None:
    assert sniff("x.jsonl", json.dumps(first).encode()) == "claude-code"


def test_a_log_of_cursor_has_its_calls_and_its_name(tmp_path: Path) -> None:
    def call(number: int, kind: str, done: dict[str, Any] | None = None) -> dict[str, Any]:
        about = {"args": {"path": "a"}, **({"result": done} if done else {})}
        state = "completed" if done else "started"
        line = {"type": "tool_call", "subtype": state, "call_id": f"c{number}", "session_id": "s"}
        return {**line, "timestamp_ms": 1_760_000_000_000 + number, "tool_call": {kind: about}}

    spoken = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
        {"type": "user", "message": spoken, "session_id": "s"},
        *(call(1, "readToolCall"), call(1, "readToolCall", {"success": {"content": "x"}})),
        *(call(2, "shellToolCall"), call(2, "shellToolCall", {"error": {"message": "no"}})),
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
    ]
    _, (run,) = read(tmp_path, *lines)
    assert run.agent == "cursor/m"
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [
        ("read", {"path": "a"}),
        ("shell", {"path": "a"}),
    ]
    assert [(o.ok, o.content) for o in run.of(Observation)] == [
        (True, {"content": "x"}),
        (False, {"message": "no"}),
    ]


def test_a_session_of_qwen_code_has_its_messages_and_its_name(tmp_path: Path) -> None:
    def at(number: int, kind: str, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
        spoken = {"message": {"role": role, "parts": list(parts)}}
        own = {
            "type": kind,
            "sessionId": "q1",
            "uuid": f"u{number}",
            "timestamp": f"2026-01-01T00:00:0{number}Z",
        }
        return {**own, "parentUuid": f"u{number - 1}" if number else None, **spoken, **more}

    call = {"functionCall": {"id": "c1", "name": "look", "args": {"day": 1}}}
    answer = {"functionResponse": {"id": "c1", "name": "look", "response": {"output": "closed"}}}
    used = {"promptTokenCount": 9, "candidatesTokenCount": 2}
    _, (run,) = read(
        tmp_path,
        at(0, "user", "user", {"text": "Go."}),
        at(1, "assistant", "model", {"text": "Hm.", "thought": True}, call, model="q", usageMetadata=used),
        at(2, "tool_result", "user", answer, toolCallResult={"callId": "c1", "status": "error"}),
        at(3, "assistant", "model", {"text": "Done."}, model="q"),
    )
    assert (run.agent, run.task_id) == ("qwen-code/q", "q1")
    assert [(m.role, m.content) for m in run.of(Message)] == [
        ("user", "Go."),
        ("reasoning", "Hm."),
        ("assistant", "Done."),
    ]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("closed", False)]
    assert run.finished is not None
    assert run.finished.metrics == {"input_tokens": 9, "output_tokens": 2}


def test_lines_that_name_no_session_are_a_session_in_their_order(tmp_path: Path) -> None:
    known = ("type", "timestamp", "message")
    lines = [line("u1", None, "user", "Go."), line("u22", "u1", "assistant", "Done.")]
    bare = [{name: each[name] for name in known} for each in lines]
    files = {
        "lines.jsonl": "\n".join(map(json.dumps, bare)),
        "web.json": json.dumps({"loglines": bare, "title": "x"}),
    }
    for name, content in files.items():
        source = tmp_path / name
        source.write_text(content, encoding="utf-8")
        assert sniff(name, content.encode()) == "claude-code"
        done, (run,) = converted("claude-code", tmp_path / f"out-{name}", source)
        assert [m.content for m in run.of(Message)] == ["Go.", "Done."]
        assert run.task_id == name.partition(".")[0]
        dropped = {field.path for loss in done.losses for field in loss.fields if field.dropped}
        assert dropped == ({"title"} if name == "web.json" else set())
