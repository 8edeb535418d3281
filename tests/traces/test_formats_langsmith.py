"""LangSmith: what its tracer recorded, nested and flat, and trees with one thing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each, read, shapes
from trace_pieces import CALL, DONE, GO, REFUNDS, SEEN

RECORDED = Path(__file__).parent / "recorded" / "langsmith.json"


def node(second: int, run_type: str, name: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A run that lasts half a second."""
    about = {"id": f"r{second}", "run_type": run_type, "name": name, "child_runs": list(children)}
    at = f"2026-01-01T00:00:{second:02}"
    return {**about, "start_time": f"{at}+00:00", "end_time": f"{at}.5+00:00", **more}


def flat(tree: dict[str, Any], parent: str | None = None, trace: str | None = None) -> list[dict[str, Any]]:
    """The runs of a tree one after the other, the newest first."""
    trace = trace or tree["id"]
    own = {name: value for name, value in tree.items() if name != "child_runs"}
    below = [each for child in tree["child_runs"] for each in flat(child, tree["id"], trace)]
    return [*reversed(below), {**own, "parent_run_id": parent, "trace_id": trace}]


def model(second: int, message: dict[str, Any], *asked: dict[str, Any]) -> dict[str, Any]:
    outputs = {"choices": [{"message": message}]}
    return node(second, "llm", "m", inputs={"messages": list(asked)}, outputs=outputs)


def tool(inputs: dict[str, Any], output: Any = "monday") -> dict[str, Any]:
    return node(2, "tool", "look", inputs=inputs, outputs={"output": output})


LOOK = {"role": "assistant", "tool_calls": [CALL]}
FIRST, SECOND = model(1, LOOK, GO), model(3, DONE, GO, LOOK, SEEN)


def root(*children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return node(0, "chain", "desk", *children, inputs={"messages": [GO]}, outputs={"output": "Done."}, **more)


def without(names: tuple[str, ...], runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in each.items() if name not in names} for each in runs]


WHOLE = root(FIRST, tool({"day": 1}), SECOND)
TREE = json.loads(RECORDED.read_text())
TREES = {"a tree": TREE, "a list": [TREE], "lines": lines(*flat(TREE)), "an object": {"runs": flat(TREE)}}
CIRCLE = [{**node(1, "llm", "m"), "parent_run_id": "r2"}, {**node(2, "llm", "m"), "parent_run_id": "r1"}]
FEEDBACK: list[tuple[dict[str, Any], bool | None]] = [
    ({"success": {"n": 1, "avg": 1.0}}, True),
    ({"task_success": {"n": 1, "avg": 0}}, False),
    ({"success": {"n": 2, "avg": 0.5}}, None),
    ({"helpful": {"n": 1, "avg": 1.0}}, None),
]
TOTALS = {"total_cost": 0.25, "prompt_tokens": 9, "completion_tokens": 3}
RAISED = "ValueError('x')Traceback (most recent call last):\n …"
JUDGED = {"feedback_stats": {"success": {"n": 1, "avg": 0}}}
FAILED = flat(root(FIRST, tool({"day": 1}, {**SEEN, "status": "error"}), SECOND, **JUDGED))
AS_TEXT = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in each.items()} for each in FAILED]
RENAMED = [{("run_id" if k == "id" else k): v for k, v in each.items()} for each in flat(root(FIRST))]
LITERALS = ["{'day': 1, 'late': None}", '{"day": 1, "late": null}']
TEXTS = ["{'day': open('x')}", "{" * 5_000, "{'day'", "{1: 2}", "monday"]
CASES = [
    *shapes(
        TREES, roles=["system", "user", "assistant"], calls=REFUNDS,
        answers=[("A7: paid 30", True), ("ValueError('more than was paid')", False),
                 ("refunded 30 for A7", True)],
        agent="refund desk", steps=4, success=None, metrics={"input_tokens": 40.0, "output_tokens": 20.0},
        codes={"missing-outcome"},
    ),
    case("runs that name their parents alone are one trace",
         lines(*without(("trace_id", "dotted_order"), flat(TREE))), run=f"langsmith/{TREE['id']}"),
    case("parents in a circle are survived", lines(*CIRCLE), agent="m"),
    case("a trace without a model says what its root says", root(),
         said=[("user", "Go."), ("assistant", "Done.")]),
    *(case(f"success is feedback of that name: {stats}", root(FIRST, feedback_stats=stats), success=want,
           metrics={f"feedback:{name}": each["avg"] for name, each in stats.items()})
      for stats, want in FEEDBACK),
    case("runs of a dataset share its examples as tasks",
         [{**root(FIRST), "id": name, "reference_example_id": "e1"} for name in ("r0", "r9")],
         tasks=["e1", "e1"]),
    case("what the root says of costs, tokens and errors is kept", root(FIRST, **TOTALS, error=RAISED),
         cost=0.25, error="ValueError('x')", metrics={"input_tokens": 9.0, "output_tokens": 3.0}),
    *shapes({"a bulk export": lines(*FAILED), "a bulk export whose objects are text": lines(*AS_TEXT)},
            said=[("user", "Go."), ("assistant", "Done.")], answers=[("monday", False)], success=False),
    *(case(f"arguments that the tracer wrote as text are arguments: {written}",
           root(FIRST, tool({"input": written}), SECOND), calls=[("look", {"day": 1, "late": None})])
      for written in LITERALS),
    *(case(f"text that is no literal stays text: {written[:20]}",
           root(FIRST, tool({"input": written}), SECOND), calls=[("look", {"input": written})])
      for written in TEXTS),
    case("an answer that is JSON is the text that it was", root(FIRST, tool({}, '{"day": 1}'), SECOND),
         answers=[('{"day": 1}', True)]),
    case("runs that the command line wrote keep their tree", lines(*RENAMED), agent="desk",
         run="langsmith/r0"),
]  # fmt: skip


@each(CASES)
def test_a_trace_of_langsmith_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("langsmith", tmp_path, sniffed=True)


def batches() -> list[dict[str, Any]]:
    """What a client sends: each run as it begins, then what came of it, which may name it by its place."""
    runs = flat(WHOLE)[::-1]
    names = {run["id"]: f"00000000-0000-4000-8000-00000000000{number}" for number, run in enumerate(runs)}
    trace = names["r0"]
    begun, ended = [], []
    for run in runs:
        place = f"20260101T000000000000Z{trace}.20260101T000001000000Z{names[run['id']]}"
        about = {"trace_id": trace, "dotted_order": place}
        told = {name: run.pop(name) for name in ("outputs", "end_time")}
        parent = names.get(run["parent_run_id"] or "")
        begun.append({**run, **about, "id": names[run["id"]], "parent_run_id": parent})
        ended.append({**about, **told, "inputs": run["inputs"]})
    return [{"post": begun, "patch": ended[:1]}, {"post": [], "patch": ended[1:]}]


def test_batches_as_a_client_sends_them_are_the_runs_with_their_updates(tmp_path: Path) -> None:
    sent = case("batches", lines(*batches()), tools=["look"], seen=["monday"], words=["Go.", "Done."])
    sent.holds("langsmith", tmp_path, sniffed=True)
    _, (run,) = read(tmp_path, "langsmith", sent.content)
    _, (whole,) = read(tmp_path / "whole", "langsmith", WHOLE)
    assert (run.started.ts, run.finished.ts) == (whole.started.ts, whole.finished.ts)


def test_an_update_without_its_run_is_named(tmp_path: Path) -> None:
    case("an update", batches()[1], runs=[], found={"not-this-format"}).holds("langsmith", tmp_path)
