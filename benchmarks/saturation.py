"""Is Good and Turing's share of unseen failure modes right? Estimate against truth.

In simulated worlds modes belong to tasks, so that the runs of a task share them: the truth is the share of
what goes wrong in further tasks of the same kind, read as often, whose mode was not seen. Beside it, the same
estimate with runs as samples. Then on people's labels:

AgentRx labels every failure of 38 runs with one of its categories. In random orders the first 5, 10 and 20
runs are read; the estimate from them is compared with the truth: the share of the failures of the runs left
whose category was not seen. A failure is a category of a run, each once. The truth rests on the runs left
alone, so that it varies, too: the interval is for the share in all runs, and cannot hold it always.

    python -m benchmarks.saturation [worlds]

Reads UNTAKEN_REAL_DATA, else ../shared/data beside the repository; without records it says so and ends.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from untaken.stats.rounding import Floats
from untaken.stats.unseen import AIM, unseen_share

RECORDS = Path(os.environ.get("UNTAKEN_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
FILES = ("tau_ground_truth.even_tasks.json", "magentic_one_ground_truth.json")
READ = (5, 10, 20)
ORDERS = 1_000
SHOWS = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Means over orders: `held` is how often the interval holds the truth, `width` how wide it is."""

    read: int
    estimate: float
    truth: float
    held: float
    width: float


def labelled_runs(folder: Path) -> list[frozenset[str]]:
    """The categories of each labelled run."""
    labels = [one for file in FILES for one in json.loads((folder / file).read_text("utf-8"))]
    return [frozenset(each["failure_category"].strip() for each in one["failures"]) for one in labels]


def estimate_against_truth(
    runs: Sequence[frozenset[str]], read: int, *, orders: int = ORDERS, seed: int = 0
) -> Row:
    """Reads the first `read` runs of random orders and looks at the others."""
    rng, rows = random.Random(seed), []
    for _ in range(orders):
        order = rng.sample(runs, len(runs))
        seen = Counter(mode for run in order[:read] for mode in run)
        coming = [mode for run in order[read:] for mode in run]
        truth = sum(mode not in seen for mode in coming) / len(coming)
        found = unseen_share(seen.values(), read)
        ends = (found.share, found.low, found.high)
        share, low, high = (float(end) for end in ends if isinstance(end, float))
        rows.append((share, truth, low <= truth <= high, high - low))
    estimate, truth, held, width = (fmean(column) for column in zip(*rows, strict=True))
    return Row(read=read, estimate=estimate, truth=truth, held=held, width=width)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Modes of falling frequency; one that a task has shows in 7 of 10 of its failed runs."""

    tasks: int
    repeats: int
    modes: int
    falls: float

    def rates(self) -> Floats:
        """How often a task has each mode."""
        return np.asarray(0.6 / np.arange(1, self.modes + 1) ** self.falls, dtype=np.float64)

    def shown(self, rng: np.random.Generator) -> np.ndarray:
        """(tasks, repeats, modes): which modes a run shows."""
        has = rng.random((self.tasks, 1, self.modes)) < self.rates()
        return has & (rng.random((self.tasks, self.repeats, self.modes)) < SHOWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """How often the interval holds the truth by tasks and by runs, and "at least 95% is seen" when said."""

    by_tasks: float
    by_runs: float
    said: float
    true_when_said: float


def covered(world: World, *, worlds: int, seed: int = 0) -> Covered:
    """Over so many draws of the world."""
    rng = np.random.default_rng(seed)
    in_task = world.rates() * (1 - (1 - SHOWS) ** world.repeats)
    held: dict[bool, list[bool]] = {True: [], False: []}
    said = []
    for _ in range(worlds):
        shown = world.shown(rng)
        truth = float(in_task[~shown.any(axis=(0, 1))].sum() / in_task.sum())
        for by_tasks in (True, False):
            samples: np.ndarray = shown.any(axis=1) if by_tasks else shown.reshape(-1, world.modes)
            counts = samples.sum(axis=0)
            found = unseen_share([int(count) for count in counts if count], len(samples))
            if isinstance(found.low, float) and isinstance(found.high, float):
                held[by_tasks].append(found.low <= truth <= found.high)
                if by_tasks and found.high <= AIM:
                    said.append(truth <= AIM)
    return Covered(
        by_tasks=fmean(held[True]),
        by_runs=fmean(held[False]),
        said=len(said) / worlds,
        true_when_said=fmean(said) if said else 1.0,
    )


WORLDS = tuple(
    World(tasks=tasks, repeats=repeats, modes=modes, falls=falls)
    for tasks in (6, 10, 20, 40)
    for repeats in (1, 4)
    for modes in (8, 30, 100)
    for falls in (0.5, 1.0)
)


def print_worlds(worlds: int) -> None:
    """Prints a row for each world."""
    print("tasks  runs each  modes  falls  by tasks  by runs  95% said, true")
    rows = []
    for world in WORLDS:
        rows.append(found := covered(world, worlds=worlds))
        name = f"{world.tasks:>5}  {world.repeats:>9}  {world.modes:>5}  {world.falls:>5}"
        said = f"{found.said:.2f}, {found.true_when_said:.2f}"
        print(f"{name}  {found.by_tasks:>8.3f}  {found.by_runs:>7.3f}  {said}")
    least, mean = min(one.by_tasks for one in rows), fmean(one.by_tasks for one in rows)
    enough = sum(one.by_tasks >= 0.93 for one in rows)
    print(f"by tasks: mean {mean:.3f}, least {least:.3f}, {enough} of {len(rows)} worlds at 0.93 or more")


def main() -> None:
    """Prints the worlds, then a row for each number of labelled runs read."""
    print_worlds(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
    folder = RECORDS / "agentrx"
    if not folder.is_dir():
        print(f"no records in {folder}; set UNTAKEN_REAL_DATA")
        return
    runs = labelled_runs(folder)
    modes = Counter(mode for run in runs for mode in run)
    print(f"{len(runs)} labelled runs, {len(modes)} categories, {modes.total()} failures, {ORDERS} orders")
    print("read  estimate  truth  interval holds it  width")
    for read in READ:
        row = estimate_against_truth(runs, read)
        print(f"{read:>4}  {row.estimate:>8.3f}  {row.truth:.3f}  {row.held:>17.1%}  {row.width:.2f}")


if __name__ == "__main__":
    main()
