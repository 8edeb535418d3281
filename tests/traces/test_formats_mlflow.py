"""MLflow: what it recorded, the older form, and traces with one thing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put, told

from untaken.ledger import Observation, Run
from untaken.traces import Conversion, sniff

RECORDED = Path(__file__).parent / "recorded" / "mlflow.json"
START = 1_760_000_000_000_000_000
GO = {"role": "user", "content": "Go."}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"day": 1}'}}
LOOK = {"role": "assistant", "tool_calls": [CALL]}
SEEN = {"role": "tool", "tool_call_id": "c1", "content": "monday"}
DONE = {"role": "assistant", "content": "Done."}


def span(number: int, kind: str, name: str, given_: Any, said: Any) -> dict[str, Any]:
    """A span that lasts half a second."""
    return {
        "trace_id": "AAAA",
        "span_id": f"s{number}",
        "parent_span_id": "s0" if number else None,
        "name": name,
        "start_time_unix_nano": START + number * 10**9,
        "end_time_unix_nano": START + number * 10**9 + 5 * 10**8,
        "status": {"code": "STATUS_CODE_OK", "message": ""},
        "attributes": {
            "mlflow.spanType": json.dumps(kind),
            "mlflow.spanInputs": json.dumps(given_),
            "mlflow.spanOutputs": json.dumps(said),
        },
    }


def choice(message: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message}]}


AGENT = span(0, "AGENT", "desk", {"question": "Go."}, "Done.")
FIRST = span(1, "CHAT_MODEL", "Completions", {"model": "m", "messages": [GO]}, choice(LOOK))
TOOL = span(2, "TOOL", "look", {"day": 1}, "monday")
SECOND = span(3, "CHAT_MODEL", "Completions", {"model": "m", "messages": [GO, LOOK, SEEN]}, choice(DONE))


def trace(*spans: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"trace_id": "tr-1", **info}, "data": {"spans": list(spans)}}


def read(tmp_path: Path, *documents: Any) -> tuple[Conversion, list[Run]]:
    content = "".join(json.dumps(each) + "\n" for each in documents)
    return converted("mlflow", tmp_path / "out", put(tmp_path / "in" / "t.jsonl", content))


WANT = ([("user", "Go."), ("assistant", "Done.")], [("look", {"day": 1})], [("monday", True)])


def test_spans_that_an_artifact_keeps_alone_are_a_trace(tmp_path: Path) -> None:
    kind = {"mlflow.spanType": '"TOOL"', "mlflow.traceRequestId": '"tr-9"', "mlflow.spanOutputs": '"x"'}
    alone = {"name": "look", "context": {"span_id": "0x1", "trace_id": "0x2"}, "attributes": kind}
    _, (run,) = read(tmp_path, {"spans": [{**alone, "status_code": "ERROR"}], "request": "{}"})
    assert run.run_id == "mlflow/tr-9"
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("x", False)]


def as_otlp(span: dict[str, Any]) -> dict[str, Any]:
    typed = [{"key": key, "value": {"string_value": value}} for key, value in span["attributes"].items()]
    return span | {"attributes": typed}


def test_what_a_server_answers_is_a_trace(tmp_path: Path) -> None:
    info = {"trace_id": "tr-1", "request_time": "2025-12-02T16:52:20Z", "state": "OK"}
    spans = [AGENT, FIRST, TOOL, SECOND]
    for number, answer in enumerate(
        ({"trace": {"trace_info": info, "spans": list(map(as_otlp, spans))}}, {"trace": trace(*spans)})
    ):
        assert sniff("x.json", json.dumps(answer).encode()) == "mlflow"
        _, (run,) = read(tmp_path / str(number), answer)
        assert (run.run_id, told(run)) == ("mlflow/tr-1", WANT)


def test_what_mlflow_recorded_is_read(tmp_path: Path) -> None:
    assert sniff("x.bin", RECORDED.read_bytes()) == "mlflow"
    done, (run,) = converted("mlflow", tmp_path / "out", RECORDED)
    said, calls, answers = told(run)
    assert [role for role, _ in said] == ["system", "user", "assistant"]
    assert [(tool, given_.get("amount")) for tool, given_ in calls] == [
        ("look_up", None),
        ("refund", 40),
        ("refund", 30),
    ]
    assert answers == [
        ("A7: paid 30", True),
        ("ValueError: more than was paid", False),
        ("refunded 30 for A7", True),
    ]
    assert (run.agent, run.started.model, run.finished.steps) == ("refund desk", "gpt-x", 4)
    want = {"input_tokens": 40.0, "output_tokens": 20.0, "assessment:correctness": 1.0}
    assert (run.finished.metrics, run.finished.success) == (want, None)
    assert codes(done).keys() == {"missing-outcome"}


def test_the_older_form_is_the_same_run(tmp_path: Path) -> None:
    old = [
        {
            "name": each["name"],
            "context": {"trace_id": "0xaa", "span_id": f"0x{each['span_id']}"},
            "parent_id": each["parent_span_id"] and f"0x{each['parent_span_id']}",
            "start_time": each["start_time_unix_nano"],
            "end_time": each["end_time_unix_nano"],
            "status_code": "OK",
            "status_message": "",
            "attributes": each["attributes"],
        }
        for each in (AGENT, FIRST, TOOL, SECOND)
    ]
    document = {"info": {"request_id": "r1", "experiment_id": "0"}, "data": {"spans": old}}
    assert sniff("x.json", json.dumps(document).encode()) == "mlflow"
    _, (run,) = read(tmp_path, document)
    assert (told(run), run.run_id) == (WANT, "mlflow/r1")


def test_what_langchain_wrote_of_a_tool_is_its_arguments_and_its_answer(tmp_path: Path) -> None:
    answer = {"type": "tool", "content": "closed", "tool_call_id": "c1", "status": "error"}
    _, (run,) = read(tmp_path, trace(AGENT, FIRST, span(2, "TOOL", "look", "{'day': 1}", answer)))
    assert told(run)[1:] == ([("look", {"day": 1})], [("closed", False)])


ASSESSED = [
    ("success", True, True),
    ("task_success", 0, False),
    ("success", 0.5, None),
    ("correctness", True, None),
    ("success", "yes", None),
]


@pytest.mark.parametrize(("name", "value", "want"), ASSESSED)
def test_success_is_an_assessment_of_that_name(
    tmp_path: Path, name: str, value: Any, want: bool | None
) -> None:
    assessment = {"assessment_name": name, "feedback": {"value": value}, "valid": True}
    _, (run,) = read(tmp_path, trace(AGENT, assessments=[assessment]))
    assert run.finished.success is want


def test_what_the_trace_says_of_its_task_and_its_cost_is_kept(tmp_path: Path) -> None:
    priced = {"mlflow.trace.cost": '{"total_cost": 0.25}'}
    _, (run,) = read(tmp_path, trace(AGENT, tags={"task_id": "refund-1"}, trace_metadata=priced))
    assert (run.task_id, run.finished.cost) == ("refund-1", 0.25)
