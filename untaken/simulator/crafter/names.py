"""The vocabulary of Crafter 1.8.3, for reading its records without the package."""

from __future__ import annotations

from typing import Final

from untaken.errors import UntakenError

ACTIONS: Final = (
    *("noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep", "place_stone", "place_table"),
    *("place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe", "make_iron_pickaxe"),
    *("make_wood_sword", "make_stone_sword", "make_iron_sword"),
)
"""Every action, in the order of its number."""
ACTION_PATTERN: Final = f"^({'|'.join(ACTIONS)})$"
MATERIALS: Final = (
    *("water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond", "table"),
    "furnace",
)
"""What the ground may be, in the order of its number from 1; 0 is beyond the edge of the map."""
OBJECTS: Final = ("player", "cow", "zombie", "skeleton", "arrow", "plant")
"""Objects and creatures, in the order of their numbers from 1; 0 is nothing."""
ACHIEVEMENTS: Final = (
    *("collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone"),
    *("collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe"),
    *("make_iron_sword", "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword"),
    *("place_furnace", "place_plant", "place_stone", "place_table", "wake_up"),
)
"""The 22 achievements, in alphabetical order."""


def checked_task(task: str) -> str:
    """The task, if it is an achievement.

    Raises:
        UntakenError: ``achievement-unknown``.
    """
    if task in ACHIEVEMENTS:
        return task
    raise UntakenError(
        "achievement-unknown", f"there is no achievement {task!r}", hint=f"One of: {', '.join(ACHIEVEMENTS)}."
    )
