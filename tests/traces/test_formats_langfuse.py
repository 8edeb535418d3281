"""Langfuse: a trace with its observations, as the API, its pages and its exports write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion

GO = {"role": "user", "content": "Go."}
TRACE = {"id": "tr", "name": "desk", "sessionId": "s", "metadata": {"task_id": "refund-1"}, "totalCost": 0.5}


def observed(number: int, kind: str, name: str = "it", **more: Any) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "traceId": "tr",
        "type": kind,
        "name": name,
        "startTime": f"2026-01-01T00:00:0{number}.000Z",
        "endTime": f"2026-01-01T00:00:0{number}.500Z",
        "level": "DEFAULT",
        "parentObservationId": None,
        **more,
    }


def snake(record: dict[str, Any]) -> dict[str, Any]:
    """The record as the export of a bucket names its fields, its content as text."""
    named = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): v for name, v in record.items()}
    return {n: json.dumps(v) if n in ("input", "output", "metadata") else v for n, v in named.items()}


ASKED = observed(
    1,
    "GENERATION",
    model="m",
    input=[GO],
    output={"role": "assistant", "content": "I look."},
    usageDetails={"input": 5, "output": 2, "input_cached_tokens": 1},
    costDetails={"total": 0.25},
)
CALLED = observed(2, "TOOL", "look", input={"day": 1}, output="monday")
LOGGED = [ASKED, CALLED]
SHAPES = {
    "a trace of the API": {**TRACE, "observations": LOGGED},
    "a trace of the page": {"trace": TRACE, "observations": LOGGED},
    "a list of traces": [{**TRACE, "observations": LOGGED}],
    "a page of observations": {"data": LOGGED, "meta": {}},
    "observations by themselves": "".join(json.dumps(each) + "\n" for each in reversed(LOGGED)),
    "an export of a bucket": "".join(json.dumps(snake(each)) + "\n" for each in LOGGED),
}


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    return converted("langfuse", tmp_path / "out", put(tmp_path / "in" / "trace.json", content))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_the_same_trace_is_recognised_and_gives_the_same_run(
    tmp_path: Path, shape: str
) -> None:
    done, (run,) = converted(None, tmp_path / "out", put(tmp_path / "in" / "trace.json", SHAPES[shape]))
    assert done.format == "langfuse"
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "I look.")]
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("monday", None)]
    assert (run.run_id, run.started.model, run.finished.cost) == ("langfuse/tr", "m", 0.25)
    assert run.finished.metrics == {"input_tokens": 6.0, "output_tokens": 2.0, "cached_tokens": 1.0}
    assert run.finished.success is None


def test_the_trace_says_agent_and_task(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, SHAPES["a trace of the API"])
    assert (run.agent, run.task_id) == ("desk", "refund-1")


SCORES = [
    ({"name": "success", "value": 1}, True),
    ({"name": "success", "value": 0, "dataType": "BOOLEAN", "stringValue": "False"}, False),
    ({"name": "success", "value": 0.4}, None),
    ({"name": "tone", "value": 1}, None),
]


def test_scores_beside_the_trace_are_read(tmp_path: Path) -> None:
    scores = [{"name": "success", "value": 0}]
    _, (run,) = read(tmp_path, {"trace": TRACE, "observations": LOGGED, "scores": scores})
    assert run.finished.success is False


@pytest.mark.parametrize(("score", "want"), SCORES)
def test_success_is_a_score_of_that_name(tmp_path: Path, score: dict[str, Any], want: bool | None) -> None:
    _, (run,) = read(tmp_path, {**TRACE, "observations": LOGGED, "scores": [score]})
    assert run.finished.success is want
    assert (run.finished.metrics or {})[f"evaluation:{score['name']}"] == score["value"]


def test_a_cost_of_nothing_is_unknown(tmp_path: Path) -> None:
    free = {**ASKED, "costDetails": {}, "totalCost": 0}
    _, (run,) = read(tmp_path, {**TRACE, "totalCost": 0, "observations": [free]})
    assert run.finished.cost is None


def test_a_trace_without_a_model_says_what_it_was_given_and_gave(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, {**TRACE, "input": "Go.", "output": "Done.", "observations": [CALLED]})
    assert [m.content for m in run.of(Message)] == ["Go.", "Done."]


def test_an_object_without_observations_is_refused(tmp_path: Path) -> None:
    done, runs = read(tmp_path, TRACE)
    assert (runs, "not-this-format" in codes(done) or "nothing-added" in codes(done)) == ([], True)
