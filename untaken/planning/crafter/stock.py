"""The stock environment made repeatable, silent and clonable; none of its rules is written again (§7).

Three things are changed, and the tests hold the rest against the package as it is installed:

- A chunk keeps its objects in the order in which they came. Stock keeps them in a set, which orders them by
  their address in memory, so that spawns differ from process to process.
- A step draws no picture. By night the picture takes noise from the world's own random numbers: as many are
  drawn here, and kept for the picture that may be asked for later.
- The player's distance is worked out in plain numbers; every step asks for it once an object.
"""

from __future__ import annotations

import json
from collections import defaultdict
from ctypes import memmove
from hashlib import sha256
from typing import Any, Final

import crafter
import numpy as np
from crafter import engine, objects
from numpy.typing import DTypeLike, NDArray

_NIGHT: Final = 0.5
"""Daylight below which the stock picture is noisy."""
_GENERATOR_BYTES: Final = 4 * (624 + 1)
"""State of the Mersenne Twister: 624 words, and the place among them."""
_NOT_STATE: Final = frozenset({"world", "random"})
"""Attributes of an object that are the world's, not its own."""


class Ordered(dict[Any, None]):
    """The objects of a chunk, in the order in which they came."""

    def add(self, obj: Any) -> None:
        """Puts an object last, unless it is here."""
        self.setdefault(obj)

    def remove(self, obj: Any) -> None:
        """Takes an object out."""
        del self[obj]


class World(engine.World):  # type: ignore[misc]
    """The stock world with ordered chunks."""

    def reset(self, seed: int | None = None) -> None:
        """An empty world."""
        super().reset(seed)
        self._chunks: defaultdict[tuple[int, ...], Ordered] = defaultdict(Ordered)


class Player(objects.Player):  # type: ignore[misc]
    """The stock player with a quicker sense of distance."""

    def distance(self, target: Any) -> int:
        """Steps to an object or a place, as the stock player counts them."""
        x, y = getattr(target, "pos", target).tolist()
        own_x, own_y = self.pos.tolist()
        return int(abs(x - own_x) + abs(y - own_y))


class Env(crafter.Env):  # type: ignore[misc]
    """The stock environment without pictures; `step` and `reset` are those of the package."""

    _size: Any
    _view: Any

    def __init__(self, *, seed: int, length: int, area: tuple[int, int]) -> None:
        super().__init__(seed=seed, length=length, area=area)
        self._world.__class__ = World  # the package makes its own, and its views hold that one
        self._view = tuple(self._view.tolist())
        self._sem_view = _no_map
        self._grain: NDArray[np.float64] | None = None

    def reset(self) -> None:
        """Begins the next episode."""
        super().reset()
        self._player.__class__ = Player

    def _obs(self) -> None:
        """Draws the numbers that the stock picture takes, and keeps them."""
        self._grain = None
        if self._world.daylight < _NIGHT:
            shape = self._local_view._grid * (self._size // self._view)
            self._grain = self._world.random.uniform(32, 127, tuple(shape))

    def image(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The stock picture of this moment; the world's random numbers stay as they are."""
        own = self._world.random, self._size
        self._world.random, self._size = _Grain(self._grain), np.array(size)
        try:
            picture: NDArray[np.uint8] = self.render()
        finally:
            self._world.random, self._size = own
        return picture

    def clone(self) -> Env:
        """An environment that goes on from here by itself."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._world, twin._player = _twin_of(self._world, self._player)
        twin._unlocked = set(self._unlocked)
        twin._local_view = engine.LocalView(twin._world, self._textures, self._local_view._grid)
        return twin


class _Grain:
    """Stands in for the random numbers while a picture is drawn."""

    def __init__(self, kept: NDArray[np.float64] | None) -> None:
        self._kept = kept

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """The noise of the step; in a picture of another size, always the same."""
        if self._kept is not None and self._kept.shape == tuple(shape):
            return self._kept
        return np.random.RandomState(0).uniform(low, high, shape)


def _no_map() -> None:
    """Stands in for the stock map of the whole world, which no observation shows."""


def _twin_of(world: World, player: Player) -> tuple[World, Player]:
    """The world and its player once more; positions are shared: the package replaces, never changes them."""
    twin = object.__new__(World)
    twin.__dict__.update(world.__dict__)
    twin.random = _random_from(world.random)
    twin._mat_ids = world._mat_ids.copy()
    twin._mat_map, twin._obj_map = world._mat_map.copy(), world._obj_map.copy()
    twins = {obj: object.__new__(type(obj)) for obj in world._objects if obj is not None}
    for obj, made in twins.items():
        own = made.__dict__
        own.update(obj.__dict__)
        own.update(world=twin, random=twin.random, inventory=obj.inventory.copy())
        if "player" in own:
            own["player"] = twins[player]
    twins[player].achievements = player.achievements.copy()
    twin._objects = [obj and twins[obj] for obj in world._objects]
    twin._chunks = defaultdict(Ordered)
    for key, objs in world._chunks.items():
        twin._chunks[key].update((twins[obj], None) for obj in objs)
    return twin, twins[player]


def _random_from(random: np.random.RandomState) -> np.random.RandomState:
    """The same random numbers from here on.

    `copy` would share the generator, and `set_state` costs as much as the rest of a clone, so the state is
    moved as it lies in memory. (The package draws no normal numbers, of which one may wait outside it.)
    """
    generator = np.random.MT19937(_UNSEEDED)
    memmove(generator.ctypes.state_address, random._bit_generator.ctypes.state_address, _GENERATOR_BYTES)
    return np.random.RandomState(generator)


class _Unseeded(np.random.SeedSequence):
    """Spares the dear seeding of a generator that is given its state at once."""

    def generate_state(self, n_words: int, dtype: DTypeLike = np.uint32) -> NDArray[Any]:
        """Nothing in particular."""
        return np.zeros(n_words, dtype)


_UNSEEDED: Final = _Unseeded(0)


def state_hash(env: crafter.Env) -> str:
    """SHA-256 of everything that decides what an environment with ordered chunks does next.

    The map, each object in its place with all its attributes, the order of each chunk, the player's stats and
    achievements, daylight, the random numbers, and the counters of the episode.
    """
    world = env._world
    places = {obj: place for place, obj in enumerate(world._objects) if obj is not None}
    algorithm, key, *rest = world.random.get_state()
    told = {
        "episode": [env._seed, env._episode, env._step, env._length, env._area],
        "reward": [env._reward, env._last_health, sorted(env._unlocked)],
        "daylight": world.daylight,
        "places": len(world._objects),
        "objects": [[place, type(obj).__name__, _attributes(obj, places)] for obj, place in places.items()],
        "chunks": [[key, [places[obj] for obj in objs]] for key, objs in world._chunks.items()],
        "random": [algorithm, *rest],
    }
    digest = sha256(json.dumps(told, default=lambda value: value.tolist()).encode())
    for numbers in (world._mat_map, world._obj_map, key):
        digest.update(numbers.astype("<u4").tobytes())
    return digest.hexdigest()


def _attributes(obj: Any, places: dict[Any, int]) -> list[tuple[str, Any]]:
    own = sorted((name, value) for name, value in vars(obj).items() if name not in _NOT_STATE)
    return [(name, places[value] if name == "player" else value) for name, value in own]
