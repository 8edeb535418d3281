"""What do a clone and a step of the simulator cost beside a deep copy and a step of stock Crafter?

Pairs alternate in one process with the garbage collector off, on the same states, by day and by night. The
ratio is the median over pairs of CPU time. Printed too: the map, which the package makes in plain Python, and
a clone with one step of it: what it costs to try an alternative.

    python benchmarks/crafter_steps.py
"""

from __future__ import annotations

import copy
import gc
import statistics
import time
from collections.abc import Callable

import crafter

from untaken.simulator.crafter import ACTIONS, CrafterWorld
from untaken.simulator.crafter.stock import OrderedWorld

PAIRS = 20
REPEATS = 5
SEED = 3
NOOP = ACTIONS.index("noop")


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(REPEATS):
        work()
    return (time.process_time() - started) / REPEATS


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    pairs = []
    for _ in range(PAIRS):
        pairs.append((seconds(ours), seconds(theirs)))
        gc.collect()  # clones are circles; nobody is charged for another's
    own, stock = (statistics.median(column) * 1e6 for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{name:34} {own:8.0f} {stock:8.0f} {ratio:7.1f} ×")


def stock_at(steps: int) -> crafter.Env:
    env = crafter.Env(seed=SEED)
    env._world.__class__ = OrderedWorld  # ordered chunks, so that both stand in the same state
    env.reset()
    for _ in range(steps):
        env.step(NOOP)
    return env


def ours_at(steps: int) -> CrafterWorld:
    world = CrafterWorld(SEED)
    for _ in range(steps):
        world.step(NOOP)
    return world


def tried(env: crafter.Env) -> None:
    copy.deepcopy(env).step(NOOP)


def main() -> None:
    started = time.process_time()
    CrafterWorld(SEED)
    print(f"a new world: {time.process_time() - started:.2f} s\n")
    print(f"{'CPU time, median':34}  µs ours µs stock   ratio")
    for when, steps in (("day", 20), ("night", 155)):
        world, env = ours_at(steps), stock_at(steps)
        stepped, stepped_env = world.clone(), copy.deepcopy(env)
        compare(f"step, {when}", lambda w=stepped: w.step(NOOP), lambda e=stepped_env: e.step(NOOP))
        compare(f"clone against deep copy, {when}", world.clone, lambda e=env: copy.deepcopy(e))
        compare(f"clone and step, {when}", lambda w=world: w.clone().step(NOOP), lambda e=env: tried(e))


if __name__ == "__main__":
    gc.disable()
    main()
