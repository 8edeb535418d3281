"""browser-use: each step's actions with their results, whatever the version, and whose word an outcome is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reading import Case, case, each, read

from untaken.ledger import Observation, ToolCall


def step(*actions: str, results: list[dict[str, Any]], at: int = 0, **said: Any) -> dict[str, Any]:
    times = {"step_start_time": 1_754_000_000 + at, "step_end_time": 1_754_000_001 + at, "input_tokens": 5}
    output = {**said, "action": [{tool: {"index": number}} for number, tool in enumerate(actions)]}
    about = {"result": results, "state": {"url": "x"}, "metadata": times}
    return {"model_output": output if actions else None, **about}


def history(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"history": list(steps)}


SEEN = [{"extracted_content": "x"}]
CLAIMED = {"is_done": True, "success": True, "extracted_content": "Done."}
FAILED = step("click", "type", "send", results=[{"extracted_content": "clicked"}, {"error": "no field"}])
LATER = history(FAILED, step("wait", results=[{"extracted_content": "waited"}], at=5))
CASES = [
    case("actions after one that failed have no result and later ones keep theirs", LATER,
         tools=["click", "type", "send", "wait"], steps=2, metrics={"input_tokens": 10.0},
         answers=[("clicked", True), ("no field", False), ("waited", True)]),
    case("both versions say where the agent is",
         history(step("click", results=SEEN, current_state={"memory": "one"}),
                 step("click", results=SEEN, thinking="Hm.", memory="two")),
         said=[("assistant", {"memory": "one"}), ("reasoning", "Hm."), ("assistant", {"memory": "two"})]),
    case("the agent's own word is no outcome", history(step("done", results=[CLAIMED])), success=None),
    case("a verdict is", history(step("done", results=[{**CLAIMED, "judgement": {"verdict": False}}])),
         success=False),
    case("a step without an answer of the model has its error",
         history(step(results=[{"error": "rate limited"}])), error="rate limited",
         said=[("tool", "rate limited")]),
]  # fmt: skip


@each(CASES)
def test_a_history_of_browser_use_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("browser-use", tmp_path, sniffed=True)


def test_a_result_is_that_of_its_own_action(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, "browser-use", LATER)
    tools = {call.call_id: call.tool for call in run.of(ToolCall)}
    assert [tools[seen.call_id] for seen in run.of(Observation)] == ["click", "type", "wait"]
