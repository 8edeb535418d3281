"""What a policy remembers of the map: terrain, creatures and its own estimated position (§7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from untaken.simulator.crafter.names import MATERIALS, OBJECTS

if TYPE_CHECKING:
    from untaken.simulator.crafter import LocalView

WATER, GRASS, STONE, PATH, SAND, TREE, LAVA, COAL, IRON, DIAMOND, TABLE, FURNACE = range(
    1, len(MATERIALS) + 1
)
PLAYER, COW, ZOMBIE, SKELETON, ARROW, PLANT = range(1, len(OBJECTS) + 1)
UNKNOWN: Final = 0
EDGE: Final = len(MATERIALS) + 1
"""Beyond the edge of the map."""
WALKABLE: Final = frozenset((GRASS, PATH, SAND))
LEFT, RIGHT, UP, DOWN = -256, 256, -1, 1
SIDES: Final = (LEFT, RIGHT, UP, DOWN)
"""The four directions, as differences of cells."""
AROUND: Final = (*SIDES, LEFT + UP, LEFT + DOWN, RIGHT + UP, RIGHT + DOWN)
MOVES: Final = {"move_left": LEFT, "move_right": RIGHT, "move_up": UP, "move_down": DOWN}
MOVE_TO: Final = {side: name for name, side in MOVES.items()}
_START: Final = 128 * 256 + 128
_SIZE: Final = 256 * 256
_NOTED: Final = frozenset((WATER, GRASS, STONE, TREE, COAL, IRON, DIAMOND, TABLE, FURNACE))
_FITS: Final = 3
"""Cells that may differ from what is remembered: what was dug or placed, and what an arrow broke."""


class LocalMap:
    """The ground seen so far, on cells numbered ``256 · x + y`` around the start.

    Attributes:
        ground: material by cell; `UNKNOWN` where nothing was seen.
        here: the cell of the player.
        faced: the cell in front.
        places: cells of each material worth remembering, in the order they were first seen.
        hot: cells beside lava.
        standing: objects in the current view, by cell.
        sighted: creatures where they were last seen.
        new: cells that were seen for the first time in this look.
    """

    __slots__ = ("faced", "ground", "here", "hot", "new", "places", "sighted", "standing")

    def __init__(self) -> None:
        self.ground = bytearray(_SIZE + 16)  # a view beside the last cell reads past it
        self.here = self.faced = _START
        self.places: dict[int, dict[int, None]] = {material: {} for material in sorted(_NOTED)}
        self.hot: dict[int, None] = {}
        self.standing: dict[int, int] = {}
        self.sighted: dict[int, int] = {}
        self.new = 0

    def clone(self) -> Self:
        """The same memory, of one's own."""
        twin = object.__new__(type(self))  # `__init__` would make a map to throw away
        twin.ground, twin.here, twin.faced = self.ground[:], self.here, self.faced
        twin.places = {material: cells.copy() for material, cells in self.places.items()}
        twin.hot, twin.standing = self.hot.copy(), self.standing.copy()
        twin.sighted, twin.new = self.sighted.copy(), self.new
        return twin

    def free(self, cell: int) -> bool:
        """Whether one can walk there now, as far as can be seen."""
        return self.ground[cell] in WALKABLE and cell not in self.standing

    def look(self, seen: LocalView, went: int) -> bool:
        """Takes in a view.

        Returns:
            False if the view fits nowhere: then everything is forgotten and the map starts over.
        """
        columns = [bytes(column) for column in seen.materials]
        if any(0 in column for column in columns):
            columns = [column.replace(b"\0", bytes((EDGE,))) for column in columns]
        step = went if went and (self.free(self.here + went)) else 0
        known = self._place(columns, step)
        self._write(columns)
        self._meet(seen)
        x, y = seen.facing
        self.faced = self.here + 256 * x + y
        return known

    def _place(self, columns: list[bytes], step: int) -> bool:
        """Where the player is: where it meant to go, else where the view fits best."""
        if self.ground[self.here] == UNKNOWN:  # the first look
            return True
        best = self._differing(columns, self.here + step)
        where = self.here + step
        # It is not where it meant to be: something moved in its way first, or another action was done.
        if best > _FITS:
            for side in (0, *SIDES):
                differing = self._differing(columns, self.here + side)
                if differing < best:
                    best, where = differing, self.here + side
        if best > 2 * _FITS:
            # Lost: it begins a new map.
            self.__init__()  # type: ignore[misc]
            return False
        self.here = where & 0xFFFF
        return True

    def _differing(self, columns: list[bytes], middle: int) -> int:
        differing, top = 0, middle - 4 * 256 - 3
        for column in columns:
            known = self.ground[top : top + 7]
            if known != column:
                differing += sum(old not in (now, UNKNOWN) for old, now in zip(known, column, strict=False))
            top += 256
        return differing

    def _write(self, columns: list[bytes]) -> None:
        ground, top, self.new = self.ground, self.here - 4 * 256 - 3, 0
        for column in columns:
            known = ground[top : top + 7]
            if known != column:
                for cell, (old, now) in enumerate(zip(known, column, strict=True), start=top):
                    if old != now:
                        self._change(cell, old, now)
                ground[top : top + 7] = column
            top += 256

    def _change(self, cell: int, old: int, now: int) -> None:
        self.new += old == UNKNOWN
        if old in _NOTED:
            self.places[old].pop(cell, None)
        if now in _NOTED:
            self.places[now][cell] = None
        if now == LAVA:
            self.hot.update((cell + side, None) for side in SIDES)

    def _meet(self, seen: LocalView) -> None:
        standing: dict[int, int] = {}
        top = self.here - 4 * 256 - 3
        for column in seen.objects:
            if any(column):
                standing.update((top + y, kind) for y, kind in enumerate(column) if kind)
            top += 256
        standing.pop(self.here, None)  # the player itself
        self.standing = standing
        # What is still in this view is noted again below, at its place of now.
        if self.sighted:
            left, up = (self.here >> 8) - 4, (self.here & 255) - 3
            self.sighted = {
                cell: kind
                for cell, kind in self.sighted.items()
                if not (0 <= (cell >> 8) - left < 9 and 0 <= (cell & 255) - up < 7)
            }
        self.sighted.update((c, k) for c, k in standing.items() if k in (COW, ZOMBIE, SKELETON))
