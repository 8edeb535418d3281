"""ATIF: steps become messages, calls and answers; continuations are read once; sub-agents are runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put

from untaken.ledger import Message, Observation, Plan, Run, ToolCall
from untaken.traces import Confidence, Conversion, sample_of, sniff
from untaken.traces.atif import recognise


def step(number: int, source: str = "agent", message: str = "…", **more: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **more}


def call(tool: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": tool, "arguments": arguments}


def answer(content: Any, call_id: str | None = "c1", **more: Any) -> dict[str, Any]:
    return {"results": [{"source_call_id": call_id, "content": content, **more}]}


def trajectory(*steps: dict[str, Any], version: str = "ATIF-v1.5", **more: Any) -> dict[str, Any]:
    agent = {"name": "openhands", "version": "1", "model_name": "m"}
    return {"schema_version": version, "session_id": "s1", "agent": agent, "steps": list(steps), **more}


def read(tmp_path: Path, **files: Any) -> tuple[Conversion, list[Run]]:
    for name, content in files.items():
        put(tmp_path / "in" / f"{name}.json", content)
    return converted("atif", tmp_path / "out", tmp_path / "in")


def one(tmp_path: Path, content: Any) -> Run:
    (run,) = read(tmp_path, t=content)[1]
    return run


def test_steps_become_messages_calls_and_answers(tmp_path: Path) -> None:
    run = one(
        tmp_path,
        trajectory(
            step(1, "user", "Fix it."),
            step(2, tool_calls=[call("bash", command="ls")], observation=answer("a.py")),
        ),
    )
    assert (run.agent, run.started.model) == ("openhands", "m")
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Fix it."), ("assistant", "…")]
    (made,) = run.of(ToolCall)
    assert (made.tool, made.arguments) == ("bash", {"command": "ls"})
    (came,) = run.of(Observation)
    assert (came.call_id, came.content, came.ok) == (made.call_id, "a.py", None)


@pytest.mark.parametrize(
    ("result", "failed", "ok"),
    [
        (answer("done"), None, [None]),
        (answer("nope\n\n[error] tool reported failure"), None, [False]),
        (answer("nope", extra={"is_error": True}), None, [False]),
        (answer("nope"), True, [False]),
        (answer("done"), False, [True]),
        ({"results": [*answer("a")["results"], *answer("b")["results"]]}, False, [None, None]),
    ],
)
def test_a_failed_answer_is_known_where_it_is_marked(
    tmp_path: Path, result: Any, failed: bool | None, ok: list[bool | None]
) -> None:
    extra = {"tool_result_is_error": failed}
    run = one(tmp_path, trajectory(step(1, tool_calls=[call("bash")], observation=result, extra=extra)))
    assert [o.ok for o in run.of(Observation)] == ok


@pytest.mark.parametrize(
    ("desc", "seconds", "want"),
    [
        ("a call without an answer comes last in the file", (9, 1, 4, 2), ["ask", "a", "c", "b"]),
        ("at one moment the file's order counts", (9, 1, 1, 1), ["ask", "a", "b", "c"]),
        ("where a step has no time the file's order counts", (9, 1, None, 0), ["ask", "a", "b", "c"]),
    ],
)
def test_steps_of_the_agent_are_in_the_order_of_their_times(
    tmp_path: Path, desc: str, seconds: tuple[int | None, ...], want: list[str]
) -> None:
    times = [None if s is None else f"2026-01-01T00:00:0{s}Z" for s in seconds]
    said = zip(("ask", "a", "b", "c"), times, ("user", "agent", "agent", "agent"), strict=True)
    run = one(tmp_path, trajectory(*(step(1, who, words, timestamp=at) for words, at, who in said)))
    assert [m.content for m in run.of(Message)] == want, desc


def test_the_outcome_is_not_in_the_format(tmp_path: Path) -> None:
    done, (run,) = read(tmp_path, t=trajectory(step(1)))
    assert run.finished.success is None
    assert "missing-outcome" in codes(done)


def test_a_continuation_is_the_same_run_and_copied_steps_count_once(tmp_path: Path) -> None:
    first = trajectory(step(1, "user", "Go."), step(2, message="one"), continued_trajectory_ref="b.json")
    second = trajectory(step(1, message="one", is_copied_context=True), step(2, message="two"))
    done, runs = read(tmp_path, a=first, b=second)
    (run,) = runs
    assert [m.content for m in run.of(Message)] == ["Go.", "one", "two"]
    assert not {"continuation-missing", "nothing-added"} & set(codes(done))
    assert [(loss.runs, loss.shared) for loss in done.losses] == [(1, 0), (1, 1)]


def test_a_list_of_trajectories_is_a_run_and_a_task_each(tmp_path: Path) -> None:
    _, runs = read(tmp_path, many=[trajectory(step(1), session_id=name) for name in ("a", "b")])
    assert [(run.run_id, run.task_id) for run in runs] == [
        ("atif/openhands/a", "a"),
        ("atif/openhands/b", "b"),
    ]


def test_a_cost_that_is_recorded_for_some_steps_is_unknown(tmp_path: Path) -> None:
    priced, unpriced = step(1, metrics={"cost_usd": 0.5}), step(2, metrics={"prompt_tokens": 5})
    _, (run,) = read(tmp_path, t=trajectory(priced, unpriced))
    assert run.finished.cost is None


def test_a_cost_of_nothing_is_unknown_and_named(tmp_path: Path) -> None:
    done, (run,) = read(tmp_path, t=trajectory(step(1, metrics={"cost_usd": 0})))
    assert (run.finished.cost, codes(done)["unpriced-cost"]) == (None, 1)


def test_a_missing_continuation_is_named(tmp_path: Path) -> None:
    done, runs = read(tmp_path, a=trajectory(step(1), continued_trajectory_ref="gone.json"))
    assert len(runs) == 1
    assert "continuation-missing" in codes(done)


def test_two_files_that_continue_in_each_other_are_one_run(tmp_path: Path) -> None:
    one_way = trajectory(step(1, message="a"), continued_trajectory_ref="b.json")
    back = trajectory(step(1, message="b"), continued_trajectory_ref="a.json")
    done, (run,) = read(tmp_path, a=one_way, b=back)
    assert [m.content for m in run.of(Message)] == ["a", "b"]
    assert [(loss.runs, loss.shared) for loss in done.losses] == [(1, 0), (1, 1)]


def test_embedded_sub_agents_are_runs_that_name_their_parent(tmp_path: Path) -> None:
    child = trajectory(step(1, message="child"), trajectory_id="t2")
    _, runs = read(tmp_path, t=trajectory(step(1), subagent_trajectories=[child]))
    assert [run.started.metadata.get("parent") for run in runs if run.started.metadata] == [None, "s1"]


PAID = [step(i, metrics={"cost_usd": 0.1 * i, "prompt_tokens": i}) for i in (1, 2)]
FINAL = {"total_cost_usd": 0.5, "total_prompt_tokens": 9}


@pytest.mark.parametrize(
    ("steps", "final", "want", "named"),
    [
        ([step(1), step(2)], FINAL, (0.5, 9.0), []),
        ([PAID[0], step(2, metrics={})], FINAL, (0.5, 9.0), ["partly-recorded"]),
        (PAID, FINAL, (0.3, 3.0), ["total-contradicts-parts"]),
        (PAID, None, (0.3, 3.0), []),
    ],
    ids=["only the totals", "one step without", "totals that contradict the steps", "no totals"],
)
def test_cost_and_tokens_are_the_sum_of_steps_or_the_totals(
    tmp_path: Path, steps: list[Any], final: Any, want: Any, named: list[str]
) -> None:
    done, (run,) = read(tmp_path, t=trajectory(*steps, **({"final_metrics": final} if final else {})))
    assert [code for code in ("partly-recorded", "total-contradicts-parts") if code in codes(done)] == named
    assert (run.finished.cost, (run.finished.metrics or {})["input_tokens"]) == (
        pytest.approx(want[0]),
        want[1],
    )


def test_a_todo_list_is_a_plan(tmp_path: Path) -> None:
    todo = call("TodoWrite", todos=[{"content": "look"}, {"content": "fix"}])
    run = one(tmp_path, trajectory(step(1, tool_calls=[todo])))
    assert [plan.sub_goals for plan in run.of(Plan)] == [["look", "fix"]]


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_is_recognised(version: str) -> None:
    text = f'{{"schema_version": "{version}", "steps": []}}'.encode()
    assert sniff("x.json", text) == "atif"
    assert recognise(sample_of("x.json", text)) is Confidence.CERTAIN


def test_an_answer_is_of_its_own_step_where_an_earlier_call_with_the_id_was_left_open(tmp_path: Path) -> None:
    left = step(1, tool_calls=[call("bash", n=1)])
    parallel = [call("bash", n=2), call("bash", n=3)]
    results = [*answer("two")["results"], *answer("three")["results"]]
    run = one(tmp_path, trajectory(left, step(2, tool_calls=parallel, observation={"results": results})))
    calls = {made.call_id: made.arguments["n"] for made in run.of(ToolCall)}
    assert [(calls[o.call_id or ""], o.content) for o in run.of(Observation)] == [(2, "two"), (3, "three")]
