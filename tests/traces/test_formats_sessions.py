"""Sessions of coding agents: what is repeated, what was left, and trees that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion

USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 80,
    "cache_creation_input_tokens": 10,
    "output_tokens": 5,
}


def line(
    name: str, parent: str | None, role: str, content: Any, session: str = "s1", **more: Any
) -> dict[str, Any]:
    """A line of a session; a reply has its usage, and ids that a copy of it keeps."""
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"m-{name}", "model": "opus", "usage": USAGE}
    return {
        "type": role,
        "uuid": f"{session}-{name}",
        "parentUuid": parent and f"{session}-{parent}",
        "sessionId": session,
        "timestamp": f"2026-01-01T00:00:{int(name[1:]):02}Z",
        "requestId": f"r-{name}",
        "message": message,
    }


def use(call_id: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}]


def result(call_id: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": call_id}]


def read(tmp_path: Path, *sessions: list[dict[str, Any]]) -> tuple[Conversion, list[Run]]:
    files = [
        put(tmp_path / "in" / f"{n}.jsonl", "".join(json.dumps(each) + "\n" for each in lines))
        for n, lines in enumerate(sessions)
    ]
    return converted("claude-code", tmp_path / "out", *files)


def used(run: Run) -> tuple[Any, ...]:
    metrics = run.finished.metrics or {}
    return metrics.get("input_tokens"), metrics.get("output_tokens"), metrics.get("cached_tokens")


def first(session: str = "s1") -> list[dict[str, Any]]:
    return [
        line("a0", None, "user", "Go.", session),
        line("a1", "a0", "assistant", use("t1"), session),
        line("a2", "a1", "user", result("t1"), session),
        line("a3", "a2", "assistant", "Done.", session),
    ]


def test_input_tokens_include_those_of_the_cache(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, first())
    assert used(run) == (200, 10, 160)


@pytest.mark.parametrize("order", [0, 1], ids=["the first session first", "the resumed session first"])
def test_a_resumed_session_does_not_pay_twice(tmp_path: Path, order: int) -> None:
    resumed = [
        *first("s2"),
        line("a4", "a3", "user", "And?", "s2"),
        line("a5", "a4", "assistant", "That, too.", "s2"),
    ]
    sessions = [first(), resumed]
    done, runs = read(tmp_path, *(sessions if order == 0 else sessions[::-1]))
    by_id = {run.run_id: used(run) for run in runs}
    assert by_id["claude-code/s2"][:2] == ((100, 5) if order == 0 else (300, 15))
    assert sum(each[1] for each in by_id.values()) == 15
    (finding,) = (each for each in done.findings if each.code == "repeated-messages")
    assert finding.message.startswith("2 messages repeated from claude-code/s")
    assert [len(run.of(ToolCall)) for run in runs] == [1, 1]


def test_lines_that_are_there_twice_are_read_once(tmp_path: Path) -> None:
    done, (run,) = read(tmp_path, [*first(), *first()[1:]])
    assert [said.content for said in run.of(Message)] == ["Go.", "Done."]
    assert (used(run)[:2], len(run.of(ToolCall))) == ((200, 10), 1)
    assert codes(done)["repeated-record"] == 1


HELLO = {"id": "m1", "role": "user", "content": "Hi."}
PARTLY = {"id": "m2", "role": "assistant", "content": ""}
FULLY = {**PARTLY, "content": "Yo.", "usage": {"input_tokens": 5, "output_tokens": 2}}
LISTS = {
    "overlapping pages": ([HELLO, FULLY, HELLO, FULLY], ["Hi.", "Yo."]),
    "an update": ([HELLO, PARTLY, FULLY], ["Hi.", "Yo."]),
    "the id of the conversation": (
        [{"id": "c", "role": "user", "content": "Hi."}, {"id": "c", "role": "user", "content": "Well?"}] * 2,
        ["Hi.", "Well?", "Hi.", "Well?"],
    ),
    "pieces of one message": (
        [HELLO, {**PARTLY, "content": "Y"}, {**PARTLY, "content": "o."}],
        ["Hi.", "Y", "o."],
    ),
}


@pytest.mark.parametrize("shape", LISTS)
def test_a_message_whose_id_comes_again_is_read_once(tmp_path: Path, shape: str) -> None:
    messages, want = LISTS[shape]
    file = put(tmp_path / "in" / "m.json", {"messages": messages})
    _, (run,) = converted("openai-messages", tmp_path / "out", file)
    assert [said.content for said in run.of(Message)] == want


def test_what_was_spent_on_a_branch_that_was_left_is_spent(tmp_path: Path) -> None:
    another = [line("a4", "a0", "user", "Another way."), line("a5", "a4", "assistant", "So.")]
    _, (run,) = read(tmp_path, [*first(), *another])
    assert [said.content for said in run.of(Message)] == ["Go.", "Another way.", "So."]
    assert used(run)[:2] == (300, 15)
    assert (run.finished.metrics or {})["left_output_tokens"] == 10


NO_TREES = {
    "every reply names the prompt": [
        *(("a1", "a0", "assistant", use("t1")), ("a2", "a1", "user", result("t1"))),
        *(("a3", "a0", "assistant", use("t2")), ("a4", "a3", "user", result("t2"))),
        ("a5", "a0", "assistant", "Done."),
    ],
    "every reply and answer names the prompt": [
        *(("a1", "a0", "assistant", use("t1")), ("a2", "a0", "user", result("t1"))),
        *(("a3", "a0", "assistant", use("t2")), ("a4", "a0", "user", result("t2"))),
        ("a5", "a0", "assistant", "Done."),
    ],
    "nothing names a parent": [
        *(("a1", None, "assistant", use("t1")), ("a2", None, "user", result("t1"))),
        *(("a3", None, "assistant", use("t2")), ("a4", None, "user", result("t2"))),
        ("a5", None, "assistant", "Done."),
    ],
    "parents that are not in the file": [
        *(("a1", "b1", "assistant", use("t1")), ("a2", "b2", "user", result("t1"))),
        *(("a3", "b3", "assistant", use("t2")), ("a4", "b4", "user", result("t2"))),
        ("a5", "b5", "assistant", "Done."),
    ],
}


@pytest.mark.parametrize("shape", NO_TREES)
def test_a_session_whose_tree_is_none_keeps_its_calls(tmp_path: Path, shape: str) -> None:
    lines = [line("a0", None, "user", "Go."), *(line(*each) for each in NO_TREES[shape])]
    done, (run,) = read(tmp_path, lines)
    assert [call.call_id for call in run.of(ToolCall)] == ["t1", "t2"]
    assert [seen.content for seen in run.of(Observation)] == ["t1", "t2"]
    assert "branches-left-out" not in codes(done)


def test_a_session_of_which_most_is_left_out_is_a_warning(tmp_path: Path) -> None:
    another = [line("a4", None, "user", "Again."), line("a5", "a4", "assistant", "So.")]
    done, _ = read(tmp_path, [*first(), *another])
    (finding,) = (each for each in done.findings if each.code == "branches-left-out")
    assert (finding.severity, finding.message.partition(":")[0]) == ("warning", "most of the session")


def pi_session(name: str, *replies: int) -> str:
    """A session of pi; a branched one has the entries before it under the same ids."""
    counts = {"input": 10, "output": 5, "cacheRead": 90, "cost": {"total": 0.5}}
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": name, "timestamp": "2026-01-01T00:00:00Z"}
    ]
    for reply in replies:
        message = {"role": "assistant", "content": [{"type": "text", "text": f"{reply}"}], "usage": counts}
        at = f"2026-01-01T00:00:{reply:02}Z"
        parent = f"e{reply - 1}" if reply > 1 else None
        lines.append(
            {"type": "message", "id": f"e{reply}", "parentId": parent, "timestamp": at, "message": message}
        )
    return "".join(json.dumps(each) + "\n" for each in lines)


def opencode_session(name: str, *replies: int) -> str:
    """A session of opencode; a forked one has copies of the messages before it, under other ids."""
    messages = [
        {
            "info": {
                "id": f"msg_{name}_{reply}",
                "sessionID": name,
                "role": "assistant",
                "modelID": "m",
                "time": {
                    "created": 1_767_225_600_000 + reply * 1000,
                    "completed": 1_767_225_600_500 + reply * 1000,
                },
                "cost": 0.5,
                "tokens": {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 90, "write": 0}},
            },
            "parts": [{"type": "text", "text": f"{reply}", "id": f"prt_{name}_{reply}"}],
        }
        for reply in replies
    ]
    about = {"id": name, "title": "t", "time": {"created": 1_767_225_600_000}}
    return json.dumps({"info": about, "messages": messages})


FORKS = {"pi": pi_session, "opencode": opencode_session}


@pytest.mark.parametrize("format", FORKS)
def test_a_forked_session_pays_for_what_is_new(tmp_path: Path, format: str) -> None:
    made = FORKS[format]
    files = [
        put(tmp_path / "in" / "1.jsonl", made("s1", 1, 2)),
        put(tmp_path / "in" / "2.jsonl", made("s2", 1, 2, 3)),
    ]
    done, runs = converted(format, tmp_path / "out", *files)
    assert {run.run_id: (*used(run)[:2], run.finished.cost) for run in runs} == {
        f"{format}/s1": (200, 10, 1.0),
        f"{format}/s2": (100, 5, 0.5),
    }
    assert codes(done)["repeated-messages"] == 1


def total(second: int, **counts: int) -> dict[str, Any]:
    payload = {"type": "token_count", "info": {"total_token_usage": counts}}
    return {"timestamp": f"2026-01-01T00:00:{second:02}Z", "type": "event_msg", "payload": payload}


def test_a_forked_session_of_codex_does_not_pay_for_what_it_copied(tmp_path: Path) -> None:
    def said(second: int, role: str) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": f"{second}"}]}
        return {"timestamp": f"2026-01-01T00:00:{second:02}Z", "type": "response_item", "payload": payload}

    meta = {"id": "s2", "timestamp": "2026-01-01T00:00:10Z", "forked_from_id": "s1"}
    lines = [
        {"timestamp": "2026-01-01T00:00:10Z", "type": "session_meta", "payload": meta},
        *(said(1, "user"), said(2, "assistant"), total(2, input_tokens=1000, output_tokens=50)),
        *(said(11, "user"), said(12, "assistant"), total(12, input_tokens=1800, output_tokens=70)),
    ]
    file = put(tmp_path / "in" / "rollout.jsonl", "".join(json.dumps(each) + "\n" for each in lines))
    _, (run,) = converted("codex", tmp_path / "out", file)
    assert used(run)[:2] == (800, 20)


def test_a_resumed_session_of_codex_counts_on_from_what_it_copied(tmp_path: Path) -> None:
    def session(name: str, *totals: int) -> str:
        meta = {"id": name, "timestamp": "2026-01-01T00:00:00Z"}
        lines = [{"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": meta}]
        for count in totals:
            part = {"type": "input_text", "text": f"{count}"}
            payload = {"type": "message", "role": "user", "content": [part]}
            lines += [
                {"timestamp": f"2026-01-01T00:00:{count:02}Z", "type": "response_item", "payload": payload},
                total(count, input_tokens=count * 10, output_tokens=count),
            ]
        return "".join(json.dumps(each) + "\n" for each in lines)

    first_one = put(tmp_path / "in" / "1.jsonl", session("s1", 1, 2))
    resumed = put(tmp_path / "in" / "2.jsonl", session("s2", 1, 2, 5))
    done, runs = converted("codex", tmp_path / "out", first_one, resumed)
    assert {run.run_id: used(run)[:2] for run in runs} == {"codex/s1": (20, 2), "codex/s2": (30, 3)}
    assert codes(done)["repeated-messages"] == 1


def test_the_totals_of_copilot_are_those_of_its_runs_together(tmp_path: Path) -> None:
    def event(second: int, kind: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
        whose = {"agentId": agent} if agent else {}
        return {
            "type": kind,
            "id": f"e{second}",
            "timestamp": f"2026-01-01T00:00:{second:02}Z",
            "data": data,
            **whose,
        }

    counts = {"inputTokens": 30, "outputTokens": 3}
    ended = {"gpt-x": {"usage": {"inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 40}}}
    events = [
        event(0, "session.start", sessionId="s1", startTime="2026-01-01T00:00:00Z"),
        event(1, "user.message", content="Go."),
        event(2, "assistant.message", "a1", content="Found it."),
        event(3, "assistant.usage", "a1", **counts),
        event(4, "assistant.message", content="Done."),
        event(5, "session.shutdown", modelMetrics=ended),
    ]
    file = put(tmp_path / "in" / "events.jsonl", "".join(json.dumps(each) + "\n" for each in events))
    _, runs = converted("copilot-cli", tmp_path / "out", file)
    assert {run.run_id: used(run)[:2] for run in runs} == {
        "copilot-cli/s1": (70, 6),
        "copilot-cli/s1/a1": (30, 3),
    }
