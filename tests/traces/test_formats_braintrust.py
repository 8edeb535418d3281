"""Braintrust: rows of logs and experiments, as its API and its pages export them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, shapes
from trace_pieces import GO, LOOK


def row(number: int, kind: str, name: str, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    ids = {"id": f"r{number}", "span_id": f"s{number}", "root_span_id": "s1"}
    times = {"start": 1767225600 + number, "end": 1767225600.5 + number}
    about = {"created": "2026-01-01T00:00:00Z", "span_attributes": {"name": name, "type": kind}}
    parents = None if parent is None else [f"s{parent}"]
    return {**ids, "span_parents": parents, **about, **more, "metrics": {**times, **more.get("metrics", {})}}


SPENT = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_cached_tokens": 1, "estimated_cost": 0.25}
ROOT = row(1, "task", "desk", None, input="Go.", output="Monday.", scores={"tone": 0.5})
ASKED = row(2, "llm", "Chat Completion", input=[GO], output=[{"index": 0, "message": LOOK}], metrics=SPENT)
ASKED["metadata"] = {"model": "m"}
CALLED = row(3, "tool", "look", input={"day": 1}, output="monday")
ROWS = [ROOT, ASKED, CALLED]
SHAPES = {
    "a row on each line": lines(*ROWS[::-1]), "a list of rows": ROWS,
    "a page of the API": {"events": ROWS, "cursor": None}, "the answer to a query": {"data": ROWS},
}  # fmt: skip
SCORES = [({"success": 1}, True), ({"success": 0}, False), ({"success": 0.5}, None), ({"tone": 1}, None)]
SCORERS = [{"name": "judge", "type": "score"}, {"name": "judge", "type": "task", "purpose": "scorer"}]
JUDGED = row(5, "llm", "Chat", 4, input=[{"role": "user", "content": "Is it good?"}], output="Yes.")
TASKS = [
    ({"metadata": {"task_id": "refund-1"}}, "refund-1"),
    ({"origin": {"id": "row-7"}}, "row-7"),
    ({}, "s1"),
]
METRICS = {"input_tokens": 5.0, "output_tokens": 2.0, "cached_tokens": 1.0, "evaluation:tone": 0.5}
CASES = [
    *shapes(
        SHAPES, run="braintrust/s1", agent="desk", task="s1", model="m", cost=0.25, success=None,
        said=[("user", "Go."), ("assistant", "I look.")], calls=[("look", {"day": 1})],
        answers=[("monday", None)], metrics=METRICS, codes={"missing-outcome"},
    ),
    case("a trace without a model is what its root was given and gave", [ROOT],
         said=[("user", "Go."), ("assistant", "Monday.")]),
    *(case(f"scores of {scores} as the outcome", [{**ROOT, "scores": scores}, ASKED], success=want)
      for scores, want in SCORES),
    *(case(f"what a scorer did is no part of the run: {about}",
           [JUDGED, {**row(4, "", ""), "span_attributes": about}, *ROWS], words=["Go.", "I look."], steps=1)
      for about in SCORERS),
    *(case(f"the task of {more}", [{**ROOT, **more}, ASKED], task=task) for more, task in TASKS),
    case("rows of two traces are two runs", [*ROWS, {**ROOT, "span_id": "s9", "root_span_id": "s9"}],
         runs=["braintrust/s1", "braintrust/s9"]),
]  # fmt: skip


@each(CASES)
def test_rows_of_braintrust_are_read(tmp_path: Path, case: Case) -> None:
    case.holds("braintrust", tmp_path, sniffed=True)
