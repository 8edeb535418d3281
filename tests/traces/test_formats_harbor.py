"""Harbor trials: reward, tests as sub-goals, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, put

from untaken import Unscored
from untaken.ledger import Run, ToolCall, Verdict, read_ledger
from untaken.plans import load_graphs
from untaken.scoring import score_run
from untaken.traces import Conversion, convert, sample_of
from untaken.traces.registry import recognise_files

RESULT: dict[str, Any] = {
    "task_name": "fix-it",
    "trial_name": "fix-it__1",
    "agent_info": {"name": "claude-code", "version": "2", "model_info": None},
    "config": {"agent": {"model_name": "opus"}},
    "agent_result": {"n_input_tokens": 7, "cost_usd": None},
    "verifier_result": {"rewards": {"reward": 1.0}},
    "started_at": "2026-01-01T00:00:00Z",
    "finished_at": "2026-01-01T00:05:00Z",
}
TRAJECTORY: dict[str, Any] = {
    "schema_version": "ATIF-v1.2",
    "agent": {"name": "claude-code"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Fix it."},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "c", "function_name": "Bash", "arguments": {"command": "ls"}}],
        },
    ],
}


def report(**status: str) -> dict[str, Any]:
    return {"results": {"tests": [{"name": name, "status": value} for name, value in status.items()]}}


def read(tmp_path: Path, files: dict[str, Any], name: str = "fix-it__1") -> tuple[Conversion, list[Run]]:
    for path, content in files.items():
        put(tmp_path / "in" / name / path, content)
    done = convert(None, [tmp_path / "in"], tmp_path / "out")
    return done, [run for ledger in done.ledgers for run in read_ledger(ledger)]


def test_a_trial_is_a_run_with_its_tests_as_sub_goals(tmp_path: Path) -> None:
    tests = report(builds="passed", renders="failed", later="skipped")
    files = {"result.json": RESULT, "agent/trajectory.json": TRAJECTORY, "verifier/ctrf.json": tests}
    done, (run,) = read(tmp_path, files)
    assert (run.run_id, run.task_id, run.agent) == ("fix-it__1", "fix-it", "claude-code/opus")
    assert (run.success, [call.tool for call in run.of(ToolCall)]) == (True, ["Bash"])
    graph = load_graphs(tmp_path / "out" / "graphs").for_task(run.task_id, run.started.graph)[0]
    score = score_run(run, graph)
    assert {node.sub_goal: node.status for node in score.nodes} == {
        "builds": "completed",
        "renders": "attempted",
        "later": "unscored",
    }
    assert "other-format" not in codes(done)


@pytest.mark.parametrize(
    ("reward", "written", "success"),
    [(1.0, None, True), (0.0, None, False), (None, "1\n", True), (None, None, None)],
)
def test_success_is_a_reward_of_one(
    tmp_path: Path, reward: float | None, written: str | None, success: bool | None
) -> None:
    files: dict[str, Any] = {"result.json": RESULT | {"verifier_result": {"rewards": {"reward": reward}}}}
    _, (run,) = read(tmp_path, files | ({"verifier/reward.txt": written} if written else {}))
    assert run.finished.success is success


def test_a_failed_test_says_which_assertion_failed_and_titles_leave_out_their_one_file(
    tmp_path: Path,
) -> None:
    trace = "def test_works():\n>   assert found\nE   AssertionError: nothing installed\nE   assert None"
    tests = report(**{"t.py::test_works": "failed", "t.py::test_other": "failed"})
    tests["results"]["tests"][0] |= {"trace": trace, "message": "The test failed in the call phase"}
    tests["results"]["tests"][1] |= {"message": "The test failed in the call phase"}
    _, (run,) = read(tmp_path, {"result.json": RESULT, "verifier/ctrf.json": tests})
    assert [verdict.reason for verdict in run.of(Verdict)] == [
        "AssertionError: nothing installed\nassert None",
        "The test failed in the call phase",
    ]
    graph, _ = load_graphs(tmp_path / "out" / "graphs").for_task("fix-it")
    assert [(goal.id, goal.title) for goal in graph.sub_goals] == [
        ("t.py::test_works", "test_works"),
        ("t.py::test_other", "test_other"),
    ]


def test_without_a_trajectory_the_log_of_the_agent_is_read(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    log = {"type": "assistant", "message": {"role": "assistant", "content": [use]}, "session_id": "s"}
    done, (run,) = read(tmp_path, {"result.json": RESULT, "agent/claude-code.txt": log})
    assert [call.tool for call in run.of(ToolCall)] == ["Read"]
    assert "trajectory-lacks-calls" not in codes(done)


@pytest.mark.parametrize(("calls", "named"), [(1, False), (2, True)])
def test_calls_of_the_agents_log_that_the_trajectory_lacks_are_named(
    tmp_path: Path, calls: int, named: bool
) -> None:
    uses = [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"n": n}} for n in range(calls)]
    messages = [{"id": str(n), "role": "assistant", "content": [use]} for n, use in enumerate(uses)]
    lines = [{"type": "assistant", "message": each, "session_id": "s"} for each in messages]
    log = "\n".join(map(json.dumps, lines))
    files = {"result.json": RESULT, "agent/trajectory.json": TRAJECTORY, "agent/claude-code.txt": log}
    done, (run,) = read(tmp_path, files)
    assert len(run.of(ToolCall)) == 1
    assert [f.message for f in done.findings if f.code == "trajectory-lacks-calls"] == (
        ["the trajectory has 1 of the 2 calls in agent/claude-code.txt"] if named else []
    )


def test_without_either_the_trial_is_still_a_run(tmp_path: Path) -> None:
    done, (run,) = read(tmp_path, {"result.json": RESULT})
    assert run.success is True
    assert "missing-trajectory" in codes(done)


def test_the_tests_of_a_task_are_asked_of_no_run_of_another_task(tmp_path: Path) -> None:
    _, _ = read(tmp_path, {"result.json": RESULT, "verifier/ctrf.json": report(builds="passed")})
    graphs = load_graphs(tmp_path / "out" / "graphs")
    assert isinstance(graphs.for_task("another")[0], Unscored)
    assert graphs.for_task("fix-it")[0].id == "harbor-fix-it"


def test_the_result_of_the_job_is_no_trial_and_no_error(tmp_path: Path) -> None:
    job = {"id": "j", "started_at": "2026-01-01T00:00:00Z", "n_total_trials": 1, "stats": {"n_trials": 1}}
    done, (run,) = read(tmp_path, {"../result.json": job, "result.json": RESULT})
    assert run.run_id == "fix-it__1"
    assert [finding.code for finding in done.findings if finding.severity == "error"] == []


def test_an_exception_is_the_error_and_a_timeout_a_limit(tmp_path: Path) -> None:
    raised = {"exception_type": "AgentTimeoutError", "exception_message": "1200 s"}
    _, (run,) = read(tmp_path, {"result.json": RESULT | {"exception_info": raised}})
    assert (run.finished.error, run.finished.limit) == ("AgentTimeoutError: 1200 s", "time")


def test_trials_of_one_task_share_the_tests_of_all_of_them(tmp_path: Path) -> None:
    read(tmp_path, {"result.json": RESULT, "verifier/ctrf.json": report(builds="failed")})
    second = RESULT | {"trial_name": "fix-it__2"}
    files = {"result.json": second, "verifier/ctrf.json": report(builds="passed", renders="passed")}
    done, runs = read(tmp_path, files, name="fix-it__2")
    assert len(done.graphs) == 1
    assert {run.started.graph for run in runs} == {"harbor-fix-it"}


CONFIG: dict[str, Any] = {
    "task": {"path": "tasks/fix-it", "name": None},
    "trial_name": "fix-it__1",
    "agent": {"name": "claude-code", "model_name": "opus"},
    "verifier": {"disable": False},
}


@pytest.mark.parametrize("result", [{}, {"result.json": "{broken"}], ids=["missing", "broken"])
def test_a_trial_without_a_readable_result_is_still_a_run_and_named(
    tmp_path: Path, result: dict[str, Any]
) -> None:
    whole = {"result.json": RESULT | {"trial_name": "fix-it__0"}, "agent/trajectory.json": TRAJECTORY}
    for path, content in whole.items():
        put(tmp_path / "in" / "fix-it__0" / path, content)
    cut = {"config.json": CONFIG, "agent/trajectory.json": TRAJECTORY, "verifier/reward.txt": "1\n", **result}
    done, runs = read(tmp_path, cut)
    first, second = sorted(runs, key=lambda run: run.run_id)
    assert (second.run_id, second.task_id, second.agent) == ("fix-it__1", "fix-it", "claude-code/opus")
    assert (second.success, [call.tool for call in second.of(ToolCall)]) == (True, ["Bash"])
    assert second.agent == first.agent
    assert codes(done)["missing-result"] == 1
    assert "number-as-string" not in codes(done)


def test_the_agents_own_log_in_a_trial_is_not_called_mixed(tmp_path: Path) -> None:
    said = {"content": [{"type": "text", "text": "done"}]}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "opus"},
        {"type": "assistant", "session_id": "s", "message": said},
        {"type": "result", "session_id": "s", "result": "done", "num_turns": 1},
    ]
    log = "\n".join(map(json.dumps, lines)) + "\n"
    done, _ = read(tmp_path, {"result.json": RESULT, "agent/claude-code.txt": log})
    assert "format-mixed" not in codes(done)


def test_the_log_of_a_trial_belongs_to_it() -> None:
    files = {"result.json": json.dumps(RESULT), "trial.log": "started", "exception.txt": "gone"}
    samples = [sample_of(f"fix-it__1/{name}", words.encode()) for name, words in files.items()]
    assert recognise_files(samples) == ["harbor"] * 3
