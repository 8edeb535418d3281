"""A place to sleep: two cells in a row, or four in a square, closed all around (§7).

A cell that could be entered can only be faced by coming straight towards it, so one alone cannot be closed
from within: the last way in stays open. Of two in a row each end can be faced from the other cell; of four in
a square every outer side can.
"""

from __future__ import annotations

from typing import Final

from untaken.simulator.players.agent_state import AgentState
from untaken.simulator.players.local_map import (
    DOWN,
    LAVA,
    LEFT,
    PLANT,
    RIGHT,
    SIDES,
    STONE,
    UP,
    WALKABLE,
    WATER,
)

_PAIRS: Final = tuple((0, side) for side in SIDES)
_SQUARES: Final = tuple((0, x, y, x + y) for x in (LEFT, RIGHT) for y in (UP, DOWN))


def rest(agent: AgentState) -> str | None:
    """Closes a chamber around itself, and sleeps in it till it is awake by itself."""
    if agent.asleep:
        return "sleep"
    action = hide(agent)
    if action is None and not agent.inventory["wood_pickaxe"]:
        return None if agent.dark else "sleep"  # without a pickaxe there are no stones to close it in
    if action is None:
        return agent.go(_stones(agent), "to a shelter")
    if action != "noop":
        return action
    return "sleep" if agent.inventory["energy"] < 9 else "noop"  # with full energy it would wake at once


def hide(agent: AgentState) -> str | None:
    """Closes a chamber around itself, and waits in it; ``None`` where that cannot be done here."""
    enclosure = _enclosure(agent)
    if enclosure is None:
        return None
    return _close(agent, enclosure) or _close_to_arrows(agent) or "noop"


def _close_to_arrows(agent: AgentState) -> str | None:
    """Arrows fly over water, which can be faced and filled from within."""
    known_map = agent.known_map
    if not agent.inventory["stone"]:
        return None
    water = next((cell for side in SIDES if known_map.ground[cell := known_map.here + side] == WATER), None)
    return None if water is None or water in known_map.standing else agent.enter(water)


def _stones(agent: AgentState) -> dict[int, None]:
    ground, here = agent.known_map.ground, agent.known_map.here
    around = (here + 256 * x + y for x in range(-8, 9) for y in range(-8, 9))
    return {cell: None for cell in around if ground[cell] == STONE}


def open_sides(agent: AgentState, enclosure: tuple[int, ...]) -> list[tuple[int, int]] | None:
    """The outer sides that must be closed, as (cell within, side); ``None`` where one cannot be."""
    ground, found = agent.known_map.ground, []
    for cell in enclosure:
        if (
            not agent.costs[ground[cell]]
            or (cell in agent.known_map.standing)
            or ground[cell] not in (*WALKABLE, STONE)
        ):
            return None
        for side in SIDES:
            outer = cell + side
            if outer in enclosure or agent.solid(outer):
                continue
            if (
                # It is faced by a step towards it, which has to begin inside as well.
                cell - side not in enclosure
                or ground[outer] == LAVA
                or agent.known_map.standing.get(outer) == PLANT
            ):
                return None
            found.append((cell, side))
    return found


def _enclosure(agent: AgentState) -> tuple[int, ...] | None:
    """The chamber with the player in it that costs least to close; ``None`` where none can be."""
    best, least = None, 99  # more than any costs
    here, ground, stones = agent.known_map.here, agent.known_map.ground, agent.inventory["stone"]
    for form in (*_PAIRS, *_SQUARES):
        enclosure = tuple(here + part for part in form)
        sides = open_sides(agent, enclosure)
        if sides is None:
            continue
        digging = sum(ground[cell] == STONE for cell in enclosure)
        cost = 3 * len(sides) + 2 * digging
        if len(sides) <= stones + digging and cost < least:
            best, least = enclosure, cost
    return best


def _close(agent: AgentState, enclosure: tuple[int, ...]) -> str | None:
    """The next action to close a chamber from within; ``None`` where it is closed."""
    known_map = agent.known_map
    for cell in enclosure:
        if known_map.ground[cell] == STONE:
            return _within(agent, enclosure, cell)  # dug out first: the stone may close a side
    sides = open_sides(agent, enclosure)
    if not sides:
        return None
    for cell, side in sides:
        if known_map.here == cell and known_map.faced == cell + side:
            # A creature there is hit first.
            return "place_stone" if cell + side not in known_map.standing else "do"
    for cell, side in sides:
        if known_map.here == cell - side:
            return agent.enter(cell)
    cell, side = sides[0]
    return _within(agent, enclosure, cell - side)


def _within(agent: AgentState, enclosure: tuple[int, ...], aim: int) -> str | None:
    """A step towards a cell without leaving the chamber."""
    here = agent.known_map.here
    neighbours = [here + side for side in SIDES if here + side in enclosure]
    if aim in neighbours:
        return agent.enter(aim)
    return next((agent.enter(cell) for cell in neighbours if any(cell + s == aim for s in SIDES)), None)
