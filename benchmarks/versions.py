"""Injected regressions: whether a comparison of two versions names the sub-goal that got worse.

The desks and agents are those of `planted`: made up, and executed in 50 tasks, 3 times each by default,
under version A and under version B. B differs by one fault, that acts in a share of the runs: a wrong
argument, a skipped step, or a skill that is wrong in one context; or by retries alone; or not at all (A/A).
*Hindering* is a wrong argument where a step that failed makes those that need it fail, too.
Every step of both versions also goes wrong by itself in about 4% of runs.

* called: the sub-goal of the fault is called; other: another one is; any (A/A): any sub-goal is called;
* name: the first suspect is the sub-goal of the fault; rivals: the drop with the least p is; the largest raw
  drop, counted over all runs, is;
* kind: a called skip is said to be skipped, any other fault to be failed.

    python benchmarks/versions.py [draws of each] [tasks] [repeats] [first seed]
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from planted import FACTS, Agent, Cause, Desk, Kind, Step, made_up, plans_of

from untaken.analysis.corpus import score_runs
from untaken.analysis.versions import SubGoalChange, VersionComparison, compare_versions
from untaken.ledger import LedgerWriter, Run, read_ledger
from untaken.scoring import RunScore

NOISE: Final = 0.04
FAULTS: Final[tuple[tuple[str, float], ...]] = (
    ("none", 0.0),
    ("retry", 0.2),
    ("argument", 0.2),
    ("argument", 0.1),
    ("skipped", 0.2),
    ("skipped", 0.1),
    ("skill", 0.2),
    ("hindering", 0.1),
)


class Worker(Agent):
    """An agent whose tools are slower under a version that retries; its failures may hinder later steps."""

    retries = 0.0
    hindered = False

    def attempt(self, step: Step) -> bool:
        if not step.harmless and self.rng.random() < self.retries:
            sent = {"ref": self.task, "unit": "kg"}
            self.call(step.name, sent, "temporarily unavailable, try again")
        accepted = super().attempt(step)
        if self.hindered and accepted and not all(self.done.get(dep, True) for dep in step.deps):
            self.done[step.name] = False
            self.run.state({step.name: {"ok": False}})
        return accepted


def desk_of(rng: random.Random, fault: str, rate: float, tasks: int) -> tuple[Desk, Desk, str]:
    """The desk of version A and that of B, and the step of the fault."""
    desk = made_up(rng, hard=rng.random() < 0.5, family=True, causes=0)
    many = {f"t{n}": {name: rng.choice(values) for name, values in FACTS.items()} for n in range(tasks)}
    step = rng.choice([step.name for step in desk.steps if not step.harmless])
    value = rng.choice(FACTS["tier"])
    planted: tuple[Cause, ...] = ()
    if fault not in ("none", "retry"):
        kind: Kind = "argument" if fault == "hindering" else fault  # type: ignore[assignment]
        # A skill is wrong in a third of the tasks: there it must be wrong three times as often.
        planted = (
            Cause(kind=kind, step=step, fact="tier", value=value, rate=rate * (3 if kind == "skill" else 1)),
        )
    first = replace(desk, tasks=many, causes=(), noise=NOISE)
    return first, replace(first, causes=planted), step


def executed(
    desks: Sequence[Desk], fault: str, rate: float, repeats: int, rng: random.Random, folder: Path
) -> list[Run]:
    """The runs of both versions."""
    path = folder / "runs.jsonl"
    with LedgerWriter(path, scratch=True) as ledger:
        for version, desk in zip("AB", desks, strict=True):
            for task in desk.tasks:
                for trial in range(repeats):
                    with ledger.start(
                        run_id=f"{version}.{task}.{trial}", agent="ann", task_id=task,
                        task_repeat=trial, version=version,
                    ) as run:  # fmt: skip
                        worker = Worker(desk, task, run, rng)
                        worker.retries = rate * (fault == "retry" and version == "B")
                        worker.hindered = fault == "hindering"
                        run.finish(success=worker.work(), cost=0.1)
    return list(read_ledger(path, strict=False)[0])


def draw(fault: str, rate: float, seed: int, tasks: int, repeats: int) -> Iterator[tuple[str, bool]]:
    """What one draw shows: a name and whether it held."""
    rng = random.Random(f"{fault} {rate} {seed}")
    first, second, step = desk_of(rng, fault, rate, tasks)
    with TemporaryDirectory() as folder:
        runs = executed((first, second), fault, rate, repeats, rng, Path(folder))
    graphs = plans_of(replace(first, causes=second.causes))
    scores, _ = score_runs(runs, graphs)
    found = compare_versions(runs, scores, graphs, a="A", b="B", seed=seed)
    called = {one.sub_goal for one in found.called}
    if fault in ("none", "retry"):
        yield "any", bool(called)
        yield "outcome", found.outcome.called
        yield "retries", any(one.called for one in found.costs if one.measure == "retries")
        return
    yield "called", step in called
    yield "other", bool(called - {step})
    yield "name", found.first_suspect is not None and found.first_suspect.sub_goal == step
    yield "least p", min(found.sub_goals, key=_least_p).sub_goal == step
    yield "rival", _largest_raw_drop(runs, scores) == step
    yield from _kind(found, fault, step)
    predicted = next((one.found for one in found.power if one.drop == rate), None)
    if predicted is not None:
        yield "predicted power", random.Random(seed).random() < predicted


def _least_p(one: SubGoalChange) -> tuple[bool, float]:
    return (one.difference or 0.0) >= 0, 1.0 if one.p is None else one.p


def _kind(found: VersionComparison, fault: str, step: str) -> Iterator[tuple[str, bool]]:
    for one in found.called:
        if one.sub_goal == step:
            yield "kind", (one.kind == "skipped") == (fault == "skipped")


def _largest_raw_drop(runs: Sequence[Run], scores: dict[str, object]) -> str:
    done: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for run in runs:
        score = scores[run.digest]
        for node in score.results if isinstance(score, RunScore) else ():
            done[node.sub_goal][run.version] += node.completed is True
    return max(done, key=lambda name: done[name]["A"] - done[name]["B"])


def main(draws: int, tasks: int, repeats: int, first: int) -> None:
    """Prints a line for each fault."""
    print(f"{draws} draws each, {tasks} tasks × {repeats}, seeds from {first}")
    for fault, rate in FAULTS:
        tally: defaultdict[str, list[bool]] = defaultdict(list)
        began = time.process_time()
        for seed in range(first, first + draws):
            for name, held in draw(fault, rate, seed, tasks, repeats):
                tally[name].append(held)
        shown = "  ".join(
            f"{name} {sum(held) / len(held):.2f} of {len(held)}" for name, held in tally.items()
        )
        print(f"{fault:>9} {rate:.2f}: {shown}  ({(time.process_time() - began) / draws:.1f} s)", flush=True)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*(given + [60, 50, 3, 1][len(given) :]))
