"""Planting, fencing and eating what grew (§7)."""

from __future__ import annotations

from untaken.crafter.players.agent_state import RIPE, AgentState
from untaken.crafter.players.local_map import GRASS, SIDES
from untaken.crafter.players.shelter import hide

_WATCH = 6
"""Steps from a plant at which it waits for it."""


def plant(mind: AgentState) -> str | None:
    """Plants in front where there is grass, else where grass is near."""
    if mind.facing == GRASS:
        return "place_plant"
    return mind.go(mind.known(GRASS), "to grass")


def fence(mind: AgentState, sapling: int) -> str | None:
    """Closes the cells beside a plant with stones; ``None`` where that is done or cannot be."""
    chart = mind.chart
    for side in SIDES:
        cell = sapling + side
        if mind.solid(cell) or cell in chart.standing:
            continue
        if chart.faced == cell:
            return "place_stone" if mind.inventory["stone"] else None
        action = mind.face_free(cell, f"fence {side}")
        if action is not None:
            return action
    return None


def pick(mind: AgentState) -> str | None:
    """Goes to the oldest plant, fences it, waits beside it, and eats it when it is ripe."""
    if not mind.plants:
        return None
    oldest = max(mind.plants, key=lambda cell: mind.plants[cell])
    if mind.plants[oldest] >= RIPE:
        return mind.use((oldest,), "eat_plant")
    if mind.inventory["stone"]:
        action = fence(mind, oldest)
        if action is not None:
            return action
    if mind.away(oldest) > _WATCH:
        return mind.go((oldest,), "to the plant")
    return hide(mind) or "noop"


def fenced(mind: AgentState, sapling: int) -> bool:
    """Whether nothing that walks can come beside a plant."""
    return all(mind.solid(sapling + side) for side in SIDES)
