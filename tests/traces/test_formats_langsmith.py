"""LangSmith: what its tracer recorded, nested and flat, and trees with one thing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put

from untaken.ledger import Message, Observation, Run, ToolCall
from untaken.traces import Conversion, sniff

RECORDED = Path(__file__).parent / "recorded" / "langsmith.json"


def node(second: int, run_type: str, name: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A run that lasts half a second."""
    return {
        "id": f"r{second}",
        "run_type": run_type,
        "name": name,
        "start_time": f"2026-01-01T00:00:{second:02}+00:00",
        "end_time": f"2026-01-01T00:00:{second:02}.5+00:00",
        "child_runs": list(children),
        **more,
    }


def flat(tree: dict[str, Any], parent: str | None = None, trace: str | None = None) -> list[dict[str, Any]]:
    """The runs of a tree one after the other, the newest first."""
    trace = trace or tree["id"]
    own = {name: value for name, value in tree.items() if name != "child_runs"}
    below = [each for child in tree["child_runs"] for each in flat(child, tree["id"], trace)]
    return [*reversed(below), {**own, "parent_run_id": parent, "trace_id": trace}]


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"day": 1}'}}
GO = {"role": "user", "content": "Go."}
LOOK = {"role": "assistant", "tool_calls": [CALL]}
SEEN = {"role": "tool", "tool_call_id": "c1", "content": "monday"}
DONE = {"role": "assistant", "content": "Done."}
FIRST = node(1, "llm", "m", inputs={"messages": [GO]}, outputs={"choices": [{"message": LOOK}]})
TOOL = node(2, "tool", "look", inputs={"day": 1}, outputs={"output": "monday"})
SECOND = node(3, "llm", "m", inputs={"messages": [GO, LOOK, SEEN]}, outputs={"choices": [{"message": DONE}]})


def root(*children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return node(0, "chain", "desk", *children, inputs={"messages": [GO]}, outputs={"output": "Done."}, **more)


def read(tmp_path: Path, content: Any, name: str = "t.json") -> tuple[Conversion, list[Run]]:
    return converted("langsmith", tmp_path / "out", put(tmp_path / "in" / name, content))


def words(run: Run) -> list[Any]:
    return [(m.role, m.content) for m in run.of(Message)]


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(each) + "\n" for each in records)


TREE = json.loads(RECORDED.read_text())


@pytest.mark.parametrize("content", [TREE, [TREE], lines(flat(TREE)), {"runs": flat(TREE)}], ids=range(4))
def test_what_the_tracer_recorded_is_read_in_every_shape(tmp_path: Path, content: Any) -> None:
    source = put(tmp_path / "t.json", content)
    assert sniff("x.bin", source.read_bytes()) == "langsmith"
    done, (run,) = converted("langsmith", tmp_path / "out", source)
    assert [m.role for m in run.of(Message)] == ["system", "user", "assistant"]
    assert [(c.tool, c.arguments.get("amount")) for c in run.of(ToolCall)] == [
        ("look_up", None),
        ("refund", 40),
        ("refund", 30),
    ]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [
        ("A7: paid 30", True),
        ("ValueError('more than was paid')", False),
        ("refunded 30 for A7", True),
    ]
    assert (run.agent, run.finished.steps, run.finished.success) == ("refund desk", 4, None)
    assert run.finished.metrics == {"input_tokens": 40.0, "output_tokens": 20.0}
    assert codes(done).keys() == {"missing-outcome"}


def test_runs_that_name_their_parents_alone_are_one_trace(tmp_path: Path) -> None:
    runs = [
        {n: value for n, value in each.items() if n not in ("trace_id", "dotted_order")}
        for each in flat(TREE)
    ]
    _, (run,) = read(tmp_path, lines(runs))
    assert run.run_id == f"langsmith/{TREE['id']}"


def test_parents_in_a_circle_are_survived(tmp_path: Path) -> None:
    circle = [{**node(1, "llm", "m"), "parent_run_id": "r2"}, {**node(2, "llm", "m"), "parent_run_id": "r1"}]
    _, (run,) = read(tmp_path, lines(circle))
    assert run.started.agent == "m"


def test_a_trace_without_a_model_says_what_its_root_says(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, root())
    assert words(run) == [("user", "Go."), ("assistant", "Done.")]


FEEDBACK = [
    ({"success": {"n": 1, "avg": 1.0}}, True),
    ({"task_success": {"n": 1, "avg": 0}}, False),
    ({"success": {"n": 2, "avg": 0.5}}, None),
    ({"helpful": {"n": 1, "avg": 1.0}}, None),
]


@pytest.mark.parametrize(("stats", "want"), FEEDBACK)
def test_success_is_feedback_of_that_name(tmp_path: Path, stats: Any, want: bool | None) -> None:
    _, (run,) = read(tmp_path, root(FIRST, feedback_stats=stats))
    assert run.finished.success is want
    assert run.finished.metrics is not None
    assert list(run.finished.metrics) == [f"feedback:{name}" for name in stats]


def test_runs_of_a_dataset_share_its_examples_as_tasks(tmp_path: Path) -> None:
    again = {**root(FIRST), "id": "r9"}
    _, runs = read(tmp_path, [{**each, "reference_example_id": "e1"} for each in (root(FIRST), again)])
    assert [run.task_id for run in runs] == ["e1", "e1"]


def test_what_the_root_says_of_costs_tokens_and_errors_is_kept(tmp_path: Path) -> None:
    said = {
        "total_cost": 0.25,
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "error": "ValueError('x')Traceback (most recent call last):\n …",
    }
    _, (run,) = read(tmp_path, root(FIRST, **said))
    assert (run.finished.cost, run.finished.error) == (0.25, "ValueError('x')")
    assert run.finished.metrics == {"input_tokens": 9.0, "output_tokens": 3.0}


def test_a_bulk_export_whose_objects_are_text_is_read_as_the_others(tmp_path: Path) -> None:
    failed = node(2, "tool", "look", inputs={"day": 1}, outputs={"output": {**SEEN, "status": "error"}})
    whole = flat(root(FIRST, failed, SECOND, feedback_stats={"success": {"n": 1, "avg": 0}}))
    texts = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in each.items()} for each in whole]
    (_, (run,)), (_, (same,)) = read(tmp_path / "a", lines(texts)), read(tmp_path / "b", lines(whole))
    assert words(run) == words(same) == [("user", "Go."), ("assistant", "Done.")]
    assert [(o.ok, o.content) for o in run.of(Observation)] == [(False, "monday")]
    assert run.finished.success is False


@pytest.mark.parametrize("written", ["{'day': 1, 'late': None}", '{"day": 1, "late": null}'])
def test_arguments_that_the_tracer_wrote_as_text_are_arguments(tmp_path: Path, written: str) -> None:
    tool = node(2, "tool", "look", inputs={"input": written}, outputs={"output": "monday"})
    _, (run,) = read(tmp_path, root(FIRST, tool, SECOND))
    assert [c.arguments for c in run.of(ToolCall)] == [{"day": 1, "late": None}]


@pytest.mark.parametrize("written", ["{'day': open('x')}", "{" * 5_000, "{'day'", "{1: 2}", "monday"])
def test_text_that_is_no_literal_stays_text(tmp_path: Path, written: str) -> None:
    tool = node(2, "tool", "look", inputs={"input": written}, outputs={"output": "monday"})
    _, (run,) = read(tmp_path, root(FIRST, tool, SECOND))
    assert [c.arguments for c in run.of(ToolCall)] == [{"input": written}]


def test_runs_that_the_command_line_wrote_keep_their_tree(tmp_path: Path) -> None:
    renamed = [
        {("run_id" if k == "id" else k): v for k, v in each.items()} for each in flat(root(FIRST, TOOL))
    ]
    _, (run,) = read(tmp_path, lines(renamed))
    assert (run.started.agent, run.run_id) == ("desk", "langsmith/r0")


UUIDS = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(4)]


def batches() -> list[dict[str, Any]]:
    """What a client sends: each run as it begins, then what came of it, which may name it by its place."""
    runs = flat(root(FIRST, TOOL, SECOND))[::-1]
    names = {run["id"]: UUIDS[number] for number, run in enumerate(runs)}
    begun, ended = [], []
    for run in runs:
        place = f"20260101T000000000000Z{UUIDS[0]}.20260101T000001000000Z{names[run['id']]}"
        about = {"trace_id": UUIDS[0], "dotted_order": place}
        told = {name: run.pop(name) for name in ("outputs", "end_time")}
        parent = names.get(run["parent_run_id"] or "")
        begun.append({**run, **about, "id": names[run["id"]], "parent_run_id": parent})
        ended.append({**about, **told, "inputs": run["inputs"]})
    return [{"post": begun, "patch": ended[:1]}, {"post": [], "patch": ended[1:]}]


def test_batches_as_a_client_sends_them_are_the_runs_with_their_updates(tmp_path: Path) -> None:
    lines = "".join(json.dumps(batch) + "\n" for batch in batches())
    assert sniff("t.jsonl", lines.encode()) == "langsmith"
    _, (run,) = read(tmp_path, lines, "t.jsonl")
    _, (whole,) = read(tmp_path / "whole", root(FIRST, TOOL, SECOND))
    assert words(run) == words(whole)
    assert [call.tool for call in run.of(ToolCall)] == ["look"]
    assert [seen.content for seen in run.of(Observation)] == ["monday"]
    assert (run.started.ts, run.finished.ts) == (whole.started.ts, whole.finished.ts)


def test_an_update_without_its_run_is_named(tmp_path: Path) -> None:
    done, runs = read(tmp_path, batches()[1])
    assert (runs, codes(done)["not-this-format"]) == ([], 1)
