"""Langfuse: a trace with its observations, as the API, its pages and its exports write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes
from trace_pieces import GO

TRACE = {"id": "tr", "name": "desk", "sessionId": "s", "metadata": {"task_id": "refund-1"}, "totalCost": 0.5}


def observed(number: int, kind: str, name: str = "it", **more: Any) -> dict[str, Any]:
    times = {f"{side}Time": f"2026-01-01T00:00:0{number}.{at}Z" for side, at in (("start", 0), ("end", 5))}
    about = {"id": f"o{number}", "traceId": "tr", "type": kind, "name": name, "level": "DEFAULT"}
    return {**about, **times, "parentObservationId": None, **more}


def snake(record: dict[str, Any]) -> dict[str, Any]:
    """The record as the export of a bucket names its fields, its content as text."""
    named = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): v for name, v in record.items()}
    return {n: json.dumps(v) if n in ("input", "output", "metadata") else v for n, v in named.items()}


COUNTS = {"input": 5, "output": 2, "input_cached_tokens": 1}
GAVE = {"role": "assistant", "content": "I look."}
ASKED = observed(1, "GENERATION", model="m", input=[GO], output=GAVE, usageDetails=COUNTS)
ASKED["costDetails"] = {"total": 0.25}
CALLED = observed(2, "TOOL", "look", input={"day": 1}, output="monday")
LOGGED = [ASKED, CALLED]
SHAPES = {
    "a trace of the API": {**TRACE, "observations": LOGGED},
    "a trace of the page": {"trace": TRACE, "observations": LOGGED},
    "a list of traces": [{**TRACE, "observations": LOGGED}],
    "a page of observations": {"data": LOGGED, "meta": {}},
    "observations by themselves": lines(*LOGGED[::-1]),
    "an export of a bucket": lines(*map(snake, LOGGED)),
}
FREE = {**ASKED, "costDetails": {}, "totalCost": 0}
SCORES: list[tuple[dict[str, Any], bool | None]] = [
    ({"name": "success", "value": 1}, True),
    ({"name": "success", "value": 0, "dataType": "BOOLEAN", "stringValue": "False"}, False),
    ({"name": "success", "value": 0.4}, None),
    ({"name": "tone", "value": 1}, None),
]
CASES = [
    *shapes(
        SHAPES, run="langfuse/tr", model="m", cost=0.25, success=None,
        said=[("user", "Go."), ("assistant", "I look.")], calls=[("look", {"day": 1})],
        answers=[("monday", None)],
        metrics={"input_tokens": 6.0, "output_tokens": 2.0, "cached_tokens": 1.0},
    ),
    case("the trace says agent and task", SHAPES["a trace of the API"], agent="desk", task="refund-1",
         dropped=set()),
    case("scores beside the trace are read",
         {"trace": TRACE, "observations": LOGGED, "scores": [{"name": "success", "value": 0}]},
         success=False),
    *(case(f"a score as the outcome: {score}", {**TRACE, "observations": [CALLED], "scores": [score]},
           success=want, metrics={f"evaluation:{score['name']}": score["value"]}) for score, want in SCORES),
    case("a cost of nothing is unknown", {**TRACE, "totalCost": 0, "observations": [FREE]}, cost=None),
    case("a trace without a model says what it was given and gave",
         {**TRACE, "input": "Go.", "output": "Done.", "observations": [CALLED]}, words=["Go.", "Done."]),
]  # fmt: skip


@each(CASES)
def test_a_trace_of_langfuse_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("langfuse", tmp_path, sniffed=True)
