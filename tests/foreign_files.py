"""Small made-up files of the foreign formats, whole or with one thing wrong."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from untaken.ledger import Message, Observation, Run, ToolCall, heads_path, load_heads, read_ledger
from untaken.traces import Conversion, convert

RECORDED = Path(__file__).parent / "records"
"""Files of foreign formats, as JSON."""


def tau_call(tool: str, arguments: Any, call_id: str | None = "c1") -> dict[str, Any]:
    """A message in which the agent calls a tool."""
    written = arguments if isinstance(arguments, str) or arguments is None else json.dumps(arguments)
    call = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": written}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def tau_answer(content: Any, call_id: str | None = "c1") -> dict[str, Any]:
    """What a tool answered."""
    return {"role": "tool", "tool_call_id": call_id, "name": "ignored", "content": content}


def tau_record(**changed: Any) -> dict[str, Any]:
    """A run that buys a ticket as expected."""
    record = {
        "task_id": 7,
        "trial": 0,
        "reward": 1.0,
        "info": {
            "task": {
                "user_id": "ann",
                "instruction": "You want a ticket.",
                "actions": [
                    {"name": "buy", "kwargs": {"seat": 3}},
                    {"name": "respond", "kwargs": {"content": "ok"}},
                ],
                "outputs": [],
            },
            "user_cost": 0.25,
            "reward_info": {"reward": 1.0, "info": {"r_actions": 1.0}, "actions": []},
        },
        "traj": [
            {"role": "system", "content": "# Ferry agent policy"},
            {"role": "user", "content": "A ticket, please."},
            tau_call("look", {"day": "monday"}, "c1"),
            tau_answer('["seat 3"]', "c1"),
            tau_call("buy", {"seat": 3}, "c2"),
            tau_answer("done", "c2"),
            {"role": "assistant", "content": "Bought."},
        ],
    }
    return {**record, **changed}


def tau2_document(**changed: Any) -> dict[str, Any]:
    """A results file with one task and one simulation."""
    action = {
        "action_id": "7_0",
        "requestor": "assistant",
        "name": "buy",
        "arguments": {"seat": 3, "note": "window"},
        "info": None,
        "compare_args": None,
    }
    document = {
        "timestamp": "2025-08-01T10:00:00",
        "info": {
            "git_commit": "abc",
            "num_trials": 1,
            "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1"},
            "agent_info": {"implementation": "llm_agent", "llm": "gpt-9", "llm_args": {"temperature": 0.0}},
            "environment_info": {"domain_name": "ferry", "policy": "Sell tickets."},
        },
        "tasks": [
            {
                "id": "7",
                "description": {"purpose": "buying"},
                "user_scenario": {"instructions": {"reason_for_call": "a ticket"}},
                "evaluation_criteria": {"actions": [action]},
            }
        ],
        "simulations": [tau2_simulation(action)],
    }
    return {**document, **changed}


def tau2_simulation(action: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """A simulation in which the agent calls once, and the user once."""
    checks = [{"action": action, "action_match": True, "action_reward": 1.0}] if action else None
    simulation = {
        "id": "s-1",
        "task_id": "7",
        "trial": 0,
        "seed": 5,
        "start_time": "2025-08-01T10:00:01",
        "end_time": "2025-08-01T10:00:09",
        "duration": 8.0,
        "termination_reason": "user_stop",
        "agent_cost": 0.5,
        "user_cost": 0.1,
        "reward_info": {"reward": 1.0, "db_check": {"db_match": True}, "action_checks": checks},
        "messages": [
            tau2_message("assistant", "Hello.", 1),
            tau2_message("user", "A ticket.", 2),
            tau2_message("assistant", None, 3, tau2_call("buy", {"seat": 3}, "assistant", "a1")),
            {
                "role": "tool",
                "id": "a1",
                "content": "ok",
                "error": False,
                "requestor": "assistant",
                "timestamp": at(4),
            },
            tau2_message("user", None, 5, tau2_call("check_phone", {}, "user", "u1")),
            {
                "role": "tool",
                "id": "u1",
                "content": "on",
                "error": False,
                "requestor": "user",
                "timestamp": at(6),
            },
        ],
    }
    return {**simulation, **changed}


def tau2_message(role: str, content: Any, second: int, *calls: dict[str, Any]) -> dict[str, Any]:
    """A message, with the calls it makes."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {
        "role": role,
        "content": content,
        "tool_calls": list(calls) or None,
        "timestamp": at(second),
        "cost": 0.1,
        "usage": usage,
    }


def tau2_call(name: str, arguments: Any, requestor: str, call_id: str) -> dict[str, Any]:
    """A call in a message."""
    return {"id": call_id, "name": name, "arguments": arguments, "requestor": requestor}


def at(second: int) -> str:
    """A moment without a zone."""
    return f"2025-08-01T10:00:{second:02}"


def devai_sheet(*verdicts: bool | str | None, **changed: Any) -> dict[str, Any]:
    """A plan of three requirements (0 → 1 → 2), or a verdict sheet on it."""
    given = verdicts or (None, None, None)
    requirements = [
        {
            "requirement_id": i,
            "prerequisites": [i - 1] if i else [],
            "criteria": f"Thing {i} is there.",
            "category": "Things",
            "satisfied": passed,
        }
        for i, passed in enumerate(given)
    ]
    sheet = {"name": "01_Boat", "query": "Build a boat.", "tags": ["Boats"], "requirements": requirements}
    return {**sheet, "preferences": [], "is_training_needed": False, **changed}


def devai_human(*verdicts: bool | str | None, executed: Any = True, **changed: Any) -> dict[str, Any]:
    """A verdict sheet with the flags that only people's sheets have."""
    flags = {
        "executed_successfully": executed,
        "satisfied_all_requirements": all(v is True for v in verdicts),
    }
    return devai_sheet(*verdicts, **{**flags, "satisfied_all_preferences": False, **changed})


def devai_step(index: int, action: Any, answer: Any, **changed: Any) -> dict[str, Any]:
    """A step of a trajectory that costs a quarter and lasts two seconds."""
    step = {
        "step": index,
        "user_message": None if index else "Build a boat.",
        "agent": {"thought": f"Thought {index}.", "action": action},
        "environment": answer,
        "step_usage": {
            "input_tokens": 10,
            "output_tokens": 1,
            "model": "gpt-9",
            "cost": 0.25,
            "llm_inference_time": 1.0,
            "step_execution_time": 2.0,
        },
        "accumulated_usage": {"accumulated_cost": 0.25 * (index + 1), "accumulated_time": 2.0 * (index + 1)},
    }
    return {**step, **changed}


def magentic_ledger(
    speaker: str, *, satisfied: Any = False, loop: Any = False, progress: Any = True
) -> dict[str, Any]:
    """A thought of the orchestrator that holds its ledger."""
    answers = {
        "is_request_satisfied": satisfied,
        "is_in_loop": loop,
        "is_progress_being_made": progress,
        "next_speaker": speaker,
        "instruction_or_question": "Look it up.",
    }
    written = {key: {"reason": "because", "answer": answer} for key, answer in answers.items()}
    content = "Updated Ledger:\n" + json.dumps(written, indent=2)
    return {"content": content, "role": "Orchestrator (thought)"}


def magentic_plan(kind: str, *steps: str, facts: str = "It floats.") -> dict[str, Any]:
    """A plan of the orchestrator with the team it has."""
    content = (
        f"{kind}:\n\nWe are working to address the following user request:\n\nHow long is the ferry?\n\n\n"
        "To answer this request we have assembled the following team:\n\n"
        "Assistant: Helps: with everything.\nFileSurfer: Handles files.\nWebSurfer: Browses.\n\n\n\n"
        f"Here is an initial fact sheet to consider:\n\n{facts}\n\n\n"
        "Here is the plan to follow as best as possible:\n\nThis is it:\n"
        + "".join(f"- {step}\n" for step in steps)
    )
    return {"content": content, "role": "Orchestrator (thought)"}


def magentic_turn(speaker: str, answer: str, **flags: Any) -> list[dict[str, Any]]:
    """A round: the ledger, the choice, and what the chosen agent answered."""
    return [
        magentic_ledger(speaker, **flags),
        {"content": "Look it up.", "role": f"Orchestrator (-> {speaker})"},
        {"content": answer, "role": speaker},
    ]


def hand_crafted_record(**changed: Any) -> dict[str, Any]:
    """A run of two plans and three choices; people blame the WebSurfer for the second."""
    record = {
        "history": [
            {"content": "How long is the ferry?", "role": "human"},
            magentic_plan("Initial plan", "search", "read"),
            *magentic_turn("WebSurfer", "I clicked 'Ferry'."),
            *magentic_turn("WebSurfer", "I clicked 'Ferry' again.", loop=True, progress=False),
            magentic_plan("New plan", "ask the file"),
            *magentic_turn("FileSurfer", "40 m"),
            {
                "content": "Max rounds (3) reached.\nFINAL ANSWER: 40",
                "role": "Orchestrator (termination condition)",
            },
        ],
        "question": "How long is the ferry?",
        "ground_truth": "50 m",
        "is_corrected": False,
        "mistake_agent": "WebSurfer",
        "mistake_step": "7",
        "mistake_reason": "It clicked the same link again.",
        "question_ID": "q-1",
        "level": 2,
    }
    return {**record, **changed}


def generated_record(**changed: Any) -> dict[str, Any]:
    """A group chat of two experts and a terminal that fails once."""
    record = {
        "is_correct": False,
        "question": "How many seats has the ferry?",
        "question_ID": "q-2",
        "level": "1",
        "ground_truth": "12",
        "history": [
            {"content": "Count the seats.", "role": "assistant", "name": "Ferry_Expert"},
            {"content": "```python\ncount()\n```", "role": "user", "name": "Python_Expert"},
            {
                "content": "exitcode: 1 (execution failed)\nCode output: no count",
                "role": "user",
                "name": "Computer_terminal",
            },
            {"content": "It is eleven.", "role": "assistant", "name": "Ferry_Expert"},
            {"content": "There is no code for me to execute.", "role": "user", "name": "Computer_terminal"},
        ],
        "mistake_agent": "Ferry_Expert",
        "mistake_step": "3",
        "mistake_reason": "It guessed.",
        "system_prompt": {"Ferry_Expert": "You know ferries.", "Python_Expert": "You write code."},
    }
    return {**record, **changed}


def maths_record(**changed: Any) -> dict[str, Any]:
    """A problem solved with one piece of code."""
    record = {
        "problem": "What is 2 + 2?",
        "type": "Number Theory",
        "level": "Level 1",
        "solution": "It is 4.",
        "correct_ans": "4",
        "problem_id": "7",
        "response_with_ans": "The answer is 4.",
        "check_result": "the answer is correct",
        "is_correct": True,
        "round": 1,
        "time": 12.5,
        "trial": 2,
        "messages": [
            {"role": "user", "content": "What is 2 + 2?"},
            {"role": "assistant", "content": "I compute it.\n```python\nprint(2 + 2)\n```"},
            {"role": "user", "content": "exitcode: 0 (execution succeeded)\nCode output: 4"},
            {"role": "assistant", "content": "The answer is 4."},
        ],
    }
    return {**record, **changed}


ACTION = tau2_document()["tasks"][0]["evaluation_criteria"]["actions"][0]
SHEETS = {
    "judgment/Crew/human_as_a_judge/01_Boat.json": devai_human(True, False, True),
    "judgment/Other/human_as_a_judge/01_Boat.json": devai_human(True, True, True),
    "instances/01_Boat.json": devai_sheet(),
}
LABEL = {
    "trajectory_id": 7,
    "failures": [{"failure_id": 1, "step_number": 2, "step_reason": "wrong day"}],
    "root_cause": {"failure_id": 1},
}
FILES: dict[str, dict[str, Any]] = {
    "devai": SHEETS,
    "agentrx": {"gpt-9-retail.json": [tau_record()], "labels.json": [LABEL]},
    "tau-bench": {"gpt-9-airline.json": [tau_record(trial=t) for t in range(3)]},
    "tau2-bench": {"r.json": tau2_document(simulations=[tau2_simulation(ACTION, trial=t) for t in range(3)])},
    "who-and-when": {"A/1.json": generated_record(), "H/2.json": hand_crafted_record()},
    "agenteval": {f"number_theory/{n}.json": maths_record(problem_id=str(n)) for n in range(2)},
    **json.loads((RECORDED / "short.json").read_text("utf-8")),
}
"""By format, files with runs: the content of each by its name."""


def put(path: Path, content: Any) -> Path:
    """Writes a file: bytes and text as they are, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*records: Any) -> str:
    """A line of JSON for each record."""
    return "".join(json.dumps(record) + "\n" for record in records)


def converted(format: str | None, out: Path, *sources: Path, **options: Any) -> tuple[Conversion, list[Run]]:
    """A conversion, with its runs as a strict reader gives them: intact against their heads."""
    conversion = convert(format, sources, out, **options)
    runs = [
        run
        for ledger in conversion.ledgers
        for run in read_ledger(ledger, heads=load_heads(heads_path(ledger)))
    ]
    assert {run.integrity.verdict for run in runs} <= {"INTACT"}
    assert len(runs) == conversion.runs
    return conversion, runs


def codes(conversion: Conversion) -> Counter[str]:
    """How often each finding was met."""
    return Counter(finding.code for finding in conversion.findings)


def told(run: Run) -> tuple[list[Any], list[Any], list[Any]]:
    """What is said, called and answered in a run."""
    return (
        [(m.role, m.content) for m in run.of(Message)],
        [(c.tool, c.arguments) for c in run.of(ToolCall)],
        [(o.content, o.ok) for o in run.of(Observation)],
    )
