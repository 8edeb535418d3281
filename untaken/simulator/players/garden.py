"""Planting, fencing and eating what grew (§7)."""

from __future__ import annotations

from untaken.simulator.players.agent_state import RIPE, AgentState
from untaken.simulator.players.local_map import GRASS, SIDES
from untaken.simulator.players.shelter import hide

_WATCH = 6
"""Steps from a plant at which it waits for it."""


def plant(agent: AgentState) -> str | None:
    """Plants in front where there is grass, else where grass is near."""
    if agent.facing == GRASS:
        return "place_plant"
    return agent.go(agent.known(GRASS), "to grass")


def fence(agent: AgentState, sapling: int) -> str | None:
    """Closes the cells beside a plant with stones; ``None`` where that is done or cannot be."""
    known_map = agent.known_map
    for side in SIDES:
        cell = sapling + side
        if agent.solid(cell) or cell in known_map.standing:  # a creature there keeps others out, for now
            continue
        if known_map.faced == cell:
            return "place_stone" if agent.inventory["stone"] else None
        action = agent.face_free(cell, f"fence {side}")
        if action is not None:
            return action
    return None


def pick(agent: AgentState) -> str | None:
    """Goes to the oldest plant, fences it, waits beside it, and eats it when it is ripe."""
    if not agent.plants:
        return None
    oldest = max(agent.plants, key=lambda cell: agent.plants[cell])
    if agent.plants[oldest] >= RIPE:
        return agent.use((oldest,), "eat_plant")
    if agent.inventory["stone"]:
        action = fence(agent, oldest)
        if action is not None:
            return action
    if agent.away(oldest) > _WATCH:
        return agent.go((oldest,), "to the plant")
    return hide(agent) or "noop"


def fenced(agent: AgentState, sapling: int) -> bool:
    """Whether nothing that walks can come beside a plant."""
    return all(agent.solid(sapling + side) for side in SIDES)
