"""A conversation under turns, a transcript or the like is the same run as one under messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put
from trace_pieces import DONE, GO, LOOK, SEEN
from trace_records import put_record

from untaken.ledger import Message, Observation, ToolCall
from untaken.traces import sniff

CHAT = [GO, LOOK, SEEN, DONE]
FORMS: dict[str, Any] = {
    "turns": {"id": "s", "turns": CHAT},
    "a transcript": {"id": "s", "transcript": CHAT},
    "a dialogue": {"id": "s", "dialogue": CHAT},
    "turns of a conversation": {"id": "s", "conversation": {"turns": CHAT}},
    "messages of a conversation": {"id": "s", "conversation": {"messages": CHAT}},
    "turns with a speaker and a text": {
        "id": "s",
        "turns": [{"speaker": "Customer", "text": "Go."}, LOOK, SEEN, {"speaker": "bot", "text": "Done."}],
    },
    "turns with a role and a text": {
        "id": "s",
        "history": [{"role": "USER", "text": "Go."}, LOOK, SEEN, {"role": "Bot", "message": "Done."}],
    },
    "a history": {"id": "s", "data": {"lang": "en"}, "history": CHAT},
    "a history beside a prompt": {"id": "s", "input": "Go.", "conversation_history": CHAT},
    "a trajectory": {"id": "s", "trajectory": CHAT},
    "messages inside of a line, as transcripts of Cursor have them": {
        "id": "s",
        "messages": [
            {"role": "user", "message": {"content": [{"type": "text", "text": "Go."}]}},
            LOOK,
            SEEN,
            {"role": "assistant", "message": {"content": "Done."}},
        ],
    },
    "messages that say what they are as their type": {
        "id": "s",
        "messages": [
            {"type": "user", "content": "Go."},
            {**LOOK, "type": "assistant"},
            {"type": "tool_result", "tool_call_id": "c1", "content": "monday"},
            {"type": "assistant", "content": "Done."},
        ],
    },
    "a list of such objects": [{"id": "s", "turns": CHAT}],
    "an object with a list of such objects": {"version": 2, "sessions": [{"id": "s", "turns": CHAT}]},
    "a store of such objects by their names": {"s": {"id": "s", "title": "Box", "messages": CHAT}},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_name_of_a_conversation_is_the_same_run(tmp_path: Path, form: str) -> None:
    done, (run,) = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.json": FORMS[form]}))
    assert done.format == "openai-messages"
    assert run.run_id == "openai-messages/s"
    assert [call.tool for call in run.actions] == ["look"]
    assert run.finished.steps == 2
    said = [(message.role, message.content) for message in run.of(Message)]
    assert said == [("user", "Go."), ("assistant", "I look."), ("assistant", "Done.")]


STORES: dict[str, Any] = {
    "by their names": {name: {"session_id": name, "messages": CHAT} for name in ("s1", "s2")},
    "in a list": {"version": 2, "chats": [{"session_id": name, "messages": CHAT} for name in ("s1", "s2")]},
}


@pytest.mark.parametrize("form", STORES)
def test_each_chat_of_a_store_is_a_run(tmp_path: Path, form: str) -> None:
    _, runs = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.json": STORES[form]}))
    assert [run.run_id for run in runs] == ["openai-messages/s1", "openai-messages/s2"]


def test_a_role_and_a_text_of_people_are_no_conversation() -> None:
    people = [{"name": "Ada", "role": "engineer", "text": "Fine work."}, {"role": "owner", "message": "Yes."}]
    assert sniff("people.json", json.dumps(people).encode()) is None


@pytest.mark.parametrize("place", ["created", "ts", "time", "date"])
def test_a_time_of_a_record_or_a_message_is_read_by_its_usual_names(tmp_path: Path, place: str) -> None:
    record = {"id": "s", "messages": CHAT, place: "2026-01-02T03:04:05Z"}
    if place in ("ts", "time"):
        record = {"id": "s", "messages": [{**each, place: "2026-01-02T03:04:05Z"} for each in CHAT]}
    _, (run,) = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.json": record}))
    assert run.started.ts == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_row_of_a_benchmark_names_its_task_and_its_trial(tmp_path: Path) -> None:
    """As data sets of SWE-bench and the rows that Harbor exports have it: a row for each episode."""
    trial = {"trial_name": "box__ab", "task": "box", "agent": "t2", "date": "2026-01-02T03:04:05"}
    rows = [
        {"instance_id": "lib__lib-1", "messages": CHAT, "resolved": True, "metadata": {"model": "m"}},
        {**trial, "episode": "episode-0", "conversations": CHAT[:3]},
        {**trial, "episode": "episode-1", "conversations": CHAT},
    ]
    _, runs = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.json": rows}))
    assert [(run.run_id, run.task_id, run.finished and run.finished.success) for run in runs] == [
        ("openai-messages/t", "lib__lib-1", True),
        ("openai-messages/box__ab", "box", None),
    ]
    assert [run.agent for run in runs] == ["m", "t2"]


def test_a_penalty_is_a_negative_reward(tmp_path: Path) -> None:
    record = {"id": "s", "messages": CHAT, "reward": -0.5, "score": "0.25"}
    done, (run,) = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.json": record}))
    assert run.finished is not None
    assert run.finished.metrics == {"reward": -0.5, "score": 0.25}
    assert "negative-amount" not in {finding.code for finding in done.findings}


INLINE: list[tuple[str, list[dict[str, Any]], list[tuple[Any, bool | None]]]] = [
    ("a result", [{"name": "look", "args": {"day": 1}, "result": "seen"}], [("seen", None)]),
    ("an output, by an id", [{"id": "c", "tool": "look", "input": {"day": 1}, "output": "seen"}],
     [("seen", None)]),
    ("of a function", [{"id": "c", "function": {"name": "look", "arguments": {"day": 1}, "output": "seen"}}],
     [("seen", None)]),
    ("an error alone", [{"tool_name": "look", "parameters": {"day": 1}, "error": "gone"}], [("gone", False)]),
    ("a flag", [{"name": "look", "args": {"day": 1}, "result": {"n": 0}, "success": True, "error": None}],
     [({"n": 0}, True)]),
    ("nothing", [{"name": "look", "args": {"day": 1}, "result": None, "error": ""}], []),
    ("of the second",
     [{"name": "wait", "args": {}}, {"name": "look", "args": {"day": 1}, "result": "seen"}],
     [("seen", None)]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "calls", "want"), INLINE, ids=[case[0] for case in INLINE])
def test_an_answer_that_a_call_has_with_it_is_its_observation(
    tmp_path: Path, desc: str, calls: list[dict[str, Any]], want: list[tuple[Any, bool | None]]
) -> None:
    said = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "", "tool_calls": calls}]
    conversion, (run,) = converted(None, tmp_path / "out", put(tmp_path / "chat.json", said))
    made = {call.call_id: (call.tool, call.arguments) for call in run.of(ToolCall)}
    answers = run.of(Observation)
    assert [(seen.content, seen.ok) for seen in answers] == want, desc
    assert all(made[seen.call_id or ""] == ("look", {"day": 1}) for seen in answers)
    (loss,) = conversion.losses
    assert [field.path for field in loss.fields if field.dropped] == []


def test_an_answer_with_its_call_and_as_a_message_of_its_own_is_one(tmp_path: Path) -> None:
    call = {"id": "c", "name": "look", "args": {}, "result": "seen"}
    said = [
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "seen"},
    ]
    conversion, (run,) = converted(None, tmp_path / "out", put(tmp_path / "chat.json", said))
    assert [seen.content for seen in run.of(Observation)] == ["seen"]
    assert "observation-without-call" not in codes(conversion)
