"""The situation of a decision in layers, from fine to coarse: what history can be looked up by (§2, §7).

The finer a context, the more alike two situations of it are, and the fewer there are with any history. So a
decision is recorded with several, and history is taken from the finest one that has some. They are nested:
situations that are alike in one are alike in all coarser ones.
"""

from __future__ import annotations

from typing import Any, Final

from untaken.simulator.crafter.names import ACHIEVEMENTS, MATERIALS, OBJECTS
from untaken.simulator.crafter.world import LocalView

LAYERS: Final = ("everything", "means", "aims", "stage")
"""What each layer is called, fine to coarse."""
NEEDS: Final = ("health", "food", "drink", "energy")
LOW: Final = 3
"""A need is pressing at this level (of 9) or below."""
NIGHT: Final = 0.5
"""Daylight below which it is night."""
MANY: Final = 5
"""Amounts of an item from here on are one."""

_STAGES: Final = (
    ("make_iron_pickaxe", "iron pickaxe"),
    ("collect_iron", "iron"),
    ("place_furnace", "furnace"),
    ("make_stone_pickaxe", "stone pickaxe"),
    ("make_wood_pickaxe", "wood pickaxe"),
    ("place_table", "table"),
    ("collect_wood", "wood"),
)
"""How far the tools have come, the furthest first."""
_NOTABLE: Final = frozenset(
    ("water", "stone", "tree", "lava", "coal", "iron", "diamond", "table", "furnace", *OBJECTS[1:])
)
"""What it matters to have in view; grass, sand and path are nearly everywhere."""
_AIMED_AT: Final = frozenset({"zombie", "skeleton", "arrow", "table", "furnace"})
"""Foes and workplaces."""
_GROUND: Final = dict(enumerate(MATERIALS, start=1))
_OBJECTS: Final = dict(enumerate(OBJECTS, start=1))


def context_layers(seen: LocalView) -> tuple[dict[str, Any], ...]:
    """The contexts of a decision, finest first, as many as `LAYERS`; each one uses fewer features.

    - ``everything``: items by amount (5 and more are one), what is in view, pressing needs, night, and which
      achievements were reached.
    - ``means``: which items there are at all, stage of the tools, what is in view, pressing needs, night.
    - ``aims``: stage of the tools, foes and workplaces in view, pressing needs, night.
    - ``stage``: stage of the tools, the first pressing need, night: 80 values at most.
    """
    view, low, night = in_view(seen), pressing(seen), seen.daylight < NIGHT
    items = {name: amount for name, amount in seen.inventory.items() if amount and name not in NEEDS}
    reached = [name for name in ACHIEVEMENTS if seen.achievements[name]]
    around = {"low": low, "night": night}
    amounts = {name: min(amount, MANY) for name, amount in sorted(items.items())}
    aims = [name for name in view if name in _AIMED_AT]
    return (
        {"items": amounts, "view": view, "reached": reached, **around},
        {"items": sorted(items), "stage": stage(seen), "view": view, **around},
        {"stage": stage(seen), "view": aims, **around},
        {"stage": stage(seen), "low": next(iter(low), None), "night": night},
    )


def stage(seen: LocalView) -> str:
    """How far the tools have come: ``nothing``, ``wood``, ``table`` … ``iron pickaxe``."""
    return next((name for reached, name in _STAGES if seen.achievements[reached]), "nothing")


def pressing(seen: LocalView) -> list[str]:
    """Needs that are low, in the order of `NEEDS`."""
    return [need for need in NEEDS if seen.inventory[need] <= LOW]


def in_view(seen: LocalView) -> list[str]:
    """The notable things in view, by name, each once."""
    grounds = {number for column in seen.materials for number in column if number}
    objects = {number for column in seen.objects for number in column if number}
    names = {_GROUND[number] for number in grounds} | {_OBJECTS[number] for number in objects}
    return sorted(names & _NOTABLE)


def facing(seen: LocalView) -> str:
    """The object in front of the player, or the terrain there; ``edge`` beyond the map."""
    return seen.front or "edge"
