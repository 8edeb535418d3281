"""Training runs and held-out runs, recorded as ledgers; at points of the latter, the truth (§2c)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from untaken.crafter.calibration.truth import ForcedPolicy, Result, picked, truth
from untaken.crafter.loop import play
from untaken.crafter.players import policy_named
from untaken.crafter.simulator.playing import START, Setup, in_processes
from untaken.crafter.simulator.recording import RunRecorder, StepClock
from untaken.crafter.simulator.world import CrafterWorld
from untaken.errors import UntakenError
from untaken.ledger import LedgerWriter, Run, read_ledger

REPEATS = 8
"""Training runs on one map, each with chance of its own: a map takes longer to make than they do to play."""
HOUR = timedelta(hours=1)
"""Time between runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPlan:
    """What is played to calibrate one setup.

    Attributes:
        train: number of runs that the memory is built from, `REPEATS` a map.
        held_out: number of runs with known truth, each on a map of its own that no other run has.
        points: decisions drawn of each of these.
        draws: how often each skill is tried at a point.
        seed: of the first map, and of all that is drawn.
    """

    setup: Setup
    train: int = 240
    held_out: int = 40
    points: int = 2
    draws: int = 12
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("train", "held_out", "points"):
            if getattr(self, name) < 1:
                raise _too_few(name, 1)
        if self.draws < 2:
            raise _too_few("draws", 2)

    @property
    def maps(self) -> list[int]:
        """Maps to train on; those held out come after them."""
        return list(range(self.seed, self.seed - (-self.train // REPEATS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A decision of a held-out run, with the results of each skill there.

    Attributes:
        map: seed of the world's map.
        index: of the decision in the run, from 0.
        results: by skill, one a draw; the same draw has the same noise for each skill.
    """

    map: int
    run_id: str
    index: int
    results: Mapping[str, tuple[Result, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Everything that a calibration compares: ledgers of both kinds of run, and what is known."""

    training: tuple[Run, ...]
    held_out: tuple[Run, ...]
    known: tuple[Known, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """The runs on one map, `first` being the number of the first; each as long as `HOUR` after the last."""

    plan: CalibrationPlan
    map: int
    first: int
    runs: int
    folder: Path

    @property
    def ledger(self) -> Path:
        return self.folder / f"{self.map:010d}.jsonl"

    def train(self) -> int:
        """Plays and records them."""
        world = CrafterWorld(self.map)
        for number in range(self.first, self.first + self.runs):
            self._play(world.clone(), number)
        return self.runs

    def hold_out(self) -> list[Known]:
        """Plays and records one, and tries every skill at some of its decisions."""
        forced, plan = self._play(CrafterWorld(self.map), self.first), self.plan
        return [
            Known(
                map=self.map,
                run_id=_run_id(self.first),
                index=place.index,
                results=dict(
                    truth(
                        place,
                        steps=plan.setup.steps,
                        draws=plan.draws,
                        seed=f"{plan.seed} {self.map} {place.index}",
                    )
                ),
            )
            for place in picked(forced.branch_points, plan.points, f"{plan.seed} {self.map}")
        ]

    def _play(self, world: CrafterWorld, number: int) -> ForcedPolicy:
        setup, clock = self.plan.setup, StepClock(START + number * HOUR)
        forced = ForcedPolicy(policy_named(setup.policy, **setup.options), world)
        world.reseed(number)
        with LedgerWriter(self.ledger, clock=clock, fsync="never") as ledger:
            run = RunRecorder(
                ledger, clock, run_id=_run_id(number), agent=setup.agent, task=setup.task, seed=self.map
            )
            run.finish(play(world, forced, task=setup.task, steps=setup.steps, seed=number, record=run.turn))
        return forced


def play_plan(
    plan: CalibrationPlan,
    folder: Path,
    *,
    workers: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Played:
    """Plays all of it; the same for any number of workers.

    Raises:
        UntakenError: ``crafter-extra-missing``; ``skill-unknown`` for a policy without skills.
    """
    report = progress or (lambda _done, _total, _what: None)
    jobs = _jobs(plan, folder)
    held = [
        replace(jobs[-1], map=jobs[-1].map + 1 + i, first=plan.train + i, runs=1, folder=folder / "held_out")
        for i in range(plan.held_out)
    ]
    for place in ("train", "held_out"):
        (folder / place).mkdir(parents=True)
    done = 0
    for count in in_processes(_Job.train, jobs, workers):
        done += count
        report(done, plan.train, "training runs")
    known = list[Known]()
    for at, found in enumerate(in_processes(_Job.hold_out, held, workers), start=1):
        known += found
        report(at, plan.held_out, "held-out runs")
    return Played(training=_read(jobs), held_out=_read(held), known=tuple(known))


def _jobs(plan: CalibrationPlan, folder: Path) -> list[_Job]:
    return [
        _Job(
            plan=plan,
            map=number,
            first=at * REPEATS,
            runs=min(REPEATS, plan.train - at * REPEATS),
            folder=folder / "train",
        )
        for at, number in enumerate(plan.maps)
    ]


def _read(jobs: Iterable[_Job]) -> tuple[Run, ...]:
    return tuple(run for job in jobs for run in read_ledger(job.ledger))


def _run_id(number: int) -> str:
    return f"run-{number:05d}"


def _too_few(name: str, least: int) -> UntakenError:
    option = name.replace("_", "-")
    return UntakenError("count-invalid", f"--{option} is at least {least}", hint="A whole number.")
