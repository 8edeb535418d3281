"""Runs of different apps are runs of different agents, wherever a format has a name for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import converted
from trace_pieces import CALL, DONE, GO, mlflow_span, otel_span
from trace_records import RECORDS, put_record

ADK = [
    {"author": "user", "content": {"role": "user", "parts": [{"text": "Go."}]}},
    {"author": "clerk", "content": {"role": "model", "parts": [{"text": "Done."}]}},
]
PHOENIX: dict[str, Any] = {
    "name": "clerk",
    "context": {"trace_id": "t", "span_id": "1"},
    "span_kind": "AGENT",
    "parent_id": None,
    "attributes": {"input.value": "Go."},
}
CHAIN = {**otel_span(1, "other"), "name": "clerk", "attributes": {"openinference.span.kind": "CHAIN"}}
MODEL = otel_span(2, "chat", gen_ai__request__model="m")
UNKNOWN = {"attributes": {"service.name": "unknown_service:python"}}
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
    "a span of an agent in MLflow": TRACED,
    "a response of Databricks with its trace": {"id": "r", "databricks_output": {"trace": TRACED}},
    "a row of Databricks with its trace": {
        **ROW, "request": json.dumps(ASKED),
        "response": json.dumps({"databricks_output": {"trace": TRACED}})},
    "a row of Databricks": {**ROW, "request": json.dumps(ASKED), "response": json.dumps(REPLY)},
    "a name beside the messages": {"agent_name": "clerk", "messages": [GO, DONE]},
}  # fmt: skip


@pytest.mark.parametrize("case", NAMED)
def test_the_name_that_a_format_has_is_the_agents(tmp_path: Path, case: str) -> None:
    _, (run,) = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.json": NAMED[case]}))
    assert run.agent == "clerk"


def test_rows_of_databricks_are_read_without_a_trace_too(tmp_path: Path) -> None:
    rows = [{**ROW, "databricks_request_id": n, "request": json.dumps(ASKED), "response": json.dumps(REPLY)}
            for n in ("r1", "r2")]  # fmt: skip
    done, runs = converted(None, tmp_path / "out", put_record(tmp_path / "in", {"t.jsonl": rows}))
    assert done.format == "openai-messages"
    assert [run.run_id for run in runs] == ["openai-messages/r1", "openai-messages/r2"]
    assert [[call.tool for call in run.actions] for run in runs] == [["look"], ["look"]]
