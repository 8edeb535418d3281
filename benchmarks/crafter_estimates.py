"""How far can estimates from ledgers be trusted? Compared with clones of Crafter that take each path.

Some runs form a policy memory. Runs on other maps are held out: at some of their decisions, world and policy
are cloned just before the policy acts, every skill is forced, and the rest is played under the same draws
for each skill. Printed: how often estimate and truth agree (three verdicts; sign beyond the threshold), with
95% intervals over held-out maps, and how often the estimate's own interval holds the truth. *Ceiling*: half
of the draws against the other half.

    python benchmarks/crafter_estimates.py [--policy noisy --epsilon 0.45 --train 400 --held-out 60 …]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from untaken.counterfactual import THRESHOLD, Alternative, Outcome, Scale, Weights, evaluate_run
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import number
from untaken.ledger import LedgerWriter, Run, read_ledger
from untaken.simulator.crafter import CrafterWorld
from untaken.simulator.crafter.playing import START, Setup, in_processes
from untaken.simulator.crafter.recording import OPEN_SUCCESS, RunRecorder, StepClock
from untaken.simulator.loop import play
from untaken.simulator.players import policy_named
from untaken.simulator.policy import Act, Policy, Seen
from untaken.stats.bootstrap import bootstrap_interval, task_weights

REPEATS = 8
"""Training runs on one map: a map takes longer to make than they do to play."""
RESAMPLES = 500
SEEDS = 2**32
DIGITS = 4
"""Of estimates and truths: the noise of a sum must not decide a verdict."""
HOUR = timedelta(hours=1)
ESTIMATORS = ("delta", "advantage", "pooled", "ceiling")


class Result(NamedTuple):
    success: bool
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchPoint:
    """The moment just before a decision; `skills`: the selected one, then the alternatives."""

    index: int
    seen: Seen
    skills: tuple[str, ...]
    world: CrafterWorld
    policy: Policy


class Witness:
    """A policy that keeps the moment before each of its decisions."""

    def __init__(self, policy: Policy, world: CrafterWorld) -> None:
        self._policy, self._world = policy, world
        self.branch_points: list[BranchPoint] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._policy, name)

    def act(self, seen: Seen) -> Act:
        before = self._policy.clone()
        answer = self._policy.act(seen)
        if (chosen := answer.selection) is not None:
            self.branch_points.append(
                BranchPoint(
                    index=len(self.branch_points),
                    seen=seen,
                    skills=(chosen.skill, *chosen.alternatives),
                    world=self._world.clone(),
                    policy=before,
                )
            )
        return answer


def forced(place: BranchPoint, skill: str, *, steps: int, noise: int) -> Result | None:
    """The rest of the episode in a clone in which `skill` starts here; ``None`` if it cannot."""
    world, policy, task = place.world.clone(), place.policy.clone(), place.seen.task
    world.reseed(noise)
    policy.reseed(noise)
    policy.take(skill)
    done = 0
    for step in range(place.seen.step, steps):
        seen = (
            place.seen if step == place.seen.step else Seen(observation=world.observe(), task=task, step=step)
        )
        answer = policy.act(seen)
        if not done and (answer.selection is None or answer.selection.skill != skill):
            return None
        outcome, done = world.step(answer.action), step + 1
        if task is not None and task in outcome.unlocked:
            return Result(True, done)
        if outcome.done:
            break
    reached = sum(count > 0 for count in world.observe().achievements.values())
    return Result(task is None and reached >= OPEN_SUCCESS, done)


def truth(place: BranchPoint, *, steps: int, draws: int, seed: str) -> dict[str, list[Result]]:
    """Each skill that can start at the place, with its results under each of the draws."""
    random = Random(seed)
    noises = [random.randrange(SEEDS) for _ in range(draws)]
    found = {
        skill: [forced(place, skill, steps=steps, noise=noise) for noise in noises] for skill in place.skills
    }
    return {skill: [r for r in results if r] for skill, results in found.items() if None not in results}


class Known(NamedTuple):
    """A decision of a held-out run, with the results of each skill there."""

    map: int
    run_id: str
    index: int
    results: Mapping[str, Sequence[Result]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The runs on one map, `first` being the number of the first."""

    setup: Setup
    map: int
    first: int
    runs: int
    points: int
    draws: int
    seed: int
    folder: Path

    @property
    def ledger(self) -> Path:
        return self.folder / f"{self.map:010d}.jsonl"

    def train(self) -> None:
        world = CrafterWorld(self.map)
        for at in range(self.first, self.first + self.runs):
            self._play(world.clone(), at)

    def hold_out(self) -> list[Known]:
        """Plays and records one, and tries every skill at some of its decisions."""
        places = [p for p in self._play(CrafterWorld(self.map), self.first) if len(p.skills) > 1]
        drawn = Random(f"{self.seed} {self.map}").sample(places, min(self.points, len(places)))
        steps, draws, seed = self.setup.steps, self.draws, f"{self.seed} {self.map}"
        return [
            Known(
                self.map,
                run_id(self.first),
                place.index,
                truth(place, steps=steps, draws=draws, seed=f"{seed} {place.index}"),
            )
            for place in sorted(drawn, key=lambda place: place.index)
        ]

    def _play(self, world: CrafterWorld, at: int) -> list[BranchPoint]:
        setup, clock = self.setup, StepClock(START + at * HOUR)
        witness = Witness(policy_named(setup.policy, **setup.options), world)
        world.reseed(at)
        with LedgerWriter(self.ledger, clock=clock, fsync="never") as ledger:
            run = RunRecorder(
                ledger, clock, run_id=run_id(at), agent=setup.agent, task=setup.task, seed=self.map
            )
            run.finish(play(world, witness, task=setup.task, steps=setup.steps, seed=at, record=run.turn))
        return witness.branch_points


def run_id(at: int) -> str:
    return f"run-{at:05d}"


class Pair(NamedTuple):
    """An alternative: estimates from ledgers beside what came out in clones."""

    map: int
    support: str
    estimates: Mapping[str, tuple[float, float] | None]
    intervals: Mapping[str, tuple[float, float]]


def pairs_of(training: Sequence[Run], held: Mapping[str, Run], known: Sequence[Known]) -> Iterator[Pair]:
    memory = PolicyMemory.build(training)
    for one in known:
        run = held[one.run_id]
        evaluation = evaluate_run(run, memory)
        if not evaluation.decisions:
            continue
        decision = evaluation.decisions[one.index]
        spans = memory.snapshot(run.started.ts).spans(without_run=run.run_id)
        scale = Scale(spans=spans, weights=Weights())
        steps = 0 if run.finished is None or run.finished.steps is None else run.finished.steps
        own = score(scale, Result(run.success is True, steps))
        arms = {skill: [score(scale, r) for r in results] for skill, results in one.results.items()}
        for branch in decision.branches:
            if branch.known and decision.selected in arms and branch.alternative in arms:
                yield pair(one.map, branch, arms[branch.alternative], arms[decision.selected], own)


def score(scale: Scale, result: Result) -> float:
    """Of a result, by the evaluation's own scale."""
    outcome = Outcome(success=float(result.success), cost=None, steps=float(result.steps))
    found = number(scale.score(outcome, scale.terms(outcome)))
    assert found is not None  # success always has a weight
    return found


def pair(at: int, branch: Alternative, one: Sequence[float], other: Sequence[float], own: float) -> Pair:
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    estimates = {"delta": (branch.delta, fmean(one) - own), "ceiling": (fmean(gaps[::2]), fmean(gaps[1::2]))}
    estimates |= {name: (getattr(branch, name), fmean(gaps)) for name in ("advantage", "pooled")}
    ends = {"advantage": (branch.low, branch.high), "pooled": (branch.pooled_low, branch.pooled_high)}
    return Pair(
        map=at,
        support=branch.support,
        estimates={name: known_pair(*both) for name, both in estimates.items()},
        intervals={name: both for name, (a, b) in ends.items() if (both := known_pair(a, b)) is not None},
    )


def known_pair(first: object, second: object) -> tuple[float, float] | None:
    a, b = number(first), number(second)  # type: ignore[arg-type]
    return None if a is None or b is None else (round(a, DIGITS), round(b, DIGITS))


def verdict(value: float) -> float:
    """−1, 0 or 1: worse, equivalent, better by more than the threshold."""
    return float(np.sign(value)) * (abs(value) > THRESHOLD)


def share(of: Sequence[tuple[int, bool]]) -> str:
    """A share of pairs with its 95% interval, which resamples maps."""
    if not of:
        return "–"
    clusters, at = np.unique([one for one, _ in of], return_inverse=True)
    sums = np.bincount(at, weights=[float(holds) for _, holds in of])
    sizes = np.bincount(at).astype(float)
    value = f"{sums.sum() / sizes.sum():.2f}"
    if clusters.size == 1:
        return value
    drawn = [w @ np.stack([sums, sizes], axis=1) for w in task_weights(clusters.size, RESAMPLES, 0)]
    means = np.concatenate([block[:, 0] / block[:, 1] for block in drawn])
    low, high = bootstrap_interval(means[:, None], clusters.size)[:, 0]
    return f"{value} ({low:.2f}–{high:.2f})"


def low_to_high(one: Pair, name: str, value: float) -> bool:
    """Whether the estimate's own interval holds a value; so does one that is not there."""
    low, high = one.intervals.get(name, (-np.inf, np.inf))
    return bool(low <= value <= high)


def report(pairs: Sequence[Pair]) -> None:
    parts: dict[str, Callable[[Pair, str], bool]] = {
        "all": lambda _one, _name: True,
        "supported": lambda one, _name: one.support == "supported",
        "weak": lambda one, _name: one.support == "weak",
        "interval": lambda one, name: not low_to_high(one, name, 0.0),
    }
    print(f"{'estimate':10} {'part':10} {'pairs':>6} {'three verdicts':>18} {'sign':>18} {'interval':>18}")
    for name in ESTIMATORS:
        for part, belongs in parts.items():
            some = [(p, e) for p in pairs if belongs(p, name) and (e := p.estimates[name]) is not None]
            if not some:
                continue
            three = [(p.map, verdict(e) == verdict(t)) for p, (e, t) in some]
            sign = [(p.map, bool(np.sign(e) == np.sign(t))) for p, (e, t) in some if abs(e) > THRESHOLD]
            holds = [(p.map, low_to_high(p, name, t)) for p, (_, t) in some if name in p.intervals]
            shares = "".join(f"{share(one):>18}" for one in (three, sign, holds))
            print(f"{name:10} {part:10} {len(some):6} {shares}")


def calibrate(
    setup: Setup, *, train: int, held_out: int, points: int, draws: int, seed: int, workers: int
) -> list[Pair]:
    """Plays, and compares; the same for any number of workers."""
    with TemporaryDirectory() as folder:
        maps = range(seed, seed - (-train // REPEATS))
        job = partial(Job, setup=setup, points=points, draws=draws, seed=seed, folder=Path(folder))
        jobs = [
            job(map=at, first=n * REPEATS, runs=min(REPEATS, train - n * REPEATS))
            for n, at in enumerate(maps)
        ]
        held = [job(map=maps[-1] + 1 + n, first=train + n, runs=1) for n in range(held_out)]
        list(in_processes(Job.train, jobs, workers))
        known = [one for found in in_processes(Job.hold_out, held, workers) for one in found]
        training = [run for job in jobs for run in read_ledger(job.ledger)]
        others = {run.run_id: run for job in held for run in read_ledger(job.ledger)}
        return list(pairs_of(training, others, known))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", choices=("scripted", "noisy", "uniform"), default="noisy")
    parser.add_argument("--epsilon", type=float, help="of noisy")
    parser.add_argument("--task", default="make_wood_pickaxe")
    for name, usual in (("steps", 100), ("train", 80), ("held-out", 12), ("points", 2), ("draws", 6)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    args = vars(parser.parse_args())
    epsilon = args.pop("epsilon")
    options = {} if epsilon is None else {"epsilon": epsilon}
    setup = Setup(policy=args.pop("policy"), options=options, task=args.pop("task"), steps=args.pop("steps"))
    report(calibrate(setup, **args))


if __name__ == "__main__":
    main()
