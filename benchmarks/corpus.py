"""What evaluating many runs costs: CPU seconds per 1,000 runs, and each stage as a multiple of the floor.

The floor is what nothing that reads these runs can do without: SHA-256 of every line and its typed decoding,
the events kept. Runs have 52 events, eight sub-goals and seven decision points with three paths not taken;
each begins a minute after the one before, so that later runs know more. Each stage has a process of its own,
as a user's program would, in which it alternates with the floor; the median of the rounds' ratios is shown,
written to `benchmarks/corpus.json`, and to the table of `docs/performance.md`.

    python benchmarks/corpus.py [runs] [rounds]
"""

from __future__ import annotations

import gc
import json
import subprocess
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

from untaken.analysis.corpus import Corpus, evaluate_corpus, score_runs
from untaken.analysis.ranking import rank_agents
from untaken.counterfactual import evaluate_runs
from untaken.counterfactual.memory import PolicyMemory
from untaken.ledger import GENESIS, AnyEvent, Head, Run, read_ledger
from untaken.ledger import events as e
from untaken.plans import GraphSet, parse_graph
from untaken.scoring import RunScore
from untaken.views import agents_table, decisions_table, runs_table, sub_goals_table

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


Stage = Callable[[list[Run]], Callable[[], object]]
"""From the runs, made ready beforehand, to what is measured."""


def whole_of(corpus: Corpus) -> Corpus:
    """A corpus of which nothing is left to be worked out later but rankings."""
    _ = corpus.findings, next(iter(corpus.evaluations.values()))
    return corpus


def stages(data: bytes, heads: dict[str, Head], graphs: GraphSet) -> dict[str, Stage | None]:
    """What is measured, by name; ``None`` measures reading itself, which needs nothing beforehand."""

    def whole(_: list[Run]) -> Callable[[], object]:
        return lambda: whole_of(evaluate_corpus(read_ledger(BytesIO(data), heads=heads), graphs))

    def decisions(held: list[Run]) -> Callable[[], object]:
        memory = PolicyMemory.build(held)  # none has looked anything up yet
        return lambda: next(iter(evaluate_runs(held, memory).values()))  # all are scored at once

    def ranks(held: list[Run]) -> Callable[[], object]:
        scored = [score for score in score_runs(held, graphs)[0].values() if isinstance(score, RunScore)]
        return lambda: rank_agents(scored)

    def table(make: Callable[[Corpus], object]) -> Stage:
        def ready(held: list[Run]) -> Callable[[], object]:
            corpus = whole_of(evaluate_corpus(held, graphs))
            return lambda: make(corpus)

        return ready

    return {
        "read": lambda _: lambda: read_ledger(BytesIO(data), heads=heads),
        "score": lambda held: lambda: score_runs(held, graphs),
        "build the memory": lambda held: lambda: PolicyMemory.build(held).snapshot(),
        "decisions": decisions,
        "rank the agents": ranks,
        "evaluate the corpus": lambda held: lambda: whole_of(evaluate_corpus(held, graphs)),
        "read and evaluate it": whole,
        "runs table": table(runs_table),
        "sub-goals table": table(sub_goals_table),
        "decisions table": table(decisions_table),
        "agents table": table(agents_table),
    }


STAGE = "--stage"
ALONE = "read", "read and evaluate it"
"""Stages that begin with the bytes."""


def measure_stage(name: str, runs: int, rounds: int) -> dict[str, Any]:
    """CPU seconds of a stage and of the floor before it, in this process."""
    lines, heads = a_ledger(runs)
    data = b"".join(line + b"\n" for line in lines)
    graph = GRAPH.replace(b"id: refund\n", b'id: refund\ntasks: ["*"]\n', 1)
    graphs = GraphSet.of([parse_graph(graph, name="bench", format="yaml")])
    ready = stages(data, heads, graphs)[name]
    held = [] if name in ALONE else read_ledger(BytesIO(data), heads=heads)
    times, bases = [], []
    for _ in range(rounds):
        bases.append(cpu(lambda: floor(lines)))
        times.append(cpu(ready(held)))
        gc.collect()
    sizes = {"events_per_run": len(lines) // runs, "bytes_per_run": len(data) // runs}
    return {"times": times, "bases": bases, "peak_mb": peak_mb(), **sizes}


def measure(runs: int, rounds: int) -> None:
    """Print the table."""
    ratios, bases, found = {"floor": 1.0}, list[float](), dict[str, Any]()
    for name in stages(b"", {}, GraphSet.of([])):
        command = [sys.executable, __file__, STAGE, name, str(runs), str(rounds)]
        one = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        ratios[name] = median(t / base for t, base in zip(one["times"], one["bases"], strict=True))
        bases += one["bases"]
        found = one if name == "read and evaluate it" else found
    base = median(bases)
    events, size = found["events_per_run"], found["bytes_per_run"]
    about = f"{runs:,} runs, {events} events and {size / 1000:.0f} kB each"
    found = {
        "runs": runs,
        "rounds": rounds,
        "events_per_run": events,
        "bytes_per_run": size,
        "peak_mb": found["peak_mb"],
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
    if sys.argv[1:2] == [STAGE]:
        print(json.dumps(measure_stage(sys.argv[2], *map(int, sys.argv[3:]))))
    else:
        given = [int(word) for word in sys.argv[1:]]
        measure(*given, *(10_000, 3)[len(given) :])
