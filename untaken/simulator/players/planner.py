"""Which skill comes next: survival first, then the achievement that is wanted and what it needs (§7)."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from untaken.simulator.players.agent_state import DAY, RIPE, AgentState
from untaken.simulator.players.garden import fenced
from untaken.simulator.players.local_map import COW, STONE, TABLE, WATER, ZOMBIE
from untaken.simulator.players.skills import EXPLORE, NEARBY, NEEDS, feasible, located, workshop

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
    *("collect_wood", "place_table", "make_wood_pickaxe", "make_wood_sword", "collect_stone"),
    *("make_stone_pickaxe", "make_stone_sword", "place_stone", "collect_sapling", "place_plant"),
    *("collect_drink", "eat_cow", "collect_coal", "place_furnace", "collect_iron", "make_iron_pickaxe"),
    *("make_iron_sword", "collect_diamond", "defeat_zombie", "defeat_skeleton", "wake_up"),
)
"""What is wanted in open play, the first first; a grown plant is seen to in between."""
_TABLE_REACH: Final = 30
EVENING: Final = (70, 140)
"""Steps of a day in which it eats and drinks for the night."""


def needed(agent: AgentState) -> str | None:
    """What survival asks for now, if anything."""
    have = agent.inventory
    if agent.facing == WATER and have["drink"] < 7 and agent.side_of(ZOMBIE) is None:  # while it is there
        return "collect_drink"
    if agent.threatened:
        return "wake_up"
    if _evening(agent) and have["wood_pickaxe"] and have["stone"] < 5 and agent.nearest(STONE) <= 30:
        return "collect_stone"
    thirsty, hungry = _thirsty(agent), _hungry(agent)
    if thirsty and not (hungry and have["food"] < have["drink"] and agent.facing != WATER):
        return "collect_drink"
    if hungry:
        ripe = any(grown >= RIPE for grown in agent.plants.values())
        return "eat_plant" if ripe and _nearest_cow(agent) > 12 else "eat_cow"
    return "wake_up" if have["energy"] <= 2 else None


def _evening(agent: AgentState) -> bool:
    return EVENING[0] <= agent.step % DAY <= EVENING[1]


def _thirsty(agent: AgentState) -> bool:
    """Whether to drink: sooner before the night, and where water is near."""
    drink = agent.inventory["drink"]
    if drink >= 7:
        return drink < 9 and agent.facing == WATER
    if drink <= (1 if agent.dark else 3) or _evening(agent):
        return True
    return agent.nearest(WATER) <= (15 if drink <= 5 and not agent.dark else 3)


def _hungry(agent: AgentState) -> bool:
    """Whether to eat: sooner before the night, and where a cow is near."""
    food = agent.inventory["food"]
    if food > 6:
        return False
    if agent.dark:
        return food <= 1
    if food <= 3 or _evening(agent):
        return True
    return _nearest_cow(agent) <= (15 if food <= 5 else 5)


def _nearest_cow(agent: AgentState) -> int:
    # 99 where there is none: farther than all that it is compared with.
    return min(
        (agent.away(cell) for cell, kind in agent.known_map.sighted.items() if kind == COW), default=99
    )


def step_to(agent: AgentState, goal: str) -> str:
    """The skill to begin with on the way to an achievement: itself, or what it lacks."""
    for item, amount in NEEDS.get(goal, {}).items():
        if agent.inventory[item] < amount:
            return step_to(agent, _SOURCE[item])  # which may lack something itself
    if goal in NEARBY:
        by_furnace = len(NEARBY[goal]) > 1
        if workshop(agent) if by_furnace else _table_near(agent):
            return goal
        return step_to(agent, "place_furnace" if by_furnace and _table_near(agent) else "place_table")
    if goal == "eat_plant" and not agent.plants:
        return step_to(agent, "place_plant")
    return goal


def _table_near(agent: AgentState) -> bool:
    return any(agent.away(cell) <= _TABLE_REACH for cell in agent.known(TABLE))


def choose(agent: AgentState, task: str | None, tried: Container[str]) -> str:
    """The skill a scripted policy begins; not one of those just tried in vain."""
    survival = needed(agent)
    if survival is not None and survival not in tried:
        return survival
    if task is not None:
        step = step_to(agent, task)
        return step if step not in tried else EXPLORE
    return _open_play(agent, tried)


def _open_play(agent: AgentState, tried: Container[str]) -> str:
    done = agent.achievements
    if (
        agent.inventory["wood"] < _wood(agent)
        and located(agent, "collect_wood")
        and "collect_wood" not in tried
    ):
        return "collect_wood"
    lacking = done["make_wood_pickaxe"] and agent.inventory["stone"] < _stones(agent)
    if lacking and "collect_stone" not in tried and agent.nearest(STONE) <= 6:
        return "collect_stone"
    if not done["eat_plant"] and "eat_plant" not in tried and _garden_calls(agent):
        return "eat_plant"
    for goal in _ORDER:
        if done[goal]:
            continue
        step = step_to(agent, goal)
        if step not in tried and located(agent, step) and step in feasible(agent):
            return step
    if not done["eat_plant"]:
        step = step_to(agent, "eat_plant")
        if step not in tried and located(agent, step) and (agent.step > 2_000 or step != "eat_plant"):
            return step
    return "wake_up" if EXPLORE in tried else EXPLORE


def _garden_calls(agent: AgentState) -> bool:
    """Whether a plant is ripe, or bare while there are stones to fence it."""
    if not agent.plants:
        return False
    oldest = max(agent.plants, key=lambda cell: agent.plants[cell])
    near = agent.away(oldest) <= 12 and agent.achievements["make_stone_sword"]
    ripe = agent.plants[oldest] >= RIPE and agent.away(oldest) <= 40
    return ripe or bool(near and agent.inventory["stone"] >= 4 and not fenced(agent, oldest))


def _wood(agent: AgentState) -> int:
    """Wood to have before going on."""
    done = agent.achievements
    if not done["place_table"]:
        return 6
    if not (done["make_iron_pickaxe"] and done["make_iron_sword"]) and done["make_stone_sword"]:
        return 4
    return 0


def _stones(agent: AgentState) -> int:
    """Stones to have before going on: enough for a night in the open."""
    return 9 if agent.achievements["make_stone_sword"] or agent.step % DAY > EVENING[0] else 2
