"""ATIF: steps become messages, calls and answers; continuations are read once; sub-agents are runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import converted
from reading import Case, case, each, facts
from trace_records import put_record

from untaken.traces import Confidence, sample_of, sniff
from untaken.traces.atif import recognise


def step(number: int, source: str = "agent", message: str = "…", **more: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **more}


def call(tool: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": tool, "arguments": arguments}


def answer(*contents: Any, **more: Any) -> dict[str, Any]:
    return {"results": [{"source_call_id": "c1", "content": content, **more} for content in contents]}


def trajectory(*steps: dict[str, Any], version: str = "ATIF-v1.5", **more: Any) -> dict[str, Any]:
    agent = {"name": "openhands", "version": "1", "model_name": "m"}
    return {"schema_version": version, "session_id": "s1", "agent": agent, "steps": list(steps), **more}


def answered(result: Any, failed: bool | None = None) -> dict[str, Any]:
    extra = {"tool_result_is_error": failed}
    return trajectory(step(1, tool_calls=[call("bash")], observation=result, extra=extra))


def timed(*seconds: int | None) -> dict[str, Any]:
    """What a user asked, and what the agent said after it: a, b, c, each at its second."""
    times = [None if s is None else f"2026-01-01T00:00:0{s}Z" for s in seconds]
    said = zip(("ask", "a", "b", "c"), times, ("user", "agent", "agent", "agent"), strict=True)
    return trajectory(*(step(1, who, words, timestamp=at) for words, at, who in said))


LS = step(2, tool_calls=[call("bash", command="ls")], observation=answer("a.py"))
PAID = [step(i, metrics={"cost_usd": 0.1 * i, "prompt_tokens": i}) for i in (1, 2)]
FINAL = {"final_metrics": {"total_cost_usd": 0.5, "total_prompt_tokens": 9}}
PRICED, UNPRICED = step(1, metrics={"cost_usd": 0.5}), step(2, metrics={"prompt_tokens": 5})
CONTRADICTS, PARTLY = {"total-contradicts-parts"}, {"partly-recorded"}
TODO = call("TodoWrite", todos=[{"content": "look"}, {"content": "fix"}])
CHILD = trajectory(step(1, message="child"), trajectory_id="t2")
PARALLEL = step(2, tool_calls=[call("bash", n=2), call("bash", n=3)], observation=answer("two", "three"))
CASES = [
    case("an answer is of its own step where an earlier call with the id was left open",
         trajectory(step(1, tool_calls=[call("bash", n=1)]), PARALLEL),
         joined=[({"n": 2}, "two"), ({"n": 3}, "three")]),
    case("steps become messages, calls and answers", trajectory(step(1, "user", "Fix it."), LS),
         agent="openhands", model="m", said=[("user", "Fix it."), ("assistant", "…")],
         calls=[("bash", {"command": "ls"})], answers=[("a.py", None)], answered=["c1"], success=None,
         found={"missing-outcome"}),
    case("an answer that ends with an error", answered(answer("no\n\n[error] tool reported failure")),
         ok=[False]),
    case("an answer that is an error", answered(answer("nope", extra={"is_error": True})), ok=[False]),
    case("an answer of a step that failed", answered(answer("nope"), True), ok=[False]),
    case("an answer of a step that worked", answered(answer("done"), False), ok=[True]),
    case("two answers of a step that worked", answered(answer("a", "b"), False), ok=[None, None]),
    case("a call without an answer comes last in the file", timed(9, 1, 4, 2), words=["ask", "a", "c", "b"]),
    case("at one moment the file's order counts", timed(9, 1, 1, 1), words=["ask", "a", "b", "c"]),
    case("where a step has no time the file's order counts", timed(9, 1, None, 0),
         words=["ask", "a", "b", "c"]),
    case("a list of trajectories is a run and a task each",
         [trajectory(step(1), session_id=name) for name in ("a", "b")],
         runs=["atif/openhands/a", "atif/openhands/b"], tasks=["a", "b"]),
    case("a cost that is recorded for some steps is unknown", trajectory(PRICED, UNPRICED), cost=None),
    case("a cost of nothing is unknown and named", trajectory(step(1, metrics={"cost_usd": 0})), cost=None,
         found={"unpriced-cost"}),
    case("embedded sub-agents are runs that name their parent",
         trajectory(step(1), subagent_trajectories=[CHILD]), parents=[None, "s1"]),
    case("only the totals", trajectory(step(1), step(2), **FINAL), cost=0.5, input=9,
         missing=CONTRADICTS | PARTLY),
    case("totals, and one step without", trajectory(PAID[0], step(2, metrics={}), **FINAL), cost=0.5, input=9,
         missing=CONTRADICTS, found=PARTLY),
    case("totals that contradict the steps", trajectory(*PAID, **FINAL), cost=pytest.approx(0.3), input=3,
         missing=PARTLY, found=CONTRADICTS),
    case("no totals", trajectory(*PAID), cost=pytest.approx(0.3), input=3, missing=CONTRADICTS | PARTLY),
    case("a todo list is a plan", trajectory(step(1, tool_calls=[TODO])), plans=[["look", "fix"]]),
    case("a missing continuation is named", trajectory(step(1), continued_trajectory_ref="gone.json"),
         run="atif/openhands/s1", found={"continuation-missing"}),
]  # fmt: skip


@each(CASES)
def test_a_trajectory_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("atif", tmp_path)


COPIED = [step(1, message="one", is_copied_context=True), step(2, message="two")]
ONE_WAY, BACK = ({"continued_trajectory_ref": name} for name in ("b.json", "a.json"))
CONTINUED = {
    "a continuation is the same run and copied steps count once": (
        trajectory(step(1, "user", "Go."), step(2, message="one"), **ONE_WAY), trajectory(*COPIED),
        ["Go.", "one", "two"]),
    "two files that continue in each other are one run": (trajectory(step(1, message="a"), **ONE_WAY),
        trajectory(step(1, message="b"), **BACK), ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("desc", CONTINUED)
def test_files_that_continue_each_other_are_a_run(tmp_path: Path, desc: str) -> None:
    first, second, words = CONTINUED[desc]
    source = put_record(tmp_path / "in", {"a.json": first, "b.json": second})
    done, runs = converted("atif", tmp_path / "out", source)
    want = {"words": words, "missing": {"continuation-missing", "nothing-added"}}
    assert facts(done, runs, want) == want
    assert [(loss.runs, loss.shared) for loss in done.losses] == [(1, 0), (1, 1)]


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_is_recognised(version: str) -> None:
    text = f'{{"schema_version": "{version}", "steps": []}}'.encode()
    assert sniff("x.json", text) == "atif"
    assert recognise(sample_of("x.json", text)) is Confidence.CERTAIN
