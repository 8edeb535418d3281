"""Harbor trials: reward, tests as sub-goals, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from foreign_files import codes, converted, lines, put
from reading import facts

from untaken import Unscored
from untaken.ledger import Run, Verdict
from untaken.plans import load_graphs
from untaken.scoring import score_run
from untaken.traces import Conversion, sample_of
from untaken.traces.registry import recognise_files

RESULT: dict[str, Any] = {
    "task_name": "fix-it", "trial_name": "fix-it__1", "config": {"agent": {"model_name": "opus"}},
    "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:05:00Z",
    "agent_info": {"name": "claude-code", "version": "2", "model_info": None},
    "agent_result": {"n_input_tokens": 7, "cost_usd": None}, "verifier_result": {"rewards": {"reward": 1.0}},
}  # fmt: skip
BASH = {"tool_call_id": "c", "function_name": "Bash", "arguments": {"command": "ls"}}
STEPS = [
    {"step_id": 1, "source": "user", "message": "Fix it."},
    {"step_id": 2, "source": "agent", "message": "", "tool_calls": [BASH]},
]
TRAJECTORY = {"schema_version": "ATIF-v1.2", "agent": {"name": "claude-code"}, "steps": STEPS}
CONFIG: dict[str, Any] = {
    "task": {"path": "tasks/fix-it", "name": None}, "trial_name": "fix-it__1",
    "agent": {"name": "claude-code", "model_name": "opus"}, "verifier": {"disable": False},
}  # fmt: skip
WHOLE = {"result.json": RESULT, "agent/trajectory.json": TRAJECTORY}


def report(**status: str) -> dict[str, Any]:
    return {"results": {"tests": [{"name": name, "status": value} for name, value in status.items()]}}


def rewarded(reward: float | None) -> dict[str, Any]:
    return {"result.json": RESULT | {"verifier_result": {"rewards": {"reward": reward}}}}


def log(*content: dict[str, Any]) -> list[dict[str, Any]]:
    """The agent's own, with a message for each of these."""
    messages = [{"id": str(n), "role": "assistant", "content": [each]} for n, each in enumerate(content)]
    return [{"type": "assistant", "message": each, "session_id": "s"} for each in messages]


def use(**given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c", "name": "Bash", "input": given}


def read(tmp_path: Path, files: dict[str, Any], name: str = "fix-it__1") -> tuple[Conversion, list[Run]]:
    for path, content in files.items():
        put(tmp_path / "in" / name / path, lines(*content) if isinstance(content, list) else content)
    return converted(None, tmp_path / "out", tmp_path / "in")


class Trial(NamedTuple):
    desc: str
    files: dict[str, Any]
    want: dict[str, Any]


NAMED = {
    "run": "fix-it__1", "task": "fix-it", "agent": "claude-code/opus", "success": True, "tools": ["Bash"],
}  # fmt: skip
SAID = {"type": "text", "text": "done"}
INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "opus"}
ENDED = {"type": "result", "session_id": "s", "result": "done", "num_turns": 1}
JOB = {"id": "j", "started_at": "2026-01-01T00:00:00Z", "n_total_trials": 1, "stats": {"n_trials": 1}}
RAISED = {"exception_type": "AgentTimeoutError", "exception_message": "1200 s"}
TRIALS = [
    Trial("a trial is a run", WHOLE, {**NAMED, "missing": {"other-format"}}),
    Trial("a reward of one is success", rewarded(1.0), {"success": True}),
    Trial("a reward of nothing is a failure", rewarded(0.0), {"success": False}),
    Trial("a reward that is written beside", {**rewarded(None), "verifier/reward.txt": "1\n"},
          {"success": True}),
    Trial("no reward says nothing", rewarded(None), {"success": None}),
    Trial("without a trajectory the log of the agent is read",
          {"result.json": RESULT, "agent/claude-code.txt": log(use())},
          {"tools": ["Bash"], "missing": {"trajectory-lacks-calls"}}),
    Trial("without either the trial is still a run", {"result.json": RESULT},
          {"success": True, "found": {"missing-trajectory"}}),
    Trial("the result of the job is no trial and no error", {"../result.json": JOB, "result.json": RESULT},
          {"run": "fix-it__1", "missing": {"not-this-format"}}),
    Trial("an exception is the error and a timeout a limit",
          {"result.json": RESULT | {"exception_info": RAISED}},
          {"error": "AgentTimeoutError: 1200 s", "limit": "time"}),
    Trial("the agent's own log in a trial is not called mixed",
          {"result.json": RESULT, "agent/claude-code.txt": [INIT, *log(SAID), ENDED]},
          {"missing": {"format-mixed"}}),
]  # fmt: skip


@pytest.mark.parametrize("trial", TRIALS, ids=[trial.desc for trial in TRIALS])
def test_a_trial_is_read(tmp_path: Path, trial: Trial) -> None:
    done, runs = read(tmp_path, trial.files)
    assert facts(done, runs, trial.want) == trial.want
    assert [finding.code for finding in done.findings if finding.severity == "error"] == []


@pytest.mark.parametrize(("calls", "named"), [(1, False), (2, True)])
def test_calls_of_the_agents_log_that_the_trajectory_lacks_are_named(tmp_path, calls, named) -> None:
    done, (run,) = read(tmp_path, WHOLE | {"agent/claude-code.txt": log(*(use(n=n) for n in range(calls)))})
    assert len(run.actions) == 1
    assert [f.message for f in done.findings if f.code == "trajectory-lacks-calls"] == (
        ["the trajectory has 1 of the 2 calls in agent/claude-code.txt"] if named else []
    )


def test_tests_are_sub_goals_of_the_runs_of_their_task_alone(tmp_path: Path) -> None:
    tests = report(builds="passed", renders="failed", later="skipped")
    _, (run,) = read(tmp_path, WHOLE | {"verifier/ctrf.json": tests})
    graphs = load_graphs(tmp_path / "out" / "graphs")
    graph = graphs.for_task(run.task_id, run.started.graph)[0]
    assert graph.id == "harbor-fix-it"
    assert {node.sub_goal: node.status for node in score_run(run, graph).nodes} == {
        "builds": "completed", "renders": "attempted", "later": "unscored",
    }  # fmt: skip
    assert isinstance(graphs.for_task("another")[0], Unscored)


def test_a_failed_test_says_which_assertion_failed_and_titles_leave_out_their_one_file(tmp_path) -> None:
    trace = "def test_works():\n>   assert found\nE   AssertionError: nothing installed\nE   assert None"
    failed = {"message": "The test failed in the call phase"}
    tests = report(**{"t.py::test_works": "failed", "t.py::test_other": "failed"})
    first, second = tests["results"]["tests"]
    first |= {"trace": trace, **failed}
    second |= failed
    _, (run,) = read(tmp_path, {"result.json": RESULT, "verifier/ctrf.json": tests})
    want = ["AssertionError: nothing installed\nassert None", "The test failed in the call phase"]
    assert [verdict.reason for verdict in run.of(Verdict)] == want
    graph, _ = load_graphs(tmp_path / "out" / "graphs").for_task("fix-it")
    names = ("test_works", "test_other")
    assert [(goal.id, goal.title) for goal in graph.sub_goals] == [(f"t.py::{name}", name) for name in names]


def test_trials_of_one_task_share_the_tests_of_all_of_them(tmp_path: Path) -> None:
    read(tmp_path, {"result.json": RESULT, "verifier/ctrf.json": report(builds="failed")})
    tests = report(builds="passed", renders="passed")
    files = {"result.json": RESULT | {"trial_name": "fix-it__2"}, "verifier/ctrf.json": tests}
    done, runs = read(tmp_path, files, name="fix-it__2")
    assert len(done.graphs) == 1
    assert {run.started.graph for run in runs} == {"harbor-fix-it"}


@pytest.mark.parametrize("result", [{}, {"result.json": "{broken"}], ids=["missing", "broken"])
def test_a_trial_without_a_readable_result_is_still_a_run_and_named(tmp_path, result) -> None:
    read(tmp_path, WHOLE | {"result.json": RESULT | {"trial_name": "fix-it__0"}}, "fix-it__0")
    cut = {"config.json": CONFIG, "agent/trajectory.json": TRAJECTORY, "verifier/reward.txt": "1\n"}
    done, runs = read(tmp_path, cut | result)
    first, second = sorted(runs, key=lambda run: run.run_id)
    assert facts(done, [second], NAMED) == NAMED
    assert second.agent == first.agent
    assert codes(done)["missing-result"] == 1
    assert "number-as-string" not in codes(done)


def test_the_log_of_a_trial_belongs_to_it() -> None:
    files = {"result.json": json.dumps(RESULT), "trial.log": "started", "exception.txt": "gone"}
    samples = [sample_of(f"fix-it__1/{name}", words.encode()) for name, words in files.items()]
    assert recognise_files(samples) == ["harbor"] * 3
