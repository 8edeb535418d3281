"""Reward functions f_R by name: what an action is worth in a state, for a task (§7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final, Literal

from untaken.errors import UntakenError
from untaken.simulator.crafter import ACTIONS, CrafterWorld, LocalView, WorldStep
from untaken.simulator.win.cost_to_go import CostToGo

Valuation = Callable[[WorldStep, CrafterWorld], float]
"""What a step was worth: given the step and the world after it.

The world is lent: it may be stepped on, and is used again for the next action. A clone of it can be kept.
"""
Reward = Callable[[CrafterWorld, LocalView, "str | None"], Valuation]
"""f_R: given a state s, as a world and as it is seen, and a task l: how each action done in s is valued."""
SHAPED: Final = "shaped"
_ROLLOUT: Final = re.compile(r"rollout-([1-9][0-9]{0,3})(-noop)?")
_FUTURES: Final = 4
"""Random futures that a rollout is the mean of."""


def env(_world: CrafterWorld, _seen: LocalView, _task: str | None) -> Valuation:
    """``env``: the environment's own reward."""
    return lambda step, _after: step.reward


def shaped(world: CrafterWorld, seen: LocalView, task: str | None) -> Valuation:
    """``shaped``: the steps that an action saves, C(s) − C(s′), by the task's cost-to-go (`CostToGo`)."""
    cost = CostToGo(seen, task)
    before = cost.of(world, seen)
    return lambda _step, after: before - cost.of(after, after.observe())


def rollout(steps: int, continuation: Literal["random", "noop"] = "random") -> Reward:
    """``rollout-n``: the environment's rewards of the action and of `steps` more, added up.

    Args:
        steps: how far it looks.
        continuation: what is done then: ``random`` actions, the mean over 4 futures, which are the same for
            every action of a state; or nothing (``noop``).
    """

    def reward(world: CrafterWorld, _seen: LocalView, _task: str | None) -> Valuation:
        # Seeded by the step alone: common futures take their luck out of the difference between two actions.
        draw = Random(f"{world.steps}")
        if continuation == "noop":
            return _along([["noop"] * steps])
        return _along([draw.choices(ACTIONS, k=steps) for _ in range(_FUTURES)])

    return reward


def _along(futures: list[list[str]]) -> Valuation:
    def value(step: WorldStep, after: CrafterWorld) -> float:
        if step.done:  # an episode that is over gains nothing more
            return step.reward
        mark, total = after.mark(), 0.0
        for future in futures:
            for action in future:
                moved = after.step(action)
                total += moved.reward
                if moved.done:
                    break
            mark.restore()  # also after the last: the world is lent
        return step.reward + total / len(futures)

    return value


REWARDS: Final[dict[str, Reward]] = {"env": env, SHAPED: shaped}
"""Reward functions by name; ``rollout-n`` and ``rollout-n-noop`` are read from their names."""


def reward_named(name: str) -> Reward:
    """The reward function of a name.

    Raises:
        UntakenError: ``reward-unknown``.
    """
    if name in REWARDS:
        return REWARDS[name]
    if found := _ROLLOUT.fullmatch(name):
        return rollout(int(found[1]), "noop" if found[2] else "random")
    known = ", ".join([*REWARDS, "rollout-N", "rollout-N-noop"])
    raise UntakenError(
        "reward-unknown", f"there is no reward {name!r}", hint=f"One of: {known} (N from 1 to 9999)."
    )
