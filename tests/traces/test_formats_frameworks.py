"""What frameworks save: LangChain, LlamaIndex, Semantic Kernel, Google ADK, AgentDojo, promptfoo; tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from foreign_files import codes, converted, put
from reading import Case, case, each, read
from trace_records import RECORDS

EVENTS = RECORDS["langchain-events"]["events.jsonl"]
USED = {"input_tokens": 5, "output_tokens": 2}
SAID = [("user", "Go."), ("assistant", "I look."), ("assistant", "Done.")]
LOOK = [("look", {"day": 1})]
WRONG = {**EVENTS[4], "event": "on_tool_error", "data": {"error": "no"}}
ENDED = {**EVENTS[0], "event": "on_chain_error", "data": {"error": "broken"}}
AT_ONCE = [
    one
    for event in EVENTS
    for one in (
        event,
        {**event, "run_id": f"{event['run_id']}2", "parent_ids": [f"{p}2" for p in event["parent_ids"]]},
    )
]
LANGCHAIN = [
    case("events of a graph are a run", EVENTS, run="langchain-events/r", agent="clerk", task="7", said=SAID,
         calls=LOOK, seen=["monday"], metrics=USED, steps=1),
    case("without events of tools calls are those in messages",
         [e for e in EVENTS if "tool" not in e["event"]], calls=LOOK),
    case("graphs that ran at once are runs of their own", AT_ONCE, all_said=[SAID, SAID]),
    case("a tool that failed and a graph that failed say so", [*EVENTS[:4], WRONG, ENDED],
         answers=[("no", False)], error="broken"),
]  # fmt: skip


@each(LANGCHAIN)
def test_events_of_langchain_are_read(tmp_path: Path, case: Case) -> None:
    case.holds("langchain-events", tmp_path, "e.jsonl", sniffed=True)


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


def kernel(role: str, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "items": list(items), **more}


def net(role: str, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Role": {"Label": role}, "Items": list(items), **more}


DESK = {"content_type": "function_call", "id": "c1", "name": "Desk-look", "plugin_name": "Desk"}
COUNTED = {"ai_model_id": "m", "metadata": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}}
KERNEL = [
    kernel("user", {"content_type": "text", "text": "Go."}),
    kernel("assistant", {"content_type": "text", "text": "I look."}, {**DESK, "arguments": '{"day": 1}'},
           **COUNTED),
    kernel("tool", {"content_type": "function_result", "id": "c1", "result": "monday"}),
    kernel("assistant", {"content_type": "text", "text": "Done."}),
]  # fmt: skip
NET_CALL = {"$type": "FunctionCallContent", "Id": "c1", "PluginName": "Desk", "FunctionName": "look"}
NET_USAGE = {"InputTokenCount": 5, "OutputTokenCount": 2, "TotalTokenCount": 7}
NET = [
    net("user", {"$type": "TextContent", "Text": "Go."}),
    net("Assistant", {"$type": "TextContent", "Text": "I look."}, {**NET_CALL, "Arguments": {"day": 1}},
        ModelId="m", Metadata={"Usage": NET_USAGE}),
    net("tool", {"$type": "FunctionResultContent", "CallId": "c1", "Result": "monday"}),
    net("assistant", {"$type": "TextContent", "Text": "Done."}),
]  # fmt: skip
BARE = [LLAMA[0], {**LLAMA[1], "blocks": block("I look.")}, *LLAMA[2:]]
LLAMAS = {
    "a list of LlamaIndex": LLAMA,
    "its calls only as the provider gave them": BARE,
    "a chat store": {"store": {"ann": LLAMA}, "class_name": "SimpleChatStore"},
    "a memory": {"chat_store": {"store": {"ann": LLAMA}}, "class_name": "ChatMemoryBuffer"},
}
DOJO = RECORDS["agentdojo"]["injection_task_0.json"]
THOUGHT = [{"type": "thinking", "content": "Hm."}, {"type": "text", "content": "I look."}]
ASKED = [DOJO["messages"][0], {**DOJO["messages"][1], "content": THOUGHT}]
ERROR = {"role": "tool", "tool_call_id": "c1", "error": "ValueError: no day"}
EMPTY: list[Any] = [[{"type": "text", "content": ""}], ""]
CASES = [
    *(case(desc, content, said=SAID, calls=LOOK, seen=["monday"]) for desc, content in LLAMAS.items()),
    *(case(desc, content, said=SAID, calls=[("Desk-look", {"day": 1})], seen=["monday"], model="m",
           metrics=USED)
      for desc, content in (("a history of Semantic Kernel", {"messages": KERNEL}), ("one of .NET", NET))),
    case("cases of an evaluation of ADK have their outcome", RECORDS["adk-eval"]["desk.evalset_result.json"],
         all_success=[True, False], agents=["clerk"] * 2, all_model=["m", None], tasks=["desk/a", "desk/b"],
         all_said=[[SAID[0], SAID[2]], SAID],
         all_calls=[LOOK, LOOK], all_seen=[[{"result": "monday"}], [{"r": 1}]],
         all_metrics=[{**USED, "response_match_score": 0.9}, None]),
    *(case(f"thoughts of AgentDojo are apart and a failed call with {empty!r} says why",
           DOJO | {"messages": [*ASKED, ERROR | {"content": empty}]}, calls=[("look", {"at": 1})],
           said=[("user", "Go."), ("reasoning", "Hm."), ("assistant", "I look.")],
           answers=[("ValueError: no day", False)]) for empty in EMPTY),
]  # fmt: skip


@each(CASES)
def test_what_a_framework_saves_is_read(tmp_path: Path, case: Case) -> None:
    case.holds(None, tmp_path)


TABLES = {
    "message-table": ("SELECT 'c' conversation_id, unnest(['user', 'assistant']) AS role, 'x' AS content", 1),
    "openai-messages": (
        "SELECT [{'role': r, 'content': 'x'} for r in ['user', 'assistant']] messages FROM range(2)", 2),
}  # fmt: skip


@pytest.mark.parametrize("format", TABLES)
def test_rows_of_parquet_are_read_as_lines(tmp_path: Path, format: str) -> None:
    """A message a row, or a conversation a row."""
    rows, runs = TABLES[format]
    (tmp_path / "in").mkdir()
    duckdb.execute(f"COPY ({rows}) TO '{tmp_path}/in/t.parquet' (FORMAT parquet)")
    said = [("user", "x"), ("assistant", "x")]
    want = case("a table", None, format=format, all_said=[said] * runs)
    want.of(None, tmp_path / "out", tmp_path / "in")


def test_a_damaged_table_is_named_and_stops_no_other_file(tmp_path: Path) -> None:
    put(tmp_path / "in" / "chat.json", LLAMA)
    put(tmp_path / "in" / "t.parquet", b"PAR1 no table")
    done, [_] = converted("openai-messages", tmp_path / "out", tmp_path / "in")
    assert codes(done)["unreadable-file"] == 1


RESULT = RECORDS["promptfoo"]["results.json"]["results"]["results"][0]
OLD = [{k: v for k, v in RESULT.items() if k not in ("promptIdx", "testIdx")}]
SAID = {"role": "assistant", "content": "Done."}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"day": 1}'}}


def result(**changed: Any) -> list[dict[str, Any]]:
    return [{**RESULT, **changed}]


FORMS = {
    "an evaluation": {"evalId": "e", "results": {"version": 3, "results": [RESULT]}},
    "a list of results": {"evalId": "e", "results": [RESULT]},
    "the summary that older programs write": {"version": 2, "results": OLD},
}
SCORED = {"score": 1, "polite": 0.5, "total_time": 0.8}
PROMPTFOO = [
    *(case(form, content, agent="clerk", model="openai:m", success=True, cost=0.5,
           metrics={**USED, **SCORED}, metadata={"format": "promptfoo", "input": "Go.", "target": "monday"})
      for form, content in FORMS.items()),
    *(case(f"calls of tools in an output are calls: {desc}", {"results": result(response={"output": output})},
           calls=LOOK) for desc, output in (("a list", [CALL]), ("one", CALL))),
    case("messages in an output are messages", {"results": result(response={"output": [SAID]})}, calls=[],
         said=[("user", "Go."), ("assistant", "Done.")]),
    case("an error of the provider is no failure of the agent",
         {"results": result(success=False, score=0, error="API error: 429 rate limit", response={})},
         success=None, error="API error: 429 rate limit", words=["Go."], steps=0),
    case("an output of any other form is said as it is", {"results": result(response={"output": {"day": 1}})},
         said=[("user", "Go."), ("assistant", {"day": 1})], steps=1),
    case("results of one test are runs of one task",
         {"results": [RESULT, *result(id="r2", promptIdx=1), *result(id="r3", testIdx=1)]},
         tasks=["in-0", "in-0", "in-1"]),
]  # fmt: skip


@each(PROMPTFOO)
def test_results_of_promptfoo_are_read(tmp_path: Path, case: Case) -> None:
    case.holds("promptfoo", tmp_path)


def test_results_of_promptfoo_in_lines_are_read(tmp_path: Path) -> None:
    done, (run,) = read(tmp_path, None, [RESULT], "r.jsonl")
    assert (done.format, run.agent, run.success) == ("promptfoo", "clerk", True)
