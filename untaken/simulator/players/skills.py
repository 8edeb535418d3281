"""The skills of the scripted policies: one an achievement, and one for looking around (§7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from untaken.simulator.crafter.names import ACHIEVEMENTS
from untaken.simulator.players.agent_state import AgentState
from untaken.simulator.players.garden import pick, plant
from untaken.simulator.players.local_map import (
    AROUND,
    COAL,
    COW,
    DIAMOND,
    FURNACE,
    GRASS,
    IRON,
    PATH,
    SAND,
    SIDES,
    SKELETON,
    STONE,
    TABLE,
    TREE,
    WATER,
    ZOMBIE,
)
from untaken.simulator.players.shelter import rest

EXPLORE: Final = "explore"
SKILLS: Final = (*ACHIEVEMENTS, EXPLORE)
"""Every skill, in the order of alternatives."""
NEEDS: Final[dict[str, dict[str, int]]] = {
    "collect_stone": {"wood_pickaxe": 1},
    "collect_coal": {"wood_pickaxe": 1},
    "collect_iron": {"stone_pickaxe": 1},
    "collect_diamond": {"iron_pickaxe": 1},
    "place_stone": {"stone": 1},
    "place_table": {"wood": 2},
    "place_furnace": {"stone": 4},
    "place_plant": {"sapling": 1},
    "make_wood_pickaxe": {"wood": 1},
    "make_wood_sword": {"wood": 1},
    "make_stone_pickaxe": {"wood": 1, "stone": 1},
    "make_stone_sword": {"wood": 1, "stone": 1},
    "make_iron_pickaxe": {"wood": 1, "coal": 1, "iron": 1},
    "make_iron_sword": {"wood": 1, "coal": 1, "iron": 1},
}
"""What must be carried, by the rules of the package."""
NEARBY: Final[dict[str, tuple[int, ...]]] = {
    name: (TABLE, FURNACE) if "iron" in name else (TABLE,) for name in SKILLS if name.startswith("make_")
}
YIELDS: Final[dict[str, tuple[str, ...]]] = {
    **{name: (name.partition("_")[2],) for name in SKILLS if name.startswith(("collect_", "make_"))},
    **{
        name: (f"near_{name.partition('_')[2]}",) for name in SKILLS if name.startswith(("place_", "defeat_"))
    },
    "eat_cow": ("food",),
    "eat_plant": ("food",),
    "wake_up": ("energy", "sleeping"),
    EXPLORE: (),
}
"""The variables of a state that a skill is for, by the names that `state_causality` gives them."""
DUG: Final = {"collect_stone": STONE, "collect_sapling": GRASS}
"""What is taken from ground that can also be walked to."""
MATERIALS: Final = {
    "collect_coal": COAL,
    "collect_diamond": DIAMOND,
    "collect_drink": WATER,
    "collect_iron": IRON,
    "collect_wood": TREE,
}
FOUND_AT: Final = MATERIALS | DUG | {"place_plant": GRASS}
PREY: Final = {"eat_cow": COW, "defeat_zombie": ZOMBIE, "defeat_skeleton": SKELETON}
ON_GRASS: Final = frozenset(("collect_wood", "collect_drink", "collect_sapling", "eat_cow", "defeat_zombie"))
_MEADOW: Final = bytes((0, 1, 4, 1, 1, 3, 2, *[1] * 9))
_MOUNTAIN: Final = bytes((0, 1, 1, 4, 6, 1, 1, *[4] * 9))
_ANYWHERE: Final = bytes((0, *[2] * 15))
_PLACEABLE: Final = (GRASS, SAND, PATH)

Control = Callable[[AgentState, str], str | None]


def feasible(agent: AgentState, *, wanted: str | None = None) -> tuple[str, ...]:
    """The skills that can start now, by inventory and known map, in the order of `SKILLS`.

    What is at no known place must be found first, by `EXPLORE`. What is carried already is not made or
    collected again beyond use, unless it is what is `wanted`.
    """
    return tuple(name for name in SKILLS if _possible(agent, name, wanted))


def located(agent: AgentState, skill: str) -> bool:
    """Whether a place is known where the skill can be carried out."""
    if skill in PREY:
        return PREY[skill] in agent.known_map.sighted.values()
    return skill not in FOUND_AT or bool(agent.known(FOUND_AT[skill]))


def _possible(agent: AgentState, name: str, wanted: str | None) -> bool:
    carried = agent.inventory
    if not located(agent, name):
        return False
    if any(carried[item] < amount for item, amount in NEEDS.get(name, {}).items()):
        return False
    if name in NEARBY:
        item = name.removeprefix("make_")
        # One is enough, unless one more is wanted.
        return (name == wanted or not carried[item]) and all(agent.known_map.places[m] for m in NEARBY[name])
    if name == "eat_plant":
        return bool(agent.plants)
    if name == "wake_up":
        return carried["energy"] < 9 or agent.threatened
    item = name.removeprefix("collect_")
    return name == wanted or item == "drink" or carried.get(item, 0) < 9  # the package counts no further


def carry_out(agent: AgentState, skill: str) -> str | None:
    """The next action of a skill; ``None`` where it cannot go on."""
    return _CONTROLS[skill](agent, skill)


def _seek(agent: AgentState, name: str) -> str | None:
    """Uses the nearest known place or creature of a skill, else looks for one."""
    if name in PREY:
        aims = {cell: None for cell, what in agent.known_map.sighted.items() if what == PREY[name]}
    else:
        aims = agent.known(MATERIALS[name])
    found = agent.use(aims, name) if aims else None
    return found or _search(agent, name)


def _dig(agent: AgentState, name: str) -> str | None:
    if agent.facing == DUG[name]:
        return "do"
    return agent.go(agent.known(DUG[name]), name) or _search(agent, name)


def _search(agent: AgentState, name: str) -> str | None:
    return agent.wander(_MEADOW if name in ON_GRASS else _MOUNTAIN, f"seek {name}")


def _place(agent: AgentState, action: str) -> str | None:
    where = (*_PLACEABLE, WATER) if action == "place_stone" else _PLACEABLE
    if agent.facing in where and (action == "place_stone" or agent.counts(agent.known_map.here)):
        return action
    return _step_away(agent)


def _step_away(agent: AgentState) -> str | None:
    """Makes the cell in front a free one: by digging, or by a step to where there is room."""
    known_map = agent.known_map
    if agent.facing == STONE and agent.costs[STONE]:
        return "do"
    for side in SIDES:
        near = known_map.here + side
        if known_map.free(near) and near not in known_map.hot:  # beside lava, a wrong step is death
            return agent.turn(near)
    for side in SIDES:
        near = known_map.here + side
        if known_map.ground[near] == STONE and agent.costs[STONE]:
            return agent.enter(near)
    return None


def _furnace(agent: AgentState, name: str) -> str | None:
    """Beside a table where one is near, for both are needed together."""
    tables = [cell for cell in agent.known(TABLE) if agent.away(cell) < 40]
    if agent.achievements[name] and tables and not agent.near(TABLE):  # the first furnace counts anywhere
        action = agent.go(_workplaces(agent, tables), "to a table")
        if action is not None:
            return action
    return _place(agent, name)


def _workplaces(agent: AgentState, things: Iterable[int]) -> dict[int, None]:
    costs, ground = agent.costs, agent.known_map.ground
    return {
        cell + around: None
        for cell in things
        for around in AROUND
        if costs[ground[cell + around]] and agent.counts(cell + around)
    }


def workshop(agent: AgentState) -> dict[int, None]:
    """Cells from which a table and a furnace are both near."""
    by_furnace = _workplaces(agent, agent.known(FURNACE))
    return {cell: None for cell in _workplaces(agent, agent.known(TABLE)) if cell in by_furnace}


def _make(agent: AgentState, name: str) -> str | None:
    if all(agent.near(thing) for thing in NEARBY[name]):
        return name
    places = workshop(agent) if FURNACE in NEARBY[name] else _workplaces(agent, agent.known(TABLE))
    return agent.go(places, name) if places else None


def _explore(agent: AgentState, name: str) -> str | None:
    return agent.wander(_MOUNTAIN if agent.inventory["wood_pickaxe"] else _ANYWHERE, name)


_CONTROLS: Final[dict[str, Control]] = {
    **dict.fromkeys((*MATERIALS, *PREY), _seek),
    **dict.fromkeys(DUG, _dig),
    **dict.fromkeys(NEARBY, _make),
    **dict.fromkeys(("place_stone", "place_table"), _place),
    "place_furnace": _furnace,
    "place_plant": lambda agent, _: plant(agent),
    "eat_plant": lambda agent, _: pick(agent),
    "wake_up": lambda agent, _: rest(agent),
    EXPLORE: _explore,
}
