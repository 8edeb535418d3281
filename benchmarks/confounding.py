"""False differences between two equal skills on confounded logs.

In each world the two skills are equal, and a task, an agent, the time or an earlier attempt decides both the
choice and the outcome. The benchmark counts the logs in which a difference is called `supported`:

* by an interval over all runs, as if nothing else differed;
* with the guard, as the program reports skill choices (`untaken.counterfactual.choices`);
* by a plan statement about the same choice, made as a planned or an unplanned change.

The last lines have a true effect of 0.3 more success, and show the remaining power.

    python benchmarks/confounding.py [logs per world]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import NamedTuple

import numpy as np

from untaken.counterfactual import THRESHOLD, Scale, Weights
from untaken.counterfactual.advantage import compare
from untaken.counterfactual.pairs import Pair, compare_pairs
from untaken.counterfactual.plan import Option, PlanDecision, PlanPath, PlanState
from untaken.counterfactual.plan.statements import contrasts, statements
from untaken.memory import Observed, PolicyMemory

START = datetime(2026, 1, 1, tzinfo=UTC)
EFFECT = 0.3
TASKS, AGENTS, TRIALS = 12, 2, 4


class Ran(NamedTuple):
    """A run, in order of time: what it was of, which skill it took, and how it came out."""

    task: int
    agent: int
    second: bool
    success: bool


World = Callable[[np.random.Generator, float], Iterator[Ran]]
"""Runs of a log; the float is what the second skill adds to the rate of success."""


def _trials(random: np.random.Generator, trials: int = TRIALS) -> Iterator[tuple[int, int]]:
    """Task and agent of each run, every pair as often, in random order."""
    pairs = [(task, agent) for task in range(TASKS) for agent in range(AGENTS) for _ in range(trials)]
    for at in random.permutation(len(pairs)):
        yield pairs[at]


def _log(
    random: np.random.Generator,
    odds: Callable[[int, int, float], float],
    rate: Callable[[int, int, float], float],
    effect: float,
    trials: int = TRIALS,
) -> Iterator[Ran]:
    """`odds` of the second skill, and `rate` of success, by task, agent and time (0 to 1)."""
    runs = list(_trials(random, trials))
    for n, (task, agent) in enumerate(runs):
        time = n / len(runs)
        second = bool(random.random() < odds(task, agent, time))
        chance = min(1.0, rate(task, agent, time) + effect * second)
        yield Ran(task, agent, second, bool(random.random() < chance))


def random_choice(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Nothing coincides: tasks differ, the choice is a coin."""
    rates = random.uniform(0.1, 0.7, TASKS)
    return _log(random, lambda *_: 0.5, lambda task, *_: rates[task], effect)


def skill_by_task(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Each task has its skill."""
    rates, fixed = random.choice([0.15, 0.7], TASKS), random.random(TASKS) < 0.5
    return _log(random, lambda task, *_: float(fixed[task]), lambda task, *_: rates[task], effect)


def strong_agents(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The strong agent prefers the second skill, the weak one the first."""
    return _log(random, lambda _t, agent, _: (0.15, 0.85)[agent], lambda _t, a, _: (0.2, 0.6)[a], effect)


def strong_agents_only(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The strong agent always takes the second skill."""
    return _log(random, lambda _t, agent, _: float(agent), lambda _t, a, _: (0.2, 0.6)[a], effect)


def hidden_difficulty(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """How hard a task is picks the skill, mostly, and is in no field."""
    easy = random.random(TASKS)
    return _log(random, lambda t, *_: 0.1 + 0.8 * easy[t], lambda t, *_: 0.05 + 0.65 * easy[t], effect)


def simpson(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Two kinds of task and agents that prefer a skill in one of them: pooled, the order turns round."""
    hard = np.arange(TASKS) % 2 == 0
    odds = lambda task, agent, _: (0.8 if hard[task] else 0.2) if agent else (0.6 if hard[task] else 0.1)  # noqa: E731
    return _log(random, odds, lambda task, agent, _: 0.1 + 0.1 * agent + 0.5 * (not hard[task]), effect)


def drift(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Agents get better and come to prefer the second skill, at the same time."""
    return _log(random, lambda _t, _a, time: 0.1 + 0.8 * time, lambda _t, _a, time: 0.6 * time, effect, 8)


def drift_alone(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Agents get better; the choice is a coin."""
    return _log(random, lambda *_: 0.5, lambda _t, _a, time: 0.05 + 0.6 * time, effect, 8)


def retries(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The first skill first; what failed is tried again with the second, until it succeeds or three times."""
    rates = random.uniform(0.1, 0.7, TASKS)
    for task, agent in _trials(random, 1):
        for attempt in range(4):
            won = bool(random.random() < rates[task] + effect * (attempt > 0))
            yield Ran(task, agent, attempt > 0, won)
            if won:
                break


def alternating_retries(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Skills in turn, until one succeeds."""
    rates = random.uniform(0.1, 0.7, TASKS)
    for task, agent in _trials(random, 1):
        for attempt in range(6):
            won = bool(random.random() < rates[task] + effect * (attempt % 2))
            yield Ran(task, agent, bool(attempt % 2), won)
            if won:
                break


def few_agents(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """One run per task and agent; the agent's habit and the task decide the choice."""
    rates = random.uniform(0.1, 0.6, TASKS)
    odds = lambda task, agent, _: 0.2 + 0.3 * agent + 0.3 * (rates[task] > 0.35)  # noqa: E731
    return _log(random, odds, lambda task, agent, _: rates[task] + 0.3 * agent, effect, 1)


WORLDS: dict[str, World] = {
    "choice by coin": random_choice,
    "skill fixed by task": skill_by_task,
    "strong agents prefer one": strong_agents,
    "strong agents take one": strong_agents_only,
    "hidden difficulty": hidden_difficulty,
    "Simpson": simpson,
    "drift": drift,
    "drift, choice by coin": drift_alone,
    "retries": retries,
    "retries in turn": alternating_retries,
    "one run per task and agent": few_agents,
}


def memory_of(runs: list[Ran], random: np.random.Generator) -> PolicyMemory:
    """One choice a run, in one context; cost and steps are noise."""
    cost, steps = random.uniform(1, 9, len(runs)), random.integers(3, 30, len(runs))
    return PolicyMemory(
        Observed(
            key=f"outcome/{n:05d}",
            kind="outcome",
            skill="b" if ran.second else "a",
            context_hash="here",
            success=float(ran.success),
            cost=float(cost[n]),
            steps=float(steps[n]),
            weight=1.0,
            run_id=f"run-{n:05d}",
            ts=START + timedelta(hours=n),
            task_id=f"task-{ran.task}",
            agent=f"agent-{ran.agent}",
        )
        for n, ran in enumerate(runs)
    )


def supported(memory: PolicyMemory) -> tuple[bool, bool]:
    """Whether the second skill is called different from the first: over all runs, and by the guard."""
    snapshot = memory.snapshot()
    second, first = (snapshot.record(skill, "here") for skill in "ba")
    if second is None or first is None:
        return False, False
    pooled = compare(second, first, Scale(spans=snapshot.spans(), weights=Weights()), THRESHOLD)
    (guarded,) = compare_pairs(snapshot, [Pair("here", selected="a", alternative="b")], Weights(), THRESHOLD)
    return pooled.support == "supported", guarded is not None and guarded.support == "supported"


def plan_supported(runs: list[Ran]) -> tuple[int, int]:
    """Statements that are supported, of how many, where the choice is a planned or an unplanned change."""
    options = Option("unplanned", "write"), Option("advance", "goal")
    paths = [
        PlanPath(
            digest=str(n),
            run_id=f"run-{n:05d}",
            task_id=f"task-{ran.task}",
            agent=f"agent-{ran.agent}",
            graph_id="graph",
            domain=("write",),
            success=ran.success,
            decisions=(PlanDecision(1, PlanState(), 1, options[ran.second]),),
            as_planned=ran.second,
            started=float(n),
        )
        for n, ran in enumerate(runs)
    ]
    success = np.array([float(ran.success) for ran in runs])
    found = [each for each in statements(contrasts(paths), paths, success) if each is not None]
    return sum(each.supported for each in found), len(found)


class Counted(NamedTuple):
    """Over some logs of a world: the share in which a difference is called supported, by each rule.

    `statements` is the share of plan statements, `plan` that of logs with any.
    """

    pooled: float
    guarded: float
    plan: float
    statements: float


def counted(world: World, effect: float, logs: int, seed: int = 0) -> Counted:
    """The shares over seeded logs."""
    calls: list[tuple[bool, bool]] = []
    by_plan: list[tuple[int, int]] = []
    for n in range(logs):
        random = np.random.default_rng((seed, n))
        runs = list(world(random, effect))
        calls.append(supported(memory_of(runs, random)))
        by_plan.append(plan_supported(runs))
    made = sum(all_of for _, all_of in by_plan)
    return Counted(
        sum(pooled for pooled, _ in calls) / logs,
        sum(guarded for _, guarded in calls) / logs,
        sum(some > 0 for some, _ in by_plan) / logs,
        sum(some for some, _ in by_plan) / made if made else 0.0,
    )


def main() -> None:
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    error = 100 * sqrt(0.05 * 0.95 / logs)
    print(f"{logs} logs a line, in percent (standard error {error:.1f} about 5): a difference is supported")
    print(f"{'':28}{'over all runs':>15}{'with the guard':>16}{'plan: any':>12}{'plan: of all':>14}")
    for effect in (0.0, EFFECT):
        print("equal skills" if not effect else f"the second skill succeeds {effect:.1f} more often")
        for name, world in WORLDS.items():
            cells = (f"{100 * share:.1f}" for share in counted(world, effect, logs))
            print("  {:26}{:>15}{:>16}{:>12}{:>14}".format(name, *cells))


if __name__ == "__main__":
    main()
