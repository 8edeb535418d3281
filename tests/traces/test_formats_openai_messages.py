"""Bare message lists: every shape of a message, every shape of what holds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, lines
from reading import Case, case, each, read, shapes
from trace_pieces import REFUNDS

from untaken import limits
from untaken.ledger import Observation, SkillSelection, ToolCall
from untaken.traces import Confidence, sample_of
from untaken.traces.openai_messages import recognise

RECORDED = Path(__file__).parent / "recorded"
GO = {"role": "user", "content": "Go."}
DONE = {"role": "assistant", "content": "Done."}
ARGUMENTS = json.dumps({"day": 1})
CHAT = [
    GO,
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": ARGUMENTS}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "monday"},
    DONE,
]  # fmt: skip
FUNCTIONS = [
    GO,
    {"role": "assistant", "content": "", "function_call": {"name": "look", "arguments": ARGUMENTS}},
    {"role": "function", "name": "look", "content": "monday"},
    DONE,
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Go."}]},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "gAAA"},
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "arguments": ARGUMENTS},
    {"type": "function_call_output", "call_id": "c1", "output": "monday"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]
LANGCHAIN = [
    {"type": "human", "content": "Go."},
    {"type": "ai", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"day": 1}}],
     "tool_calls": [{"name": "look", "args": {"day": 1}, "id": "c1", "type": "tool_call"}]},
    {"type": "tool", "content": "monday", "tool_call_id": "c1", "status": "success"},
    {"type": "ai", "content": "Done.", "tool_calls": []},
]  # fmt: skip
KINDS = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
CONSTRUCTORS = [
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", KINDS[str(each["type"])]],
     "kwargs": {name: value for name, value in each.items() if name != "type"}}
    for each in LANGCHAIN
]  # fmt: skip
BLOCKS = [
    GO,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"day": 1}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "monday"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "Go."}]},
    {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"day": 1}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": "monday"}}]},
    {"role": "model", "parts": [{"text": "Done."}]},
]
BEDROCK = [
    {"role": "user", "content": [{"text": "Go."}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"day": 1}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "monday"}]}}]},
    {"role": "assistant", "content": [{"text": "Done."}]},
]
SHAREGPT = [
    {"from": "human", "value": "Go."},
    {"from": "function_call", "value": json.dumps({"name": "look", "arguments": {"day": 1}})},
    {"from": "observation", "value": "monday"},
    {"from": "gpt", "value": "Done."},
]
AUTOGEN = [
    {"source": "user", "type": "TextMessage", "content": "Go."},
    {"source": "assistant", "type": "ToolCallRequestEvent",
     "content": [{"id": "c1", "name": "look", "arguments": ARGUMENTS}]},
    {"source": "assistant", "type": "ToolCallExecutionEvent",
     "content": [{"call_id": "c1", "name": "look", "content": "monday"}]},
    {"source": "assistant", "type": "TextMessage", "content": "Done."},
]  # fmt: skip
AUTOGEN_MODEL = [
    {"type": "UserMessage", "source": "user", "content": "Go."},
    {"type": "AssistantMessage", "source": "assistant", "thought": None, "content": AUTOGEN[1]["content"]},
    {"type": "FunctionExecutionResultMessage", "content": AUTOGEN[2]["content"]},
    {"type": "AssistantMessage", "source": "assistant", "content": "Done."},
]
HAYSTACK_CALL = {"id": "c1", "tool_name": "look", "arguments": {"day": 1}}
HAYSTACK = [
    {"role": "user", "meta": {}, "content": [{"text": "Go."}]},
    {"role": "assistant", "content": [{"tool_call": HAYSTACK_CALL}]},
    {"role": "tool", "content": [{"tool_call_result": {"result": "monday", "origin": HAYSTACK_CALL}}]},
    {"role": "assistant", "content": [{"text": "Done."}]},
]
ADK = [{"id": f"e{n}", "author": "clerk", "content": each} for n, each in enumerate(GEMINI)]
SDK_CALL = {"toolCallId": "c1", "toolName": "look", "input": {"day": 1}}
SDK_OUTPUT = {"type": "text", "value": "monday"}
SDK_MODEL = [
    GO,
    {"role": "assistant", "content": [{"type": "tool-call", **SDK_CALL}]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": SDK_OUTPUT}]},
    DONE,
]
SDK_PARTS = [
    {"type": "step-start"},
    {"type": "tool-look", "state": "output-available", "output": "monday",
     "toolCallId": "c1", "input": {"day": 1}},
    {"type": "text", "text": "Done."},
]  # fmt: skip
SDK_PAGE = [
    {"role": "user", "parts": [{"type": "text", "text": "Go."}]},
    {"role": "assistant", "parts": SDK_PARTS},
]
REPLY = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}


WANT = {
    "said": [("user", "Go."), ("assistant", "Done.")], "calls": [("look", {"day": 1})], "seen": ["monday"],
}  # fmt: skip
RESPONSE = {"object": "response", "id": "resp_1", "model": "m", "output": RESPONSES[1:]}
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": DONE}]}
SHAPES = {
    "chat": CHAT,
    "old functions": FUNCTIONS,
    "responses": RESPONSES,
    "langchain": LANGCHAIN,
    "langchain with data": [{"type": each["type"], "data": each} for each in LANGCHAIN],
    "langchain constructors": CONSTRUCTORS,
    "older langchain": [LANGCHAIN[0],
        {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": CHAT[1]["tool_calls"]}},
        *LANGCHAIN[2:]],
    "older langchain with functions": [LANGCHAIN[0],
        {"type": "ai", "content": "", "additional_kwargs": {"function_call": FUNCTIONS[1]["function_call"]}},
        {"type": "function", "name": "look", "content": "monday", "additional_kwargs": {}}, LANGCHAIN[3]],
    "content blocks": BLOCKS,
    "the AI SDK's messages for models": SDK_MODEL,
    "the AI SDK's messages for pages": SDK_PAGE,
    "bedrock": BEDROCK,
    "gemini": {"contents": GEMINI},
    "a conversation": {"conversation": CHAT},
    "an object": {"messages": CHAT},
    "a state": {"values": {"messages": LANGCHAIN}},
    "a checkpoint": {"channel_values": {"messages": LANGCHAIN}},
    "a line a message": lines(*CHAT),
    "a list of lists": [CHAT],
    "a request and its response": {"request": {"messages": CHAT[:3]}, "response": COMPLETION},
    "a request with what was chosen": {"messages": CHAT[:3], **COMPLETION},
    "a request with the reply of the Messages API": {"request": {"messages": BLOCKS[:3]}, "response": REPLY},
    "a proxy's log": {"request_body": {"messages": CHAT[:3]}, "response_body": COMPLETION},
    "a response": {"input": "Go.", **RESPONSE},
    "a logged response": {"input": RESPONSES[:1], "response": RESPONSE},
    "sharegpt": [{"conversations": SHAREGPT}],
    "a team of autogen": {"messages": AUTOGEN, "stop_reason": "done"},
    "what autogen saves of a team": {"type": "TeamState",
        "agent_states": {"clerk": {"agent_state": {"llm_context": {"messages": AUTOGEN_MODEL}}},
            "RoundRobinGroupChatManager": {"message_thread": AUTOGEN, "current_turn": 1}}},
    "what autogen saves of an agent": {"type": "AgentState", "llm_context": {"messages": AUTOGEN_MODEL}},
    "haystack": {"messages": HAYSTACK},
    "a result of the AI SDK": {"text": "Done.",
        "response": {"modelId": "m", "messages": [GO, *SDK_MODEL[1:]]}},
    "a session of the agent development kit": {"appName": "shop", "events": ADK},
    "a log of gemini": {"contents": GEMINI[:3], "response": {"candidates": [{"content": GEMINI[3]}]}},
    "a log of bedrock": {"input": {"inputBodyJson": {"messages": BEDROCK[:3]}},
        "output": {"outputBodyJson": {"output": {"message": BEDROCK[3]}}}},
    "calls that repeat the conversation": lines(
        {"request": {"messages": BLOCKS[:1]}, "response": {"type": "message", **BLOCKS[1]}},
        {"request": {"messages": BLOCKS[:3]}, "response": REPLY}),
    "updates of a graph's stream": lines({"intake": {"messages": LANGCHAIN[:1]}},
        {"agent": {"messages": LANGCHAIN[1:2], "left": 3}},
        {"tools": {"messages": LANGCHAIN[2]}, "__interrupt__": None}, {"agent": {"messages": LANGCHAIN[3:]}}),
    "a list of updates": [{"clerk": {"messages": [each]}} for each in LANGCHAIN],
    "updates of a stream of several modes": lines(
        *(["updates", {"clerk": {"messages": [each]}}] for each in LANGCHAIN)),
    "snapshots of a thread, the newest first": [
        {"values": {"messages": LANGCHAIN[:n]}, "config": {"configurable": {"thread_id": "t"}}} for n in (4,
            3, 3, 2, 1)],
}  # fmt: skip


@each(shapes(SHAPES, format="openai-messages", **WANT, success=None, cost=None))
def test_every_shape_of_the_same_run_is_recognised_and_gives_the_same_run(tmp_path: Path, case: Case) -> None:
    case.holds(None, tmp_path, "x.bin")


def thread_message(number: int, role: str, said: str, *notes: Any) -> dict[str, Any]:
    """As the Assistants API lists it."""
    about = {"id": f"msg_{number}", "object": "thread.message", "thread_id": "thread_1", "role": role}
    whose = {"created_at": 1_720_000_000 + number, "assistant_id": "asst_1" if role == "assistant" else None}
    return {
        **about, **whose, "content": [{"type": "text", "text": {"value": said, "annotations": list(notes)}}],
    }  # fmt: skip


THREAD = [thread_message(1, "user", "Go."), thread_message(2, "assistant", "Done.")]
THREADS = {
    "a page": {"object": "list", "data": THREAD[::-1], "first_id": "msg_2", "has_more": False},
    "a page in the order it was said": {"object": "list", "data": THREAD},
    "a list": THREAD[::-1],
    "lines": lines(*THREAD[::-1]),
}
CITED = thread_message(2, "assistant", "Done [1].", {"type": "file_citation", "text": "[1]"})


@each(shapes(THREADS, said=WANT["said"], calls=[], seen=[], agent="asst_1"))
def test_a_thread_of_the_assistants_api_is_read_in_the_order_it_was_said(tmp_path: Path, case: Case) -> None:
    case.holds("openai-messages", tmp_path)
    content = case.content if isinstance(case.content, str) else json.dumps(case.content)
    assert recognise(sample_of("x", content.encode())) is Confidence.LIKELY


SURE = [
    ("a bare list may be anything", CHAT, Confidence.POSSIBLE),
    ("one message is no conversation", GO, Confidence.NO),
    ("LangChain names its messages", LANGCHAIN, Confidence.LIKELY),
    ("an API object says what it is", RESPONSE, Confidence.LIKELY),
    ("text in and out is no chat", {"input": "Go.", "output": "Done."}, Confidence.NO),
    ("what goes in and comes out of a step is no update of a stream",
     {"input": {"messages": CHAT[:1]}, "output": {"messages": CHAT}}, Confidence.NO),
    ("messages of something else", {"messages": [{"from": "a", "value": "b"}]}, Confidence.NO),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "content", "want"), SURE, ids=[one[0] for one in SURE])
def test_recognition_is_as_sure_as_the_names_allow(desc: str, content: Any, want: Confidence) -> None:
    assert recognise(sample_of("x", json.dumps(content).encode())) is want


def tool(**answer: Any) -> dict[str, Any]:
    return {"role": "tool", "content": [answer]}


def of_user(**answer: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": answer}}]}


RESULT = {"type": "tool_result", "tool_use_id": "c1"}
OUTPUT = {"type": "function_call_output", "call_id": "c1"}
ANSWERS: list[tuple[str, dict[str, Any], dict[str, Any], bool | None]] = [
    ("the Messages API, a failure", BLOCKS[1], tool(**RESULT, is_error=True), False),
    ("the Messages API, a failure that the user says", CHAT[1],
     {"role": "user", "content": [{**RESULT, "is_error": True}]}, False),
    ("Bedrock, a failure", BEDROCK[1],
     tool(toolResult={"toolUseId": "c1", "content": [], "status": "error"}), False),
    ("the AI SDK, a failure", SDK_MODEL[1],
     tool(type="tool-result", toolCallId="c1", output={"type": "error-text", "value": ""}), False),
    ("the AI SDK before, a failure", SDK_MODEL[1],
     tool(type="tool-result", toolCallId="c1", result="no", isError=True), False),
    ("LangChain, a failure", CHAT[1], {"type": "tool", "content": "x", "status": "error"}, False),
    ("LangChain, a success", CHAT[1], {"type": "tool", "content": "x", "status": "success"}, True),
    ("words alone", CHAT[1], {"role": "tool", "content": "Error: x"}, None),
    ("Responses, a failure", CHAT[1], {**OUTPUT, "output": {"content": "x", "success": False}}, False),
    ("Gemini, a failure", CHAT[1], of_user(error="x"), False),
    ("Gemini", CHAT[1], of_user(output="x"), None),
]  # fmt: skip
ABOUT = {"id": "s1", "task_id": "t", "agent": "clerk", "model": "m", "success": False}


def logged(asked: list[Any], reply: Any, **about: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    return {"messages": asked, "response": {"choices": [{"message": reply}], "usage": usage}, **about}


FIRST = logged(
    CHAT[:1], {**CHAT[1], "reasoning_content": "Hm."}, id="a", response_cost=0.25, startTime=1.72e9
)
SECOND = logged(CHAT[:3], DONE, id="b", response_cost=0.5, startTime=1.72e9 + 5)
CALLS = case("the calls of one conversation add their tokens and their cost", lines(FIRST, SECOND),
             words=["Go.", "Hm.", "Done."], cost=0.75, steps=2, found={"conversation-repeated"},
             metrics={"input_tokens": 20.0, "output_tokens": 2.0})  # fmt: skip
BODY = {"object": "chat.completion", "model": "m", "choices": [{"message": CHAT[1]}]}
ANSWERED = {"status_code": 200, "body": {**BODY, "usage": {"prompt_tokens": 3}}}
SERVICE = [
    {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "ferry"}},
    {"type": "mcp_call", "id": "m1", "name": "roll", "arguments": "{}", "output": "4", "error": None},
    {"type": "mcp_call", "id": "m2", "name": "roll", "arguments": "{}", "output": None, "error": "no dice"},
]
LATE = {"custom_id": "t2", "response": None, "error": {"code": "batch_expired", "message": "too late"}}
BROKEN = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{da"}}]}
PLAN = {"name": "update_plan", "arguments": json.dumps({"plan": [{"step": "look", "status": "pending"}]})}
AUTOGEN_CALLS = [
    {"id": f"c{day}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"day": day})}}
    for day in (1, 2)
]
AUTOGEN_ANSWERS = [{"tool_call_id": f"c{day}", "role": "tool", "content": f"day {day}"} for day in (1, 2)]
AUTOGEN_CHAT = [
    {"content": "Go.", "role": "assistant", "name": "boss"},
    {"content": None, "role": "assistant", "name": "clerk", "tool_calls": AUTOGEN_CALLS},
    {"content": "day 1\n\nday 2", "role": "tool", "name": "boss", "tool_responses": AUTOGEN_ANSWERS},
    {"content": "Done.", "role": "user", "name": "clerk"},
]
"""A chat as one of its two agents kept it: what it sent has the role `assistant`."""
COST = {"usage_including_cached_inference": {"total_cost": 0.25}}
SEVERAL = {
    "lists in a list": [CHAT, RESPONSES],
    "lists in lines": lines(CHAT, CHAT[:1]),
    "objects in lines": lines({"messages": CHAT}, {"messages": BLOCKS}),
    "the same twice may be two trials": [{"messages": CHAT}] * 2,
    "only the question is the same": [{"messages": CHAT[:1]}, {"messages": CHAT}],
    "another answer": [{"messages": [GO, DONE]}, {"messages": CHAT}],
}
CASES = [
    case("a quotation in a thread is kept with its text", [THREAD[0], CITED],
         said=[("user", "Go."), ("assistant", CITED["content"])]),
    *(case(f"a call failed only where that is recorded: {desc}", [GO, made, answer], ok=[ok])
      for desc, made, answer, ok in ANSWERS),
    case("the system prompt of a request is said first",
         {"system": [{"type": "text", "text": "Be kind."}], "messages": BLOCKS},
         said=[("system", "Be kind."), *WANT["said"]]),
    *shapes(SEVERAL, runs=["openai-messages/in", "openai-messages/in/1"], tasks=["in", "in/1"]),
    case("two sessions that begin alike are two runs",
         [{"session_id": "a", "messages": CHAT[:2]}, {"session_id": "b", "messages": CHAT}], count=2),
    *(case(f"lines of messages that name their conversation as {name} are a run each",
           lines(*({**message, name: thread} for message in CHAT for thread in ("a", "b"))),
           runs=["openai-messages/a", "openai-messages/b"],
           **{f"all_{part}": [want] * 2 for part, want in WANT.items()})
      for name in ("thread_id", "trace_id", "run_id")),
    case("what the object says of the run is kept",
         {**ABOUT, "messages": CHAT, "usage": {"prompt_tokens": 5}}, run="openai-messages/s1", task="t",
         agent="clerk", model="m", success=False, metrics={"input_tokens": 5.0}, steps=2),
    CALLS,
    case("a batch gives a run for each request that was answered",
         lines({"id": "r1", "custom_id": "t1", "response": ANSWERED}, LATE), run="openai-messages/t1",
         task="t1", agent="m", metrics={"input_tokens": 3.0},
         says={"record t2 has no message: too late"}),
    case("an error of a call is that of the run",
         {"messages": [GO], "response": {}, "error_str": "Rate limit."}, error="Rate limit."),
    case("arguments that are no JSON are kept as text", [GO, BROKEN], calls=[("look", {"_unparsed": "{da"})],
         found={"malformed-arguments"}),
    case("tools of the service bring their answers", [GO, *SERVICE],
         answers=[("4", None), ("no dice", False)],
         calls=[("web_search", {"type": "search", "query": "ferry"}), ("roll", {}), ("roll", {})]),
    case("a plan that is written as JSON text is a plan",
         [GO, {"type": "function_call", "call_id": "c1", **PLAN}], plans=[["look"]]),
    *(case(f"a chat of AutoGen as {desc} has its agents and an answer for each call", content,
           said=[("boss", "Go."), ("clerk", "Done.")], answered=["c1", "c2"], seen=["day 1", "day 2"],
           calls=[("look", {"day": 1}), ("look", {"day": 2})], cost=cost)
      for desc, content, cost in (
          ("an object", {"chat_history": AUTOGEN_CHAT, "human_input": [], "cost": COST}, 0.25),
          ("a list", AUTOGEN_CHAT, None))),
]  # fmt: skip


@each(CASES)
def test_a_file_of_messages_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("openai-messages", tmp_path)


def test_a_call_takes_the_time_that_its_log_says(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, "openai-messages", CALLS.content)
    assert (run.of(Observation)[0].ts - run.started.ts).total_seconds() == 5


@pytest.mark.parametrize("name", ["langgraph_state.json", "langchain_messages.json"])
def test_what_langgraph_wrote_is_read(tmp_path: Path, name: str) -> None:
    recorded = case(name, (RECORDED / name).read_bytes(), calls=REFUNDS,
                    ok=[True, False, True], roles=["system", "user", "assistant"],
                    metrics={"input_tokens": 40.0, "output_tokens": 20.0},
                    codes={"missing-outcome", "synthetic-timestamps"})  # fmt: skip
    recorded.holds("openai-messages", tmp_path, sniffed=True)


def test_a_short_file_that_calls_thousands_of_tools_fills_no_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(limits, "DECISIONS_CHARS", 2_000)
    functions = [{"name": f"tool{n:02}", "arguments": "{}"} for n in range(60)]
    calls = [{"id": each["name"], "type": "function", "function": each} for each in functions]
    done, (run,) = read(tmp_path, "openai-messages", [GO, {"role": "assistant", "tool_calls": calls}])
    assert len(run.of(ToolCall)) == 60
    listed = sum(len(name) for each in run.of(SkillSelection) for name in each.alternatives)
    assert 0 < listed <= 2_000
    assert codes(done)["decisions-left-out"] == 1
