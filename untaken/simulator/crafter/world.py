"""A faithful Crafter: the package's own rules, repeatable to the bit, silent, and cheap to clone (§7)."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec import Struct

from untaken.errors import UntakenError
from untaken.extras import extra_missing, load_extra
from untaken.simulator.crafter.names import ACTIONS, MATERIALS, OBJECTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from untaken.simulator.crafter.stock import StockMark

VIEW: Final = (9, 7)
"""Width and height of what a policy sees of the map, itself in the middle."""
MIDDLE: Final = (VIEW[0] // 2, VIEW[1] // 2)
"""Where the player is in it."""
LENGTH: Final = 10_000
"""Steps after which an episode ends."""
MISSING: Final = "stepping Crafter needs more packages ({} is not installed)"
_KINDS: Final = {name.capitalize(): number for number, name in enumerate(OBJECTS, start=1)}

Rows = tuple[tuple[int, ...], ...]


class LocalView(Struct, frozen=True, kw_only=True):
    """What a policy may see: the 9 × 7 view and itself, never the whole map.

    Attributes:
        materials: number of the ground at ``[x][y]`` of the view, x to the right and y down, by `MATERIALS`
            from 1; 0 beyond the edge. The player is at ``[4][3]``.
        objects: number of the object, by `OBJECTS` from 1; 0 for nothing.
        inventory: amounts by item, health, food, drink and energy among them.
        achievements: how often each was reached in this episode.
        facing: direction of the player, as (x, y).
        sleeping: whether the player sleeps.
        daylight: 0 (night) to 1.
    """

    materials: Rows
    objects: Rows
    inventory: dict[str, int]
    achievements: dict[str, int]
    facing: tuple[int, int]
    sleeping: bool
    daylight: float

    @property
    def front(self) -> str | None:
        """The creature in front or, if there is none, the material; ``None`` beyond the edge."""
        x, y = MIDDLE[0] + self.facing[0], MIDDLE[1] + self.facing[1]
        if self.objects[x][y]:
            return OBJECTS[self.objects[x][y] - 1]
        return MATERIALS[self.materials[x][y] - 1] if self.materials[x][y] else None

    @property
    def nearby(self) -> frozenset[str]:
        """The materials around the player and below it: what counts as nearby when something is made."""
        x, y = MIDDLE
        around = {number for column in self.materials[x - 1 : x + 2] for number in column[y - 1 : y + 2]}
        return frozenset([MATERIALS[number - 1] for number in around if number])

    @property
    def semantic(self) -> Rows:
        """Objects over ground, by the numbers that the stock ``info["semantic"]`` gives them."""
        return tuple(
            tuple(len(MATERIALS) + obj if obj else ground for ground, obj in zip(*column, strict=True))
            for column in zip(self.materials, self.objects, strict=True)
        )


class WorldStep(Struct, frozen=True, kw_only=True):
    """The result of a step.

    Attributes:
        reward: the environment's own: a tenth of the change of health, and 1 where anything was unlocked
            (1 for several at once, too).
        done: whether the episode is over, by death or by its length.
        dead: whether the player is dead.
        unlocked: achievements reached for the first time in this episode, in alphabetical order.
    """

    reward: float
    done: bool
    dead: bool
    unlocked: tuple[str, ...]


class CrafterWorld:
    """One episode after the other of Crafter, the same for the same seed in any process.

    A world is ready to step when it is made. An episode that is over can be stepped on, as in the package.
    """

    __slots__ = ("_env",)

    def __init__(self, seed: int, *, length: int = LENGTH, area: tuple[int, int] = (64, 64)) -> None:
        """The first episode of a seed (about a second: the package makes the map in plain Python).

        Args:
            seed: any whole number; decides every episode.
            length: steps after which an episode ends; 0 for never.
            area: width and height of the map.

        Raises:
            UntakenError: ``crafter-extra-missing``.
        """
        try:
            from untaken.simulator.crafter.stock import Env  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise extra_missing("crafter-extra-missing", "crafter", MISSING.format(error.name)) from error
        self._env = Env(seed=index(seed), length=length, area=area)
        self._env.reset()

    def reset(self) -> None:
        """Begins the next episode."""
        self._env.reset()

    def step(self, action: str | int) -> WorldStep:
        """Does one action, by its name or its number in `ACTIONS`.

        Raises:
            UntakenError: ``action-unknown``.
        """
        before = frozenset(self._env._unlocked)
        _, reward, done, info = self._env.step(action_number(action))
        return WorldStep(
            reward=float(reward),
            done=bool(done),
            dead=info["discount"] == 0,  # `done` says so of an episode at its full length, too
            unlocked=tuple(sorted(self._env._unlocked - before)),
        )

    def clone(self) -> Self:
        """A world that goes on from here by itself: the same actions have the same effects."""
        twin = object.__new__(type(self))
        twin._env = self._env.clone()
        return twin

    def mark(self) -> StockMark:
        """This moment: `StockMark.restore` returns the world to it, for less than a clone costs."""
        return self._env.mark()

    def reseed(self, seed: int) -> None:
        """Other random numbers from here on, decided by `seed` (0 to 2³² − 1)."""
        self._env.reseed(seed)

    def health_at(self, x: int, y: int) -> float | None:
        """Health of the object at ``[x][y]`` of the view, in no observation; ``None`` for nothing."""
        env = self._env
        left, top = (env._player.pos - MIDDLE).tolist()
        thing = env._world[(left + x, top + y)][1]
        return None if thing is None else float(thing.health)

    def observe(self) -> LocalView:
        """What a policy may see now."""
        env = self._env
        player, world = env._player, env._world
        materials, places = (_window(grid, player.pos) for grid in (world._mat_map, world._obj_map))
        objects = world._objects
        return LocalView(
            materials=materials,
            objects=tuple(
                # By name: `stock` replaces classes of the package by its own of the same names.
                tuple(place and _KINDS[type(objects[place]).__name__] for place in c) if any(c) else c
                for c in places
            ),
            inventory=player.inventory.copy(),
            achievements=player.achievements.copy(),
            facing=(int(player.facing[0]), int(player.facing[1])),
            sleeping=player.sleeping,
            daylight=float(world.daylight),
        )

    def image(self, size: tuple[int, int] = (64, 64)) -> NDArray[np.uint8]:
        """The picture the package draws of this moment (height × width × RGB); changes nothing.

        At the stock size it equals the observation of the stock environment to the bit; at others the grain
        of the night differs.
        """
        return self._env.image(size)

    def state_hash(self) -> str:
        """One hash for everything that decides what happens next; equal worlds have equal hashes."""
        return self._env.state_hash()

    @property
    def steps(self) -> int:
        """Steps done in this episode."""
        return int(self._env._step)


def action_number(action: str | int) -> int:
    """The number of an action given by its name or its number.

    Raises:
        UntakenError: ``action-unknown``.
    """
    if isinstance(action, str) and action in ACTIONS:
        return ACTIONS.index(action)
    if not isinstance(action, str) and 0 <= index(action) < len(ACTIONS):
        return index(action)
    raise UntakenError(
        "action-unknown", f"there is no action {action!r}", hint=f"One of: {', '.join(ACTIONS)}."
    )


def _window(grid: Any, middle: Any) -> Rows:
    """The surroundings of a place; 0 beyond the edge."""
    (x, y), (width, height) = middle.tolist(), VIEW
    left, top = x - MIDDLE[0], y - MIDDLE[1]
    # A negative start would count from the far side of the map.
    inside = grid[max(left, 0) : left + width, max(top, 0) : top + height]
    if inside.shape == VIEW:
        return tuple(map(tuple, inside.tolist()))
    shown = grid[:0].copy()
    shown.resize(VIEW, refcheck=False)  # nobody else has it, though a profiler seems to
    shown[max(-left, 0) :, max(-top, 0) :][: inside.shape[0], : inside.shape[1]] = inside
    return tuple(map(tuple, shown.tolist()))


def package_rules() -> Any:
    """The rules of the installed package: its module ``constants``.

    Raises:
        UntakenError: ``crafter-extra-missing``.
    """
    return package_part("constants")


def package_part(name: str) -> Any:
    """A module of the installed package."""
    return getattr(load_extra("crafter", "crafter-extra-missing", "crafter", MISSING), name)
