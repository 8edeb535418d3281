"""What evaluating many runs costs: CPU seconds per 1,000 runs, and each stage as a multiple of the floor.

The floor is what nothing that reads these runs can do without: SHA-256 of every line and its typed decoding,
the events kept. Runs have 52 events, eight sub-goals and seven decision points with three paths not taken;
each begins a minute after the one before, so that later runs know more. Measurements alternate with the floor
in one process; the median of the rounds' ratios is shown, written to `benchmarks/corpus.json`, and to the
table of `docs/performance.md`.

    python benchmarks/corpus.py [runs] [rounds]
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import msgspec
from scoring import FILLER, GRAPH, PATCHES, TOOLS, cpu, floor

from untaken.answers import agents_table, decisions_table, runs_table, sub_goals_table
from untaken.corpus import evaluate_corpus, score_runs
from untaken.counterfactual import evaluate_runs
from untaken.ledger import GENESIS, AnyEvent, Head, read_ledger
from untaken.ledger import events as e
from untaken.memory import PolicyMemory
from untaken.plans import GraphSet, parse_graph
from untaken.ranking import rank_agents
from untaken.subgoals import RunScore

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
TABLE = "<!-- benchmarks/corpus.py writes from here -->", "<!-- to here -->"
AGENTS = 6
TASKS = 200
CONTEXTS = 60
SKILLS = ("search", "ask", "read", "refund")


def story(random: Random, number: int) -> list[tuple[type[AnyEvent], dict[str, Any]]]:
    """The 52 events of one run."""
    events: list[tuple[type[AnyEvent], dict[str, Any]]] = [
        (e.RunStarted, {"agent": f"agent-{number % AGENTS}", "task_id": f"task-{number // AGENTS % TASKS}"}),
        (e.Plan, {"sub_goals": ["intent", "order", "policy"]}),
    ]
    for step in range(16):
        if step % 2 and step < 14:
            chosen, context = random.choice(SKILLS), f"context-{random.randrange(CONTEXTS)}"
            fields = {"selected": chosen, "alternatives": list(SKILLS), "context_hash": context}
            events.append((e.SkillSelection, fields))
        call = f"c{step}"
        arguments = {"order": random.randint(6, 8), "note": FILLER[: random.randint(50, 200)]}
        events.append((e.ToolCall, {"call_id": call, "tool": random.choice(TOOLS), "arguments": arguments}))
        events.append((e.Observation, {"call_id": call, "ok": random.random() < 0.9, "content": FILLER}))
        if step % 3 == 0:
            events.append((e.State, {"state": random.choice(PATCHES)}))
        if step in (4, 10, 12):
            events.append((e.Message, {"role": "assistant", "content": FILLER}))
    events.append((e.Plan, {"sub_goals": ["order", "eligibility"]}))
    cost = round(random.random(), 3)
    events.append(
        (e.RunFinished, {"success": random.random() < 0.5, "steps": random.randint(5, 25), "cost": cost})
    )
    return events


def a_ledger(runs: int) -> tuple[list[bytes], dict[str, Head]]:
    """The lines of the runs, one run after the other, and their heads."""
    random = Random(0)
    lines: list[bytes] = []
    heads: dict[str, Head] = {}
    for number in range(runs):
        run_id, prev = f"run-{number:06}", GENESIS
        begun = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        for seq, (kind, fields) in enumerate(story(random, number)):
            event = kind(run_id=run_id, seq=seq, ts=begun + timedelta(seconds=seq), prev=prev, **fields)
            lines.append(msgspec.json.encode(event))
            prev = sha256(lines[-1]).hexdigest()
        heads[run_id] = Head(events=seq + 1, sha256=prev)
    return lines, heads


def measure(runs: int, rounds: int) -> None:
    """Print the table."""
    lines, heads = a_ledger(runs)
    data = b"".join(line + b"\n" for line in lines)
    graph = GRAPH.replace(b"id: refund\n", b'id: refund\ntasks: ["*"]\n', 1)
    graphs = GraphSet.of([parse_graph(graph, name="bench", format="yaml")])
    held = read_ledger(BytesIO(data), heads=heads)
    memories = iter([PolicyMemory.build(held) for _ in range(rounds)])  # none has looked anything up yet
    corpus = evaluate_corpus(held, graphs)
    scored = [score for score in corpus.scores.values() if isinstance(score, RunScore)]
    stages: dict[str, Callable[[], object]] = {
        "read": lambda: read_ledger(BytesIO(data), heads=heads),
        "score": lambda: score_runs(held, graphs),
        "build the memory": lambda: PolicyMemory.build(held).snapshot(),
        "decisions": lambda: evaluate_runs(held, next(memories)),
        "rank the agents": lambda: rank_agents(scored),
        "evaluate the corpus": lambda: evaluate_corpus(held, graphs),
        "read and evaluate it": lambda: evaluate_corpus(read_ledger(BytesIO(data), heads=heads), graphs),
        "runs table": lambda: runs_table(corpus),
        "sub-goals table": lambda: sub_goals_table(corpus),
        "decisions table": lambda: decisions_table(corpus),
        "agents table": lambda: agents_table(corpus),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in stages}
    for _ in range(rounds):
        for name, work in stages.items():
            base = cpu(lambda: floor(lines))
            times[name].append((cpu(work), base))
            gc.collect()
    base = median(base for pairs in times.values() for _, base in pairs)
    ratios = {"floor": 1.0} | {
        name: median(work / under for work, under in some) for name, some in times.items()
    }
    about = f"{runs:,} runs, {len(lines) // runs} events and {len(data) / runs / 1000:.0f} kB each"
    found = {
        "runs": runs,
        "rounds": rounds,
        "events_per_run": len(lines) // runs,
        "bytes_per_run": len(data) // runs,
        "peak_mb": peak_mb(),
        "floor_ms_per_run": base * 1000 / runs,
        "ratio_to_floor": ratios,
    }
    print(about)
    print(f"{'':22} × floor   s per 1,000 runs")
    for name, ratio in ratios.items():
        print(f"{name:22} {ratio:7.2f} {ratio * base * 1000 / runs:12.3f}")
    (HERE / "corpus.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    write_page(about, ratios, base * 1e6 / runs)


def peak_mb() -> int | None:
    """The most memory that this process ever held, where the system says so."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), None)


def write_page(about: str, ratios: dict[str, float], floor_us: float) -> None:
    """The table of `docs/performance.md`."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE[0])
    after = rest.partition(TABLE[1])[2]
    rows = [f"| {name} | {ratio:.2f} | {ratio * floor_us:.0f} |" for name, ratio in ratios.items()]
    table = ["", f"{about}.", "", "| stage | × floor | µs a run |", "|---|---|---|", *rows, ""]
    PAGE.write_text(before + TABLE[0] + "\n".join(table) + "\n" + TABLE[1] + after, encoding="utf-8")


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
