"""A place to sleep: two cells in a row, or four in a square, closed all around (§7).

A cell that could be entered can only be faced by coming straight towards it, so one alone cannot be closed
from within: the last way in stays open. Of two in a row each end can be faced from the other cell; of four in
a square every outer side can.
"""

from __future__ import annotations

from typing import Final

from untaken.crafter.players.agent_state import AgentState
from untaken.crafter.players.local_map import (
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
_SQUARES: Final = tuple((0, x, y, x + y) for x in (LEFT, PLANT, RIGHT) for y in (UP, DOWN))
_REACH: Final = 4


def rest(mind: AgentState) -> str | None:
    """Closes a chamber around itself, and sleeps in it till it is awake by itself."""
    if mind.asleep:
        return "sleep"
    action = hide(mind)
    if action is None and not mind.inventory["wood_pickaxe"]:
        return None if mind.dark else "sleep"
    if action is None:
        return mind.go(_stones(mind), "to a shelter")
    if action != "noop":
        return action
    return "sleep" if mind.inventory["energy"] < 9 else "noop"


def hide(mind: AgentState) -> str | None:
    """Closes a chamber around itself, and waits in it; ``None`` where that cannot be done here."""
    chamber = _chamber(mind)
    if chamber is None:
        return None
    return _close(mind, chamber) or _close_to_arrows(mind) or "noop"


def _close_to_arrows(mind: AgentState) -> str | None:
    """Arrows fly over water, which can be faced and filled from within."""
    chart = mind.chart
    if not mind.inventory["stone"]:
        return None
    water = next((cell for side in SIDES if chart.ground[cell := chart.here + side] == WATER), None)
    return None if water is None or water in chart.standing else mind.enter(water)


def _stones(mind: AgentState) -> dict[int, None]:
    ground, here = mind.chart.ground, mind.chart.here
    around = (here + 256 * x + y for x in range(-8, 9) for y in range(-8, 9))
    return {cell: None for cell in around if ground[cell] == STONE}


def open_sides(mind: AgentState, chamber: tuple[int, ...]) -> list[tuple[int, int]] | None:
    """The outer sides that must be closed, as (cell within, side); ``None`` where one cannot be."""
    ground, found = mind.chart.ground, []
    for cell in chamber:
        if (
            not mind.costs[ground[cell]]
            or (cell in mind.chart.standing)
            or ground[cell] not in (*WALKABLE, STONE)
        ):
            return None
        for side in SIDES:
            outer = cell + side
            if outer in chamber or mind.solid(outer):
                continue
            if cell - side not in chamber or ground[outer] == LAVA or mind.chart.standing.get(outer) == PLANT:
                return None
            found.append((cell, side))
    return found


def _chamber(mind: AgentState) -> tuple[int, ...] | None:
    """The chamber with the player in it that costs least to close; ``None`` where none can be."""
    best, least = None, 99
    here, ground, stones = mind.chart.here, mind.chart.ground, mind.inventory["stone"]
    for form in (*_PAIRS, *_SQUARES):
        chamber = tuple(here + part for part in form)
        sides = open_sides(mind, chamber)
        if sides is None:
            continue
        digging = sum(ground[cell] == STONE for cell in chamber)
        cost = 3 * len(sides) + 2 * digging
        if len(sides) <= stones + digging and cost < least:
            best, least = chamber, cost
    return best


def _close(mind: AgentState, chamber: tuple[int, ...]) -> str | None:
    """The next action to close a chamber from within; ``None`` where it is closed."""
    chart = mind.chart
    for cell in chamber:
        if chart.ground[cell] == STONE:
            return _within(mind, chamber, cell)
    sides = open_sides(mind, chamber)
    if not sides:
        return None
    for cell, side in sides:
        if chart.here == cell and chart.faced == cell + side:
            return "place_stone" if cell + side not in chart.standing else "do"
    for cell, side in sides:
        if chart.here == cell - side:
            return mind.enter(cell)
    cell, side = sides[0]
    return _within(mind, chamber, cell - side)


def _within(mind: AgentState, chamber: tuple[int, ...], aim: int) -> str | None:
    """A step towards a cell without leaving the chamber."""
    here = mind.chart.here
    neighbours = [here + side for side in SIDES if here + side in chamber]
    if aim in neighbours:
        return mind.enter(aim)
    return next((mind.enter(cell) for cell in neighbours if any(cell + s == aim for s in SIDES)), None)
