"""How far things in view are: steps over the ground that can be walked on or cleared (§7)."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Final

from untaken.simulator.crafter import MATERIALS, OBJECTS, LocalView
from untaken.simulator.crafter.world import VIEW
from untaken.simulator.win.rules import rules

UNSEEN: Final = 12.0
"""Steps that a way counts at most, and where what is looked for is not in view."""
_FAR: Final = int(UNSEEN)
_WIDTH, _HEIGHT = VIEW
_MIDDLE: Final = (_WIDTH // 2) * _HEIGHT + _HEIGHT // 2
_WALKED, _CLEARED, _BRIDGED, _MOVES_OFF = 1, 2, 3, 3
_BLOCKED: Final = 0
_TOOLS: Final = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "stone")
_PLANT: Final = OBJECTS.index("plant") + 1
_NUMBERS: Final = {name: (number, False) for number, name in enumerate(MATERIALS, start=1)} | {
    name: (number, True) for number, name in enumerate(OBJECTS, start=1)
}
"""The number of each material and creature, and whether it is a creature."""


def _offsets(reach: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """Cells around each cell, by number."""
    return tuple(
        tuple(
            (x + dx) * _HEIGHT + y + dy for dx, dy in reach if 0 <= x + dx < _WIDTH and 0 <= y + dy < _HEIGHT
        )
        for x in range(_WIDTH)
        for y in range(_HEIGHT)
    )


_FOUR: Final = _offsets(((-1, 0), (1, 0), (0, -1), (0, 1)))
_EIGHT: Final = _offsets(tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)))


@lru_cache(maxsize=256)
def _costs(tools: tuple[bool, ...]) -> tuple[int, ...]:
    """Steps to enter each material with these tools; 0 where there is no entering."""
    known, held = rules(), {tool for tool, has in zip(_TOOLS, tools, strict=True) if has}
    costs = [_BLOCKED]
    for number, material in enumerate(MATERIALS, start=1):
        ground = known.grounds.get(material)
        if number in known.walkable:
            costs.append(_WALKED)
        elif ground is not None and ground.leaves != material and held.issuperset(ground.needs):
            costs.append(_CLEARED)
        elif "stone" in held and number in known.placing["stone"].where:
            costs.append(_BRIDGED)
        else:
            costs.append(_BLOCKED)
    return tuple(costs)


class Ways:
    """The ways from the player to what is in view, gone only as far as something is looked for."""

    __slots__ = (
        "_at",
        "_costs",
        "_facing",
        "_found",
        "_ground",
        "_grounds",
        "_objects",
        "_places",
        "_present",
        "_settled",
        "_steps",
    )

    def __init__(self, seen: LocalView) -> None:
        self._grounds = tuple(chain.from_iterable(seen.materials))
        self._objects = tuple(chain.from_iterable(seen.objects))
        self._ground, self._present = frozenset(self._grounds), frozenset(self._objects)
        self._facing = _MIDDLE + seen.facing[0] * _HEIGHT + seen.facing[1]
        self._costs = _costs(_tools(seen))
        self._steps = [_FAR] * len(self._grounds)
        self._steps[_MIDDLE] = self._settled = 0
        self._at: list[list[int]] = [[_MIDDLE], *([] for _ in range(_FAR + _BRIDGED))]
        self._places: dict[str, tuple[int, ...]] = {}
        self._found: dict[str, tuple[float, int | None]] = {}

    @staticmethod
    def key(seen: LocalView) -> object:
        """Equal where all ways are."""
        return seen.materials, seen.objects, seen.facing, _tools(seen)

    def to(self, thing: str) -> float:
        """Steps until the nearest such material or creature is in front, at most `UNSEEN`."""
        return self._nearest(thing)[0]

    def nearest(self, thing: str) -> tuple[int, int] | None:
        """Where in the view that one is, as (x, y); ``None`` where none can be reached."""
        cell = self._nearest(thing)[1]
        return None if cell is None else divmod(cell, _HEIGHT)

    def shows(self, thing: str) -> bool:
        """Whether one is in view."""
        return bool(self._cells(thing))

    def next_to(self, material: str) -> float:
        """Steps until one is among the eight cells around the player, at most `UNSEEN`."""
        return self._walk_to({cell for place in self._cells(material) for cell in _EIGHT[place]})

    def front(self, materials: frozenset[int]) -> float:
        """0 where the ground in front is free and one of these, else 1: it takes a turn."""
        return 0.0 if self._grounds[self._facing] in materials and not self._objects[self._facing] else 1.0

    def _cells(self, thing: str) -> tuple[int, ...]:
        """Its position in view; terrain only where no object hides it."""
        if thing not in self._places:
            number, creature = _NUMBERS[thing]
            self._places[thing] = self._look_over(number) if creature else self._look_under(number)
        return self._places[thing]

    def _look_over(self, creature: int) -> tuple[int, ...]:
        if creature not in self._present:  # mostly so, and said at once
            return ()
        return tuple([cell for cell, found in enumerate(self._objects) if found == creature])

    def _look_under(self, material: int) -> tuple[int, ...]:
        if material not in self._ground:
            return ()
        both = zip(self._grounds, self._objects, strict=True)
        return tuple([cell for cell, (ground, what) in enumerate(both) if ground == material and not what])

    def _nearest(self, thing: str) -> tuple[float, int | None]:
        if thing not in self._found:
            self._found[thing] = self._look_for(self._cells(thing))
        return self._found[thing]

    def _look_for(self, cells: tuple[int, ...]) -> tuple[float, int | None]:
        """Steps to the nearest cell beside one of these, and one to turn; none where one is in front."""
        if not cells:
            return UNSEEN, None
        if self._facing in cells:
            return 0.0, self._facing
        away = self._walk_to({next_to for cell in cells for next_to in _FOUR[cell]})
        if away == UNSEEN:
            return UNSEEN, None
        nearest = (cell for cell in cells if any(self._steps[next_to] == away for next_to in _FOUR[cell]))
        return min(away + 1.0, UNSEEN), next(nearest)

    def _walk_to(self, aims: set[int]) -> float:
        """Steps to the nearest of these cells (Dial's algorithm: the cells of each distance in turn)."""
        if not aims:
            return UNSEEN
        # Only until the nearest aim is settled: most looks end after a few steps.
        while (nearest := min([self._steps[aim] for aim in aims])) > self._settled < _FAR:
            self._go_on()
        return float(nearest)

    def _go_on(self) -> None:
        """Settles the cells that are one step farther."""
        far, steps, objects = self._settled, self._steps, self._objects
        for cell in self._at[far]:
            if steps[cell] < far:  # a shorter way was found since
                continue
            for next_to in _FOUR[cell]:
                entered = self._costs[self._grounds[next_to]]
                # Nobody walks over a plant, and it does not move off.
                if not entered or objects[next_to] == _PLANT:
                    continue
                reached = far + (_MOVES_OFF if objects[next_to] else entered)
                if reached < steps[next_to]:
                    steps[next_to] = reached
                    self._at[reached].append(next_to)
        self._settled += 1


def _tools(seen: LocalView) -> tuple[bool, ...]:
    return tuple(seen.inventory[tool] > 0 for tool in _TOOLS)
