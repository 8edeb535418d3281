"""A mapping file drafted from records: what names and shapes say, and never a draft that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from trace_pieces import DONE, GO, LOOK, SEEN

from untaken.traces.mapped import mapped_importer, parse_mapping
from untaken.traces.mapped.checking import check_mapping, drafted_from
from untaken.traces.mapped.drafting import draft_mapping

STEP = {"type": "tool", "tool_name": "look", "tool_input": {"at": 1}, "observation": "seen"}
SAY = [{"kind": "say", "text": "a"}, {"kind": "say", "text": "b"}]
ACT = [{**STEP, "kind": "act"}] * 2
EVENTS = [{"session_id": s, "type": t, "text": "x"} for s in "ab" for t in ("user", "bot")]
API = {"api_name": "f", "api_args": {"n": 1}, "api_response": {"n": 2}}
CASES: list[tuple[str, Any, dict[str, int]]] = [
    ("messages of a known form", {"log": {"msgs": [GO, LOOK, SEEN, DONE]}}, {"MESSAGE": 3, "TOOL_CALL": 1}),
    ("steps with a tool and an answer", {"steps": [STEP, STEP]}, {"TOOL_CALL": 2, "OBSERVATION": 2}),
    ("kinds of steps", {"events": SAY + ACT}, {"MESSAGE": 2, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("runs in a list", {"samples": [{"messages": [GO, DONE]}] * 2}, {"RUN_STARTED": 2, "MESSAGE": 4}),
    ("an event a line, of two sessions", EVENTS, {"RUN_STARTED": 2, "MESSAGE": 4}),
    ("messages in events", [{"type": "u", "message": GO}, {"type": "a", "message": DONE}], {"MESSAGE": 2}),
    ("questions and answers", {"question": "Where?", "answer": "Here."}, {"RUN_STARTED": 1, "MESSAGE": 2}),
    ("a question a record", [{"prompt": "A?", "solution": "a"}] * 2, {"RUN_STARTED": 2, "MESSAGE": 4}),
    ("turns in a list", {"log": [{"user": "A?", "bot": "a"}] * 2}, {"RUN_STARTED": 1, "MESSAGE": 4}),
    ("a run a member", {n: {"query": n, "turns": [GO, DONE]} for n in "abc"},
     {"RUN_STARTED": 3, "MESSAGE": 6}),
    ("results in a list", {"all": [{"task_id": n, "passed": True} for n in "ab"]}, {"RUN_STARTED": 2}),
    ("outcomes alone", [{"code": n, "reward": n == "a"} for n in "ab"], {"RUN_STARTED": 2}),
    ("actions with reasons", {"moves": [{"action": "raise", "reason": "Strong."}] * 2},
     {"MESSAGE": 2, "TOOL_CALL": 2}),
    ("calls of an interface",
     {"turns": [{"speaker": "user", "text": "Do it."},
          {"speaker": "bot", "text": "I do.", "api_calls": [API]}]},
     {"MESSAGE": 2, "TOOL_CALL": 1, "OBSERVATION": 1}),
    ("results alone", [{"name": n, "is_success": n == "a"} for n in "ab"], {"RUN_STARTED": 2}),
    ("tests of one run",
     {"task": "t", "success": True, "tests": [{"name": "x", "passed": True, "output": "ok"}] * 2},
     {"RUN_STARTED": 1}),
    ("calls beside of what was said",
     {"log": [{"role_name": "A", "content": "a"}],
      "tool_calls": [{"func_name": "f", "args": {}, "result": "r"}]},
     {"MESSAGE": 1, "TOOL_CALL": 1, "OBSERVATION": 1}),
    ("calls among what was said, and a list of them beside",
     {"log": [{"role_name": "A", "content": "a"}, STEP, STEP],
      "tool_calls": [{"func_name": "f", "args": {}, "result": "r"}]},
     {"MESSAGE": 1, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("what should be called", {"expected_actions": [{"tool": "f"}] * 9, "steps": [STEP]}, {"TOOL_CALL": 1}),
    ("sessions named inside of events",
     [{"_type": t, "metadata": {"session_id": s}, "text": "x"} for s in "ab" for t in ("user", "bot")],
     {"RUN_STARTED": 2, "MESSAGE": 4}),
    ("parts inside of objects",
     {"entries": [{"decision": {"action": "buy", "params": {"n": 1}, "reasoning": "Cheap."}}] * 2},
     {"MESSAGE": 2, "TOOL_CALL": 2}),
    ("a tool in some elements only", {"log": [{"step": "plan"}, {"tool": "look", "result": "seen"}]},
     {"TOOL_CALL": 1, "OBSERVATION": 1}),
    ("calls that start and end, in runs that do",
     [{"run": run, **event} for run in "rs"
      for event in ({"type": "run_started", "agentId": "a"}, {"type": "user_message", "text": "Look."},
          {"type": "tool_start", "toolName": "look", "toolArgs": {"at": 1}},
          {"type": "tool_end", "toolName": "look", "output": "seen", "success": False},
          {"type": "run_finished", "success": True})],
     {"RUN_STARTED": 2, "MESSAGE": 2, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("kinds inside of a wrapped value",
     [{"key": run, "value": {"kind": kind, "data": data}} for run in "rs"
      for kind, data in (("prompt", {"text": "Look."}), ("tool_call", {"name": "look", "arguments": {}}),
          ("tool_result", {"name": "look", "output": "seen"}), ("reply", {"text": "Seen."}))],
     {"RUN_STARTED": 2, "MESSAGE": 4, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("turns with calls, in sessions",
     {"sessions": [{"id": n, "turns": [{"user": "A?", "assistant": "a", "toolInvocations": [{**STEP}]}]}
          for n in "ab"]}, {"RUN_STARTED": 2, "MESSAGE": 4, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("steps inside of stages",
     {"stages": [{"title": n, "steps": [{"tool": "look", "params": {}, "result": n}]} for n in "ab"]},
     {"RUN_STARTED": 1, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("calls and results in lists of their own",
     {"steps": [
          {"text": "I look.", "toolCalls": [{"callId": n, "toolName": "look", "args": {}} for n in "ab"]},
          {"toolResults": [{"callId": n, "result": n} for n in "ba"]}]},
     {"MESSAGE": 1, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("calls named by their key",
     {"steps": [{"next_goal": "Open.", "action": [{n: {"at": 1}}], "result": [{"output": n}]} for n in "ab"]},
     {"MESSAGE": 2, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("what happened in the words of a log",
     [{"level": "INFO", "message": "user prompt", "prompt": "Look."},
      {"level": "INFO", "message": "tool call", "tool_name": "look", "tool_input": {"at": 1}},
      {"level": "INFO", "message": "tool result", "tool_name": "look", "tool_output": "seen"},
      {"level": "INFO", "message": "model reply", "completion": "Seen."}],
     {"RUN_STARTED": 1, "MESSAGE": 2, "TOOL_CALL": 1, "OBSERVATION": 1}),
    ("one object of several in each event",
     [{"run": "r", "userTurn": {"text": "Look."}},
      {"run": "r", "toolCall": {"name": "look", "args": {"at": 1}}},
      {"run": "r", "agentTurn": {"text": "Seen."}}], {"RUN_STARTED": 1, "MESSAGE": 2, "TOOL_CALL": 1}),
    ("steps that are counted, each with task and agent",
     [{"episode_id": e, "step": n, "agent": "a", "task": e, "action": "open", "observation": "open"}
      for e in "xy" for n in (0, 1)], {"RUN_STARTED": 2, "TOOL_CALL": 4, "OBSERVATION": 4}),
    ("requests and answers of a protocol",
     [each for n in (1, 2)
      for each in ({"id": n, "method": "tools/call", "params": {"name": "look", "arguments": {"at": n}}},
          {"id": n, "result": {"content": [{"type": "text", "text": "seen"}]}})],
     {"RUN_STARTED": 1, "TOOL_CALL": 2, "OBSERVATION": 2}),
    ("messages in a role's words, with calls",
     {"turns": [{"role": "agent", "message": "Hello."}, {"role": "user", "message": "Look."},
          {"role": "tool_call", "toolCalls": [{"id": "t", "function": {"name": "look", "arguments": "{}"}}]},
          {"role": "tool_call_result", "name": "look", "result": "seen", "toolCallId": "t"}]},
     {"RUN_STARTED": 1, "MESSAGE": 2, "TOOL_CALL": 1, "OBSERVATION": 1}),
    ("a reply beside the messages", [{"messages": [GO], "outputs": ["Done."]}] * 2, {"MESSAGE": 4}),
    ("names with a word more",
     {"log": [{"api_name": "look", "param_dict": {"at": 1}, "result_value": "seen"}] * 2},
     {"TOOL_CALL": 2, "OBSERVATION": 2}),
    ("kinds that name their tools",
     {"steps": [{"kind": "search_action", "find": "x", "metadata": {"id": 1}},
          {"kind": "search_observation", "hits": ["y"], "metadata": {"id": 2}},
          {"kind": "python_code_action", "name": "a.py", "code": "1"},
          {"kind": "action_failure", "why": "z"}]}, {"TOOL_CALL": 2, "OBSERVATION": 2}),
    ("calls in a list with their results",
     {"steps": [{"text": "I look.", "tool_calls": [{"tool_name": "look", "args": {}, "result": "seen"}]}]},
     {"MESSAGE": 1, "TOOL_CALL": 1, "OBSERVATION": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "records", "events"), CASES, ids=[case[0] for case in CASES])
def test_a_draft_reads(tmp_path: Path, desc: str, records: Any, events: dict[str, int]) -> None:
    written = "\n".join(map(json.dumps, records)) if isinstance(records, list) else json.dumps(records)
    file = tmp_path / "log.jsonl"
    file.write_text(written)
    draft = drafted_from(file.name, written.encode(), "mine")
    found = check_mapping(mapped_importer(parse_mapping(draft, "draft")), [file])
    assert {kind: found.events.get(kind, 0) for kind in events} == events, draft


def draft_of(*records: Any) -> dict[str, Any]:
    return yaml.safe_load(draft_mapping(list(records), "mine"))


NAMES: list[tuple[dict[str, Any], str, Any]] = [
    ({"agentName": "a"}, "agent", "agentName"),
    ({"agent": {"name": "a", "kind": "b"}}, "agent", "agent.name"),
    ({"config": {"model": {"name": "m"}}}, "model", "config.model.name"),
    ({"Task-ID": "7"}, "task", "Task-ID"),
    ({"is_correct": True}, "success", "is_correct"),
    ({"result": {"token_usage": {"prompt_tokens": 1}}}, "usage", "result.token_usage"),
    ({"nothing": 1}, "agent", "'unknown-agent'"),
    ({"model": "m"}, "agent", "model"),
    ({"state": {"counter": {"prompt_tokens": 1}}}, "usage", "state.counter"),
    ({"status": "failed"}, "success", "status"),
    ({"auto_passed": False}, "success", "auto_passed"),
    ({"analysis": {"successEvaluation": "true"}}, "success", "analysis.successEvaluation"),
    ({"agent": {"id": "7", "name": "a"}}, "agent", "agent.name"),
    ({"assistantId": "7"}, "agent", "assistantId"),
    ({"player_model": "m"}, "model", "player_model"),
    ({"metadata": {"task_name": "t"}}, "task", "metadata.task_name"),
    ({"bot": {"name": "b", "release": "1.2"}}, "version", "bot.release"),
    ({"task": {"title": "t"}}, "task", "task.title"),
    ({"title": "t"}, "task", "title"),
    (
        {"meta": {"model": "m"}, "results": [{"task": n, "passed": True} for n in "ab"]},
        "model",
        "/meta.model",
    ),
]
MISLEADING: list[tuple[dict[str, Any], str]] = [
    ({"status": "running"}, "success"),
    ({"finished": True}, "finished"),
    ({"timers": {"create_llm": 0.5}}, "model"),
    ({"question": "A?", "answer": "a"}, "target"),
    ({"agent": "A reply of several sentences, which is nobody's name: " + "a " * 40}, "id"),
]


ORDERS = [
    ("seen before an action answers none of its own",
     {"observation": "A door.", "thought": "I open it.", "action": "open"},
     ["answer", "say", "call"]),
    ("seen after an action in an object answers it",
     {"thought": "I open it.", "action": {"tool": "open", "args": {}}, "observation": "A door."},
     ["say", "call", "answer"]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "step", "want"), ORDERS, ids=[one[0] for one in ORDERS])
def test_what_was_seen_belongs_to_the_action_before_it(desc, step, want) -> None:
    (rule,) = draft_of({"steps": [step]})["items"][0]["choose"]
    assert [next(iter(each.keys() - {"when"})) for each in rule["items"]] == want


def test_an_id_of_any_name_joins_a_call_and_its_answer() -> None:
    def turn(number: int) -> list[dict[str, Any]]:
        call = {"kind": "tool_invocation", "invocation_id": f"i{number}", "function": "look", "params": {}}
        return [call, {"kind": "tool_result", "invocation_id": f"i{number}", "output": "seen"}]

    draft = draft_of({"events": [*turn(1), *turn(2)]})
    ids = [rule.get("call", rule.get("answer"))["id"] for rule in draft["items"][0]["choose"]]
    assert ids == ["invocation_id", "invocation_id"]


def test_what_a_run_is_called_has_a_value_of_its_own_in_each() -> None:
    runs = [{"run": f"r{n}", "task": {"id": "t"}, "steps": [STEP]} for n in range(2)]
    assert draft_of(*runs)["run"]["id"] == "run"
    repeats = [each | {"run": 1} for each in runs]
    assert "id" not in draft_of(*repeats)["run"]


def test_neither_what_a_tool_was_given_nor_what_was_said_is_the_task() -> None:
    call = {"event": "tool", "name": "grep", "input": "a", "output": "b"}
    events = [{"session_id": s, **e} for s in "ab" for e in (call, {"event": "say", "content": "Hello."})]
    assert "task_text" not in draft_of(*events)["run"]


def test_a_kind_that_names_a_tool_is_the_tool_and_the_rest_its_arguments() -> None:
    made = {"kind": "python_code_action", "name": "a.py", "code": "1", "metadata": {"id": 1}}
    seen = {"kind": "code_observation", "lines": ["1"]}
    draft = draft_of({"steps": [made, seen]})
    first, second = draft["items"][0]["choose"]
    assert first["call"] == {"tool": "kind", "arguments": {"fields": {"name": "name", "code": "code"}}}
    assert second["answer"] == {"content": {"fields": {"lines": "lines"}}}


def test_success_of_a_tool_is_not_success_of_the_run() -> None:
    ended = {"type": "tool_end", "toolName": "look", "output": "seen", "success": True}
    started = {"type": "tool_start", "toolName": "look", "toolArgs": {}, "inputTokens": 5}
    draft = draft_of(*({"run": r, **e} for r in "rs" for e in (started, ended)))
    assert "success" not in draft["run"]
    assert draft["run"]["calls"]["usage"] == {"input_tokens": "inputTokens"}


@pytest.mark.parametrize(("key", "counter"), [("sess", "n"), ("convo_id", "n"), ("visit", "step")])
def test_records_are_of_one_run_by_a_name_for_it_or_where_their_steps_begin_again(key, counter) -> None:
    events = [
        {key: r, counter: n, "role": w, "content": "x"} for r in "ab" for n, w in enumerate(("user", "bot"))
    ]
    assert yaml.safe_load(draft_mapping(events, "mine"))["runs"] == {"by": key}


@pytest.mark.parametrize(("record", "part"), MISLEADING, ids=[case[1] for case in MISLEADING])
def test_a_name_with_something_else_in_it_speaks_for_nothing(record: dict[str, Any], part: str) -> None:
    assert part not in draft_of(record)["run"]


@pytest.mark.parametrize(("record", "part", "want"), NAMES, ids=[case[1] for case in NAMES])
def test_a_name_speaks_for_a_part_of_the_run(record: dict[str, Any], part: str, want: str) -> None:
    assert draft_of(record)["run"][part] == want


NAME = st.sampled_from(
    ["messages", "type", "a b", 'a"b', "x.y", "", "é\n", "tool", "args", "{x}", "'", "steps", "text"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=4),
    max_leaves=12,
)


@given(records=st.lists(JSON, max_size=4))
@example(records=[{"steps": [{"type": "# x: [", "text": "y"}, {"type": "z", "text": 1}]}])
@example(records=[{"messages": [{'a"b': 1}]}])
def test_every_draft_can_be_read(records: list[Any]) -> None:
    assert parse_mapping(draft_mapping(records, "mine"), "draft").info.name == "mine"
