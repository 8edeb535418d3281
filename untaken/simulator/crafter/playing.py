"""Who plays which task how: an arm of Algorithm 1, played in the worlds of seeds, and recorded (§7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from untaken.judging import ModelAccess
from untaken.ledger import LedgerWriter
from untaken.simulator.crafter.recording import RunRecorder, StepClock, task_id
from untaken.simulator.crafter.world import CrafterWorld
from untaken.simulator.loop import Episode, Turn, WinSettings, play
from untaken.simulator.players import policy_named
from untaken.simulator.record import ENDING, PlannedStep, PlanningRecord, planned_step, write_planning
from untaken.simulator.state_causality import SymbolicCausality

START: Final = datetime(2026, 3, 2, tzinfo=UTC)
"""The clock of recorded runs is that of the simulation, so that the same run gives the same bytes."""
_SHORT: Final = 60
A = TypeVar("A")
B = TypeVar("B")


class Setup(Struct, frozen=True, kw_only=True):
    """Everything that decides an episode besides its seed.

    Attributes:
        policy: by name (`policy_named`), with its `options`; of ``language``, `model` is the model's name.
        task: an achievement; ``None`` for open play.
        steps: planning horizon.
        sce: whether the state causality evaluator (by the environment's rules) speaks to the policy.
        win: how What-If-Not evaluates; ``None`` for not at all.
    """

    policy: str
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    task: str | None = None
    steps: int
    sce: bool = False
    win: WinSettings | None = None

    @property
    def agent(self) -> str:
        """The policy, with its model where it asks one, and what is asked about its actions.

        ``noisy+sce+win``, ``language-gpt-4.1+win``.
        """
        model = self.options.get("model")
        player = self.policy if model is None else f"{self.policy}-{_short(model)}"
        return player + "+sce" * self.sce + "+win" * (self.win is not None)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that a record needs."""
        win = self.win
        return {
            "policy": self.policy,
            "options": dict(sorted(self.options.items())),
            "steps": self.steps,
            "sce": SymbolicCausality().by if self.sce else None,
            "win": None if win is None else asdict(win) | {"interventions": list(win.interventions)},
        }

    def run_id(self, seed: int) -> str:
        """The name of the run in a world."""
        return f"{self.agent}.{task_id(self.task, seed)}"


def _short(model: str) -> str:
    """A model's own name, without provider and address, safe for a file name."""
    name = model.rpartition("#")[2] if "://" in model else model.partition(":")[2] or model
    return re.sub(r"[^\w.-]+", "_", name)[:_SHORT]


def play_seed(
    setup: Setup, seed: int, record: Callable[[Turn], None] | None = None, *, model: ModelAccess | None = None
) -> Episode:
    """Plays one episode in the world of a seed, which seeds the policy too; `model` is for ``language``.

    Raises:
        UntakenError: ``crafter-extra-missing``, and as `policy_named` and `play`.
    """
    options = dict(setup.options) | ({} if model is None else {"model": model})
    return play(
        _world(seed).clone(),  # stepping the cached world would change every later episode
        policy_named(setup.policy, **options),
        task=setup.task,
        steps=setup.steps,
        causality=SymbolicCausality() if setup.sce else None,
        win=setup.win,
        seed=seed,
        record=record,
    )


@lru_cache(maxsize=16)
def _world(seed: int) -> CrafterWorld:
    """The beginning of a world: making its map takes longer than many an episode."""
    return CrafterWorld(seed)


def record_seed(
    setup: Setup,
    seed: int,
    ledger: LedgerWriter,
    clock: StepClock,
    folder: Path,
    *,
    model: ModelAccess | None = None,
) -> Episode:
    """Plays one episode, as a run in a ledger and as a record of planning in a folder.

    Raises:
        UntakenError: as `play_seed` and `LedgerWriter.write`.
    """
    run_id, steps = setup.run_id(seed), list[PlannedStep]()
    run = RunRecorder(
        ledger, clock, run_id=run_id, agent=setup.agent, task=setup.task, seed=seed, metadata=setup.settings
    )

    def record(turn: Turn) -> None:
        run.turn(turn)
        steps.append(planned_step(turn))

    episode = play_seed(setup, seed, record, model=model)
    run.finish(episode)
    written = PlanningRecord(
        run_id=run_id,
        agent=setup.agent,
        task=setup.task,
        seed=seed,
        settings=setup.settings,
        steps=tuple(steps),
    )
    write_planning(written, folder / f"{run_id}{ENDING}")
    return episode


class EpisodeJob(Struct, frozen=True, kw_only=True):
    """One episode to be played.

    Attributes:
        seed: of the world.
        start: what the clock of its record says at the beginning.
        folder: takes a ledger with this run alone, and its record of planning; ``None`` for no record.
        model: for ``language``; a job with one is played in this process.
    """

    setup: Setup
    seed: int
    start: datetime = START
    folder: Path | None = None
    model: ModelAccess | None = None

    @property
    def ledger(self) -> Path | None:
        """Where its run is recorded."""
        return None if self.folder is None else self.folder / f"{self.setup.run_id(self.seed)}.jsonl"

    def play(self) -> Episode:
        """Plays it, and records it where it has a folder.

        Raises:
            UntakenError: as `record_seed`; ``ledger-run-exists`` where it was recorded before.
        """
        if self.folder is None or self.ledger is None:
            return play_seed(self.setup, self.seed, model=self.model)
        clock = StepClock(self.start)
        # What a power cut takes can be played again.
        with LedgerWriter(self.ledger, clock=clock, fsync="never") as ledger:
            return record_seed(self.setup, self.seed, ledger, clock, self.folder, model=self.model)


def play_all(jobs: Sequence[EpisodeJob], *, workers: int = 1) -> Iterator[Episode]:
    """Plays all jobs, in so many processes; their episodes come in the order given.

    Jobs are independent, so the episodes are the same for any number of workers. Jobs in the same world
    are best given one after the other: its map is then made once.

    Raises:
        UntakenError: as `EpisodeJob.play`.
    """
    worlds = max(1, len({job.seed for job in jobs}))
    return in_processes(EpisodeJob.play, jobs, workers, at_once=max(1, len(jobs) // worlds))


def in_processes(do: Callable[[A], B], jobs: Sequence[A], workers: int, *, at_once: int = 1) -> Iterator[B]:
    """What `do` gives for each job, in their order; `at_once` of them go to a process together."""
    if workers == 1:
        yield from map(do, jobs)
        return
    # Not forked: a copy of a process with threads can hold locks that nobody will open.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(do, jobs, chunksize=at_once)
