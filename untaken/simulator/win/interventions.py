"""The actions not taken: wait, the opposite, and another one at random (§7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from random import Random
from types import MappingProxyType
from typing import Final

from untaken.errors import UntakenError
from untaken.simulator.crafter import ACTIONS, MATERIALS, OBJECTS, LocalView
from untaken.simulator.crafter.names import checked_task
from untaken.simulator.win.rules import CrafterRules, rules

INTERVENTIONS: Final = ("wait", "opposite", "random")
"""Ψ, in the order of the terms."""
NOOP: Final = "noop"
MOVES: Final = MappingProxyType(
    {"move_left": (-1, 0), "move_right": (1, 0), "move_up": (0, -1), "move_down": (0, 1)}
)
"""Direction of each move, x to the right and y down."""
OPPOSITES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "move_left": "move_right",
        "move_right": "move_left",
        "move_up": "move_down",
        "move_down": "move_up",
        "place_stone": "do",
        "place_table": "do",
        "place_furnace": "do",
        "place_plant": "do",
        "make_wood_pickaxe": "make_wood_sword",
        "make_stone_pickaxe": "make_stone_sword",
        "make_iron_pickaxe": "make_iron_sword",
        "make_wood_sword": "make_wood_pickaxe",
        "make_stone_sword": "make_stone_pickaxe",
        "make_iron_sword": "make_iron_pickaxe",
    }
)
"""The opposite of an action wherever it is done; ``do`` depends on what is in front, ``noop`` and ``sleep``
have none."""
AWAY: Final = "away"
"""A step away from what is in front."""
OPPOSITES_OF_DO: Final[Mapping[str, str]] = MappingProxyType(
    {"stone": "place_stone", "grass": "place_plant"}
    | dict.fromkeys(("tree", "water", "coal", "iron", "diamond"), AWAY)
    | dict.fromkeys(("cow", "zombie", "skeleton", "arrow", "plant"), AWAY)
)
"""The opposite of ``do`` by the material or creature in front; before anything else it has none."""


def opposite(action: str, seen: LocalView) -> str | None:
    """The opposite of an action in a state (f_inv), by the tables; ``None`` where it has none."""
    if action != "do":
        return OPPOSITES.get(action)
    found = OPPOSITES_OF_DO.get(seen.front or "")
    if found != AWAY:
        return found
    back = (-seen.facing[0], -seen.facing[1])
    return next(move for move, direction in MOVES.items() if direction == back)


def possible_actions(seen: LocalView, task: str | None = None) -> tuple[str, ...]:
    """A_valid(l): what would have an effect in this state by the package's rules, in the order of `ACTIONS`.

    Moves always (a blocked one turns the player); ``do`` before a creature, or before a ground that yields
    something with the tools held; ``sleep`` unless rested; ``place_…`` and ``make_…`` where what they use is
    held and the ground in front or the things near allow it, and of these only what serves the task.
    ``noop`` is the intervention ``wait`` and is in no set.

    Raises:
        UntakenError: ``achievement-unknown``.
    """
    return tuple(action for action in _served(task) if _effective(action, seen, rules()))


@lru_cache(maxsize=256)
def _served(task: str | None) -> tuple[str, ...]:
    """The actions that may serve a task, wherever they are possible."""
    serves = None if task is None else rules().serves[checked_task(task)]
    return tuple(
        action
        for action in ACTIONS
        if action != NOOP
        and (serves is None or action in serves or not action.startswith(("place_", "make_")))
    )


def _effective(action: str, seen: LocalView, known: CrafterRules) -> bool:
    if action in MOVES:
        return True
    if action == "sleep":
        return seen.inventory["energy"] < known.most["energy"]
    if action == "do":
        return _yields(seen, known)
    verb, _, what = action.partition("_")
    uses = (known.placing if verb == "place" else known.making)[what].uses
    if not _held(uses, seen):
        return False
    if verb == "place":
        # The package numbers materials from 1; its 0 is none.
        return seen.front in MATERIALS and MATERIALS.index(seen.front) + 1 in known.placing[what].where
    return seen.nearby.issuperset(known.making[what].nearby)


def _yields(seen: LocalView, known: CrafterRules) -> bool:
    front = seen.front
    if front in OBJECTS:
        return front != "arrow"  # a blow at an arrow does nothing
    collecting = known.grounds.get(front or "")
    return collecting is not None and _held(collecting.needs, seen)


def _held(items: Mapping[str, int], seen: LocalView) -> bool:
    return all(seen.inventory[item] >= amount for item, amount in items.items())


def alternatives(
    action: str, seen: LocalView, task: str | None, interventions: Iterable[str], draw: Random
) -> tuple[dict[str, str], dict[str, str]]:
    """f_intv for each intervention: the other action, or why there is none."""
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for intervention in interventions:
        other, reason = _alternative(intervention, action, seen, task, draw)
        if other is None or other == action:
            missing[intervention] = reason
        else:
            found[intervention] = other
    return found, missing


def _alternative(
    intervention: str, action: str, seen: LocalView, task: str | None, draw: Random
) -> tuple[str | None, str]:
    if intervention == "wait":
        return NOOP, "the action is to wait"
    if intervention == "opposite":
        return opposite(action, seen), f"{action} has no opposite here"
    return _drawn(action, seen, task, draw), "nothing else is possible here"


def _drawn(action: str, seen: LocalView, task: str | None, draw: Random) -> str | None:
    """One of the possible actions but this one, each as likely: the first possible of all in random order."""
    served = _served(task)
    for other in draw.sample(served, k=len(served)):
        if other != action and _effective(other, seen, rules()):
            return other
    return None


def checked_interventions(names: Iterable[str]) -> tuple[str, ...]:
    """The names in the order of Ψ, each once.

    Raises:
        UntakenError: ``intervention-unknown``.
    """
    wanted = set(names)
    if not wanted or not wanted <= set(INTERVENTIONS):
        unknown = ", ".join(sorted(wanted - set(INTERVENTIONS))) or "none at all"
        raise UntakenError(
            "intervention-unknown",
            f"no such intervention: {unknown}",
            hint=f"One or more of: {', '.join(INTERVENTIONS)}.",
        )
    return tuple(name for name in INTERVENTIONS if name in wanted)
