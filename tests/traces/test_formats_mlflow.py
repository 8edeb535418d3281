"""MLflow: what it recorded, the older form, and traces with one thing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reading import Case, case, each, shapes
from trace_pieces import CALL, DONE, GO, REFUNDS, SEEN

RECORDED = Path(__file__).parent / "recorded" / "mlflow.json"
START = 1_760_000_000_000_000_000
LOOK = {"role": "assistant", "tool_calls": [CALL]}


def span(number: int, kind: str, name: str, given_: Any, said: Any) -> dict[str, Any]:
    """A span that lasts half a second."""
    about = {"mlflow.spanType": kind, "mlflow.spanInputs": given_, "mlflow.spanOutputs": said}
    began = START + number * 10**9
    return {
        "trace_id": "AAAA", "span_id": f"s{number}", "parent_span_id": "s0" if number else None, "name": name,
        "start_time_unix_nano": began, "end_time_unix_nano": began + 5 * 10**8,
        "status": {"code": "STATUS_CODE_OK", "message": ""},
        "attributes": {key: json.dumps(value) for key, value in about.items()},
    }  # fmt: skip


def model(number: int, message: dict[str, Any], *asked: dict[str, Any]) -> dict[str, Any]:
    gave = {"choices": [{"index": 0, "message": message}]}
    return span(number, "CHAT_MODEL", "Completions", {"model": "m", "messages": list(asked)}, gave)


AGENT = span(0, "AGENT", "desk", {"question": "Go."}, "Done.")
FIRST = model(1, LOOK, GO)
SPANS = [AGENT, FIRST, span(2, "TOOL", "look", {"day": 1}, "monday"), model(3, DONE, GO, LOOK, SEEN)]


def trace(*spans: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"trace_id": "tr-1", **info}, "data": {"spans": list(spans)}}


def as_otlp(span: dict[str, Any]) -> dict[str, Any]:
    typed = [{"key": key, "value": {"string_value": value}} for key, value in span["attributes"].items()]
    return span | {"attributes": typed}


def older(span: dict[str, Any]) -> dict[str, Any]:
    times = {f"{side}_time": span[f"{side}_time_unix_nano"] for side in ("start", "end")}
    parent = span["parent_span_id"] and f"0x{span['parent_span_id']}"
    ids = {"context": {"trace_id": "0xaa", "span_id": f"0x{span['span_id']}"}, "parent_id": parent}
    status = {"status_code": "OK", "status_message": ""}
    return {"name": span["name"], **ids, **times, **status, "attributes": span["attributes"]}


INFO = {"trace_id": "tr-1", "request_time": "2025-12-02T16:52:20Z", "state": "OK"}
KIND = {"mlflow.spanType": '"TOOL"', "mlflow.traceRequestId": '"tr-9"', "mlflow.spanOutputs": '"x"'}
ALONE = {"name": "look", "context": {"span_id": "0x1", "trace_id": "0x2"}, "attributes": KIND}
CLOSED = {"type": "tool", "content": "closed", "tool_call_id": "c1", "status": "error"}
ASSESSED = [
    ("success", True, True),
    ("task_success", 0, False),
    ("success", 0.5, None),
    ("correctness", True, None),
    ("success", "yes", None),
]
SAME = {
    "said": [("user", "Go."), ("assistant", "Done.")],
    "calls": [("look", {"day": 1})],
    "answers": [("monday", True)],
}
CASES = [
    *shapes({"a server's answer in OTLP": {"trace": {"trace_info": INFO, "spans": [*map(as_otlp, SPANS)]}},
             "a server's answer": {"trace": trace(*SPANS)}}, run="mlflow/tr-1", **SAME),
    case("the older form",
         {"info": {"request_id": "r1", "experiment_id": "0"}, "data": {"spans": [*map(older, SPANS)]}},
         run="mlflow/r1", **SAME),
    case("what MLflow recorded", RECORDED.read_bytes(), roles=["system", "user", "assistant"],
         calls=REFUNDS, agent="refund desk", model="gpt-x", steps=4, success=None,
         answers=[("A7: paid 30", True), ("ValueError: more than was paid", False),
                  ("refunded 30 for A7", True)],
         metrics={"input_tokens": 40.0, "output_tokens": 20.0, "assessment:correctness": 1.0},
         codes={"missing-outcome"}),
    case("spans that an artifact keeps alone",
         {"spans": [{**ALONE, "status_code": "ERROR"}], "request": "{}"}, run="mlflow/tr-9",
         calls=[("look", {})], answers=[("x", False)]),
    case("an answer that is JSON is the text that it was",
         trace(AGENT, FIRST, span(2, "TOOL", "look", {}, '{"day": 1}')), answers=[('{"day": 1}', True)]),
    case("what LangChain wrote of a tool is its arguments and its answer",
         trace(AGENT, FIRST, span(2, "TOOL", "look", "{'day': 1}", CLOSED)), calls=[("look", {"day": 1})],
         answers=[("closed", False)]),
    *(case(f"an assessment of {name} as {value}",
           trace(AGENT, assessments=[{"assessment_name": name, "feedback": {"value": value}, "valid": True}]),
           success=want) for name, value, want in ASSESSED),
    case("what the trace says of its task and its cost",
         trace(AGENT, tags={"task_id": "refund-1"},
               trace_metadata={"mlflow.trace.cost": '{"total_cost": 0.25}'}),
         task="refund-1", cost=0.25),
]  # fmt: skip


@each(CASES)
def test_a_trace_of_mlflow_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("mlflow", tmp_path, sniffed=True)
