"""What policy memory costs as it grows.

1. Loading and folding a log, as multiples of the floor (typed decoding and encoding of its lines).
2. Evaluating N runs, each as of its own start and without itself: CPU time per run while N doubles. Folding
   the log again for every run would double it each time; the indexed fold should keep it nearly constant.

    python benchmarks/policy_memory.py [observations]
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import process_time

import msgspec

from untaken.counterfactual import evaluate_run
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.ledger import GENESIS, Head, Integrity, Run, RunFinished, RunStarted, SkillSelection

START = datetime(2026, 1, 1, tzinfo=UTC)
ROUNDS = 5
POINTS = 10
SKILLS = tuple("abcd")
CONTEXTS = 40


def a_run(number: int) -> Run:
    """A run of ten decisions among four skills; the next begins when it ends."""
    run_id, begun = f"run-{number:06d}", START + timedelta(minutes=number)
    envelope = {"run_id": run_id, "prev": GENESIS}
    choices = [
        SkillSelection(
            **envelope,
            seq=i + 1,
            ts=begun,
            selected=SKILLS[(number + i) % 4],
            alternatives=list(SKILLS),
            context_hash=f"context-{(number * 7 + i) % CONTEXTS}",
        )
        for i in range(POINTS)
    ]
    end = RunFinished(
        **envelope,
        seq=POINTS + 1,
        ts=begun + timedelta(seconds=59),
        success=number % 3 > 0,
        cost=number % 97 / 31,
        steps=number % 13,
    )
    events = (RunStarted(**envelope, seq=0, ts=begun, agent="x", task_id="t"), *choices, end)
    integrity = Integrity(run_id=run_id, verdict="INTACT", reason="", head=Head(events=12, sha256=GENESIS))
    return Run(events=events, integrity=integrity)


def cost_of(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun


def growth(observations: int) -> None:
    memory = PolicyMemory.build(map(a_run, range(observations // POINTS)))
    decoder, encoder = msgspec.json.Decoder(Observed), msgspec.json.Encoder()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.memory.jsonl"
        memory.save(path)
        lines = path.read_bytes().splitlines()

        def fold() -> None:
            fresh = PolicyMemory.load(path)
            times["snapshot and every record"].append(cost_of(lambda: list(fresh.snapshot().records())))
            times["digest"].append(cost_of(lambda: fresh.snapshot().digest))

        stages: dict[str, Callable[[], object]] = {
            "floor": lambda: [encoder.encode(decoder.decode(line)) for line in lines],
            "load": lambda: PolicyMemory.load(path),
            "save": lambda: memory.save(path),
            "append to an empty log": lambda: PolicyMemory(memory.log),
        }
        times: dict[str, list[float]] = {name: [] for name in stages}
        times |= {"snapshot and every record": [], "digest": []}
        for _ in range(ROUNDS):
            for name, work in stages.items():
                times[name].append(cost_of(work))
            fold()
    print(f"{len(lines):,} observations")
    for name, used in times.items():
        ratio = median(t / floor for t, floor in zip(used, times["floor"], strict=True))
        print(f"  {name:28} {1000 * median(used):7.0f} ms   {ratio:5.2f} × floor")


def scaling(observations: int) -> None:
    print("evaluating N runs as of their own starts, ten decisions with three alternatives each")
    for n in (observations // POINTS // 8, observations // POINTS // 4, observations // POINTS // 2):
        runs = [a_run(i) for i in range(n)]
        memory = PolicyMemory.build(runs)
        used = cost_of(lambda m=memory, r=runs: [evaluate_run(run, m) for run in r])
        each = 1e6 * used / n
        print(f"  {n:6,} runs   {each:6.0f} µs a run   {each / POINTS / 3:5.1f} µs a branch")


def main() -> None:
    observations = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    gc.disable()
    growth(observations)
    scaling(observations)


if __name__ == "__main__":
    main()
