"""The stock environment made repeatable, silent and clonable; none of its rules is written again (§7).

Three things are changed, and the tests hold the rest against the package as it is installed:

- A chunk keeps its objects in the order in which they came. Stock keeps them in a set, which orders them by
  their address in memory, so that spawns differ from process to process.
- A step draws no picture. By night the picture takes noise from the world's own random numbers: as many are
  drawn here, and kept for the picture that may be asked for later.
- What a step needs many times, such as distances and positions, is computed with plain numbers, and only
objects within reach are asked for theirs.
"""

from __future__ import annotations

import json
from collections import defaultdict
from ctypes import memmove, string_at
from functools import cache
from hashlib import sha256
from typing import Any, Final

import crafter
import numpy as np
from crafter import engine, objects
from numpy.typing import DTypeLike, NDArray

_NIGHT: Final = 0.5
"""Daylight below which the stock picture is noisy."""
_REACH: Final = 18
"""Steps from the player from which on a step leaves an object as it is: twice the side of the view."""
_BALANCED: Final = 10
"""Steps from one balance of the chunks to the next."""
_GENERATOR_BYTES: Final = 4 * (624 + 1)
"""State of the Mersenne Twister: 624 words, and the place among them."""
_PICTURES: Final = frozenset({"_textures", "_local_view", "_item_view", "_sem_view"})
"""Attributes of an environment that only pictures need."""
_DIRECTIONS: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))
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


class OrderedWorld(engine.World):  # type: ignore[misc]
    """The stock world with ordered chunks."""

    def reset(self, seed: int | None = None) -> None:
        """An empty world."""
        super().reset(seed)
        self._chunks: defaultdict[tuple[int, ...], Ordered] = defaultdict(Ordered)


class Patch(np.ndarray[Any, np.dtype[np.bool_]]):
    """Where a material is in a chunk; how often is counted once."""

    count: np.int64

    def sum(self) -> np.int64:  # type: ignore[override]
        """The number of places."""
        return self.count


class World(OrderedWorld):
    """The same with a quicker sense of place.

    Attributes:
        _masks: where a material is in a chunk of the current map. Worlds with the same map share one;
        changing the map starts another.
    """

    _masks: dict[tuple[int | str, ...], Patch]

    def reset(self, seed: int | None = None) -> None:
        """An empty world."""
        super().reset(seed)
        self._masks = {}

    def __getstate__(self) -> dict[str, Any]:
        """What is where; the rest is worked out again."""
        return self.__dict__ | {"_masks": {}}

    def __setitem__(self, pos: Any, material: str | None) -> None:
        """Puts a material in a place."""
        super().__setitem__(pos, material)
        self._masks = {}

    def change(self, where: NDArray[np.bool_], material: str) -> None:
        """Puts a material in many places."""
        self._mat_map[where] = self._mat_ids[material]
        self._masks = {}

    def mask(self, xmin: int, xmax: int, ymin: int, ymax: int, material: str) -> Patch:
        """Where a material is in a chunk, worked out once a map."""
        key = (xmin, xmax, ymin, ymax, material)
        if key not in self._masks:
            found = super().mask(*key)
            self._masks[key] = patch = found.view(Patch)
            patch.count = found.sum()  # balancing asks for it in every chunk
        return self._masks[key]

    def add(self, obj: Any) -> None:
        """Puts an object where it says it is."""
        # The package makes objects of its own classes, in map generation too; all of them come by here.
        obj.__class__ = _SENSING.get(type(obj), type(obj))
        super().add(obj)

    @property
    def objects(self) -> list[Any]:
        """The objects that move in a step, in the order of the stock world, which lists all."""
        # The player comes first, and may be a step nearer to the others before their turn.
        return self.reached(0)

    def reached(self, beyond: int) -> list[Any]:
        """The objects that may move in a step, and those so much farther, which they may strike."""
        # Place 0 of the list is no object, and the player is the first that a reset adds.
        (x, y), far = self._objects[1].pos.tolist(), _REACH + beyond
        places = self._obj_map[max(x - far, 0) : x + far + 1, max(y - far, 0) : y + far + 1]
        # In the order of stock: all draw from one generator, so what each draws decides what the next gets.
        return [self._objects[place] for place in sorted(places[places > 0].tolist())]

    def __getitem__(self, pos: Any) -> tuple[str | None, Any]:
        """The material and the object at a place, as the stock world tells them."""
        x, y = pos.tolist() if isinstance(pos, np.ndarray) else pos
        if not (0 <= x < self.area[0] and 0 <= y < self.area[1]):
            return None, None
        return self._mat_names[self._mat_map.item(x, y)], self._objects[self._obj_map.item(x, y)]

    def move(self, obj: Any, pos: Any) -> None:
        """Puts an object in another place, as the stock world does."""
        if obj.removed:
            return
        pos, places = np.array(pos), self._obj_map
        (x, y), (old_x, old_y) = pos.tolist(), obj.pos.tolist()
        assert not places.item(x, y)  # noqa: S101 (as in the package)
        places[x, y], places[old_x, old_y] = places.item(old_x, old_y), 0
        old, new = self.chunk_key(obj.pos), self.chunk_key(pos)
        if old != new:
            self._chunks[old].remove(obj)
            self._chunks[new].add(obj)
        obj.pos = pos

    def chunk_key(self, pos: Any) -> tuple[int, int, int, int]:
        """The chunk of a place, as the stock world names it."""
        (x, y), (width, height) = pos.tolist(), self._chunk_size
        left, top = x - x % width, y - y % height
        return (left, min(left + width, self.area[0]), top, min(top + height, self.area[1]))


class _Sense:
    """A quicker sense of distance and direction, for whatever moves."""

    pos: NDArray[np.int64]
    random: np.random.RandomState

    def distance(self, target: Any) -> int:
        """Steps to an object or a place, as the stock object counts them."""
        x, y = getattr(target, "pos", target).tolist()
        own_x, own_y = self.pos.tolist()
        distance: int = abs(x - own_x) + abs(y - own_y)
        return distance

    def toward(self, target: Any, long_axis: bool = True) -> NDArray[np.int64]:
        """The direction to an object or a place along one axis, as the stock object chooses it."""
        x, y = getattr(target, "pos", target).tolist()
        own_x, own_y = self.pos.tolist()
        across, down = x - own_x, y - own_y
        if (abs(across) > abs(down)) if long_axis else (abs(across) <= abs(down)):
            return np.array(((across > 0) - (across < 0), 0))
        return np.array((0, (down > 0) - (down < 0)))

    def random_dir(self) -> tuple[int, int]:
        """One of the four directions, from the random number that the stock object's `randint` takes."""
        # For a range of four, `randint` masks one word to its lowest two bits and never draws again.
        return _DIRECTIONS[self.random._bit_generator.random_raw() & 3]


class Player(_Sense, objects.Player):  # type: ignore[misc]
    """The stock player."""


class Cow(_Sense, objects.Cow):  # type: ignore[misc]
    """The stock cow."""


class Zombie(_Sense, objects.Zombie):  # type: ignore[misc]
    """The stock zombie."""


class Skeleton(_Sense, objects.Skeleton):  # type: ignore[misc]
    """The stock skeleton."""


_SENSING: Final = {kind.__bases__[1]: kind for kind in (Player, Cow, Zombie, Skeleton)}
"""What takes the place of a class of the package."""


class Env(crafter.Env):  # type: ignore[misc]
    """The stock environment without pictures; `step` and `reset` are those of the package."""

    _size: Any
    _view: Any
    _moment: object
    """Unique, also compared with the previous state, `_came_from`."""

    def __init__(self, *, seed: int, length: int, area: tuple[int, int]) -> None:
        super().__init__(seed=seed, length=length, area=area)
        self._world.__class__ = World  # the package makes its own, and its views hold that one
        self._view = tuple(self._view.tolist())  # `step` takes its `max` for every object
        self._sem_view = _no_map  # `step` would else draw it for its `info`
        self._grain: NDArray[np.float64] | None = None
        self._came_from, self._moment = object(), object()

    def step(self, action: int) -> tuple[Any, float, bool, dict[str, Any]]:
        """The step of the package, from one moment to the next."""
        self._came_from, self._moment = self._moment, object()
        outcome: tuple[Any, float, bool, dict[str, Any]] = super().step(action)
        return outcome

    def _obs(self) -> None:
        """Draws the numbers that the stock picture takes, and keeps them."""
        self._grain = None
        # Without these draws all that comes after a night would differ from the stock environment.
        if self._world.daylight < _NIGHT:
            shape = self._local_view._grid * (self._size // self._view)
            self._grain = self._world.random.uniform(32, 127, tuple(shape))

    def state_hash(self) -> str:
        """As `state_hash`."""
        return state_hash(self)

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
        twin = object.__new__(type(self))  # `__init__` would read the textures again
        random = _random_from(self._world.random)
        world, player = _twin_of(self._world, self._player, random)
        twin.__dict__ = self.__dict__ | {
            "_world": world,
            "_player": player,
            "_unlocked": self._unlocked.copy(),
            "_local_view": engine.LocalView(world, self._textures, self._local_view._grid),
        }
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """What decides what comes next; pictures are read again where it is unpacked."""
        own = {name: value for name, value in self.__dict__.items() if name not in _PICTURES}
        return own | {"_grids": (self._local_view._grid, self._item_view._grid)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The environment in another process."""
        (view, items), textures = state.pop("_grids"), _textures()
        self.__dict__ = state | {
            "_textures": textures,
            "_local_view": engine.LocalView(state["_world"], textures, view),
            "_item_view": engine.ItemView(textures, items),
            "_sem_view": _no_map,
        }

    def mark(self) -> StockMark:
        """This moment, to come back to."""
        return StockMark(self)

    def reseed(self, seed: int) -> None:
        """Other random numbers from here on."""
        self._world.random.seed(seed)


class StockMark:
    """A moment of an environment, kept beside it; `restore` undoes whatever happened to it since.

    Cheaper than a clone: objects that are there already are given back their attributes, and the random
    numbers their state in place. After a single step that is so only of those it may have reached.
    """

    __slots__ = (
        "_chunks",
        "_env",
        "_generator",
        "_kept",
        "_near",
        "_objects",
        "_player",
        "_unlocked",
        "_world",
    )

    def __init__(self, env: Env) -> None:
        world, player = env._world, env._player
        self._env, self._kept, self._unlocked = env, env.__dict__.copy(), env._unlocked.copy()
        self._world = _copied(world.__dict__)
        self._generator = string_at(_state_of(world.random), _GENERATOR_BYTES)
        self._chunks = [(key, Ordered(objs)) for key, objs in world._chunks.items()]
        self._player = player.achievements.copy()
        self._near = world.reached(1)
        self._objects = {obj: (obj.__dict__.copy(), obj.inventory.copy()) for obj in world._objects if obj}

    def restore(self) -> None:
        """The environment as it was; what was made since is dropped."""
        env, kept = self._env, self._world
        # Asked while the environment is still that of now.
        stirred = self._near if self._is_a_step_ago() else self._objects
        env.__dict__ = self._kept.copy()  # copies, here and below: a mark serves many times
        env._unlocked = self._unlocked.copy()
        world = env._world
        world.__dict__ = _copied(kept)
        world._chunks = defaultdict(Ordered, [(key, Ordered(objs)) for key, objs in self._chunks])
        memmove(_state_of(world.random), self._generator, _GENERATOR_BYTES)
        for obj in stirred:
            attributes, inventory = self._objects[obj]
            own = obj.__dict__ = attributes.copy()
            own["inventory"] = inventory.copy()
        env._player.achievements = self._player.copy()

    def _is_a_step_ago(self) -> bool:
        """Whether all that happened since is one step, and none that balances chunks everywhere."""
        env = self._env
        # A balance adds and removes creatures all over the map, not only near the player.
        return env._came_from is self._kept["_moment"] and env._step % _BALANCED != 0


@cache
def _textures() -> Any:
    """The package's pictures, read once."""
    return engine.Textures(crafter.constants.root / "assets")


class _Grain:
    """Replaces the random numbers while a picture is drawn."""

    def __init__(self, kept: NDArray[np.float64] | None) -> None:
        self._kept = kept

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """The noise of the step; in a picture of another size, always the same."""
        if self._kept is not None and self._kept.shape == tuple(shape):
            return self._kept
        return np.random.RandomState(0).uniform(low, high, shape)


def _no_map() -> None:
    """Replaces the stock map of the whole world, which no observation shows."""


def _copied(world: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a world, with maps and a list of objects of their own."""
    return world | {name: world[name].copy() for name in ("_mat_ids", "_mat_map", "_obj_map", "_objects")}


def _twin_of(world: World, player: Player, random: np.random.RandomState) -> tuple[World, Player]:
    """The world and its player once more; positions are shared: the package replaces, never changes them."""
    twin = object.__new__(World)
    twins = {obj: object.__new__(type(obj)) for obj in world._objects if obj is not None}
    for obj, made in twins.items():
        own = made.__dict__ = obj.__dict__ | {
            "world": twin,
            "random": random,
            "inventory": obj.inventory.copy(),
        }
        if "player" in own:
            own["player"] = twins[player]
    twins[player].achievements = player.achievements.copy()
    chunks = [(key, Ordered.fromkeys(map(twins.__getitem__, objs))) for key, objs in world._chunks.items()]
    twin.__dict__ = _copied(world.__dict__) | {
        "random": random,
        "_objects": [obj and twins[obj] for obj in world._objects],
        "_chunks": defaultdict(Ordered, chunks),
    }
    return twin, twins[player]


def _random_from(random: np.random.RandomState) -> np.random.RandomState:
    """The same random numbers from here on, by a generator of their own."""
    # As raw memory: `copy` would share the generator, and `set_state` costs as much as the rest of a clone.
    # The package draws no normal numbers, of which one could be buffered elsewhere.
    twin = np.random.RandomState(np.random.MT19937(_UNSEEDED))
    memmove(_state_of(twin), _state_of(random), _GENERATOR_BYTES)
    return twin


def _state_of(random: np.random.RandomState) -> int:
    """Address of the generator's state in memory."""
    return int(random._bit_generator.ctypes.state_address)


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
    parts = {
        "episode": [env._seed, env._episode, env._step, env._length, env._area],
        "reward": [env._reward, env._last_health, sorted(env._unlocked)],
        "daylight": world.daylight,
        "places": len(world._objects),
        "objects": [[place, type(obj).__name__, _attributes(obj, places)] for obj, place in places.items()],
        "chunks": [[key, [places[obj] for obj in objs]] for key, objs in world._chunks.items()],
        "random": [algorithm, *rest],
    }
    digest = sha256(json.dumps(parts, default=lambda value: value.tolist()).encode())
    for numbers in (world._mat_map, world._obj_map, key):
        digest.update(numbers.astype("<u4").tobytes())  # the same on machines of either byte order
    return digest.hexdigest()


def _attributes(obj: Any, places: dict[Any, int]) -> list[tuple[str, Any]]:
    own = sorted((name, value) for name, value in vars(obj).items() if name not in _NOT_STATE)
    return [(name, places[value] if name == "player" else value) for name, value in own]
