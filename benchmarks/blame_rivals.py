"""Automatic blame and the simplest rules, beside two people: AgentRx and Who&When.

A rule names one message of a failed run, a person names the root cause. A hit is the same message (same step)
or one message off at most (±1); a rule that names none, as where no call failed, misses. Chance picks any of
the agents' messages, each as likely; p is exact and one-sided, not corrected for the number of rules. The
intervals are 95%, Wilson's with Student's t, clustered by task (`untaken.stats.agreement_share`).

- **decisive step** and **first plan change**: see `benchmarks/blame.py`; AgentRx alone has plan graphs.
- **first failed sub-goal**: what the Run page says went wrong first, at its last attempt.
- **first error**: the message whose call failed first. In a run of Who&When without results it is the agents'
  first message that has a word of `ERROR`.
- **second message**, **last message**, of the agents. **second answer**: the second to an orchestrator.

Two people: the same step, ±1 and the same agent, with Cohen's κ, where a run has two independent labels.

    python -m benchmarks.blame_rivals

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from benchmarks import blame
from untaken import stats
from untaken.analysis.failure_modes.root_causes import RootCauseAgreement, root_cause_agreement, root_causes
from untaken.counterfactual.plan import evaluate_plans
from untaken.errors import Score, Unscored
from untaken.ledger import Message, Observation, Run, read_ledger
from untaken.plans import PlanGraph, load_graphs, map_actions
from untaken.scoring import score_run
from untaken.scoring.causes.places import undone_in_order
from untaken.traces import convert

ERROR: Final = re.compile(r"\b(error|exception|traceback|failed)\b", re.IGNORECASE)
ORCHESTRATOR: Final = "Orchestrator ("
RETAIL, HAND, GENERATED = "AgentRx retail", "Who&When Hand-Crafted", "Who&When Algorithm-Generated"
PERSON: Final = {RETAIL: blame.AUTHOR, HAND: "human:who-and-when", GENERATED: "human:who-and-when"}

Guesses = Mapping[str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A failed run as the rules see it: the messages of its agents, the blamed one, and each rule's guess."""

    task: str
    agents: Sequence[int]
    root: int
    guesses: Guesses


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How often a rule names the message that a person blames, or one at most `reach` beside it."""

    name: str
    reach: int
    hits: int
    runs: int
    share: Score
    low: Score
    high: Score
    chance: float
    p: float

    @property
    def p_words(self) -> str:
        return "< 0.01" if self.p < 0.005 else f"{self.p:.2f}"


def rules_of(labelled: Sequence[Labelled]) -> Iterator[Rule]:
    """Each rule, exactly and within one message."""
    for name in dict.fromkeys(name for one in labelled for name in one.guesses):
        for reach in (0, 1):
            won = [
                guess is not None and abs(guess - one.root) <= reach
                for one in labelled
                for guess in [one.guesses.get(name)]
            ]
            chances = [float(np.mean([abs(at - one.root) <= reach for at in one.agents])) for one in labelled]
            tasks: dict[str, list[stats.Pair]] = {}
            for one, hit in zip(labelled, won, strict=True):
                tasks.setdefault(one.task, []).append((True, hit))
            share, low, high = stats.agreement_share([*tasks.values()])
            yield Rule(
                name=name,
                reach=reach,
                hits=sum(won),
                runs=len(won),
                share=share,
                low=low,
                high=high,
                chance=sum(chances),
                p=blame.exact_p(sum(won), chances),
            )


def retail(folder: Path, *, from_0: bool = False) -> list[Labelled]:
    """The labelled retail runs of AgentRx; the source does not say whether its steps count from 1 or 0."""
    with TemporaryDirectory() as out:
        convert("agentrx", [folder], out)
        runs = [run for path in sorted(Path(out, "ledgers").glob("*.jsonl")) for run in read_ledger(path)]
        graphs = load_graphs(Path(out, "graphs"))
    of_run = {run.digest: graphs.for_task(run.task_id, run.started.graph)[0] for run in runs}
    paths = evaluate_plans(
        (run, graph, () if isinstance(graph, Unscored) else map_actions(run, graph).mapped)
        for run in runs
        for graph in [of_run[run.digest]]
    ).runs
    found = []
    for run in runs:
        cause, graph = root_causes(run).get(blame.AUTHOR), of_run[run.digest]
        if cause is None or isinstance(graph, Unscored):
            continue
        trail = blame.Trail.of(run)
        plan = blame.guesses(paths[run.digest], trail) if run.digest in paths else {}
        failed = next((e.seq for e in run.of(Observation) if e.ok is False), None)
        guesses = {
            "decisive step": plan.get("decisive step"),
            "first plan change": plan.get("first plan change"),
            "first failed sub-goal": _first_failed(run, graph, trail),
            "first error": None
            if failed is None
            else max(a for a in trail.agents if a < trail.message[failed]),
            "second message": trail.agents[1],
            "last message": trail.agents[-1],
        }
        root = min(trail.message[cause.event] + from_0, len(trail.turn) - 1)
        found.append(Labelled(task=run.task_id, agents=trail.agents, root=root, guesses=guesses))
    return found


def _first_failed(run: Run, graph: PlanGraph, trail: blame.Trail) -> int | None:
    undone = undone_in_order(score_run(run, graph), graph, run)
    return trail.message[undone[0].events[-1]] if undone and undone[0].events else None


def chats(runs: Sequence[Run], person: str) -> list[Labelled]:
    """Runs of Who&When that a person labelled, counted in entries of their history."""
    found = []
    for run in runs:
        cause = root_causes(run).get(person)
        if cause is None:
            continue
        history = [e for e in run.events if isinstance(e, Message | Observation)]
        agents = [
            at for at, e in enumerate(history) if isinstance(e, Message) and e.role.casefold() != "human"
        ]
        failed = [at for at, e in enumerate(history) if isinstance(e, Observation) and e.ok is False]
        guesses: dict[str, int | None] = {
            "first error": _error_in(history, agents, failed),
            "second message": agents[1] if len(agents) > 1 else None,
            "last message": agents[-1],
        }
        if answers := _answers(history, agents):
            guesses["second answer"] = answers[1] if len(answers) > 1 else None
        root = next(at for at, e in enumerate(history) if e.seq == cause.event)
        found.append(Labelled(task=run.task_id, agents=agents, root=root, guesses=guesses))
    return found


def _error_in(
    history: Sequence[Message | Observation], agents: Sequence[int], failed: Sequence[int]
) -> int | None:
    """The message before the first failed result; where no result is known, the first error in words."""
    if any(isinstance(e, Observation) and e.ok is not None for e in history):
        return max((at for at in agents if at < failed[0]), default=None) if failed else None
    return next((at for at in agents if ERROR.search(str(history[at].content))), None)


def _answers(history: Sequence[Message | Observation], agents: Sequence[int]) -> list[int]:
    """What the agents of an orchestrator say; nothing where there is no orchestrator."""
    spoken = [(at, e.role) for at in agents for e in [history[at]] if isinstance(e, Message)]
    answers = [at for at, role in spoken if not role.startswith(ORCHESTRATOR)]
    return answers if len(answers) < len(spoken) else []


def generated(folder: Path) -> list[Run]:
    """The Algorithm-Generated runs of Who&When."""
    with TemporaryDirectory() as out:
        return [
            run for ledger in convert("who-and-when", [folder], out).ledgers for run in read_ledger(ledger)
        ]


def two_people() -> RootCauseAgreement:
    """How far two people agree on the Hand-Crafted runs with two labels."""
    (found,) = root_cause_agreement(blame.twice_labelled())
    return found


def labelled_sets() -> dict[str, Callable[[], list[Labelled]]]:
    """The labelled runs of each set of records, by its name."""
    agentrx, chat = blame.RECORDS / "agentrx", blame.RECORDS / "who_and_when"
    return {
        f"{RETAIL}, steps from 1": lambda: retail(agentrx),
        f"{RETAIL}, steps from 0": lambda: retail(agentrx, from_0=True),
        HAND: lambda: chats(blame.twice_labelled(), PERSON[HAND]),
        f"{HAND}, second person": lambda: chats(blame.twice_labelled(), blame.AUTHOR),
        GENERATED: lambda: chats(generated(chat / "Algorithm-Generated"), PERSON[GENERATED]),
    }


def in_words(share: Score, low: Score, high: Score) -> str:
    return f"{share:.0%}, {low:.0%} to {high:.0%}"


def rows(labelled: Sequence[Labelled]) -> Iterator[str]:
    """The rows of a table of rules, as the documentation has them."""
    found = [*rules_of(labelled)]
    for exact, near in zip(found[::2], found[1::2], strict=True):
        cells = (
            f"{one.hits} ({in_words(one.share, one.low, one.high)}) | {one.chance:.1f}, {one.p_words}"
            for one in (exact, near)
        )
        yield f"| {exact.name} | {' | '.join(cells)} |"


def ceiling_row(found: RootCauseAgreement) -> str:
    """The row of two people: same step, ±1, same agent, κ."""
    agents = stats.agreement_share([[(True, at < found.same_sub_goal)] for at in range(found.named)])
    return (
        f"| {found.runs} | {found.same_step} ({in_words(found.same, found.same_low, found.same_high)}) "
        f"| {found.near_step} ({in_words(found.near, found.near_low, found.near_high)}) "
        f"| {found.same_sub_goal} ({in_words(*agents)}) "
        f"| {found.kappa:.2f} ({found.kappa_low:.2f} to {found.kappa_high:.2f}) |"
    )


def main() -> None:
    if not blame.RECORDS.is_dir():
        print(f"no records: {blame.RECORDS} is not there (set UNTAKEN_REAL_DATA)")
        return
    for name, load in labelled_sets().items():
        labelled = load()
        print(f"{name}: {len(labelled)} runs of {len({one.task for one in labelled})} tasks")
        print("| rule | same step | by chance, p | ±1 | by chance, p |\n|---|---|---|---|---|")
        print("\n".join(rows(labelled)))
    print("two people\n| runs | same step | ±1 | same agent | κ |\n|---|---|---|---|---|")
    print(ceiling_row(two_people()))


if __name__ == "__main__":
    main()
