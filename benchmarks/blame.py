"""The decisive step of failed runs against the step that people call the root cause (AgentRx labels).

The decisive step is the plan change at which the forecast, made from other tasks, falls most
(`EvaluatedPath.decisive_seq`). Beside it are trivial guesses. A hit is the same message (exact), one message
off at most, or the same agent turn (between two messages of the user). Labels are read as counted from 1 and
from 0. Chance picks any of the agent's messages of the run, each as likely; p is exact and one-sided.

Second, Who&When: nothing in these records says which step of a plan is done. Here each instruction of the
orchestrator is taken for an attempt at the item of its first plan that has most words in common, and an
attempt for a success where its ledger says next that there is progress and no loop. The first item whose last
attempt was none is blamed, at the answer to its first or its last attempt; the labels are those of both
people, each by itself. Such sub-goals are not imported.

    python benchmarks/blame.py

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from untaken.analysis.failure_modes.agreement import steps_of
from untaken.analysis.failure_modes.root_causes import ceiling_words, root_cause_agreement, root_causes
from untaken.counterfactual.plan import EvaluatedPath, evaluate_plans
from untaken.errors import Unscored
from untaken.ledger import (
    Message,
    Observation,
    Plan,
    Run,
    RunFinished,
    SkillSelection,
    State,
    ToolCall,
    Verdict,
    read_ledger,
)
from untaken.plans import load_graphs, map_actions
from untaken.traces import convert

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
AUTHOR: Final = "human:agentrx"
WORD: Final = re.compile(r"\w{3,}")


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
    twice = twice_labelled()
    ceiling = ceiling_words(root_cause_agreement(twice))
    for counted, shift in (("from 1", 0), ("from 0", 1)):
        table: dict[str, dict[str, list[tuple[bool, float]]]] = {}
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
                    table.setdefault(name, {}).setdefault(kind, []).append((won, chance))
        show(f"steps counted {counted}: hits of runs (by chance, p)", table)
        print(f"  {ceiling}")
    orchestrated(twice)
    print(f"  {ceiling}")


@dataclass(frozen=True, slots=True)
class Orchestrated:
    """A Who&When run by its steps: its first plan, and each instruction with its answer and its success.

    Attributes:
        attempts: (place in the plan or ``None``, step of the answer, success or ``None`` at the end).
        stuck: the step before the first ledger that says no progress, or a loop.
        replanned: the step before the first new plan.
        team: the steps of agents.
    """

    items: int
    attempts: list[tuple[int | None, int, bool | None]]
    stuck: int | None
    replanned: int | None
    team: list[int]

    @classmethod
    def of(cls, run: Run) -> Orchestrated:
        steps, plans = steps_of(run), list(run.of(Plan))
        items = [one for one in plans[0].sub_goals if not one.startswith("Fact sheet:")] if plans else []
        states = [(steps[e.seq], progressing(e)) for e in run.of(State)]
        attempts = []
        for chosen in run.of(SkillSelection):
            told = run.events[chosen.seq + 1]
            place = nearest(str(told.content), items) if isinstance(told, Message) else None
            after = next(((at, well) for at, well in states if at > steps[chosen.seq]), None)
            answer = after[0] - 2 if after else steps[-1] - 1  # the ledger's own message is between
            attempts.append((place, answer, after[1] if after else None))
        return cls(
            items=len(items),
            attempts=attempts,
            stuck=next((at - 2 for at, well in states if not well), None),
            replanned=next((steps[plan.seq] - 2 for plan in plans[1:]), None),
            team=[steps[e.seq] for e in run.of(Message) if e.role.casefold() != "human"],
        )

    def guesses(self) -> dict[str, int | None]:
        """The step that each way of guessing blames."""
        tried: dict[int, list[tuple[int, bool | None]]] = {}
        for place, answer, well in self.attempts:
            if place is not None:
                tried.setdefault(place, []).append((answer, well))
        undone = next((tried[place] for place in sorted(tried) if not tried[place][-1][1]), None)
        answers = [answer for _, answer, _ in self.attempts]
        return {
            "open sub-goal, first try": undone[0][0] if undone else None,
            "open sub-goal, last try": undone[-1][0] if undone else None,
            "before first no progress": self.stuck,
            "before first new plan": self.replanned,
            "first answer": answers[0] if answers else None,
            "second answer": answers[1] if len(answers) > 1 else None,
            "middle message": self.team[len(self.team) // 2],
            "last message": self.team[-1],
        }


def progressing(state: State) -> bool:
    return bool(state.state.get("is_progress_being_made")) and not state.state.get("is_in_loop")


def nearest(told: str, items: Sequence[str]) -> int | None:
    """The item with most words in common; ``None`` where none has any."""

    def alike(item: str) -> float:
        one, other = ({word[:6] for word in WORD.findall(text.lower())} for text in (told, item))
        return len(one & other) / (len(one) * len(other)) ** 0.5 if one and other else 0.0

    best = max(items, key=alike, default=None)
    return items.index(best) if best is not None and alike(best) else None


def orchestrated(runs: Sequence[Run]) -> None:
    """Blame by the orchestrator's plan and ledger, against each person."""
    seen = [Orchestrated.of(run) for run in runs]
    attempts = [place for one in seen for place, _, _ in one.attempts]
    tried = sum(len({place for place, _, _ in one.attempts} - {None}) for one in seen)
    print(
        f"Who&When: {sum(one.items for one in seen)} items of {len(runs)} first plans, {tried} tried by "
        f"{sum(place is not None for place in attempts)} of {len(attempts)} instructions"
    )
    for person in sorted({person for run in runs for person in root_causes(run)}):
        table: dict[str, dict[str, list[tuple[bool, float]]]] = {}
        for run, one in zip(runs, seen, strict=True):
            cause = root_causes(run).get(person)
            if cause is None:
                continue
            root = steps_of(run)[cause.event]
            for name, guess in one.guesses().items():
                for kind, reach in (("exact", 0), ("±1", 1)):
                    chance = float(np.mean([abs(at - root) <= reach for at in one.team]))
                    won = guess is not None and abs(guess - root) <= reach
                    table.setdefault(name, {}).setdefault(kind, []).append((won, chance))
        show(f"{person}: hits of runs (by chance, p)", table)


def show(head: str, table: Mapping[str, Mapping[str, Sequence[tuple[bool, float]]]]) -> None:
    print(head)
    for name, kinds in table.items():
        cells = []
        for kind, drawn in kinds.items():
            hits, chances = sum(hit for hit, _ in drawn), [chance for _, chance in drawn]
            cells.append(f"{kind} {hits} of {len(drawn)} ({sum(chances):.1f}, {exact_p(hits, chances):.2f})")
        print(f"  {name:26}" + "  ".join(f"{cell:24}" for cell in cells))


def twice_labelled() -> list[Run]:
    """The Hand-Crafted runs of Who&When with the labels of both people; none without the records."""
    sources = [
        RECORDS / "who_and_when" / "Hand-Crafted",
        RECORDS / "agentrx" / "magentic_one_ground_truth.json",
    ]
    if not all(source.exists() for source in sources):
        return []
    with TemporaryDirectory() as out:
        ledgers = convert("who-and-when", sources, out).ledgers
        return [run for ledger in ledgers for run in read_ledger(ledger)]


if __name__ == "__main__":
    main()
