"""Each agent plays the same tasks in the same worlds, one task per day; one ledger per agent."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sample_runs.refund_desk.generate import pack
from untaken.ledger import LedgerWriter
from untaken.plans import save_graph
from untaken.simulator.crafter import tech_tree
from untaken.simulator.crafter.playing import START, Setup, record_seed
from untaken.simulator.crafter.recording import StepClock
from untaken.simulator.loop import WinSettings

STEPS = 500
SLIPS = 0.1
"""How often an action of the noisy agents is replaced by another one: what What-If-Not is there to notice."""
WIN = WinSettings(at="<")
"""Ties say nothing, so the sample agents are asked again below 0.5 only."""
AGENTS = (
    Setup(policy="scripted", steps=STEPS),
    Setup(policy="noisy", options={"epsilon": 0.3, "slips": SLIPS}, steps=STEPS),
    Setup(policy="noisy", options={"epsilon": 0.3, "slips": SLIPS}, steps=STEPS, sce=True, win=WIN),
    Setup(policy="uniform", options={"slips": SLIPS}, steps=STEPS),
    Setup(policy="uniform", options={"slips": SLIPS}, steps=STEPS, sce=True, win=WIN),
    Setup(policy="random", steps=STEPS),
)
TASKS = (None, "collect_iron")
SEEDS = (1, 2, 3)
DAY = timedelta(days=1)


def tasks() -> Iterator[tuple[int, str | None, int]]:
    """(day, task, seed of the world), in order of time."""
    every = ((task, seed) for seed in SEEDS for task in TASKS)
    yield from ((day, task, seed) for day, (task, seed) in enumerate(every))


def generate(folder: Path, *, agent: str | None = None) -> None:
    """Write `ledgers/`, `planning/` and `graphs/` into a folder, for one agent or all: the same bytes."""
    for stale in ("ledgers", "planning", "graphs"):
        shutil.rmtree(folder / stale, ignore_errors=True)
        (folder / stale).mkdir(parents=True)
    for setup in AGENTS:
        if agent in (None, setup.agent):
            record(setup, folder)
    save_graph(tech_tree(), folder / "graphs" / "crafter.plan.yaml")


def record(agent: Setup, folder: Path) -> None:
    """All runs of one agent."""
    clock = StepClock(START)
    ledger = folder / "ledgers" / f"{agent.agent}.jsonl"
    with LedgerWriter(ledger, clock=clock, fsync="never") as writer:
        for day, task, seed in tasks():
            clock.now = START + day * DAY
            record_seed(replace(agent, task=task), seed, writer, clock, folder / "planning")
    pack(ledger)
    for lock in ledger.parent.glob(".*.lock"):
        lock.unlink()
