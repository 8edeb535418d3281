"""The decisive step of failed runs against the step that people call the root cause (AgentRx labels).

The decisive step is the plan change at which the forecast, made from other tasks, falls most
(`EvaluatedPath.decisive_seq`). Beside it are trivial guesses. A hit is the same message (exact), one message
off at most, or the same agent turn (between two messages of the user). Labels are read as counted from 1 and
from 0. Chance picks any of the agent's messages of the run, each as likely; p is exact and one-sided.

    python benchmarks/blame.py

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from untaken.counterfactual.plan import EvaluatedPath, evaluate_plans
from untaken.errors import Unscored
from untaken.formats import convert
from untaken.ledger import (
    Message,
    Observation,
    Run,
    RunFinished,
    SkillSelection,
    ToolCall,
    Verdict,
    read_ledger,
)
from untaken.plans import load_graphs, map_actions
from untaken.stats.rates import wilson

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
AUTHOR: Final = "human:agentrx"


@dataclass(frozen=True, slots=True)
class Trail:
    """A run by its messages: the message and the turn of each event, and which messages are the agent's."""

    message: dict[int, int]
    turn: list[int]
    agents: list[int]

    @classmethod
    def of(cls, run: Run) -> Trail:
        message, turn, agents, turns, open_call = {}, [], [], 0, False
        for event in run.events:
            if isinstance(event, Message | Observation):
                turns += isinstance(event, Message) and event.role == "user"
                turn.append(turns)
                open_call = isinstance(event, Message) and event.role == "assistant"
                if open_call:
                    agents.append(len(turn) - 1)
            elif isinstance(event, SkillSelection | ToolCall) and not open_call:
                turn.append(turns)
                agents.append(len(turn) - 1)
                open_call = True
            elif isinstance(event, RunFinished):
                message[event.seq] = agents[-1]
                break
            message[event.seq] = len(turn) - 1
        return cls(message, turn, agents)


def guesses(found: EvaluatedPath, trail: Trail) -> dict[str, int | None]:
    """The message that each way of guessing blames."""
    changes = [d.decision for d in found.decisions]
    unplanned = [d.seq for d in changes if d.option.kind == "unplanned"]
    return {
        "decisive step": None if found.decisive_seq is None else trail.message[found.decisive_seq],
        "first plan change": trail.message[changes[0].seq] if changes else None,
        "last plan change": trail.message[changes[-1].seq] if changes else None,
        "first unplanned change": trail.message[unplanned[0]] if unplanned else None,
        "first message": trail.agents[0],
        "middle message": trail.agents[len(trail.agents) // 2],
        "last message": trail.agents[-1],
    }


Hit = Callable[[Trail, int, int], bool]
HITS: dict[str, Hit] = {
    "exact": lambda _, guess, root: guess == root,
    "±1": lambda _, guess, root: abs(guess - root) <= 1,
    "turn": lambda trail, guess, root: trail.turn[guess] == trail.turn[root],
}


def exact_p(hits: int, chances: Sequence[float]) -> float:
    """P(at least so many) of independent draws with these chances."""
    spread = np.ones(1)
    for chance in chances:
        spread = np.convolve(spread, [1 - chance, chance])
    return float(spread[hits:].sum())


def main() -> None:
    folder = RECORDS / "agentrx"
    if not folder.is_dir():
        print(f"no records: {folder} is not there (set UNTAKEN_REAL_DATA)")
        return
    with TemporaryDirectory() as out:
        convert("agentrx", [folder], out)
        runs = [run for path in sorted(Path(out, "ledgers").glob("*.jsonl")) for run in read_ledger(path)]
        graphs = load_graphs(Path(out, "graphs")).graphs
    by_id = {graph.id: graph for graph in graphs}
    rows = [
        (run, by_id.get(run.started.graph or "", Unscored("no graph")), run.started.graph) for run in runs
    ]
    found = evaluate_plans(
        [(run, g, () if isinstance(g, Unscored) else map_actions(run, g).mapped) for run, g, _ in rows]
    )
    labelled = [
        (r, v) for r in runs for v in r.events if isinstance(v, Verdict) and v.by == AUTHOR and v.evidence
    ]
    for counted, shift in (("from 1", 0), ("from 0", 1)):
        table: dict[tuple[str, str], list[tuple[bool, float]]] = {}
        for run, verdict in labelled:
            path = found.runs.get(run.digest)
            if path is None or not verdict.evidence:
                continue
            trail = Trail.of(run)
            root = min(trail.message[verdict.evidence[0].seq] + shift, len(trail.turn) - 1)
            for name, guess in guesses(path, trail).items():
                for kind, hit in HITS.items():
                    chance = float(np.mean([hit(trail, at, root) for at in trail.agents]))
                    won = guess is not None and hit(trail, guess, root)
                    table.setdefault((name, kind), []).append((won, chance))
        print(f"steps counted {counted}: hits of runs (by chance, p)")
        for name in dict.fromkeys(name for name, _ in table):
            cells = []
            for kind in HITS:
                won = [hit for hit, _ in table[name, kind]]
                chances = [chance for _, chance in table[name, kind]]
                cells.append(
                    f"{kind} {sum(won)} of {len(won)} ({sum(chances):.1f}, {exact_p(sum(won), chances):.2f})"
                )
            print(f"  {name:24}" + "  ".join(f"{cell:24}" for cell in cells))
        print(f"  {ceiling() or 'human ceiling: no second labels here'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Two people on the same runs: how often they name the same step, one at most one off, the same agent."""

    runs: int
    same_step: int
    within_one: int
    same_agent: int
    kappa: float

    def __str__(self) -> str:
        counts = {"same step": self.same_step, "±1": self.within_one, "same agent": self.same_agent}
        shares = ", ".join(f"{words} {n} ({_share(n, self.runs)})" for words, n in counts.items())
        return f"human ceiling, two people on {self.runs} Who&When runs: {shares}, κ {self.kappa:.2f}"


def _share(n: int, runs: int) -> str:
    low, high = wilson(n, runs)
    return f"{n / runs:.0%}, {low:.0%} to {high:.0%}"


def ceiling() -> Ceiling | None:
    """AgentRx's label (steps from 1) and the record's own (from 0) of the same Who&When runs."""
    path = RECORDS / "agentrx" / "magentic_one_ground_truth.json"
    if not path.is_file():
        return None
    second = json.loads(path.read_text("utf-8"))
    labels = {}
    for label in second:
        root = label["root_cause"]["failure_id"]
        labels[label["trajectory_id"]] = next(
            (int(f["step_number"]), str(f["failed_agent"]).casefold())
            for f in label["failures"]
            if f["failure_id"] == root
        )
    gaps, agents = [], []
    for path in sorted((RECORDS / "who_and_when" / "Hand-Crafted").glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        if record.get("question_ID") in labels:
            step, agent = labels[record["question_ID"]]
            gaps.append(abs(step - 1 - int(record["mistake_step"])))
            agents.append((agent, str(record["mistake_agent"]).casefold()))
    same = sum(a == b for a, b in agents)
    first, other = (Counter(answers) for answers in zip(*agents, strict=True))
    chance = sum(first[name] * other[name] for name in first) / len(agents) ** 2
    return Ceiling(
        runs=len(gaps),
        same_step=gaps.count(0),
        within_one=sum(gap <= 1 for gap in gaps),
        same_agent=same,
        kappa=(same / len(agents) - chance) / (1 - chance),
    )


if __name__ == "__main__":
    main()
