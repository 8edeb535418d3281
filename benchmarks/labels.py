"""How often rates from a few labels and a judge hold the truth, and how wide they are beside labels alone.

1. DevAI: people and a judge decided every requirement of every run, so the truth is known. Labels are hidden
   but for a random draw: of requirements, of requirements with unequal known odds, or of whole tasks. Beside
   each, as a negative control, the same with every label taken for independent.
2. Simulated worlds: tasks differ, and so does the judge's error from task to task; the truth is that of these
   runs, or that of the tasks they come from. In some, two agents have unequal shares of the labels.
3. `benchmarks/label_draws.py` tries the check that labels are a random draw.

    python -m benchmarks.labels [draws]

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so, and simulates.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from untaken.errors import Unscored
from untaken.judging import verdict_agreement
from untaken.ledger import Run, read_ledger
from untaken.stats.corrected import Target
from untaken.stats.post_stratified import Labels, corrected_difference, corrected_rate
from untaken.stats.rounding import Floats
from untaken.traces import convert

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Items:
    """What people would say of each item, what the judge says, whose task it is, and which agent's."""

    people: Floats
    judge: Floats
    cluster: np.ndarray
    agent: np.ndarray | None = None

    def labelled(self, drawn: np.ndarray, odds: Floats) -> Labels:
        people = np.where(drawn, self.people, np.nan)
        agent = np.zeros(people.size) if self.agent is None else self.agent
        return Labels(judge=self.judge, people=people, odds=odds, cluster=self.cluster, agent=agent)


Draw = Callable[[Items, Random], tuple[np.ndarray, Floats]]
"""Which items get a label, and with which odds each could."""


def some(n: int) -> Draw:
    def draw(items: Items, random: Random) -> tuple[np.ndarray, Floats]:
        size = len(items.judge)
        drawn = np.isin(np.arange(size), random.choice(size, n, replace=False))
        return drawn, np.full(size, n / size)

    return draw


def unequal(n: int) -> Draw:
    """What the judge calls not met is drawn three times as often."""

    def draw(items: Items, random: Random) -> tuple[np.ndarray, Floats]:
        weight = np.where(items.judge > 0, 1.0, 3.0)
        odds = n * weight / weight.sum()
        return random.random(len(odds)) < odds, odds

    return draw


def uneven(first: int, second: int) -> Draw:
    """So many items of the first of two agents, and so many of the second."""

    def draw(items: Items, random: Random) -> tuple[np.ndarray, Floats]:
        assert items.agent is not None
        drawn = np.zeros(items.agent.size, dtype=bool)
        for agent, n in ((0, first), (1, second)):
            drawn[random.choice(np.flatnonzero(items.agent == agent), n, replace=False)] = True
        return drawn, np.full(drawn.size, drawn.mean())

    return draw


def whole_tasks(n: int) -> Draw:
    def draw(items: Items, random: Random) -> tuple[np.ndarray, Floats]:
        tasks = np.unique(items.cluster)
        drawn = np.isin(items.cluster, random.choice(tasks, n, replace=False))
        return drawn, np.full(len(items.judge), n / len(tasks))

    return draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Of so many draws: how often both intervals held the truth, and their mean widths."""

    draws: int
    held: float
    width: float
    people_held: float
    people_width: float
    worth: float

    @property
    def ratio(self) -> float:
        return self.width / self.people_width

    @classmethod
    def of(cls, rows: Iterable[tuple[float, ...]]) -> Coverage:
        table = np.array(list(rows))
        held, width, people_held, people_width = table[:, :4].mean(axis=0).tolist()
        return cls(
            draws=len(table),
            held=held,
            width=width,
            people_held=people_held,
            people_width=people_width,
            worth=float(np.median(table[:, 4])),
        )


def row(found: object, truth: float) -> tuple[float, ...] | None:
    low, high, people_low, people_high, worth = (
        getattr(found, name) for name in ("low", "high", "people_low", "people_high", "worth")
    )
    if isinstance(low, Unscored):
        return None
    worth = 1.0 if isinstance(worth, Unscored) else worth
    holds = [float(a - 1e-9 <= truth <= b + 1e-9) for a, b in ((low, high), (people_low, people_high))]
    return holds[0], high - low, holds[1], people_high - people_low, worth


def coverage(items: Items, draw: Draw, *, draws: int, seed: int = 0, naive: bool = False) -> Coverage:
    """Over draws of labels from the same runs; the truth is what people say of all of them."""
    random, truth = np.random.default_rng(seed), float(items.people.mean())
    asked = replace(items, cluster=np.arange(len(items.judge))) if naive else items
    rows = (row(corrected_rate(asked.labelled(*draw(items, random))), truth) for _ in range(draws))
    return Coverage.of(one for one in rows if one is not None)


def difference_coverage(first: Items, second: Items, draw: Draw, *, draws: int, seed: int = 0) -> Coverage:
    random, truth = np.random.default_rng(seed), float(first.people.mean() - second.people.mean())
    rows = (
        row(
            corrected_difference(
                *(corrected_rate(one.labelled(*draw(one, random))) for one in (first, second))
            ),
            truth,
        )
        for _ in range(draws)
    )
    return Coverage.of(one for one in rows if one is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Tasks of so many items; how alike tasks are (the size of a Beta), and the judge's error in them.

    With `other`, the rate of a second agent, which has items of its own in each task.
    """

    tasks: int = 25
    items: int = 8
    rate: float = 0.6
    alike: float = 3.0
    error: float = 0.12
    error_alike: float = 6.0
    other: float | None = None

    def draw(self, random: Random) -> Items:
        met = random.beta(self.rate * self.alike, (1 - self.rate) * self.alike, self.tasks)
        off = random.beta(self.error * self.error_alike, (1 - self.error) * self.error_alike, self.tasks)
        cluster = np.repeat(np.arange(self.tasks), self.items)
        people = random.random(cluster.size) < met[cluster]
        wrong = random.random(cluster.size) < off[cluster]
        found = Items(people.astype(float), (people ^ wrong).astype(float), cluster)
        if self.other is None:
            return found
        second = replace(self, rate=self.other, other=None).draw(random)
        return Items(
            np.concatenate([found.people, second.people]),
            np.concatenate([found.judge, second.judge]),
            np.concatenate([found.cluster, second.cluster]),
            np.repeat([0.0, 1.0], cluster.size),
        )

    @property
    def truth(self) -> float:
        """Over all the tasks that there might be."""
        return self.rate if self.other is None else (self.rate + self.other) / 2


def world_coverage(world: World, draw: Draw, target: Target, *, worlds: int, seed: int = 0) -> Coverage:
    """Over worlds, each with one draw of labels."""
    random = np.random.default_rng(seed)

    def one() -> tuple[float, ...] | None:
        items = world.draw(random)
        truth = world.truth if target == "tasks" else float(items.people.mean())
        return row(corrected_rate(items.labelled(*draw(items, random)), target=target), truth)

    return Coverage.of(found for found in (one() for _ in range(worlds)) if found is not None)


def devai_runs() -> list[Run]:
    with TemporaryDirectory() as out:
        convert("devai", [RECORDS / "devai"], out)
        return [run for path in sorted(Path(out, "ledgers").glob("*.jsonl")) for run in read_ledger(path)]


def devai_items(runs: Iterable[Run], agent: str | None = None) -> Items:
    pairs = [pair for pair in verdict_agreement(runs).pairs if agent in (None, pair.agent)]
    tasks = {task: place for place, task in enumerate(sorted({pair.task_id for pair in pairs}))}
    return Items(
        np.array([float(pair.a) for pair in pairs]),
        np.array([float(pair.b) for pair in pairs]),
        np.array([tasks[pair.task_id] for pair in pairs]),
    )


HEADING: Final = f"{'':56}{'holds':>8}{'width':>8}{'labels only':>13}{'width':>8}{'ratio':>8}{'worth':>8}"


def shown(name: str, found: Coverage) -> str:
    cells = f"{found.held:8.1%}{found.width:8.3f}{found.people_held:13.1%}{found.people_width:8.3f}"
    return f"{name:56}{cells}{found.ratio:8.2f}{found.worth:7.1f}×"


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    print(HEADING)
    if (RECORDS / "devai").is_dir():
        runs = devai_runs()
        everything = devai_items(runs)
        for n in (15, 30, 60, 120):
            print(shown(f"DevAI, {n} labels", coverage(everything, some(n), draws=draws)))
        print(shown("DevAI, 30 labels, unequal odds", coverage(everything, unequal(30), draws=draws)))
        for n in (6, 8, 12):
            print(shown(f"DevAI, {n} whole tasks", coverage(everything, whole_tasks(n), draws=draws)))
        naive = coverage(everything, whole_tasks(8), draws=draws, naive=True)
        print(shown("  8 whole tasks, treated as independent", naive))
        agents = {agent: devai_items(runs, agent) for agent in sorted({run.agent for run in runs})}
        for agent, items in agents.items():
            print(shown(f"{agent}, 30 labels", coverage(items, some(30), draws=draws)))
        first, second = agents["GPT-Pilot"], agents["OpenHands"]
        found = difference_coverage(first, second, some(30), draws=draws)
        print(shown("GPT-Pilot − OpenHands, 30 labels each", found))
    else:
        print(f"no records: {RECORDS / 'devai'} is not there (set UNTAKEN_REAL_DATA)")
    for name, (world, draw, target) in worlds().items():
        print(shown(name, world_coverage(world, draw, target, worlds=draws)), flush=True)


def worlds() -> dict[str, tuple[World, Draw, Target]]:
    """Every simulated world by name."""
    targets: tuple[Target, ...] = ("runs", "tasks")
    drawn: dict[str, Draw] = {f"{n} labels": some(n) for n in (12, 20, 30, 40, 60)}
    drawn |= {f"{n} whole tasks": whole_tasks(n) for n in (6, 10)}
    found: dict[str, tuple[World, Draw, Target]] = {
        f"rate {rate}, judge wrong {error}: {words}, {target}": (World(rate=rate, error=error), draw, target)
        for rate, error in ((0.6, 0.12), (0.9, 0.05), (0.97, 0.03), (0.5, 0.4))
        for words, draw in drawn.items()
        for target in targets
    }
    two = World(rate=0.8, other=0.4)
    return found | {
        f"two agents, 0.8 and 0.4: {first} and {second} labels, {target}": (
            two,
            uneven(first, second),
            target,
        )
        for first, second in ((50, 10), (50, 1), (50, 0), (20, 5))
        for target in targets
    }


if __name__ == "__main__":
    main()
