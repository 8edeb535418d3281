"""What is there more than once is spent once: sessions saved again, copied or resumed, retried samples,
epochs, branches that were left, totals beside their parts, calls that are logged twice."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from foreign_files import codes, converted, put, tau2_document, tau2_simulation
from test_formats_sessions import line as claude_reply
from test_formats_sessions import opencode_session, pi_session, total
from trace_pieces import DONE, GO, LOOK, SEEN, at

Files = dict[str, Any]
Spent = dict[str, tuple[float | None, float | None, float | None]]
"""Input tokens, output tokens and cost by the last part of the id of a run."""


class Case(NamedTuple):
    desc: str
    files: Files
    spent: Spent
    finding: str | None = None


def lines(each: Iterable[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in each)


def gemini(name: str, *replies: int) -> dict[str, Any]:
    counts = {"input": 100, "output": 5, "cached": 90, "thoughts": 3, "tool": 0, "total": 108}
    messages = [
        {
            "id": f"m{n}",
            "type": "gemini",
            "timestamp": at(n),
            "content": f"{n}",
            "model": "m",
            "tokens": counts,
        }
        for n in replies
    ]
    return {"sessionId": name, "projectHash": "h", "startTime": at(0), "messages": messages}


def claude(name: str, *replies: int) -> str:
    begun = claude_reply("a0", None, "user", "Go.", name)
    said = (claude_reply(f"a{n}", f"a{n - 1}", "assistant", f"{n}", name) for n in replies)
    return lines([begun, *said])


def codex(name: str, *replies: int) -> str:
    about = {"id": name, "timestamp": at(0)}
    written: list[dict[str, Any]] = [{"timestamp": at(0), "type": "session_meta", "payload": about}]
    for n in replies:
        part = {"type": "input_text", "text": f"{n}"}
        payload = {"type": "message", "role": "user", "content": [part]}
        written += [{"timestamp": at(n), "type": "response_item", "payload": payload}]
        written += [total(n, input_tokens=100 * n, output_tokens=5 * n)] * 2  # as it is shown again
    return lines(written)


def inspect(run: str, *samples: dict[str, Any]) -> dict[str, Any]:
    about = {"task": "desk", "model": "openai/m", "run_id": run}
    return {"version": 2, "status": "success", "eval": about, "samples": list(samples)}


def sample(number: int, epoch: int = 1, value: str = "C", **more: Any) -> dict[str, Any]:
    used = {"openai/m": {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}}
    scores = {"scores": {"match": {"value": value}}}
    return {"id": number, "epoch": epoch, "messages": [GO, DONE], "model_usage": used, **scores, **more}


def atif(name: str, total_input: int, *steps: int, **more: Any) -> dict[str, Any]:
    counts = {"prompt_tokens": 100, "completion_tokens": 5, "cost_usd": 0.5}
    spoken = [
        {"step_id": n, "source": "agent", "message": f"{n}", "timestamp": at(n), "metrics": counts}
        for n in steps
    ]
    ended = {"total_prompt_tokens": total_input, "total_completion_tokens": 5 * len(steps)}
    about = {"schema_version": "ATIF-v1.5", "session_id": name, "agent": {"name": "clerk", "version": "1"}}
    return {**about, "steps": spoken, "final_metrics": ended, **more}  # fmt: skip


def call(asked: list[dict[str, Any]], reply: dict[str, Any], name: str) -> dict[str, Any]:
    answer = {"id": name, "model": "m", "choices": [{"message": reply}]}
    return {
        "request": {"messages": asked},
        "response": {**answer, "usage": {"prompt_tokens": 100, "completion_tokens": 5}},
    }


FAILED = {"error": {"message": "APIConnectionError: Connection error."}, "scores": {}}
FIRST, SECOND = call([GO], LOOK, "r1"), call([GO, LOOK, SEEN], DONE, "r2")
USER = {
    "role": "user",
    "content": "Hi.",
    "usage": {"prompt_tokens": 900, "completion_tokens": 9},
    "cost": 9.0,
}
TAU2 = tau2_simulation(agent_cost=0.5, user_cost=9.0)
LEFT = [
    claude_reply("a0", None, "user", "Go."),
    claude_reply("a1", "a0", "assistant", "Left."),
    claude_reply("a2", "a0", "assistant", "Kept."),
]
CASES = [
    Case(
        "Claude Code, saved again",
        {"1.jsonl": claude("s", 1), "2.jsonl": claude("s", 1, 2)},
        {"s": (100, 5, None), "s~2": (100, 5, None)},
        "repeated-messages",
    ),
    Case(
        "Claude Code, resumed",
        {"1.jsonl": claude("s", 1), "2.jsonl": claude("t", 1, 2)},
        {"s": (100, 5, None), "t": (100, 5, None)},
        "repeated-messages",
    ),
    Case("Claude Code, a branch that was left", {"1.jsonl": lines(LEFT)}, {"s1": (200, 10, None)}),
    Case(
        "Claude Code, the same file twice",
        {"1.jsonl": claude("s", 1), "2.jsonl": claude("s", 1)},
        {"s": (100, 5, None)},
        "duplicate-file",
    ),
    Case(
        "Codex, saved again",
        {"1.jsonl": codex("s", 1), "2.jsonl": codex("s", 1, 2)},
        {"s": (100, 5, None), "s~2": (100, 5, None)},
        "repeated-messages",
    ),
    Case("Codex, counts shown again", {"1.jsonl": codex("s", 1, 2)}, {"s": (200, 10, None)}),
    Case(
        "Gemini CLI, saved again",
        {"1.json": gemini("s", 1), "2.json": gemini("s", 1, 2)},
        {"s": (100, 8, None), "s~2": (100, 8, None)},
        "repeated-messages",
    ),
    Case(
        "Gemini CLI, copied to another session",
        {"1.json": gemini("s", 1), "2.json": gemini("t", 1, 2)},
        {"s": (100, 8, None), "t": (100, 8, None)},
        "repeated-messages",
    ),
    Case(
        "pi, saved again",
        {"1.jsonl": pi_session("s", 1), "2.jsonl": pi_session("s", 1, 2)},
        {"s": (100, 5, 0.5), "s~2": (100, 5, 0.5)},
        "repeated-messages",
    ),
    Case(
        "opencode, exported again",
        {"1.json": opencode_session("s", 1), "2.json": opencode_session("s", 1, 2)},
        {"s": (100, 5, 0.5), "s~2": (100, 5, 0.5)},
        "repeated-messages",
    ),
    Case(
        "Inspect, epochs",
        {"1.json": inspect("R", sample(1), sample(1, 2, "I"))},
        {"1": (100, 5, None), "2": (100, 5, None)},
    ),
    Case(
        "Inspect, a retry copies what was done and runs what failed",
        {
            "1.json": inspect("R", sample(1, uuid="u1"), sample(2, uuid="u2", **FAILED)),
            "2.json": inspect("S", sample(1, uuid="u1"), sample(2, uuid="u3", value="I")),
        },
        {"R/1/1": (100, 5, None), "R/2/1": (100, 5, None), "S/2/1": (100, 5, None)},
        "repeated-record",
    ),
    Case(
        "Inspect, a sample scored again",
        {"1.json": inspect("R", sample(1)), "2.json": inspect("R", sample(1, value="I"))},
        {"1": (100, 5, None), "1~2": (100, 5, None)},
        "duplicate-run",
    ),
    Case(
        "ATIF, a total twice the steps",
        {"1.json": atif("s", 400, 1, 2)},
        {"s": (200, 10, 1.0)},
        "total-contradicts-parts",
    ),
    Case("ATIF, a total that agrees", {"1.json": atif("s", 200, 1, 2)}, {"s": (200, 10, 1.0)}),
    Case(
        "a log of calls that repeat the conversation",
        {"1.jsonl": lines([FIRST, SECOND])},
        {"1": (200, 10, None)},
        "conversation-repeated",
    ),
    Case(
        "a log of calls, one of them twice",
        {"1.jsonl": lines([FIRST, FIRST, SECOND])},
        {"1": (200, 10, None)},
        "repeated-record",
    ),
    Case(
        "tau2-bench, a simulated user",
        {"1.json": tau2_document(simulations=[{**TAU2, "messages": [USER, *TAU2["messages"]]}])},
        {"0": (20, 4, 0.5)},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.desc for case in CASES])
def test_what_is_there_again_is_spent_once(tmp_path: Path, case: Case) -> None:
    files = [put(tmp_path / "in" / name, content) for name, content in case.files.items()]
    done, runs = converted(None, tmp_path / "out", *files)
    spent = {}
    for run in runs:
        assert run.finished is not None
        used = run.finished.metrics or {}
        whose = next(name for name in case.spent if run.run_id.endswith(f"/{name}"))
        spent[whose] = (used.get("input_tokens"), used.get("output_tokens"), run.finished.cost)
    assert spent == case.spent
    assert case.finding is None or case.finding in codes(done)
