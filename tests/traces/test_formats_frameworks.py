"""What agent frameworks save: events of LangChain, chats of LlamaIndex and Semantic Kernel, Google ADK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from foreign_files import codes, converted
from trace_records import RECORDS, put_record

from untaken.ledger import Message, Observation, Run, ToolCall

EVENTS = RECORDS["langchain-events"]["events.jsonl"]
USED = {"input_tokens": 5, "output_tokens": 2}


def read(tmp_path: Path, content: Any, name: str = "x.json", format: str | None = None) -> list[Run]:
    return converted(format, tmp_path / "out", put_record(tmp_path / "in", {name: content}))[1]


def told(run: Run) -> tuple[list[Any], list[Any], list[Any]]:
    """What was said, called and answered."""
    return (
        [(message.role, message.content) for message in run.of(Message)],
        [(call.tool, call.arguments) for call in run.of(ToolCall)],
        [seen.content for seen in run.of(Observation)],
    )


SAID = [("user", "Go."), ("assistant", "I look."), ("assistant", "Done.")]


def test_events_of_a_graph_are_a_run(tmp_path: Path) -> None:
    [run] = read(tmp_path, EVENTS, "e.jsonl")
    assert (run.run_id, run.agent, run.task_id) == ("langchain-events/r", "clerk", "7")
    assert told(run) == (SAID, [("look", {"day": 1})], ["monday"])
    assert (run.finished.metrics, run.finished.steps) == (USED, 1)


def test_without_events_of_tools_calls_are_those_in_messages(tmp_path: Path) -> None:
    [run] = read(tmp_path, [e for e in EVENTS if "tool" not in e["event"]], "e.jsonl")
    assert told(run)[1] == [("look", {"day": 1})]


def test_graphs_that_ran_at_once_are_runs_of_their_own(tmp_path: Path) -> None:
    other = [
        {**e, "run_id": f"{e['run_id']}2", "parent_ids": [f"{p}2" for p in e["parent_ids"]]} for e in EVENTS
    ]
    mixed = [event for pair in zip(EVENTS, other, strict=True) for event in pair]
    assert [told(run)[0] for run in read(tmp_path, mixed, "e.jsonl")] == [SAID, SAID]


def test_a_tool_that_failed_and_a_graph_that_failed_say_so(tmp_path: Path) -> None:
    wrong = {**EVENTS[4], "event": "on_tool_error", "data": {"error": "no"}}
    ended = {**EVENTS[0], "event": "on_chain_error", "data": {"error": "broken"}}
    [run] = read(tmp_path, [*EVENTS[:4], wrong, ended], "e.jsonl")
    assert [(seen.ok, seen.content) for seen in run.of(Observation)] == [(False, "no")]
    assert run.finished.error == "broken"


def block(text: str) -> list[Any]:
    return [{"block_type": "text", "text": text}]


CALLED = {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "look", "tool_kwargs": {"day": 1}}
GIVEN = {"tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": '{"day": 1}'}}]}
LLAMA = [
    {"role": "user", "additional_kwargs": {}, "blocks": block("Go.")},
    {"role": "assistant", "additional_kwargs": GIVEN, "blocks": [*block("I look."), CALLED]},
    {"role": "tool", "additional_kwargs": {"tool_call_id": "c1"}, "blocks": block("monday")},
    {"role": "assistant", "additional_kwargs": {}, "blocks": block("Done.")},
]
KERNEL = [
    {"role": "user", "items": [{"content_type": "text", "text": "Go."}]},
    {
        "role": "assistant",
        "ai_model_id": "m",
        "metadata": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        "items": [
            {"content_type": "text", "text": "I look."},
            {"content_type": "function_call", "id": "c1", "name": "Desk-look", "plugin_name": "Desk",
             "arguments": '{"day": 1}'},
        ],
    },
    {"role": "tool", "items": [{"content_type": "function_result", "id": "c1", "result": "monday"}]},
    {"role": "assistant", "items": [{"content_type": "text", "text": "Done."}]},
]  # fmt: skip
NET = [
    {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "Go."}]},
    {
        "Role": {"Label": "Assistant"},
        "ModelId": "m",
        "Metadata": {"Usage": {"InputTokenCount": 5, "OutputTokenCount": 2, "TotalTokenCount": 7}},
        "Items": [
            {"$type": "TextContent", "Text": "I look."},
            {"$type": "FunctionCallContent", "Id": "c1", "PluginName": "Desk", "FunctionName": "look",
             "Arguments": {"day": 1}},
        ],
    },
    {"Role": {"Label": "tool"},
     "Items": [{"$type": "FunctionResultContent", "CallId": "c1", "Result": "monday"}]},
    {"Role": {"Label": "assistant"}, "Items": [{"$type": "TextContent", "Text": "Done."}]},
]  # fmt: skip
CHATS: list[tuple[str, Any, str]] = [
    ("a list of LlamaIndex", LLAMA, "look"),
    ("its calls only as the provider gave them",
     [LLAMA[0], {**LLAMA[1], "blocks": block("I look.")}, *LLAMA[2:]], "look"),
    ("a chat store", {"store": {"ann": LLAMA}, "class_name": "SimpleChatStore"}, "look"),
    ("a memory", {"chat_store": {"store": {"ann": LLAMA}}, "class_name": "ChatMemoryBuffer"}, "look"),
    ("a history of Semantic Kernel", {"messages": KERNEL}, "Desk-look"),
    ("one of .NET", NET, "Desk-look"),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "content", "tool"), CHATS, ids=[case[0] for case in CHATS])
def test_chats_of_frameworks_are_chats(tmp_path: Path, desc: str, content: Any, tool: str) -> None:
    [run] = read(tmp_path, content)
    assert told(run) == (SAID, [(tool, {"day": 1})], ["monday"]), desc
    if tool != "look":
        assert (run.started.model, run.finished.metrics) == ("m", USED)


def test_cases_of_an_evaluation_of_adk_have_their_outcome(tmp_path: Path) -> None:
    one, two = read(tmp_path, RECORDS["adk-eval"]["desk.evalset_result.json"])
    assert [run.finished and run.finished.success for run in (one, two)] == [True, False]
    assert (one.agent, one.started.model, one.task_id) == ("clerk", "m", "desk/a")
    assert one.finished.metrics == {**USED, "response_match_score": 0.9}
    assert told(one)[1:] == ([("look", {"day": 1})], [{"result": "monday"}])
    assert told(two)[0] == [("user", "Go."), ("assistant", "I look."), ("assistant", "Done.")]


TABLES: list[tuple[str, str, str, int]] = [
    ("a message a row", "SELECT 'c' conversation_id, unnest(['user', 'assistant']) AS role, 'x' AS content",
     "message-table", 1),
    ("a conversation a row",
     "SELECT [{'role': r, 'content': 'x'} for r in ['user', 'assistant']] messages FROM range(2)",
     "openai-messages", 2),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "rows", "format", "runs"), TABLES, ids=[case[0] for case in TABLES])
def test_rows_of_parquet_are_read_as_lines(
    tmp_path: Path, desc: str, rows: str, format: str, runs: int
) -> None:
    (tmp_path / "in").mkdir()
    duckdb.execute(f"COPY ({rows}) TO '{tmp_path}/in/t.parquet' (FORMAT parquet)")
    done, found = converted(None, tmp_path / "out", tmp_path / "in")
    assert (done.format, len(found)) == (format, runs), desc
    assert told(found[0])[0] == [("user", "x"), ("assistant", "x")]


def test_a_damaged_table_is_named_and_stops_no_other_file(tmp_path: Path) -> None:
    folder = put_record(tmp_path / "in", {"chat.json": LLAMA})
    (folder / "t.parquet").write_bytes(b"PAR1 no table")
    done, [_] = converted("openai-messages", tmp_path / "out", folder)
    assert codes(done)["unreadable-file"] == 1


def test_thoughts_of_agentdojo_are_apart_and_a_failed_call_says_why(tmp_path: Path) -> None:
    record = RECORDS["agentdojo"]["injection_task_0.json"]
    blocks = [{"type": "thinking", "content": "Hm."}, {"type": "text", "content": "I look."}]
    asked = [{**record["messages"][0]}, {**record["messages"][1], "content": blocks}]
    failed = {"role": "tool", "tool_call_id": "c1", "error": "ValueError: no day"}
    for empty in ([{"type": "text", "content": ""}], ""):
        [run] = read(
            tmp_path / type(empty).__name__, record | {"messages": [*asked, failed | {"content": empty}]}
        )
        assert told(run) == (
            [("user", "Go."), ("reasoning", "Hm."), ("assistant", "I look.")],
            [("look", {"at": 1})],
            ["ValueError: no day"],
        )
        assert [seen.ok for seen in run.of(Observation)] == [False]
