"""SWE-agent and mini-SWE-agent: thoughts, commands and their output, and how the run ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reading import Case, case, each, shapes
from trace_records import put_record


def traj(*steps: dict[str, Any], history: list[Any] | None = None, **info: Any) -> dict[str, Any]:
    return {"environment": "main", "trajectory": list(steps), "history": history or [], "info": info}


def step(action: str, observation: Any = "ok", thought: str = "so") -> dict[str, Any]:
    said = {"thought": thought, "response": thought, "state": "{}"}
    return {"action": action, "observation": observation, **said}


NEW = "default__anthropic--claude-9__t-0.00__p-1.00__c-2.00___swe_bench_lite_test"
ENDS = [
    ("submitted", None, None),
    ("exit_cost", "exit_cost", "exit_cost"),
    ("exit_error", "exit_error", "exit_error"),
    ("submitted (exit_cost)", None, "exit_cost"),
]
SHOWN = [
    {"role": "system", "content": "You are…"},
    {"role": "user", "content": "demo", "is_demo": True},
    {"role": "assistant", "content": "demo", "is_demo": True},
    {"role": "user", "content": "The issue"},
    {"role": "assistant", "content": "so"},
]
CASES = [
    case("a step is a thought, a command and its output", traj(step("find_file a.py\n", "Found 1")),
         words=["so"], calls=[("find_file", {"command": "find_file a.py"})], seen=["Found 1"],
         agent="swe-agent/gpt4", task="issue-1"),
    *(case(f"how it ended is no success: {status}", traj(step("submit"), exit_status=status), success=None,
           error=error, limit=limit, found={"missing-outcome"}) for status, error, limit in ENDS),
    case("what is answered to no command is said",
         traj(step("", "One command, please."), exit_status="submitted"),
         said=[("assistant", "so"), ("user", "One command, please.")], seen=[],
         dropped={"trajectory[].response", "trajectory[].state.**"}),
    case("a replay has no price", traj(step("ls"), model_stats={"instance_cost": 0, "api_calls": 0}),
         cost=None, found={"unpriced-cost"}),
    case("demonstrations are not part of the run", traj(step("ls"), history=SHOWN),
         words=["You are…", "The issue", "so"]),
    case("a file without a trajectory is a finding", {"trajectory": None, "info": {}}, runs=[],
         found={"not-this-format"}),
]  # fmt: skip


@each(CASES)
def test_a_trajectory_of_swe_agent_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("swe-agent", tmp_path, "gpt4__repo__x/issue-1.traj")


FOLDERS = [
    (f"{NEW}/issue-1/issue-1.traj", "anthropic--claude-9", f"{NEW}/issue-1"),
    (f"2026-01-01_10-00-00__{NEW}/issue-1/issue-1.traj", "anthropic--claude-9",
     f"2026-01-01_10-00-00__{NEW}/issue-1"),
    (f"{NEW}/issue-1.traj", "anthropic--claude-9", f"{NEW}/issue-1"),
    ("x__y-1/x__y-1.traj", None, "run/x__y-1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "model", "run"), FOLDERS)
def test_the_agent_is_the_model_of_the_folder_and_no_issue_names_one(tmp_path, name, model, run) -> None:
    source = put_record(tmp_path / "in", {name: traj(step("ls"))})
    agent = f"swe-agent/{model}" if model else "swe-agent"
    want = case(name, None, agent=agent, run=f"swe-agent/{run}", task=Path(name).stem)
    want.of("swe-agent", tmp_path / "out", source)


TASK = [{"role": "system", "content": "s"}, {"role": "user", "content": "Fix it."}]


def mini(*messages: dict[str, Any], **info: Any) -> dict[str, Any]:
    known = {"mini_version": "2.0.0", "config": {"model": {"model_name": "m"}}, **info}
    return {"info": known, "messages": [*TASK, *messages], "trajectory_format": "mini-swe-agent-1.1"}


def turn(content: str, **extra: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "extra": extra}


def output(content: str, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "extra": extra}


CALL = {"id": "c1", "function": {"name": "bash", "arguments": json.dumps({"command": "ls"})}}
CALLED = {
    "role": "assistant", "content": None, "tool_calls": [CALL],
    "extra": {"actions": [{"command": "ls", "tool_call_id": "c1"}], "timestamp": 1754000000.5},
}  # fmt: skip
FENCED = "Look.\n\n```bash\nls\n```"
SECOND = "Look.\n```mswea_bash_command\nls\n```\nThen more."
WRITTEN = {
    "a block, and the code in the text": mini(turn(FENCED), output("<returncode>1</returncode>\n<output>")),
    "a block of the second version": mini(turn(SECOND), output("", returncode=1)),
    "an action that was read": mini(turn("Look.", actions=[{"command": "ls"}]), output("", returncode=1)),
    "a tool call": mini(
        CALLED, {"role": "tool", "tool_call_id": "c1", "content": "", "extra": {"returncode": 1}}
    ),
}
NO_CALL = {
    "no block": "I think.", "two blocks": "```bash\nls\n```\n```bash\npwd\n```",
    "another language": "```python\nprint()\n```", "a block that is not closed": "```bash\nls",
}  # fmt: skip
STOPS = [
    ("Submitted", None, None),
    ("LimitsExceeded", "LimitsExceeded", "LimitsExceeded"),
    ("RuntimeError", "RuntimeError", None),
]
USED = turn(FENCED, response={"usage": {"prompt_tokens": 5, "completion_tokens": 2}})
MINI = [
    *shapes(WRITTEN, calls=[("bash", {"command": "ls"})], ok=[False], agent="mini-swe-agent/m",
            task="repo-1"),
    *(case(f"a reply without exactly one command is no call: {desc}",
           mini(turn(reply), output("Give one command.")), calls=[], answers=[],
           words=["s", "Fix it.", reply, "Give one command."]) for desc, reply in NO_CALL.items()),
    *(case(f"how it ended is no success: {status}",
           mini({"role": "exit", "content": status}, exit_status=status,
                model_stats={"instance_cost": 0.25, "api_calls": 3}),
           success=None, error=error, limit=limit, cost=0.25, metrics={"model_calls": 3.0},
           found={"missing-outcome"}) for status, error, limit in STOPS),
    *(case(f"{calls} calls, of which the reply to one was kept", mini(USED, model_stats={"api_calls": calls}),
           metrics={"input_tokens": 5, "output_tokens": 2, "model_calls": calls},
           **{named: {"partly-recorded"}})
      for calls, named in ((1, "missing"), (3, "found"))),
]  # fmt: skip


@each(MINI)
def test_a_trajectory_of_mini_swe_agent_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("mini-swe-agent", tmp_path, "repo-1/repo-1.traj.json", sniffed=True)
