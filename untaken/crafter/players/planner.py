"""Which skill comes next: survival first, then the achievement that is wanted and what it needs (§7)."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from untaken.crafter.players.agent_state import DAY, RIPE, AgentState
from untaken.crafter.players.garden import fenced
from untaken.crafter.players.local_map import (
    COW,
    STONE,
    TABLE,
    WATER,
    ZOMBIE,
)
from untaken.crafter.players.skills import EXPLORE, NEARBY, NEEDS, feasible, located, workshop

_SOURCE: Final = {
    "wood": "collect_wood",
    "stone": "collect_stone",
    "coal": "collect_coal",
    "iron": "collect_iron",
    "sapling": "collect_sapling",
    "wood_pickaxe": "make_wood_pickaxe",
    "stone_pickaxe": "make_stone_pickaxe",
    "iron_pickaxe": "make_iron_pickaxe",
}
_ORDER: Final = (
    "collect_wood",
    "place_table",
    "make_wood_pickaxe",
    "make_wood_sword",
    "collect_stone",
    "make_stone_pickaxe",
    "make_stone_sword",
    "place_stone",
    "collect_sapling",
    "place_plant",
    "collect_drink",
    "eat_cow",
    "collect_coal",
    "place_furnace",
    "collect_iron",
    "make_iron_pickaxe",
    "make_iron_sword",
    "collect_diamond",
    "defeat_zombie",
    "defeat_skeleton",
    "wake_up",
)
"""What is wanted in open play, the first first; a grown plant is seen to in between."""
_TABLE_REACH: Final = 30
EVENING: Final = (70, 140)
"""Steps of a day in which it eats and drinks for the night."""


def needed(mind: AgentState) -> str | None:
    """What survival asks for now, if anything."""
    have = mind.inventory
    if mind.facing == WATER and have["drink"] < 7 and mind.side_of(ZOMBIE) is None:
        return "collect_drink"
    if mind.threatened:
        return "wake_up"
    if _evening(mind) and have["wood_pickaxe"] and have["stone"] < 5 and mind.nearest(STONE) <= 30:
        return "collect_stone"
    thirsty, hungry = _thirsty(mind), _hungry(mind)
    if thirsty and not (hungry and have["food"] < have["drink"] and mind.facing != WATER):
        return "collect_drink"
    if hungry:
        ripe = any(grown >= RIPE for grown in mind.plants.values())
        return "eat_plant" if ripe and _nearest_cow(mind) > 12 else "eat_cow"
    return "wake_up" if have["energy"] <= 2 else None


def _evening(mind: AgentState) -> bool:
    return EVENING[0] <= mind.step % DAY <= EVENING[1]


def _thirsty(mind: AgentState) -> bool:
    """Whether to drink: sooner before the night, and where water is near."""
    drink = mind.inventory["drink"]
    if drink >= 7:
        return drink < 9 and mind.facing == WATER
    if drink <= (1 if mind.dark else 3) or _evening(mind):
        return True
    return mind.nearest(WATER) <= (15 if drink <= 5 and not mind.dark else 3)


def _hungry(mind: AgentState) -> bool:
    """Whether to eat: sooner before the night, and where a cow is near."""
    food = mind.inventory["food"]
    if food > 6:
        return False
    if mind.dark:
        return food <= 1
    if food <= 3 or _evening(mind):
        return True
    return _nearest_cow(mind) <= (15 if food <= 5 else 5)


def _nearest_cow(mind: AgentState) -> int:
    return min((mind.away(cell) for cell, kind in mind.chart.sighted.items() if kind == COW), default=99)


def step_to(mind: AgentState, goal: str) -> str:
    """The skill to begin with on the way to an achievement: itself, or what it lacks."""
    for item, amount in NEEDS.get(goal, {}).items():
        if mind.inventory[item] < amount:
            return step_to(mind, _SOURCE[item])
    if goal in NEARBY:
        if len(NEARBY[goal]) > 1:
            return goal if workshop(mind) else _workshop_step(mind)
        return goal if _table_near(mind) else step_to(mind, "place_table")
    if goal == "eat_plant" and not mind.plants:
        return step_to(mind, "place_plant")
    return goal


def _workshop_step(mind: AgentState) -> str:
    return step_to(mind, "place_furnace" if _table_near(mind) else "place_table")


def _table_near(mind: AgentState) -> bool:
    return any(mind.away(cell) <= _TABLE_REACH for cell in mind.known(TABLE))


def choose(mind: AgentState, task: str | None, tried: Container[str]) -> str:
    """The skill a scripted policy begins; not one of those just tried in vain."""
    survival = needed(mind)
    if survival is not None and survival not in tried:
        return survival
    if task is not None:
        step = step_to(mind, task)
        return step if step not in tried else EXPLORE
    return _open_play(mind, tried)


def _open_play(mind: AgentState, tried: Container[str]) -> str:
    done = mind.achievements
    if mind.inventory["wood"] < _wood(mind) and located(mind, "collect_wood") and "collect_wood" not in tried:
        return "collect_wood"
    lacking = done["make_wood_pickaxe"] and mind.inventory["stone"] < _stones(mind)
    if lacking and "collect_stone" not in tried and mind.nearest(STONE) <= 6:
        return "collect_stone"
    if not done["eat_plant"] and "eat_plant" not in tried and _garden_calls(mind):
        return "eat_plant"
    for goal in _ORDER:
        if done[goal]:
            continue
        step = step_to(mind, goal)
        if step not in tried and located(mind, step) and step in feasible(mind):
            return step
    if not done["eat_plant"]:
        step = step_to(mind, "eat_plant")
        if step not in tried and located(mind, step) and (mind.step > 2_000 or step != "eat_plant"):
            return step
    return "wake_up" if EXPLORE in tried else EXPLORE


def _garden_calls(mind: AgentState) -> bool:
    """Whether a plant is ripe, or bare while there are stones to fence it."""
    if not mind.plants:
        return False
    oldest = max(mind.plants, key=lambda cell: mind.plants[cell])
    near = mind.away(oldest) <= 12 and mind.achievements["make_stone_sword"]
    ripe = mind.plants[oldest] >= RIPE and mind.away(oldest) <= 40
    return ripe or bool(near and mind.inventory["stone"] >= 4 and not fenced(mind, oldest))


def _wood(mind: AgentState) -> int:
    """Wood to have before going on."""
    done = mind.achievements
    if not done["place_table"]:
        return 6
    if not (done["make_iron_pickaxe"] and done["make_iron_sword"]) and done["make_stone_sword"]:
        return 4
    return 0


def _stones(mind: AgentState) -> int:
    """Stones to have before going on: enough for a night in the open."""
    return 9 if mind.achievements["make_stone_sword"] or mind.step % DAY > EVENING[0] else 2
