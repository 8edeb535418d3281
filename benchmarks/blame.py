"""The decisive step of failed runs against the step that people call the root cause (AgentRx labels).

The decisive step is the plan change at which the forecast, made from other tasks, falls most
(`EvaluatedPath.decisive_seq`). Beside it are trivial guesses. A hit is the same message (exact), one message
off at most, or the same agent turn (between two messages of the user). Labels are read as counted from 1 and
from 0. Chance picks any of the agent's messages of the run, each as likely; p is exact and one-sided.

    python benchmarks/blame.py

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from untaken.counterfactual.plan import EvaluatedPath, evaluate_plans
from untaken.errors import Unscored
from untaken.failure_modes.root_causes import RootCauseAgreement, ceiling_words, root_cause_agreement
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
    ceiling = ceiling_words(second_labels())
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
        print(f"  {ceiling}")


def second_labels() -> tuple[RootCauseAgreement, ...]:
    """The two people who labelled the same Who&When runs."""
    sources = [
        RECORDS / "who_and_when" / "Hand-Crafted",
        RECORDS / "agentrx" / "magentic_one_ground_truth.json",
    ]
    if not all(source.exists() for source in sources):
        return ()
    with TemporaryDirectory() as out:
        ledgers = convert("who-and-when", sources, out).ledgers
        return root_cause_agreement(run for ledger in ledgers for run in read_ledger(ledger))


if __name__ == "__main__":
    main()
