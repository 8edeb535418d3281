"""What does the What-If-Not reward of an action cost beside deep copies and steps of stock Crafter?

For the same states and the same actions, the one taken among them: stock deep-copies its environment and
steps it once an action, and takes the reward it is given; `what_if_not` does all there is to do, shaped
rewards, verdict and all. Pairs alternate in one process with the garbage collector off; the ratio is the
median over pairs of CPU time. Then a pool as it is used, by the clock: each of two processes evaluates the
steps of a world of its own; the stock is measured in one process just before and just after.

    python benchmarks/what_if_not.py
"""

from __future__ import annotations

import copy
import gc
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from os import cpu_count
from random import Random

import crafter

from untaken.simulator.crafter import ACTIONS, CrafterWorld
from untaken.simulator.crafter.stock import OrderedWorld
from untaken.simulator.win import WhatIfNot, what_if_not

PAIRS = 21
STATES = 12
SEED = 3
STEPS_BETWEEN = 17
WALK = Random(1).choices(ACTIONS[1:6], k=STATES * STEPS_BETWEEN)

POOLED = 2
ROUNDS = 20
"""Times that each process of the pool evaluates its states."""

Pair = tuple[float, float]


def walked() -> list[tuple[CrafterWorld, crafter.Env]]:
    """The same states of both, by day and by night."""
    ours, stock = CrafterWorld(SEED), crafter.Env(seed=SEED)
    stock._world.__class__ = OrderedWorld  # ordered chunks, so that both stand in the same state
    stock.reset()
    states = []
    for count, action in enumerate(WALK, start=1):
        ours.step(action)
        stock.step(ACTIONS.index(action))
        if count % STEPS_BETWEEN == 0:
            states.append((ours.clone(), copy.deepcopy(stock)))
    return states


def tried_in_stock(env: crafter.Env, result: WhatIfNot) -> list[float]:
    actions = dict.fromkeys([result.action, *(term.action for term in result.terms)])
    return [copy.deepcopy(env).step(ACTIONS.index(action))[1] for action in actions]


def compare(
    name: str, ours: Callable[[], object], stock: Callable[[], object], clock: Callable[[], float]
) -> None:
    pairs: list[Pair] = []
    for _ in range(PAIRS):
        pairs.append((seconds(ours, clock), seconds(stock, clock)))
        gc.collect()  # clones are circles; nobody is charged for another's
    own, theirs = (statistics.median(column) / STATES * 1e6 for column in zip(*pairs, strict=True))
    ratios = sorted(theirs / own for own, theirs in pairs)
    low, middle, high = ratios[len(ratios) // 4], statistics.median(ratios), ratios[-len(ratios) // 4]
    print(f"{name:40} {own:8.0f} {theirs:8.0f} {middle:7.1f} ×   ({low:.1f} to {high:.1f})")


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    started = clock()
    work()
    return clock() - started


def main() -> None:
    states = walked()
    print(f"{STATES} states, {PAIRS} pairs\n")
    print(f"{'a WIN, median':40}  µs ours µs stock   ratio     middle half")
    cases = (("env", None), ("shaped", "collect_iron"), ("shaped", None))
    for reward, task in cases:
        results = [what_if_not(world, "move_left", task=task, reward=reward) for world, _ in states]
        compare(
            f"{reward}, {task or 'open play'}",
            lambda r=reward, t=task: [what_if_not(w, "move_left", task=t, reward=r) for w, _ in states],
            lambda r=results: [tried_in_stock(env, found) for (_, env), found in zip(states, r, strict=True)],
            time.process_time,
        )
    with ProcessPoolExecutor(POOLED, mp_context=get_context("spawn")) as pool:
        list(pool.map(evaluated, ["env"] * POOLED, [None] * POOLED, [1] * POOLED))  # makes its worlds first
        for reward, task in cases:
            pooled(pool, reward, task, states)


def evaluated(reward: str, task: str | None, rounds: int) -> tuple[float, float]:
    """Evaluates the states of this process so often; when it began and ended."""
    states, started = own_states(), time.time()
    for _ in range(rounds):
        for world in states:
            what_if_not(world, "move_left", task=task, reward=reward)
    return started, time.time()


@cache
def own_states() -> list[CrafterWorld]:
    return [world for world, _ in walked()]


def pooled(
    pool: ProcessPoolExecutor, reward: str, task: str | None, states: list[tuple[CrafterWorld, crafter.Env]]
) -> None:
    results = [what_if_not(world, "move_left", task=task, reward=reward) for world, _ in states]

    def stock() -> object:
        return [tried_in_stock(env, found) for (_, env), found in zip(states, results, strict=True)]

    before = [seconds(stock, time.perf_counter) for _ in range(3)]
    spans = list(pool.map(evaluated, [reward] * POOLED, [task] * POOLED, [ROUNDS] * POOLED))
    after = [seconds(stock, time.perf_counter) for _ in range(3)]
    own = (max(end for _, end in spans) - min(start for start, _ in spans)) / (POOLED * ROUNDS)
    first, last = statistics.median(before), statistics.median(after)
    label = f"{reward}, {task or 'open play'}, {POOLED} processes"
    theirs = (first + last) / 2
    print(
        f"{label:40} {own / STATES * 1e6:8.0f} {theirs / STATES * 1e6:8.0f} {theirs / own:7.1f} ×"
        f"   ({first / own:.1f} before, {last / own:.1f} after; by the clock, {cpu_count()} cores)"
    )


if __name__ == "__main__":
    gc.disable()
    main()
