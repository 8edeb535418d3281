"""The state of mind of a scripted policy, and the moves all its skills are made of (§7)."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untaken.simulator.players.local_map import (
    AROUND,
    ARROW,
    DOWN,
    EDGE,
    GRASS,
    LAVA,
    LEFT,
    MOVE_TO,
    MOVES,
    PLANT,
    RIGHT,
    SIDES,
    SKELETON,
    STONE,
    UNKNOWN,
    UP,
    WALKABLE,
    WATER,
    ZOMBIE,
    LocalMap,
)
from untaken.simulator.players.routes import Costs, costs_of, frontier, route

if TYPE_CHECKING:
    from untaken.simulator.policy import Seen

NEAR_PLANT = 18
"""Steps from the player within which a plant grows."""
RIPE = 302
FAR = 999
FLYABLE = WALKABLE | {WATER, LAVA}
"""Ground over which an arrow flies."""
DAY = 300
"""Steps from one morning to the next."""
DAWN = 0.75
"""Daylight below which those that came up by night are still about."""
HURT, WELL = 4, 6
"""Health at which it looks for shelter, and up to which it stays there."""
DUSK = 0.55
"""Daylight below which two zombies and more keep coming up in every part of the grass."""


class AgentState(Struct):
    """What a scripted policy knows at a step: its map, itself, its plants, the way it is on.

    Attributes:
        plants: for each sapling it planted, steps that it has grown.
        did: its last action.
        way: the cells it is going over, to `way_to`.
    """

    known_map: LocalMap = msgspec.field(default_factory=LocalMap)
    inventory: Mapping[str, int] = msgspec.field(default_factory=dict)
    achievements: Mapping[str, int] = msgspec.field(default_factory=dict)
    plants: dict[int, int] = msgspec.field(default_factory=dict)
    asleep: bool = False
    hurt: bool = False
    light: float = 1.0
    step: int = 0
    did: str | None = None
    way: list[int] = msgspec.field(default_factory=list)
    way_to: str = ""
    costs: Costs = b""

    def clone(self) -> Self:
        """The same mind, of one's own."""
        return replace(self, known_map=self.known_map.clone(), plants=self.plants.copy(), way=self.way[:])

    def see(self, seen: Seen) -> None:
        """Takes in what is seen at a step."""
        now, went = seen.observation, MOVES.get(self.did or "", 0)
        # Asleep, the world does `sleep` whatever the action; with full energy it wakes, and acts at once.
        if self.asleep and self.inventory["energy"] < 9:
            went = 0
        before, planted = self.inventory, self.known_map.faced if self.did == "place_plant" else 0
        if not self.known_map.look(now, went):
            self.plants.clear()  # the map starts over: cells mean other places now
            self.way.clear()
        self.inventory, self.achievements = now.inventory, now.achievements
        self.asleep, self.light, self.step = now.sleeping, now.daylight, seen.step
        # Two levels: with one it would leave at the first point regained, and be back at the next one lost.
        self.hurt = now.inventory["health"] <= (WELL if self.hurt else HURT)
        # Costs rest on what is carried, and by night on the ground below; else a look now and then is enough.
        if self.dark or before != now.inventory or seen.step % 10 == 0:
            self.costs = costs_of(now.inventory, grass=self._grass())
        self._tend(planted)

    def _tend(self, planted: int) -> None:
        """Tracks how long each plant has grown; a missing one is forgotten."""
        standing, here = self.known_map.standing, self.known_map.here
        if planted and standing.get(planted) == PLANT:
            self.plants[planted] = 0
        for plant in tuple(self.plants):
            away_x, away_y = abs((plant >> 8) - (here >> 8)), abs((plant & 255) - (here & 255))
            if away_x <= 4 and away_y <= 3 and standing.get(plant) != PLANT:  # in view, and gone
                del self.plants[plant]
            elif away_x + away_y < NEAR_PLANT:
                self.plants[plant] += 1

    # Looking around

    @property
    def dark(self) -> bool:
        """Whether zombies come up on grass."""
        # In the last third of a day the light is back before the zombies of the night are gone.
        return self.light < (DAWN if self.step % DAY > DAY * 2 // 3 else DUSK)

    @property
    def threatened(self) -> bool:
        """Whether it is no time to be about, and there is what a shelter takes."""
        have = self.inventory
        tired = have["energy"] <= 6 or self.known_map.ground[self.known_map.here] == GRASS
        if not ((self.dark and tired) or self.hurt):
            return False
        least = min(have["food"], have["drink"])
        if (least == 0 and have["health"] <= WELL) or (least <= 3 and not self.dark):
            return False
        return have["stone"] >= 4 or (have["wood_pickaxe"] > 0 and self.nearest(STONE) <= 8)

    def _grass(self) -> int:
        """What a step on grass costs: by night none is taken from elsewhere without need."""
        if not self.dark:
            return 1
        need = self.inventory["food"] <= 1 or self.inventory["drink"] <= 1
        return 3 if need or self.known_map.ground[self.known_map.here] == GRASS else 0

    def nearest(self, material: int) -> int:
        """Steps to the nearest known place of a material as the crow flies, up to the reach of a glance."""
        here, x, y = self.known_map.here, self.known_map.here >> 8, self.known_map.here & 255
        return min(
            (
                abs((cell >> 8) - x) + abs((cell & 255) - y)
                for cell in self.known_map.places[material]
                if cell != here
            ),
            default=FAR,
        )

    def near(self, material: int) -> bool:
        """Whether such ground is within one cell, as crafting needs it."""
        ground, here = self.known_map.ground, self.known_map.here
        return self.counts(here) and any(ground[here + around] == material for around in AROUND)

    def counts(self, cell: int) -> bool:
        """Whether the package finds anything near this cell: in the first column and row it finds nothing."""
        ground = self.known_map.ground
        # It looks at columns x − 1 to x + 1: at 0 that slice begins at −1, the far side, and is empty.
        return ground[cell + LEFT] != EDGE and ground[cell + UP] != EDGE

    def side_of(self, kind: int) -> int | None:
        """The side where such a creature is."""
        standing, here = self.known_map.standing, self.known_map.here
        return next((side for side in SIDES if standing.get(here + side) == kind), None)

    def solid(self, cell: int) -> bool:
        """Whether nothing can come from there."""
        ground = self.known_map.ground[cell]
        return ground not in WALKABLE and ground not in (UNKNOWN, LAVA)

    def away(self, cell: int) -> int:
        """Steps to a cell as the crow flies in a town."""
        here = self.known_map.here
        return abs((cell >> 8) - (here >> 8)) + abs((cell & 255) - (here & 255))

    def known(self, material: int) -> dict[int, None]:
        """Known cells of a material."""
        return self.known_map.places[material]

    @property
    def facing(self) -> int:
        """The terrain in front, unless an object hides it."""
        known_map = self.known_map
        return -1 if known_map.faced in known_map.standing else known_map.ground[known_map.faced]

    # Moving

    def turn(self, cell: int) -> str:
        """Faces a cell beside that cannot be entered."""
        return MOVE_TO[cell - self.known_map.here]

    def go(self, aims: Container[int], name: str, *, closed: Container[int] = ()) -> str | None:
        """The next step on the way to the nearest of some cells; ``None`` where there is no way.

        A way is kept while nothing comes into it; `name` tells one purpose from another.
        """
        way = self._kept(aims, name, closed)
        if way is None:
            found = route(self.known_map, self.costs, aims, closed=closed)
            self.way, self.way_to = found or [], name
            if not found:
                return None
            way = self.way
        return self.enter(way[0])

    def _kept(self, aims: Container[int], name: str, closed: Container[int]) -> list[int] | None:
        way, known_map = self.way, self.known_map
        if self.way_to != name:
            return None
        if way and way[0] == known_map.here:
            del way[0]
        if not way or way[0] - known_map.here not in SIDES or way[-1] not in aims:
            return None
        # The last cell may be one that cannot be entered: it is what the way leads to.
        return way if self._open(way[0], closed) or len(way) == 1 else None

    def _open(self, cell: int, closed: Container[int]) -> bool:
        """Whether a cell can still be entered on a way."""
        known_map = self.known_map
        return (
            bool(self.costs[known_map.ground[cell]]) and cell not in known_map.standing and cell not in closed
        )

    def enter(self, cell: int) -> str:
        """The next action for getting into a cell beside, or for facing one that cannot be entered."""
        known_map = self.known_map
        ground, turned = known_map.ground[cell], self.turn(cell)
        if cell in known_map.standing:
            return "do" if known_map.faced == cell and known_map.standing[cell] != PLANT else turned
        if ground in WALKABLE:
            return turned
        if ground == LAVA:
            return "noop"  # walking in is death; no way leads over it
        if known_map.faced != cell:
            return turned
        return "place_stone" if ground == WATER else "do"

    def wander(self, weights: bytes, name: str) -> str | None:
        """The next step into the unknown; ``None`` where all that can be reached is known."""
        way, known_map = self.way, self.known_map
        if self.way_to == name:
            if way and way[0] == known_map.here:
                del way[0]
            if way and way[0] - known_map.here in SIDES and self._open(way[0], ()):
                return self.enter(way[0])
        self.way, self.way_to = frontier(known_map, self.costs, weights) or [], name
        return self.enter(self.way[0]) if self.way else None

    def use(self, aims: Container[int], name: str, action: str = "do") -> str | None:
        """Goes to the nearest of some cells that cannot be entered, faces it and acts."""
        known_map = self.known_map
        if known_map.faced in aims:
            return action
        for side in SIDES:
            if known_map.here + side in aims and not known_map.free(known_map.here + side):
                return MOVE_TO[side]
        return self.go(aims, name)

    def face_free(self, cell: int, name: str) -> str | None:
        """Gets to face a cell that could be entered, without entering it: by coming straight towards it."""
        known_map, costs = self.known_map, self.costs
        if known_map.faced == cell:
            return None
        starts: dict[int, int] = {}
        for side in SIDES:
            # A move towards a free cell enters it, so the move before must already point at it.
            stance, start = cell - side, cell - 2 * side
            if not costs[known_map.ground[stance]]:
                continue
            if stance in known_map.hot or stance in known_map.standing:
                continue
            if known_map.here == start:
                return self.enter(stance)
            if costs[known_map.ground[start]] and start not in known_map.standing:
                starts[start] = side
        return self.go(starts, name, closed=(cell,)) if starts else None

    def reflex(self) -> str | None:
        """The reaction that precedes every aim: hit back an attacker, avoid an arrow."""
        if not self.known_map.standing:
            return None
        for kind in (ZOMBIE, SKELETON):
            side = self.side_of(kind)
            if side is not None:
                return "do" if self.known_map.faced == self.known_map.here + side else MOVE_TO[side]
        return next((action for side in SIDES if (action := self._parry(side))), None)

    def _parry(self, side: int) -> str | None:
        """A stone before an arrow that comes from a side, or a step out of its line."""
        known_map, here = self.known_map, self.known_map.here
        for steps in range(1, 5):
            cell = here + steps * side
            if known_map.standing.get(cell) == ARROW:
                break
            if cell in known_map.standing or known_map.ground[cell] not in FLYABLE:
                return None
        else:
            return None
        # At one step the arrow is where the stone would go.
        if steps > 1 and known_map.faced == here + side and self.inventory["stone"]:
            return "place_stone"
        across = (UP, DOWN) if side in (LEFT, RIGHT) else (LEFT, RIGHT)
        sideways = (here + step for step in across)
        return next(
            (MOVE_TO[c - here] for c in sideways if known_map.free(c) and c not in known_map.hot), None
        )
