"""What policy memory costs as it grows, and how often its advantages mislead.

1. Loading and folding a log, as multiples of the floor (typed decoding and encoding of its lines).
2. Evaluating N runs, each as of its own start and without itself: CPU time a run while N doubles. Folding the
   log anew for every run would double it each time; the indexed fold should leave it nearly flat.
3. How often two skills are told apart, by the ±0.1 rule alone and by the interval: identical skills (success
   0.5, per-run standard deviation of the score 0.26), then one with 0.2 more success and one whose failures
   cost more; and how often the interval holds the true advantage (nominal: 95 %).

    python benchmarks/policy_memory.py [observations] [repetitions]
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import process_time

import msgspec
import numpy as np

from untaken.counterfactual import Scale, Weights, evaluate_run
from untaken.counterfactual.trust import compare
from untaken.errors import Unscored
from untaken.ledger import GENESIS, Head, Integrity, Run, RunFinished, RunStarted, SkillSelection
from untaken.memory import Observed, PolicyMemory, Span, Spans

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
    for name, taken in times.items():
        ratio = median(t / floor for t, floor in zip(taken, times["floor"], strict=True))
        print(f"  {name:28} {1000 * median(taken):7.0f} ms   {ratio:5.2f} × floor")


def scaling(observations: int) -> None:
    print("evaluating N runs as of their own starts, ten decisions with three alternatives each")
    for n in (observations // POINTS // 8, observations // POINTS // 4, observations // POINTS // 2):
        runs = [a_run(i) for i in range(n)]
        memory = PolicyMemory.build(runs)
        taken = cost_of(lambda m=memory, r=runs: [evaluate_run(run, m) for run in r])
        each = 1e6 * taken / n
        print(f"  {n:6,} runs   {each:6.0f} µs a run   {each / POINTS / 3:5.1f} µs a branch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """How a skill's runs come out: success rate, and cost and steps given success."""

    success: float = 0.5
    cost: float = 0.5
    dearer_failures: float = 0.0

    def draw(self, n: int, random: np.random.Generator) -> list[tuple[float, float, float]]:
        won = (random.random(n) < self.success).astype(float)
        shift = self.cost + self.dearer_failures * (0.5 - won)
        figures = (np.clip(random.normal(shift, 0.14, n), 0, 1) for _ in range(2))
        return list(zip(won.tolist(), *(f.tolist() for f in figures), strict=True))

    def score(self, random: np.random.Generator) -> float:
        drawn = np.array(self.draw(400_000, random))
        return float((drawn @ np.array([0.5, -0.3, -0.2])).mean()) + 0.5


SCENARIOS = {
    "identical": (Truth(), Truth()),
    "identical, failures dearer": (Truth(dearer_failures=0.4), Truth(dearer_failures=0.4)),
    "identical, success 0.9": (Truth(success=0.9), Truth(success=0.9)),
    "0.2 more success": (Truth(success=0.4), Truth(success=0.6)),
    "cheaper by 0.2": (Truth(cost=0.6), Truth(cost=0.4)),
}


def arms(pair: tuple[Truth, Truth], n: int, repetitions: int, random: np.random.Generator) -> PolicyMemory:
    return PolicyMemory(
        Observed(
            key=f"{context}/{skill}/{i}",
            kind="outcome",
            skill=skill,
            context_hash=str(context),
            success=success,
            cost=cost,
            steps=steps,
            weight=1.0,
            run_id=f"{context}/{skill}/{i}",
            ts=START,
        )
        for context in range(repetitions)
        for skill, truth in zip("ab", pair, strict=True)
        for i, (success, cost, steps) in enumerate(truth.draw(n, random))
    )


def calls(repetitions: int) -> None:
    unit = Span(low=0, high=1)
    scale = Scale(spans=Spans(cost=unit, steps=unit), weights=Weights())
    random = np.random.default_rng(0)
    print(f"told apart in {repetitions} pairs of histories: point rule / interval; true advantage held")
    for name, pair in SCENARIOS.items():
        truth = pair[1].score(random) - pair[0].score(random)
        print(f"  {name} (true advantage {truth:+.2f})")
        for n in (3, 5, 10, 20, 30, 60):
            snapshot = arms(pair, n, repetitions, random).snapshot()
            point = supported = held = 0
            for context in map(str, range(repetitions)):
                a, b = snapshot.record("a", context), snapshot.record("b", context)
                assert a is not None
                assert b is not None
                trust = compare(b, a, scale, 0.1)
                assert not isinstance(trust.advantage, Unscored)
                assert not isinstance(trust.low, Unscored)
                assert not isinstance(trust.high, Unscored)
                point += abs(trust.advantage) > 0.1
                supported += trust.support == "supported"
                held += trust.low <= truth <= trust.high
            shares = (100 * count / repetitions for count in (point, supported, held))
            print("    n = {:2}   {:4.0f} % / {:4.1f} %   {:5.1f} %".format(n, *shares))


def main() -> None:
    observations = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    gc.disable()
    growth(observations)
    scaling(observations)
    gc.enable()
    calls(repetitions)


if __name__ == "__main__":
    main()
