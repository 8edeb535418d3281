"""Files of chats: what names a conversation, what is beside it, how its runs are named and what they cost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, lines, put
from reading import Case, case, each, read, shapes
from trace_pieces import DONE, GO, LOOK, SEEN

from untaken.ledger import Observation, ToolCall
from untaken.traces import sniff

CHAT = [GO, LOOK, SEEN, DONE]
CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "Go."}]}},
    *(LOOK, SEEN, {"role": "assistant", "message": {"content": "Done."}}),
]
TYPED = [
    {"type": "user", "content": "Go."},
    {**LOOK, "type": "assistant"},
    {"type": "tool_result", "tool_call_id": "c1", "content": "monday"},
    {"type": "assistant", "content": "Done."},
]
SPEAKERS = [{"speaker": "Customer", "text": "Go."}, LOOK, SEEN, {"speaker": "bot", "text": "Done."}]
ROLES = [{"role": "USER", "text": "Go."}, LOOK, SEEN, {"role": "Bot", "message": "Done."}]
FORMS: dict[str, Any] = {
    "turns": {"id": "s", "turns": CHAT},
    "a transcript": {"id": "s", "transcript": CHAT},
    "a dialogue": {"id": "s", "dialogue": CHAT},
    "turns of a conversation": {"id": "s", "conversation": {"turns": CHAT}},
    "messages of a conversation": {"id": "s", "conversation": {"messages": CHAT}},
    "turns with a speaker and a text": {"id": "s", "turns": SPEAKERS},
    "turns with a role and a text": {"id": "s", "history": ROLES},
    "a history": {"id": "s", "data": {"lang": "en"}, "history": CHAT},
    "a history beside a prompt": {"id": "s", "input": "Go.", "conversation_history": CHAT},
    "a trajectory": {"id": "s", "trajectory": CHAT},
    "messages inside of a line, as transcripts of Cursor have them": {"id": "s", "messages": CURSOR},
    "messages that say what they are as their type": {"id": "s", "messages": TYPED},
    "a list of such objects": [{"id": "s", "turns": CHAT}],
    "an object with a list of such objects": {"version": 2, "sessions": [{"id": "s", "turns": CHAT}]},
    "a store of such objects by their names": {"s": {"id": "s", "title": "Box", "messages": CHAT}},
}
SAME = {"run": "openai-messages/s", "tools": ["look"], "steps": 2}
STORED = [{"session_id": name, "messages": CHAT} for name in ("s1", "s2")]
TRIAL = {"trial_name": "box__ab", "task": "box", "agent": "t2", "date": "2026-01-02T03:04:05"}
ROWS = [
    {"instance_id": "lib__lib-1", "messages": CHAT, "resolved": True, "metadata": {"model": "m"}},
    {**TRIAL, "episode": "episode-0", "conversations": CHAT[:3]},
    {**TRIAL, "episode": "episode-1", "conversations": CHAT},
]
"""As data sets of SWE-bench and the rows that Harbor exports have it: a row for each episode."""
BESIDE = {
    "items": [{"messages": [GO, DONE, GO]}, {"messages": [GO, DONE]}], "note": "x", "more": [{"deep": 1}],
}  # fmt: skip


def reply(words: str, **metrics: float) -> dict[str, Any]:
    """As the SDK of Cline keeps it."""
    return {"role": "assistant", "content": words, "modelInfo": {"id": "m"}, "metrics": metrics}


CLINE = {
    "agent": "lead",
    "sessionId": "s1",
    "system_prompt": "Be brief.",
    "messages": [GO,
        reply("Wait.", inputTokens=9, outputTokens=2, cacheReadTokens=4, cacheWriteTokens=1, cost=0.5), GO,
        reply("Done.", inputTokens=5, outputTokens=1, cost=0.25)],
}  # fmt: skip
PRICED = [{"prompt_tokens": 3, "completion_tokens": 1, "cost": 0.5}, {"prompt_tokens": 3}]
USE = [{"type": "tool_use", "id": "c1", "name": "look", "input": {"day": 1}}]
REQUESTED = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r1", "object": "response", "model": "m", "output": list(output), **more}


STREAMED = lines(
    {"type": "response.created", "response": response()},
    {"type": "response.output_item.done", "item": REQUESTED},
    {"type": "response.completed",
     "response": response(REQUESTED, usage={"input_tokens": 3, "output_tokens": 2})},
)  # fmt: skip
METHOD = {"method": "tools/call", "params": {"name": "look", "arguments": {"day": 1}}}


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


BY_ID = [
    {"role": "user", "content": text("Go.")},
    {"role": "assistant", "content": [], "tool_calls": {"a": METHOD, "b": METHOD},
     "channels": {"reasoning": text("First look.")}},
    {"role": "user", "content": [], "tool_results": {
        "b": {"content": text("no"), "isError": True}, "a": {"content": text("monday"), "isError": False}}},
    {"role": "assistant", "content": text("Done.")},
]  # fmt: skip
ALONE = {"input": [{"role": "system", "content": "Be brief."}, GO]}
CASES = [
    *shapes(FORMS, **SAME, said=[("user", "Go."), ("assistant", "I look."), ("assistant", "Done.")]),
    *shapes({"a store by names": {one["session_id"]: one for one in STORED},
             "a store in a list": {"version": 2, "chats": STORED}},
            runs=["openai-messages/s1", "openai-messages/s2"]),
    case("a row of a benchmark names its task and its trial", ROWS,
         runs=["openai-messages/in", "openai-messages/box__ab"], tasks=["lib__lib-1", "box"],
         all_success=[True, None], agents=["m", "t2"]),
    case("a penalty is a negative reward", {"id": "s", "messages": CHAT, "reward": -0.5, "score": "0.25"},
         metrics={"reward": -0.5, "score": 0.25}, missing={"negative-amount"}),
    case("what is beside a list of runs is dropped and counted", BESIDE, count=2,
         drops={"note", "more[].deep"}),
    case("a session of the SDK of Cline has its model, tokens and cost", CLINE, agent="lead", task="s1",
         model="m", cost=0.75, words=["Be brief.", "Go.", "Wait.", "Go.", "Done."],
         metrics={"input_tokens": 14, "output_tokens": 3, "cached_tokens": 4, "cache_creation_tokens": 1}),
    case("a cost of only some replies is no cost of the run",
         {"messages": [one for usage in PRICED for one in (GO, {**DONE, "usage": usage})]}, cost=None,
         found={"partly-recorded"}),
    case("a streamed response is read once as it was when it ended", STREAMED, tools=["look"],
         metrics={"input_tokens": 3.0, "output_tokens": 2.0}, missing={"not-this-format"}),
    case("one reply of the Messages API",
         {"type": "message", "role": "assistant", "content": USE, "stop_reason": "tool_use"}, tools=["look"]),
    case("a file in which nobody answers is named", lines(ALONE, {"input": [GO]}), count=2,
         found={"only-asked"}),
    case("a file in which somebody answers", lines(ALONE, {"input": [GO, DONE]}), count=2,
         missing={"only-asked"}),
    case("calls and answers that are kept by their ids are read", {"messages": BY_ID},
         calls=[("look", {"day": 1})] * 2, answered=["b", "a"], answers=[("no", False), ("monday", True)],
         said=[("user", "Go."), ("reasoning", "First look."), ("assistant", "Done.")],
         dropped={"messages[].tool_calls[].method"}),
    case("an answer with its call and as a message of its own is one",
         [{**LOOK, "tool_calls": [{"id": "c1", "name": "look", "args": {}, "result": "seen"}]},
          {**SEEN, "content": "seen"}], seen=["seen"], missing={"observation-without-call"}),
]  # fmt: skip


@each(CASES)
def test_a_file_of_chats_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("openai-messages", tmp_path, sniffed=True)


FOLDERS = {
    "a run a folder": (("runs/book/chat.json", "runs/pay/chat.json"), ["book", "pay"]),
    "a run a folder, below the same name": (("book/log/chat.json", "pay/log/chat.json"), ["book", "pay"]),
    "a task a file, by two agents": (("m1/book.json", "m1/pay.json", "m2/book.json", "m2/pay.json"),
                                     ["book", "book", "pay", "pay"]),
    "other names in other folders": (("m1/book.json", "m2/pay.json"), ["book", "pay"]),
    "one file": (("runs/book/chat.json",), ["chat"]),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLDERS)
def test_files_of_one_name_that_are_alone_in_their_folders_are_named_by_these(tmp_path, case) -> None:
    names, tasks = FOLDERS[case]
    for name in names:
        put(tmp_path / "in" / name, {"messages": [{"role": "user", "content": name}, DONE]})
    done, runs = converted("openai-messages", tmp_path / "out", tmp_path / "in")
    assert sorted(run.task_id for run in runs) == tasks
    assert ("duplicate-run" in codes(done)) is (len(set(tasks)) < len(tasks))


def test_a_role_and_a_text_of_people_are_no_conversation() -> None:
    people = [{"name": "Ada", "role": "engineer", "text": "Fine work."}, {"role": "owner", "message": "Yes."}]
    assert sniff("people.json", json.dumps(people).encode()) is None


@pytest.mark.parametrize("place", ["created", "ts", "time", "date"])
def test_a_time_of_a_record_or_a_message_is_read_by_its_usual_names(tmp_path: Path, place: str) -> None:
    at = {place: "2026-01-02T03:04:05Z"}
    inside = [{**one, **at} for one in CHAT] if place in ("ts", "time") else CHAT
    _, (run,) = read(tmp_path, None, {"id": "s", "messages": inside, **({} if inside is not CHAT else at)})
    assert run.started.ts == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


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
def test_an_answer_that_a_call_has_with_it_is_its_observation(tmp_path, desc, calls, want) -> None:
    done, (run,) = read(tmp_path, None, [GO, {"role": "assistant", "content": "", "tool_calls": calls}])
    made = {call.call_id: (call.tool, call.arguments) for call in run.of(ToolCall)}
    answers = run.of(Observation)
    assert [(seen.content, seen.ok) for seen in answers] == want, desc
    assert all(made[seen.call_id or ""] == ("look", {"day": 1}) for seen in answers)
    assert [field.path for loss in done.losses for field in loss.fields if field.dropped] == []


def test_cases_of_an_evaluation_set_are_tasks_of_their_own_whatever_names_them(tmp_path: Path) -> None:
    turn = {"user_content": {"role": "user", "parts": [{"text": "Go."}]}}
    cases = [{**name, "conversation": [turn]} for name in ({"eval_id": "a"}, {"case_id": "b"}, {}, {})]
    _, runs = read(tmp_path, "adk-evalset", {"eval_set_id": "s", "eval_cases": cases})
    assert [run.task_id for run in runs] == ["a", "b", "s/2", "s/3"]
