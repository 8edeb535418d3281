"""The actions not taken: the table of opposites, what is possible, and draws from it."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from crafter_worlds import some_actions, walked
from msgspec.structs import replace

from untaken.simulator.crafter import ACTIONS, MATERIALS, OBJECTS, CrafterWorld, LocalView
from untaken.simulator.win import opposite, possible_actions
from untaken.simulator.win.interventions import alternatives

EVERYTHING = dict.fromkeys(("wood", "stone", "coal", "iron", "sapling"), 9)


def facing(thing: str | None, *, direction: tuple[int, int] = (1, 0), **inventory: int) -> LocalView:
    """A meadow with one thing in front of the player."""
    materials = [[MATERIALS.index("grass") + 1] * 7 for _ in range(9)]
    objects = [[0] * 7 for _ in range(9)]
    x, y = 4 + direction[0], 3 + direction[1]
    if thing in OBJECTS:
        objects[x][y] = OBJECTS.index(thing) + 1
    else:
        materials[x][y] = 0 if thing is None else MATERIALS.index(thing) + 1
    seen = walked().observe()
    return replace(
        seen,
        materials=tuple(map(tuple, materials)),
        objects=tuple(map(tuple, objects)),
        facing=direction,
        inventory=seen.inventory | inventory,
    )


@pytest.mark.parametrize(
    ("action", "front", "want"),
    [
        ("noop", "grass", None),
        ("sleep", "grass", None),
        ("move_left", "tree", "move_right"),
        ("move_right", "tree", "move_left"),
        ("move_up", "tree", "move_down"),
        ("move_down", "tree", "move_up"),
        ("do", "stone", "place_stone"),
        ("place_stone", "stone", "do"),
        ("do", "grass", "place_plant"),
        ("place_plant", "grass", "do"),
        ("place_table", "grass", "do"),
        ("place_furnace", "grass", "do"),
        *(("do", thing, "move_left") for thing in ("tree", "water", "coal", "iron", "diamond")),
        *(("do", thing, "move_left") for thing in ("cow", "zombie", "skeleton", "arrow", "plant")),
        *(("do", thing, None) for thing in ("path", "sand", "table", "furnace", "lava", None)),
        ("make_wood_pickaxe", "grass", "make_wood_sword"),
        ("make_iron_sword", "grass", "make_iron_pickaxe"),
    ],
)
def test_opposites_are_those_of_the_table(action: str, front: str | None, want: str | None) -> None:
    assert opposite(action, facing(front)) == want


def tried(world: CrafterWorld, action: str) -> tuple[object, ...]:
    """What an action changes of the player and the ground in one step, creatures left aside."""
    clone = world.clone()
    clone.step(action)
    seen = clone.observe()
    mine = {
        item: n for item, n in seen.inventory.items() if item not in ("health", "food", "drink", "energy")
    }
    return seen.materials, mine, seen.achievements, seen.facing, seen.sleeping


def test_what_is_said_to_be_impossible_has_no_effect_in_the_simulator() -> None:
    world = walked(45)
    checked = 0
    for action in some_actions(150, seed=9):
        if world.observe().sleeping:
            world.step("noop")
            continue
        idle = tried(world, "noop")
        for impossible in set(ACTIONS) - set(possible_actions(world.observe())) - {"noop"}:
            assert tried(world, impossible) == idle, impossible
            checked += 1
        world.step(action)
    assert checked > 500


@pytest.mark.parametrize(
    ("action", "seen", "possible"),
    [
        ("do", facing("stone"), False),
        ("do", facing("stone", wood_pickaxe=1), True),
        ("do", facing("iron", wood_pickaxe=1), False),
        ("do", facing("path"), False),
        ("do", facing("cow"), True),
        ("place_stone", facing("water", stone=1), True),
        ("place_stone", facing("tree", stone=1), False),
        ("place_stone", facing("cow", stone=1), False),
        ("place_plant", facing("grass", sapling=1), True),
        ("make_wood_pickaxe", facing("table", wood=1), True),
        ("make_wood_pickaxe", facing("grass", wood=1), False),
        ("make_iron_sword", facing("table", **EVERYTHING), False),
        ("sleep", facing("grass"), False),
        ("sleep", facing("grass", energy=5), True),
    ],
)
def test_what_is_possible_follows_the_rules(action: str, seen: LocalView, possible: bool) -> None:
    assert (action in possible_actions(seen)) is possible


def test_a_random_action_is_any_other_possible_one_as_likely() -> None:
    seen = facing("tree")
    drawn = Counter(
        alternatives("move_up", seen, None, ["random"], Random(seed))[0]["random"] for seed in range(1200)
    )
    assert set(drawn) == set(possible_actions(seen)) - {"move_up"}
    assert min(drawn.values()) > 200  # four of them, 300 each; 200 is more than six standard deviations off
