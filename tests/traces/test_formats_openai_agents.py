"""The OpenAI Agents SDK: what its exporter sent, and spans with one thing changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foreign_files import lines
from reading import Case, case, each
from trace_pieces import DONE, GO, REFUNDS, SEEN
from trace_records import RECORDS

RECORDED = Path(__file__).parent / "recorded"
TRACE = {"object": "trace", "id": "t1", "workflow_name": "desk", "group_id": None, "metadata": None}


def span(second: int, kind: str, **data: Any) -> dict[str, Any]:
    """A span that lasts half a second."""
    ids = {"object": "trace.span", "id": f"s{second}", "trace_id": "t1", "parent_id": None, "error": None}
    times = {
        f"{side}ed_at": f"2026-01-01T00:00:{second:02}.{at}+00:00" for side, at in (("start", 0), ("end", 5))
    }
    return {**ids, **times, "span_data": {"type": kind, **data}}


LOOK = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]}
AGENT = span(0, "agent", name="clerk", tools=["look"])
FIRST = span(1, "generation", input=[GO], output=[LOOK], model="gpt-x")
CALL = span(2, "function", name="look", input='{"day": 1}', output="monday")
JSON = '{"day": "monday"}'
WRITTEN = span(2, "function", name="look", input="{}", output=JSON)
SECOND = span(3, "generation", input=[GO, LOOK, SEEN], output=[DONE], model="gpt-x")
THIRD = span(4, "generation", input=[GO, LOOK, SEEN, DONE, GO], output=[DONE])
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
SIDES = [("input", "response"), ("_input", "_response")]
SAID = [("user", "Go."), ("assistant", "Done.")]
SPENT = {"input_tokens": 40.0, "cached_tokens": 0.0, "output_tokens": 20.0, "reasoning_tokens": 0.0}
CASES = [
    case("what the SDK exported", (RECORDED / "openai_agents_chat.jsonl").read_bytes(),
         all_roles=[["system", "user", "assistant"], []], all_calls=[REFUNDS, []],
         all_ok=[[True, False, True], []], agents=["refund desk", "closed desk"],
         all_model=["gpt-x", None], all_steps=[4, 0], all_success=[None, None],
         errors=[None, "Guardrail tripwire triggered"],
         all_metrics=[{**SPENT, "guardrail:polite": False}, {"guardrail:strict": True}],
         codes={"missing-outcome"}),
    case("what the export of responses leaves out is named",
         (RECORDED / "openai_agents_responses.jsonl").read_bytes(), calls=REFUNDS, ok=[True, False, True],
         said=[], found={"responses-left-out"}),
    *(case(f"responses that a processor added as {said}",
           lines(TRACE, AGENT, span(1, "response", response_id="r",
                                    **{asked: [GO], said: {"model": "gpt-x", "output": [ANSWER]}})),
           said=SAID, model="gpt-x", missing={"responses-left-out"}) for asked, said in SIDES),
    case("what is said twice is there twice", lines(TRACE, FIRST, CALL, SECOND, THIRD), said=SAID * 2),
    case("a handoff is a call", lines(TRACE, AGENT, span(1, "handoff", from_agent="clerk", to_agent="cook")),
         calls=[("handoff", {"from_agent": "clerk", "to_agent": "cook"})]),
    case("an answer that is JSON is the text that it was", lines(TRACE, AGENT, WRITTEN),
         answers=[(JSON, True)]),
    case("a request to the exporter", {"data": [TRACE, AGENT, FIRST, CALL, SECOND]}, said=SAID),
    case("a trace that names its task", lines({**TRACE, "metadata": {"task_id": "refund-1"}}, AGENT),
         task="refund-1"),
]  # fmt: skip


@each(CASES)
def test_a_trace_of_the_openai_agents_sdk_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("openai-agents", tmp_path, sniffed=True)


def test_a_call_that_waits_for_approval_is_one_call_of_a_saved_run(tmp_path: Path) -> None:
    ((name, content),) = RECORDS["openai-agents-state"].items()
    spent = {"input_tokens": 5.0, "output_tokens": 2.0}
    case("a state", content, tools=["look"], said=SAID, metrics=spent).holds(None, tmp_path, name)
