"""Whose runs they are: the name of the agent, wherever a format has one, its version and its prompt's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from foreign_files import FILES, converted, put
from reading import Case, case, each, shapes
from trace_pieces import CALL, DONE, GO, mlflow_span, observation, otel_span
from trace_records import RECORDS

HANDBOOK = {"kind": "handbook", "version": 3}
"""What a person writes into the metadata of a trace."""

PINNED = {"task": "t", "model": "m", "task_version": 4, "packages": {"inspect_ai": "0.3.9"}}
LINKED = {"mlflow.linkedPrompts": '[{"name": "desk", "version": "4"}]'}
COMMITTED = {"trace_id": "tr-1", "tags": LINKED, "trace_metadata": {"mlflow.source.git.commit": "fe0"}}


def evaluated(**revision: Any) -> dict[str, Any]:
    return {"eval": {"task": "t", "model": "m", "revision": revision}}


def noted(**metadata: Any) -> dict[str, Any]:
    return {"extra": {"metadata": metadata}}


RECORDED: list[tuple[str, Any, str | None, str | None]] = [
    ("atif", {"agent": {"name": "a", "version": "1.2"}}, "1.2", None),
    ("harbor", {"agent_info": {"name": "a", "version": "2"}}, "2", None),
    ("claude-code", {"version": "2.0.1"}, "2.0.1", None),
    ("opencode", {"info": {"id": "ses_1", "version": "1.0.3"}}, "1.0.3", None),
    ("mini-swe-agent", {"info": {"mini_version": "2.1"}}, "2.1", None),
    ("swe-agent", {"info": {"swe_agent_version": "1.1", "swe_agent_hash": "c0ffee"}}, "c0ffee", None),
    ("tau2-bench", {"info": {"git_commit": "beef", "agent_info": {"llm": "m"}}}, "beef", None),
    ("copilot-cli", {"data": {"content": "hi", "copilotVersion": "0.0.4"}}, "0.0.4", None),
    ("inspect", evaluated(commit="ab1"), "ab1", None),
    ("inspect", evaluated(commit="ab1", dirty=True), "ab1+changes", None),
    ("inspect", {"eval": PINNED}, "inspect_ai 0.3.9", None),
    ("langsmith", noted(revision_id="r9", lc_hub_commit_hash="h1"), "r9", "h1"),
    ("langsmith", noted(**HANDBOOK), "3", None),
    ("langfuse", {"version": "v7", "release": "r1"}, "v7", None),
    ("langfuse", {"release": "r1"}, "r1", None),
    ("braintrust", {"metadata": {"agent_version": 5, "prompt": {"version": "p2"}}}, "5", "p2"),
    ("weave", {"op_name": "weave:///us/desk/op/answer:d1g35t"}, "d1g35t", None),
    ("mlflow", {"info": COMMITTED}, "fe0", "4"),
]


@pytest.mark.parametrize(("format", "changes", "version", "prompt_version"), RECORDED)
def test_an_importer_keeps_the_version_of_the_agent_and_of_its_prompt(
    tmp_path: Path, format: str, changes: dict[str, Any], version: str | None, prompt_version: str | None
) -> None:
    ((name, content),) = FILES[format].items()
    sources = put(tmp_path / name, {**content, **changes})
    _, (run, *_) = converted(format, tmp_path / "out", sources)
    assert (run.version, run.prompt_version) == (version, prompt_version)


ADK = [
    {"author": "user", "content": {"role": "user", "parts": [{"text": "Go."}]}},
    {"author": "clerk", "content": {"role": "model", "parts": [{"text": "Done."}]}},
]
PHOENIX: dict[str, Any] = {
    "name": "clerk", "context": {"trace_id": "t", "span_id": "1"}, "span_kind": "AGENT", "parent_id": None,
    "attributes": {"input.value": "Go."},
}  # fmt: skip
CHAIN = {**otel_span(1, "other"), "name": "clerk", "attributes": {"openinference.span.kind": "CHAIN"}}
MODEL = otel_span(2, "chat", gen_ai__request__model="m")
UNKNOWN = {"attributes": {"service.name": "unknown_service:python"}}
ID = "99981f6a-abd1-4d09-9fba-00e2ab172193"
TRACE = RECORDS["mlflow"]["t.json"]
AGENT = {**mlflow_span(9, "AGENT", {}, ""), "name": "clerk"}
ROOT = {**mlflow_span(1, "CHAIN", {"messages": [GO]}, ""), "name": "predict"}
TRACED = {"info": TRACE["info"], "data": {"spans": [ROOT, AGENT, *TRACE["data"]["spans"][1:]]}}
ASKED = {"messages": [GO]}
REPLY = {"choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}}]}
ROW = {"databricks_request_id": "r1", "timestamp_ms": 1767225600000, "served_entity_name": "clerk"}
NAMED: dict[str, Any] = {
    "an app of ADK": {"id": "s", "app_name": "clerk", "events": ADK},
    "an app of ADK in its older name": {"id": "s", "appName": "clerk", "events": ADK},
    "the author of ADK's events": {"id": "s", "events": ADK},
    "a list of ADK's events": ADK,
    "a span of an agent in Phoenix": [PHOENIX],
    "the root of a trace": [{**each, "resource": {}} for each in (CHAIN, MODEL)],
    "a service without a name": [{**each, "resource": UNKNOWN} for each in (CHAIN, MODEL)],
    "a service whose agent is named by an id": [
        {**otel_span(1, "invoke_agent", gen_ai__agent__name=ID), "resource": {"service.name": "clerk"}},
        MODEL],
    "an agent above one that is named by an id": [
        {**otel_span(1, "invoke_agent", gen_ai__agent__name=f"agent.{ID}"), "resource": UNKNOWN},
        {**otel_span(2, "invoke_agent", gen_ai__agent__name="clerk"), "resource": UNKNOWN}],
    "a span of an agent in MLflow": TRACED,
    "a response of Databricks with its trace": {"id": "r", "databricks_output": {"trace": TRACED}},
    "a row of Databricks with its trace": {
        **ROW, "request": json.dumps(ASKED),
        "response": json.dumps({"databricks_output": {"trace": TRACED}})},
    "a row of Databricks": {**ROW, "request": json.dumps(ASKED), "response": json.dumps(REPLY)},
    "an agent in observations without their trace": [
        observation(1, "AGENT", name="clerk"), observation(2, "GENERATION", model="m", output="Done.")],
    "the trace that observations name": [observation(1, "GENERATION", traceName="clerk", output="Done.")],
    "a name beside the messages": {"agent_name": "clerk", "messages": [GO, DONE]},
}  # fmt: skip


CALL_ALONE = [observation(1, "GENERATION", name="ChatOpenAI", output="Done.")]
ROWS = [{**ROW, "databricks_request_id": n, "request": json.dumps(ASKED), "response": json.dumps(REPLY)}
        for n in ("r1", "r2")]  # fmt: skip
CASES = [
    *shapes(NAMED, agent="clerk"),
    case("where only the model is recorded it names the agent", [{**MODEL, "resource": UNKNOWN}], agent="m"),
    case("a call of a model is no name of an agent", CALL_ALONE, agent="unknown-agent"),
    case("rows of Databricks without a trace", ROWS, format="openai-messages",
         runs=["openai-messages/r1", "openai-messages/r2"], all_tools=[["look"], ["look"]]),
]  # fmt: skip


@each(CASES)
def test_the_name_that_a_format_has_is_the_agents(tmp_path: Path, case: Case) -> None:
    case.holds(None, tmp_path)


def event(part: dict[str, Any], role: str = "model", **more: Any) -> dict[str, Any]:
    return {"author": "clerk", "content": {"role": role, "parts": [part]}, **more}


USED = {"promptTokenCount": 90, "candidatesTokenCount": 5, "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 60, "totalTokenCount": 100}  # fmt: skip
SPENT = {"promptTokenCount": 110, "candidatesTokenCount": 2, "totalTokenCount": 112}
EVENTS = [
    ADK[0],
    event({"functionCall": {"id": "c1", "name": "look", "args": {}}}, usageMetadata=USED),
    event({"functionResponse": {"id": "c1", "name": "look", "response": {"result": "monday"}}}, "ROLE"),
    event({"text": "Do"}, partial=True, usageMetadata={"promptTokenCount": 110, "candidatesTokenCount": 1}),
    event({"text": "Done."}, usageMetadata=SPENT),
]
"""A session of Google's Agent Development Kit; what was streamed comes again as a whole."""


def in_snake_case(value: Any) -> Any:
    """As ADK's models are dumped in Python."""
    if isinstance(value, list):
        return [in_snake_case(each) for each in value]
    if isinstance(value, dict):
        return {re.sub(r"[A-Z]", lambda m: f"_{m[0].lower()}", k): in_snake_case(v) for k, v in value.items()}
    return value


@pytest.mark.parametrize("snake", [False, True], ids=["camel case", "snake case"])
@pytest.mark.parametrize("role", ["user", "model"])
def test_a_session_of_adk_counts_replies_and_tokens_once(tmp_path: Path, snake: bool, role: str) -> None:
    events = json.loads(json.dumps(EVENTS).replace("ROLE", role))
    session = {"id": "s", "appName": "desk", "events": events}
    used = {"input_tokens": 200, "output_tokens": 12, "cached_tokens": 60, "reasoning_tokens": 5}
    want = case("a session", in_snake_case(session) if snake else session, agent="desk", steps=2,
                tools=["look"], words=["Go.", "Done."], metrics=used)  # fmt: skip
    want.holds(None, tmp_path)
