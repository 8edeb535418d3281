"""Crafter for tests: the stock environment with its objects in order, and worlds already walked."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from random import Random
from typing import Any

import crafter

from untaken.simulator.crafter import ACTIONS, CrafterWorld

AREA = (32, 32)
"""A quarter of the standard map, made in a quarter of the time."""
SEED = 11
NIGHT = 200
"""Steps after which it is dark."""


class InOrder(dict[Any, None]):
    """A set that keeps the order in which its members came."""

    def add(self, member: Any) -> None:
        self[member] = None

    def remove(self, member: Any) -> None:
        self.pop(member)


def stock(seed: int, area: tuple[int, int]) -> Any:
    """The stock environment, pictures and all; only its chunks keep order, else no two runs are the same."""
    env = crafter.Env(seed=seed, area=area)
    reset = env._world.reset

    def reset_in_order(seed: int | None = None) -> None:
        reset(seed)
        env._world._chunks = defaultdict(InOrder)

    env._world.reset = reset_in_order
    return env


def some_actions(n: int, seed: int = 0) -> list[str]:
    """Actions at random, more moves and work than sleep."""
    return Random(seed).choices(ACTIONS, weights=[1, 4, 4, 4, 4, 8, *[1] * 11], k=n)


@cache
def _walked(steps: int, seed: int) -> CrafterWorld:
    world = CrafterWorld(seed, area=AREA)
    for action in some_actions(steps):
        world.step(action)
    return world


def walked(steps: int = 0, *, seed: int = SEED) -> CrafterWorld:
    """A world of one's own after some steps; each is walked once a session."""
    return _walked(steps, seed).clone()
