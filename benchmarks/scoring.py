"""What scoring costs: CPU time of each stage as a multiple of the floor, and of a ranking's resampling.

The floor is what no scorer can do without: SHA-256 of every line and its typed decoding, the events kept.
Runs have about 55 events of about 400 bytes. Measurements of one round are taken one after the other, rounds
alternate, and the median of their ratios is shown, so that a busy machine slows numerator and denominator
alike.

    python benchmarks/scoring.py [runs]
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from random import Random
from statistics import median
from time import process_time

import msgspec

from untaken.analysis.ranking import rank_agents
from untaken.errors import Unscored
from untaken.ledger import GENESIS, AnyEvent, Head, Run, read_ledger
from untaken.ledger import events as e
from untaken.plans import PlanGraph, parse_graph
from untaken.scoring import score_agents, score_run

ROUNDS = 15
FILLER = "The customer wrote at length about the parcel, the courier and the weather. " * 4
GRAPH = b"""
schema: untaken.plan/1
id: refund
sub_goals:
  - {id: intent, rules: [{tool: read_ticket}], check: {expr: 'state.intent == "refund"'}}
  - {id: order, deps: [intent], check: {tool_call: {name: search_orders, arguments: {order: 7}}}}
  - {id: policy, deps: [intent], critical: true, rules: [{tool: "read_policy*"}],
     check: {expr: "state.policy_read"}}
  - {id: eligibility, deps: [order, policy], critical: true, rules: [{tool: decide}],
     check: {expr: "state.decision == state.expected", on: step}}
  - {id: settle, deps: [eligibility], any_of: [refund, escalate]}
  - {id: refund, rules: [{tool: issue_refund}], check: {expr: "state.refunded"}}
  - {id: escalate, rules: [{tool: escalate}], check: {verdict: true}}
  - {id: confirm, deps: [settle], rules: [{tool: send_mail}], check: {outcome: true}}
"""
TOOLS = ("read_ticket", "search_orders", "read_policy", "decide", "issue_refund", "send_mail", "look_around")
PATCHES = (
    {"intent": "refund"},
    {"policy_read": True},
    {"decision": "approve", "expected": "approve"},
    {"refunded": True},
    {"notes": FILLER[:200]},
)


def a_ledger(runs: int) -> tuple[list[bytes], dict[str, Head]]:
    """Lines of many runs, one after the other, and their heads."""
    random = Random(0)
    lines: list[bytes] = []
    heads: dict[str, Head] = {}
    for number in range(runs):
        run_id = f"run-{number:05}"
        prev = GENESIS
        for seq, (kind, fields) in enumerate(story(random, number)):
            ts = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seq)
            event = kind(run_id=run_id, seq=seq, ts=ts, prev=prev, **fields)
            lines.append(msgspec.json.encode(event))
            prev = sha256(lines[-1]).hexdigest()
        heads[run_id] = Head(events=seq + 1, sha256=prev)
    return lines, heads


def story(random: Random, number: int) -> list[tuple[type[AnyEvent], dict]]:
    """The events of one run: plans, calls with their observations, states and talk."""
    events: list[tuple[type[AnyEvent], dict]] = [
        (e.RunStarted, {"agent": f"agent-{number % 6}", "task_id": f"task-{number // 6 % 24}"}),
        (e.Plan, {"sub_goals": ["intent", "order", "policy"]}),
    ]
    for step in range(19):
        tool = random.choice(TOOLS)
        call = f"c{step}"
        arguments = {"order": random.randint(6, 8), "note": FILLER[: random.randint(50, 200)]}
        events.append((e.ToolCall, {"call_id": call, "tool": tool, "arguments": arguments}))
        events.append((e.Observation, {"call_id": call, "ok": random.random() < 0.9, "content": FILLER}))
        if step % 3 == 0:
            events.append((e.State, {"state": random.choice(PATCHES)}))
        elif step % 3 == 1:
            events.append((e.Message, {"role": "assistant", "content": FILLER}))
        if step == 9:
            events.append((e.Plan, {"sub_goals": ["order", "eligibility"]}))
    events.append((e.RunFinished, {"success": random.random() < 0.5, "steps": 19, "cost": 0.1}))
    return events


def floor(lines: list[bytes]) -> list[AnyEvent]:
    """Hash, decode and keep: nothing else."""
    decode = msgspec.json.Decoder(AnyEvent).decode
    kept = []
    for line in lines:
        sha256(line).hexdigest()
        kept.append(decode(line))
    return kept


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begin = process_time()
    work()
    return process_time() - begin


def measure(runs: int) -> None:
    """Print the table."""
    lines, heads = a_ledger(runs)
    data = b"".join(line + b"\n" for line in lines)
    graph: PlanGraph = parse_graph(GRAPH, name="bench", format="yaml")
    held: list[Run] = read_ledger(BytesIO(data), heads=heads)

    stages: dict[str, Callable[[], object]] = {
        "read (strict, chain verified)": lambda: read_ledger(BytesIO(data), heads=heads),
        "score": lambda: [score_run(run, graph) for run in held],
        "read + score": lambda: [score_run(run, graph) for run in read_ledger(BytesIO(data), heads=heads)],
        "aggregate by agent": lambda: score_agents(scores),
    }
    scores = [score_run(run, graph) for run in held]
    ratios: dict[str, list[float]] = {name: [] for name in stages}
    gc.disable()
    for _ in range(ROUNDS):
        for name, work in stages.items():
            base = cpu(lambda: floor(lines))
            ratios[name].append(cpu(work) / base)
            gc.collect()
    per_run = cpu(lambda: floor(lines)) / runs
    print(f"{runs} runs, {len(lines) / runs:.0f} events and {len(data) / runs / 1000:.0f} kB each")
    print(f"{'floor (SHA-256 + typed decoding)':34} 1.00   {per_run * 1e6:6.0f} µs a run")
    for name, found in ratios.items():
        print(f"{name:34} {median(found):.2f}   {median(found) * per_run * 1e6:6.0f} µs a run")
    known = [s.completion for s in scores if not isinstance(s.completion, Unscored)]
    print(f"(mean completion {sum(known) / len(known):.3f}; ", end="")
    print(f"ranking {runs} runs of 6 agents with 10,000 resamples: {cpu(lambda: rank_agents(scores)):.2f} s)")


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
