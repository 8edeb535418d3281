"""The tech tree is what the environment enforces: no more, no less."""

from __future__ import annotations

import pytest
from builders import a_run
from crafter import constants
from crafter_worlds import walked

from untaken.plans import edges, map_actions, transitive_reduction, validate
from untaken.simulator.crafter import ACHIEVEMENTS, MATERIALS, OBJECTS, CrafterWorld, LocalView, tech_tree

DEPS = {
    "collect_coal": ["make_wood_pickaxe"],
    "collect_diamond": ["make_iron_pickaxe"],
    "collect_drink": [],
    "collect_iron": ["make_stone_pickaxe"],
    "collect_sapling": [],
    "collect_stone": ["make_wood_pickaxe"],
    "collect_wood": [],
    "defeat_skeleton": [],
    "defeat_zombie": [],
    "eat_cow": [],
    "eat_plant": ["place_plant"],
    "make_iron_pickaxe": ["collect_wood", "collect_coal", "collect_iron", "place_table", "place_furnace"],
    "make_iron_sword": ["collect_wood", "collect_coal", "collect_iron", "place_table", "place_furnace"],
    "make_stone_pickaxe": ["collect_wood", "collect_stone", "place_table"],
    "make_stone_sword": ["collect_wood", "collect_stone", "place_table"],
    "make_wood_pickaxe": ["collect_wood", "place_table"],
    "make_wood_sword": ["collect_wood", "place_table"],
    "place_furnace": ["collect_stone"],
    "place_plant": ["collect_sapling"],
    "place_stone": ["collect_stone"],
    "place_table": ["collect_wood"],
    "wake_up": [],
}


def test_it_is_a_valid_graph_of_22_sub_goals_and_29_edges_19_of_them_not_implied() -> None:
    graph = tech_tree()
    assert {node.id: node.deps for node in graph.sub_goals} == DEPS
    assert (len(graph.sub_goals), len(edges(graph)), len(edges(transitive_reduction(graph)))) == (22, 29, 19)
    assert {finding.code for finding in validate(graph)} == {"graph-isolated"}
    assert not any(node.critical for node in graph.sub_goals)


# Compared with the environment


def in_place(achievement: str) -> CrafterWorld:
    """A world in which the achievement is one action away: the player holds everything, all is beside it."""
    world = walked()
    env, player = world._env, world._env._player
    player.inventory |= dict.fromkeys(player.inventory, 5)
    player.facing = (0, 1)
    x, y = player.pos.tolist()
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if (obj := env._world[x + dx, y + dy][1]) not in (None, player):
                env._world.remove(obj)
            env._world[x + dx, y + dy] = "grass"
    env._world[x - 1, y], env._world[x + 1, y] = "table", "furnace"
    for material, info in constants.collect.items():
        if achievement in [f"collect_{item}" for item in info["receive"]]:
            env._world[x, y + 1] = material
    return world


def action(achievement: str) -> str:
    return "do" if achievement.startswith("collect_") else achievement


def take_away(world: CrafterWorld, achievement: str) -> None:
    """What only this achievement can have given."""
    verb, _, thing = achievement.partition("_")
    env = world._env
    if verb == "place":
        x, y = env._player.pos.tolist()
        env._world[x + (-1 if thing == "table" else 1), y] = "grass"
    else:
        env._player.inventory[thing] = 0


WITH_DEPS = [name for name, deps in DEPS.items() if deps and name != "eat_plant"]


@pytest.mark.parametrize("achievement", WITH_DEPS)
def test_with_all_it_needs_an_achievement_is_reached_and_without_any_one_of_it_not(achievement: str) -> None:
    world = in_place(achievement)
    for dep in DEPS[achievement]:
        without = world.clone()
        take_away(without, dep)
        without.step(action(achievement))
        assert without.observe().achievements[achievement] == 0, dep
    world.step(action(achievement))
    assert world.observe().achievements[achievement] == 1


# Runs against it


def facing(observation: LocalView) -> str:
    x, y = 4 + observation.facing[0], 3 + observation.facing[1]
    thing, ground = observation.objects[x][y], observation.materials[x][y]
    return OBJECTS[thing - 1] if thing else MATERIALS[ground - 1] if ground else "nothing"


def test_actions_map_to_what_they_serve() -> None:
    graph = tech_tree()
    calls = {
        "collect_drink": ("do", {"facing": "water"}),
        "collect_sapling": ("do", {"facing": "grass"}),
        "collect_wood": ("do", {"facing": "tree"}),
        "defeat_zombie": ("do", {"facing": "zombie"}),
        "eat_plant": ("do", {"facing": "plant"}),
        "make_iron_sword": ("make_iron_sword", {}),
        "place_stone": ("place_stone", {}),
        "wake_up": ("sleep", {}),
    }
    building = a_run("r1")
    for tool, arguments in calls.values():
        building.call(tool, **arguments)
    building.call("move_left").call("do", facing="sand")
    mapped = map_actions(building.finish().run(), graph)
    assert [sub_goal for _, sub_goal, _ in mapped.mapped] == list(calls)
    assert len(mapped.extra) == 2
    assert {node.id for node in graph.sub_goals if node.rules} == set(ACHIEVEMENTS)
