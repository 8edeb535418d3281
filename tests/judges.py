"""A small desk, its plan graph on disk, and a judge whose words are chosen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from builders import RunBuilder, a_graph, a_run
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from untaken.judging import judge_run
from untaken.judging.asking import ModelAccess, ReplyStore
from untaken.ledger import heads_path, read_ledger, save_heads, verify_ledger
from untaken.plans import PlanGraph, load_graph, save_graph

OBSERVED = "order 17 was found: two shirts"
GRAPH = a_graph(
    {"id": "look", "title": "Look up the order", "check": {"verdict": True}},
    {"id": "refund", "title": "Pay the money back", "deps": ["look"], "check": {"verdict": True}},
    {"id": "call", "deps": ["look"], "check": {"tool_call": {"name": "pay"}}},
    graph_id="desk",
)


def a_desk_run() -> RunBuilder:
    """One order looked up, nothing refunded."""
    desk = a_run("desk").say("Where is my order?", role="user").call("search", "look", order=17)
    return desk.observe(OBSERVED, ok=True, call_id="c1").say("I looked.").finish(True)


def write_desk(folder: Path, run: RunBuilder | None = None, graph: PlanGraph = GRAPH) -> Path:
    """A folder with one anchored ledger and its plan graph; gives the ledger."""
    folder.mkdir(parents=True, exist_ok=True)
    ledger = folder / "a.jsonl"
    ledger.write_bytes((run or a_desk_run()).ledger())
    save_heads(heads_path(ledger), {one.run_id: one.head for one in verify_ledger(ledger) if one.head})
    save_graph(graph, folder / "desk.plan.yaml")
    return ledger


def model_that(answers: Callable[[str, str], dict[str, Any]], name: str = "stand-in") -> FunctionModel:
    """A model that answers from (prompt, the code in it)."""

    def speak(messages: list[Any], info: AgentInfo) -> ModelResponse:
        prompt = str(messages[0].parts[-1].content)
        code = re.findall(r"Your code is ([0-9a-f]{16})\.$", prompt)[-1]
        reply = json.dumps(answers(prompt, code))
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, reply)])

    return FunctionModel(speak, model_name=name)


def said(code: str, verdict: str = "pass", *quotes: tuple[int, str], reason: str = "seen") -> dict[str, Any]:
    """A judge's answer."""
    evidence = [{"seq": seq, "quote": quote} for seq, quote in quotes]
    return {"code": code, "verdict": verdict, "evidence": evidence, "reason": reason}


def fair(prompt: str, code: str) -> dict[str, Any]:
    """The order was looked up, and nothing was paid back."""
    if "id: look\n" in prompt:
        return said(code, "pass", (3, "order 17 was found"))
    return said(code, "fail", reason="nothing was paid back")


def recorded(folder: Path, ledger: Path) -> Path:
    """A reply store that holds the fair judge's answers on this ledger."""
    store = folder / "replies"
    (run,) = read_ledger(ledger)
    with ModelAccess(model_that(fair), ReplyStore(store)) as model:
        judge_run(run, load_graph(ledger.with_name("desk.plan.yaml")), model)
    return store
