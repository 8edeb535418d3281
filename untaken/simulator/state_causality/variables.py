"""V: the variables of a Crafter state, with their values (§7)."""

from __future__ import annotations

from typing import Final

from untaken.simulator.crafter import MATERIALS, OBJECTS, LocalView
from untaken.simulator.crafter.world import MIDDLE, VIEW
from untaken.simulator.state_causality.causal_state import StateVariable

LIFE: Final = ("health", "food", "drink", "energy")
"""Described whatever their amount; other items only if there are any."""
NIGHT: Final = 0.5
"""Daylight below which it is called night."""

_CELLS: Final = sorted(
    (abs(x - MIDDLE[0]) + abs(y - MIDDLE[1]), x, y)
    for x in range(VIEW[0])
    for y in range(VIEW[1])
    if (x, y) != MIDDLE
)
"""Cells of the view, nearest first."""


def near(thing: str) -> str:
    """The variable of a thing in view."""
    return f"near_{thing}"


SEEN: Final = ("", *map(near, (*MATERIALS, *OBJECTS)))
"""Names of what a cell may hold, indexed by the numbers of `LocalView.semantic`."""


def faced(observation: LocalView) -> str:
    """What the player faces, as `near` names it; empty at the edge of the map."""
    return near(observation.front) if observation.front else ""


def adjacent(observation: LocalView) -> frozenset[str]:
    """The ground around the player, corners included, as `near` names it."""
    return frozenset(map(near, observation.nearby))


def variables_of(observation: LocalView) -> tuple[StateVariable, ...]:
    """What a state shows: life, what is held, time and sleep, what is faced, and the nearest of each thing.

    An item that is not held and a thing out of view are no variables of this state.
    """
    held = observation.inventory
    found = [_amount(name, held[name]) for name in LIFE]
    found += [_amount(name, n) for name, n in held.items() if n and name not in LIFE]
    light = observation.daylight
    found.append(
        StateVariable(name="daylight", words="night" if light < NIGHT else "day", number=round(light, 3))
    )
    asleep = observation.sleeping
    found.append(StateVariable(name="sleeping", words="asleep" if asleep else "awake", number=float(asleep)))
    found.append(_facing(observation))
    found += _in_view(observation)
    return tuple(found)


def _amount(name: str, amount: int) -> StateVariable:
    return StateVariable(name=name, words=str(amount), number=float(amount))


def _facing(observation: LocalView) -> StateVariable:
    name = faced(observation)
    words = name.removeprefix("near_") or "the edge of the map"
    return StateVariable(name="facing", words=words, number=float(SEEN.index(name)))


def _in_view(observation: LocalView) -> list[StateVariable]:
    semantic = observation.semantic
    nearest: dict[str, tuple[int, int, int]] = {}
    for cell in _CELLS:
        _, x, y = cell
        if thing := semantic[x][y]:
            nearest.setdefault(SEEN[thing], cell)
    return [
        StateVariable(name=name, words=_place(*cell), number=float(cell[0]))
        for name, cell in sorted(nearest.items())
    ]


def _place(distance: int, x: int, y: int) -> str:
    across, down = x - MIDDLE[0], y - MIDDLE[1]
    parts = [f"{abs(across)} {'right' if across > 0 else 'left'}"] if across else []
    parts += [f"{abs(down)} {'down' if down > 0 else 'up'}"] if down else []
    return f"{distance} step{'s' if distance > 1 else ''} away: {', '.join(parts)}"
