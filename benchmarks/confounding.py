"""False differences between two equal options on confounded logs, beside the power to find a true one.

In each world the two options are equal, and something else decides both the choice and the outcome: a task,
an agent, its model or version, the time, an earlier attempt, or something that no log shows. The benchmark
counts the logs in which a difference is called `supported`, by the program's own memory and comparison
(`untaken.counterfactual.pairs`):

* by the exact test inside strata alone;
* by the whole rule (`untaken.counterfactual.support`);
* by a plan statement about the same choice, made as a planned or an unplanned change.

Then the same worlds with a true difference of 0.3; and of the true differences that the exact test shows, the
share that is called weak as it *could be time*.

    python benchmarks/confounding.py [logs per world] [name of a world …]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import sin, sqrt, tau
from typing import NamedTuple

import numpy as np

from untaken.counterfactual import THRESHOLD, Weights
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.counterfactual.pairs import Pair, compare_pairs
from untaken.counterfactual.plan import Option, PlanDecision, PlanPath, PlanState
from untaken.counterfactual.plan.statements import contrasts, statements
from untaken.counterfactual.support import ALPHA, OptionTest
from untaken.counterfactual.words import COULD_BE_TIME

START = datetime(2026, 1, 1, tzinfo=UTC)
EFFECT = 0.3
TASKS, AGENTS, TRIALS = 12, 2, 4
PLAN_LOGS = 100
"""Logs, the first ones, of which plan statements are made, too: they cost five times as much."""


class Ran(NamedTuple):
    """A run, in order of time: what it was of, which option it took, and how it came out.

    `model` and `version` are recorded only where they are not empty; runs with one `trail` are copies.
    """

    task: int
    agent: int
    second: bool
    success: bool
    model: str = ""
    version: str = ""
    trail: str = ""


World = Callable[[np.random.Generator, float], Iterator[Ran]]
"""Runs of a log; the float is what the second option adds to the rate of success."""
Chance = Callable[[int, int, float], float]
"""By task, agent and time (0 to 1)."""


def _trials(
    random: np.random.Generator, trials: int = TRIALS, tasks: int = TASKS, agents: int = AGENTS
) -> list[tuple[int, int]]:
    """Task and agent of each run, every pair as often, in random order."""
    pairs = [(task, agent) for task in range(tasks) for agent in range(agents) for _ in range(trials)]
    return [pairs[at] for at in random.permutation(len(pairs))]


def _log(
    random: np.random.Generator,
    odds: Chance,
    rate: Chance,
    effect: float,
    runs: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Ran]:
    """`odds` of the second option, and `rate` of success."""
    runs = _trials(random) if runs is None else runs
    for n, (task, agent) in enumerate(runs):
        time = n / len(runs)
        second = bool(random.random() < odds(task, agent, time))
        chance = min(1.0, rate(task, agent, time) + effect * second)
        yield Ran(task, agent, second, bool(random.random() < chance))


def coin(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Nothing coincides: tasks differ, the choice is a coin."""
    rates = random.uniform(0.1, 0.7, TASKS)
    return _log(random, lambda *_: 0.5, lambda task, *_: rates[task], effect)


def coin_of_40(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The same in a log of 40 runs of 5 tasks."""
    rates = random.uniform(0.1, 0.7, 5)
    runs = _trials(random, tasks=5)
    return _log(random, lambda *_: 0.5, lambda task, *_: rates[task], effect, runs)


def fixed_by_task(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Each task has its option."""
    rates, fixed = random.choice([0.15, 0.7], TASKS), random.random(TASKS) < 0.5
    return _log(random, lambda task, *_: float(fixed[task]), lambda task, *_: rates[task], effect)


def mostly_by_task(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """How hard a task is picks the option, mostly, and is in no field."""
    easy = random.random(TASKS)
    return _log(random, lambda t, *_: 0.2 + 0.6 * easy[t], lambda t, *_: 0.05 + 0.6 * easy[t], effect)


def strong_agents(random: np.random.Generator, effect: float, trials: int = TRIALS) -> Iterator[Ran]:
    """The strong agent prefers the second option, the weak one the first."""
    runs = _trials(random, trials)
    return _log(random, lambda _t, a, _: (0.25, 0.75)[a], lambda _t, a, _: (0.2, 0.6)[a], effect, runs)


def strong_agents_once(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The same with one run per task and agent."""
    return strong_agents(random, effect, 1)


def drift(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Agents get better and come to prefer the second option, at the same time."""
    runs = _trials(random, 8)
    return _log(random, lambda _t, _a, time: 0.1 + 0.8 * time, lambda _t, _a, time: 0.6 * time, effect, runs)


def upgrade(random: np.random.Generator, effect: float, trials: int = 8) -> Iterator[Ran]:
    """Half-way, all agents become better and prefer the second option; no version says so."""
    runs = _trials(random, trials)
    return _log(random, _switch(0.15, 0.85), _switch(0.2, 0.6), effect, runs)


def upgrade_two_trials(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The same with two runs per task and agent."""
    return upgrade(random, effect, 2)


def _switch(before: float, after: float) -> Chance:
    return lambda _t, _a, time: after if time > 0.5 else before


def retries(random: np.random.Generator, effect: float, learned: float = 0.0) -> Iterator[Ran]:
    """The first option first; what failed is tried again with the second, until it succeeds or four times."""
    rates = random.uniform(0.1, 0.7, TASKS)
    for task, agent in _trials(random, 1):
        for attempt in range(4):
            won = bool(random.random() < rates[task] + (effect + learned * attempt) * (attempt > 0))
            yield Ran(task, agent, attempt > 0, won)
            if won:
                break


def retries_that_learn(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The same, and each further attempt is likelier to succeed."""
    return retries(random, effect, 0.1)


def simpson(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """The second option is taken where tasks are hard: pooled, a true difference is hidden."""
    hard = np.arange(TASKS) % 2 == 0
    return _log(
        random,
        lambda task, *_: 0.75 if hard[task] else 0.25,
        lambda task, *_: 0.1 if hard[task] else 0.6,
        effect,
    )


def model_in_agent(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """One agent name runs on two models: the strong one prefers the second option."""
    for ran in strong_agents(random, effect):
        yield ran._replace(agent=0, model=f"model-{ran.agent}")


def version_in_agent(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """One agent has two versions, the later one stronger, and preferring the second option."""
    for at, ran in enumerate(log := list(upgrade(random, effect, 4))):
        yield ran._replace(agent=0, version=f"v{1 + (at / len(log) > 0.5)}")


def swings(random: np.random.Generator, effect: float, cycles: float = 3.0) -> Iterator[Ran]:
    """Load that comes and goes makes runs fail, and changes the choice."""
    phase, runs = random.random(), _trials(random, 8)

    def season(time: float) -> float:
        return 0.5 + 0.5 * sin(tau * (cycles * time + phase))

    return _log(
        random,
        lambda _t, _a, time: 0.1 + 0.8 * season(time),
        lambda _t, _a, time: 0.05 + 0.6 * season(time),
        effect,
        runs,
    )


def copies(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Each of 72 runs is in the log four times."""
    rates = random.uniform(0.1, 0.7, TASKS)
    runs = _trials(random, 3)
    once = list(_log(random, lambda *_: 0.5, lambda task, *_: rates[task], effect, runs))
    for _ in range(4):
        yield from (ran._replace(trail=str(n)) for n, ran in enumerate(once))


def one_task_drift(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """A single task of which agents get better, and come to prefer the second option."""
    runs = _trials(random, 48, tasks=1)
    return _log(random, lambda _t, _a, time: 0.1 + 0.8 * time, lambda _t, _a, time: 0.6 * time, effect, runs)


def one_task_upgrade(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """A single task, and an upgrade half-way."""
    runs = _trials(random, 48, tasks=1)
    return _log(random, _switch(0.15, 0.85), _switch(0.2, 0.6), effect, runs)


def hidden_difficulty(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """How hard this very run is picks the option, and is in no field."""
    for task, agent in _trials(random):
        easy = random.random()
        second = bool(random.random() < 0.1 + 0.8 * easy)
        won = random.random() < min(1.0, 0.05 + 0.65 * easy + effect * second)
        yield Ran(task, agent, second, bool(won))


def fast_swings(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Load that comes for about 8 runs and goes for as many."""
    return swings(random, effect, 12.0)


def half_upgraded(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """An upgrade that touches half the tasks."""
    runs = _trials(random, 8)
    odds, rate = _switch(0.15, 0.85), _switch(0.2, 0.6)
    return _log(
        random,
        lambda task, a, time: odds(task, a, time if task % 2 else 0.0),
        lambda task, a, time: rate(task, a, time if task % 2 else 0.0),
        effect,
        runs,
    )


def half_retried(random: np.random.Generator, effect: float) -> Iterator[Ran]:
    """Half the tasks are tried again after a failure, the others run four times by a coin."""
    again = [ran for ran in retries(random, effect) if ran.task % 2]
    once = [ran for ran in coin(random, effect) if not ran.task % 2]
    order = np.argsort([*np.linspace(0, 1, len(again)), *np.linspace(0, 1, len(once))], kind="stable")
    yield from ([*again, *once][at] for at in order)


WORLDS: dict[str, World] = {
    "coin": coin,
    "fixed by task": fixed_by_task,
    "mostly by task": mostly_by_task,
    "strong agents": strong_agents,
    "strong agents, 1 trial": strong_agents_once,
    "drift": drift,
    "upgrade": upgrade,
    "upgrade, 2 trials": upgrade_two_trials,
    "retries": retries,
    "retries that learn": retries_that_learn,
    "Simpson": simpson,
    "model inside agent": model_in_agent,
    "version inside agent": version_in_agent,
    "swings": swings,
    "copies × 4": copies,
    "one task drift": one_task_drift,
    "one task upgrade": one_task_upgrade,
}
"""Worlds in which what confounds is in the log."""
SHORT: dict[str, World] = {"coin, 40 runs": coin_of_40}
"""Few runs, which the time rule costs most."""
HIDDEN: dict[str, World] = {
    "hidden difficulty of a run": hidden_difficulty,
    "swings of about 8 runs": fast_swings,
    "an upgrade of half the tasks": half_upgraded,
    "half the tasks retried": half_retried,
}
"""Worlds in which it is not, or hardly."""


def memory_of(runs: Sequence[Ran], *, timed: bool = True) -> PolicyMemory:
    """One choice a run, in one context; without cost and steps."""
    return PolicyMemory(
        Observed(
            key=f"outcome/{n:05d}",
            kind="outcome",
            skill="b" if ran.second else "a",
            context_hash="here",
            success=float(ran.success),
            cost=None,
            steps=None,
            weight=1.0,
            run_id=f"run-{n:05d}",
            ts=START + timedelta(hours=n + 1),
            task_id=f"task-{ran.task}",
            agent=f"agent-{ran.agent}",
            **{name: text for name in ("model", "version", "trail") if (text := getattr(ran, name))},
            **({"started": START + timedelta(hours=n)} if timed else {}),
        )
        for n, ran in enumerate(runs)
    )


def ruling_on(runs: Sequence[Ran], *, timed: bool = True) -> OptionTest | None:
    """What the program says of the second option against the first; ``None`` where one was never taken."""
    pair = Pair("here", selected="a", alternative="b")
    (trust,) = compare_pairs(memory_of(runs, timed=timed).snapshot(), [pair], Weights(), THRESHOLD)
    return trust.ruling if trust else None


def plan_supported(runs: Sequence[Ran]) -> tuple[int, int]:
    """Statements that are supported, of how many, where the choice is a planned or an unplanned change."""
    options, seen = (Option("unplanned", "write"), Option("advance", "goal")), set[tuple[object, ...]]()
    paths = []
    for n, ran in enumerate(runs):
        unit = (ran.task, ran.agent, ran.trail)
        path = PlanPath(
            digest=str(n),
            run_id=f"run-{n:05d}",
            task_id=f"task-{ran.task}",
            agent=f"agent-{ran.agent}",
            graph_id="graph",
            domain=("write",),
            success=ran.success,
            decisions=(PlanDecision(1, PlanState(), 1, options[ran.second]),),
            as_planned=ran.second,
            identity=(f"agent-{ran.agent}", ran.model, ran.version, ""),
            started=float(n),
            copy=bool(ran.trail) and unit in seen,
        )
        seen.add(unit)
        paths.append(path)
    success = np.array([float(ran.success) for ran in runs])
    found = [each for each in statements(contrasts(paths), paths, success) if each is not None]
    return sum(each.supported for each in found), len(found)


class Counted(NamedTuple):
    """Over some logs of a world: the share in which a difference is called supported, by each rule.

    `plan` is the share of logs with any such plan statement, `statements` that of statements; `silenced` is,
    of the logs in which the exact test alone shows a difference, the share that could be time.
    """

    exact: float
    supported: float
    plan: float
    statements: float
    silenced: float


def counted(world: World, effect: float, logs: int, seed: int = 0, *, plan_logs: int = PLAN_LOGS) -> Counted:
    """The shares over seeded logs; plan statements are made of the first `plan_logs`."""
    exact = supported = plan = some = made = silenced = 0
    for n in range(logs):
        runs = list(world(np.random.default_rng((seed, n)), effect))
        if ruling := ruling_on(runs):
            exact += (found := ruling.p_exact <= ALPHA)
            supported += ruling.holds
            silenced += found and ruling.reason == COULD_BE_TIME
        if n < plan_logs:
            of_plans = plan_supported(runs)
            plan, some, made = plan + (of_plans[0] > 0), some + of_plans[0], made + of_plans[1]
    of_logs = (exact / logs, supported / logs, plan / max(1, min(logs, plan_logs)))
    return Counted(*of_logs, some / made if made else 0.0, silenced / exact if exact else 0.0)


def main() -> None:
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    chosen = set(sys.argv[2:]) or {*WORLDS, *SHORT, *HIDDEN}
    error = sqrt(0.05 * 0.95 / logs)
    print(f"{logs} logs a cell; standard error {error:.3f} about .05; a true difference is {EFFECT}")
    heads = (
        "exact alone: false",
        "false",
        "plan: false",
        "of all",
        "exact: power",
        "power",
        "plan",
        "silenced",
    )
    print(f"| world | {' | '.join(heads)} |")
    print("|---" * (len(heads) + 1) + "|")
    for name, world in (WORLDS | SHORT | HIDDEN).items():
        if name in chosen:
            none, true = (counted(world, effect, logs) for effect in (0.0, EFFECT))
            cells = (*none[:-1], true.exact, true.supported, true.plan, true.silenced)
            print(f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
