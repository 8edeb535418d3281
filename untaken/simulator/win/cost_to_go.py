"""Steps that a task still takes, as far as the view and the inventory show: the shaped reward (§7).

C(s) = 13 × units of work missing by the tech tree + the way to the nearest of what can be done next + what
the body lacks. A unit weighs one more than the longest way counts, so that getting one is progress however
far away the next one is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from math import ceil
from operator import methodcaller
from typing import Final

from untaken.simulator.crafter import ACHIEVEMENTS, CrafterWorld, LocalView
from untaken.simulator.crafter.names import checked_task
from untaken.simulator.win.rules import rules
from untaken.simulator.win.ways import UNSEEN, Ways

UNIT: Final = UNSEEN + 1
"""A unit to collect, place or make."""
REST: Final = 11.0
"""Steps of sleep that give back one of energy."""
LOW: Final = 3
"""Level of food, drink or energy from which getting more of it counts, too."""
DEATH: Final = 100.0
REACHED: Final = 300.0
"""Cost of an achievement not reached yet, in open play: more than any way to one."""
_BODY: Final = ("health", "food", "drink", "energy")
_REMEDIES: Final = {"food": "cow", "drink": "water"}
_PREY: Final = {"eat_cow": "cow", "defeat_zombie": "zombie", "defeat_skeleton": "skeleton"}
_HITS: Final = {"cow": 3.0, "zombie": 5.0, "skeleton": 3.0}
"""Health of a creature that nothing has hurt."""
_DAMAGE: Final = (("iron_sword", 5.0), ("stone_sword", 3.0), ("wood_sword", 2.0))
"""Health that a blow takes with each sword; 1 without."""


class CostToGo:
    """C(s) of a task, for states that come after one state.

    Attributes:
        task: an achievement; ``None`` for open play: the nearest of the achievements not reached yet whose
            prerequisites are, and 300 for each that is not reached.
    """

    __slots__ = ("_before", "_ways", "task")

    def __init__(self, start: LocalView, task: str | None) -> None:
        """Cost after `start`: a task is done once its counter is above that of `start`.

        Raises:
            UntakenError: ``achievement-unknown``.
        """
        self.task = None if task is None else checked_task(task)
        self._before = start.achievements
        # Actions tried from one state often leave the same view, and finding ways is the dear part.
        self._ways: dict[object, Ways] = {}

    def of(self, world: CrafterWorld, seen: LocalView) -> float:
        """C of the state a world is in, and of what is seen of it, in steps."""
        ways = self._seen_ways(seen)
        return self._work(_Here(world, seen, ways)) + _body(seen, ways, self.task)

    def _seen_ways(self, seen: LocalView) -> Ways:
        """Ways are the same wherever the view, and what it takes to clear one, are."""
        key = Ways.key(seen)
        if key not in self._ways:
            self._ways[key] = Ways(seen)
        return self._ways[key]

    def _work(self, here: _Here) -> float:
        reached = here.seen.achievements
        if self.task is not None:
            return 0.0 if reached[self.task] > self._before[self.task] else here.steps_to(self.task)
        missing = frozenset([name for name, count in reached.items() if not count])
        nearest = min([here.steps_to(name) for name in _next(missing)], default=0.0)
        return REACHED * len(missing) + nearest


@lru_cache(maxsize=256)
def _next(missing: frozenset[str]) -> tuple[str, ...]:
    """The achievements not reached yet whose prerequisites are."""
    serves = rules().serves
    return tuple(name for name in ACHIEVEMENTS if serves[name] & missing == {name})


def _body(seen: LocalView, ways: Ways, task: str | None) -> float:
    """What the body lacks: (9 − n)² / 9 for each of its four, ways to what is low, lost time, death."""
    most = rules().most
    lacking = 0.0
    for part in _BODY:  # `sum` rounds in another way since Python 3.12
        lacking += (most[part] - seen.inventory[part]) ** 2 / most[part]
    for part, remedy in _REMEDIES.items():
        if seen.inventory[part] <= LOW:
            lacking += ways.to(remedy)
    energy = seen.inventory["energy"]
    if not seen.sleeping:
        lacking += energy <= LOW
    elif energy > LOW and task != "wake_up":
        lacking += REST * (most["energy"] - energy)
    return lacking + (DEATH if seen.inventory["health"] <= 0 else 0.0)


class _Here:
    """A state, and what achievements take from it."""

    __slots__ = ("_held", "_shown", "_ways", "_world", "seen")

    def __init__(self, world: CrafterWorld, seen: LocalView, ways: Ways) -> None:
        self._world, self.seen, self._ways = world, seen, ways
        self._held = tuple(seen.inventory.values())  # in the order of `rules().most`, as a key of the cache
        self._shown = tuple([ways.shows(thing) for thing in _workplaces()])

    def steps_to(self, task: str) -> float:
        """Steps to reach an achievement once more."""
        if task == "wake_up":
            return UNIT + self._waking()
        if task == "eat_plant":
            return self._eating_a_plant()
        if task in _PREY:
            return UNIT + self._striking(_PREY[task])
        return self._planned(task)

    def _waking(self) -> float:
        lacking = rules().most["energy"] - self.seen.inventory["energy"]
        # The rested cannot fall asleep.
        lying_down = 0.0 if self.seen.sleeping else 1.0 if lacking else UNSEEN
        return lying_down + REST * lacking

    def _eating_a_plant(self) -> float:
        if self._ways.shows("plant"):
            return UNIT + self._ways.to("plant")
        # Placing one brings this down, however far it is from being ripe.
        return 2 * UNIT + UNSEEN + self._planned("place_plant")

    def _striking(self, creature: str) -> float:
        """The way to a creature, and the blows it takes."""
        damage = next((damage for sword, damage in _DAMAGE if self.seen.inventory[sword]), 1.0)
        place = self._ways.nearest(creature)
        health = None if place is None else self._world.health_at(*place)
        # One that an arrow hit last may stand at 0 until its own turn: it still takes a blow.
        left = _HITS[creature] if health is None else max(health, 1.0)
        return self._ways.to(creature) + ceil(left / damage)

    def _planned(self, task: str) -> float:
        """Units of a plan, and the way to the nearest thing that can be done at once."""
        plan = _plan(task, self._held, self._shown)
        return UNIT * plan.units + min([way(self._ways) for way in plan.ways], default=0.0)


@cache
def _workplaces() -> tuple[str, ...]:
    """Things that some tool must be made near."""
    return tuple(sorted({thing for making in rules().making.values() for thing in making.nearby}))


@lru_cache(maxsize=1024)
def _plan(task: str, held: tuple[int, ...], shown: tuple[bool, ...]) -> _Plan:
    """The plan of an achievement with an inventory, and with the workplaces that are in view."""
    plan = _Plan(
        dict(zip(rules().most, held, strict=True)),
        {thing for thing, there in zip(_workplaces(), shown, strict=True) if there},
    )
    verb, _, what = task.partition("_")
    if verb == "collect":
        plan.collect(what, 1)
    elif verb == "place":
        plan.place(what)
    else:
        plan.make(what)
    return plan


class _Plan:
    """What a task takes from here, wherever things are.

    Attributes:
        units: units of work.
        ways: to what can be done at once.
    """

    __slots__ = ("_have", "_shown", "units", "ways")

    def __init__(self, have: dict[str, int], shown: set[str]) -> None:
        self._have, self._shown = have, shown
        self.units = 0
        self.ways: list[Callable[[Ways], float]] = []

    def collect(self, item: str, amount: int) -> None:
        """Collects so much more of an item; the tools that takes come first."""
        source = rules().sources[item]
        if self._hold(source.needs):
            self.ways.append(methodcaller("to", source.ground))
        self.units += amount

    def place(self, thing: str) -> None:
        """Places a thing in front; what it uses comes first."""
        placing = rules().placing[thing]
        if self._use(placing.uses):
            self.ways.append(methodcaller("front", placing.where))
        self.units += 1

    def make(self, tool: str) -> None:
        """Makes a tool; what it uses, and what is near when it is made, come first."""
        making = rules().making[tool]
        ready = self._use(making.uses)
        for thing in making.nearby:
            if thing not in self._shown:
                self.place(thing)
                ready = False
        if ready:
            self.ways.append(lambda ways: max((ways.next_to(thing) for thing in making.nearby), default=0.0))
        self.units += 1

    def _use(self, items: Mapping[str, int]) -> bool:
        """Uses items up; whether all are held."""
        used = [self._take(item, amount) for item, amount in items.items()]  # each of them, also after a miss
        return all(used)

    def _take(self, item: str, amount: int) -> bool:
        held = min(self._have[item], amount)
        self._have[item] -= held
        if held < amount:
            self.collect(item, amount - held)
        return held == amount

    def _hold(self, tools: Mapping[str, int]) -> bool:
        """Makes the tools that are not held yet; whether none was missing."""
        missing = [tool for tool in tools if self._have[tool] < 1]
        for tool in missing:
            self.make(tool)
            self._have[tool] = 1  # made once, whatever else needs it
        return not missing
