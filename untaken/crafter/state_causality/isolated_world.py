"""Clones in which a mechanism has all it needs, and one of its causes is then changed alone (§7).

The only place that sets the inside of a world instead of stepping it. What is put there is stock Crafter's:
its ground, its objects, its counters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from untaken.crafter.simulator import MATERIALS
from untaken.crafter.simulator.world import package_part
from untaken.crafter.state_causality.variables import LIFE

if TYPE_CHECKING:
    from untaken.crafter.simulator import CrafterWorld
    from untaken.crafter.state_causality.mechanisms import Mechanism

PLENTY: Final = 5
DAY: Final = 30
NIGHTFALL: Final = 200
"""Steps of an episode after which there is light, or hardly any, for 60 steps."""
_RIPE: Final = 301
_INSTEAD: Final = "sand"
"""Ground that yields nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a mechanism is tried.

    Attributes:
        action: what the player does at each step, whatever it sees.
        steps: how many.
        quick: how many where the cause only helps.
        own: amounts at the start; else life is full, and there is plenty of each cause.
        otherwise: amounts after the intervention; else none.
        asleep: whether the player sleeps at the start.
        far: distance of a creature to the right, in cells: 1 is in front.
        open_field: everything is grass; else the player is walled in.
    """

    action: str = "noop"
    steps: int = 1
    quick: int = 1
    own: Mapping[str, int] = field(default_factory=dict)
    otherwise: Mapping[str, int] = field(default_factory=dict)
    asleep: bool = False
    far: int = 1
    open_field: bool = False


_TIRED: Final = {"energy": 3}
_SETTINGS: Final[Mapping[str, Setting]] = {
    "collect_sapling": Setting(action="do", steps=60),
    "collect_drink": Setting(action="do", own={"drink": 3}),
    "eat_cow": Setting(action="do", steps=4, quick=2, own={"food": 1}),
    "eat_plant": Setting(action="do", own={"food": 3}),
    "defeat_zombie": Setting(action="do", steps=6, quick=3),
    "defeat_skeleton": Setting(action="do", steps=4, quick=2),
    "wake_up": Setting(steps=14, own={"energy": 8}, otherwise=_TIRED, asleep=True),
    "hunger": Setting(steps=27, own=_TIRED),
    "thirst": Setting(steps=22, own=_TIRED),
    "rest": Setting(steps=14, own=_TIRED),
    "recovery": Setting(steps=27, own=dict.fromkeys(LIFE, 4)),
    "falling_asleep": Setting(action="sleep", own={"energy": 5}, otherwise={"energy": 9}),
    "being_woken": Setting(own=_TIRED, otherwise={"health": 4}, asleep=True),
    "turning": Setting(action="move_left", own=_TIRED),
    "zombie_attack": Setting(own=_TIRED),
    "skeleton_shot": Setting(steps=12, far=4),
    "lava": Setting(action="move_right"),
    "nightfall": Setting(steps=60, open_field=True),
    "trampling": Setting(steps=3, far=2),
}


def setting_of(mechanism: Mechanism) -> Setting:
    """How a mechanism is tried: by its own action, once, where nothing else is said."""
    return _SETTINGS.get(mechanism.name) or Setting(action=mechanism.action or "noop")


def in_isolation(world: CrafterWorld, mechanism: Mechanism, cause: str) -> CrafterWorld:
    """A clone in which the mechanism has all it needs, and nothing else is near.

    Of causes that only help, and of creatures of which each would do, there is none but `cause`.
    """
    setting, clone = setting_of(mechanism), world.clone()
    env = clone._env
    _clear(env, "grass" if setting.open_field else "furnace" if "facing" in mechanism.causes else "stone")
    _player(env, mechanism, setting, cause)
    env._step = NIGHTFALL if setting.open_field else DAY
    x, y = env._player.pos.tolist()
    if not setting.open_field:
        env._world[x - 1, y] = "water"  # looks different from the wall after a turn
        for cell in range(1, setting.far + 1):
            env._world[x + cell, y] = "grass"
    things = [name.removeprefix("near_") for name in mechanism.causes if name.startswith("near_")]
    for thing in things:
        if thing in MATERIALS and not setting.open_field:
            env._world[{"table": (x - 1, y), "furnace": (x, y - 1)}.get(thing, (x + 1, y))] = thing
    creatures = [thing for thing in things if thing not in MATERIALS]
    if creatures:
        asked = cause.removeprefix("near_")
        _put(env, asked if asked in creatures else creatures[0], (x + setting.far, y))
    if mechanism.effect == "near_plant" and "near_plant" not in mechanism.causes and not mechanism.action:
        _put(env, "plant", (x + 1, y))
    return clone


def intervene(world: CrafterWorld, cause: str, amount: int = 0) -> None:
    """do(cause): an amount is set, sleep or light changed, the player turned, a thing taken from the map."""
    env, player = world._env, world._env._player
    if cause == "sleeping":
        player.sleeping = not player.sleeping
    elif cause == "facing":
        player.facing = (0, 1) if tuple(player.facing) != (0, 1) else (0, -1)
    elif cause == "daylight":
        env._step = DAY if env._world.daylight < 0.5 or env._step >= NIGHTFALL else NIGHTFALL
    elif not cause.startswith("near_"):
        player.inventory[cause] = amount
    else:
        _take_away(env, cause.removeprefix("near_"))


def _clear(env: Any, ground: str) -> None:
    world, player = env._world, env._player
    for obj in tuple(filter(None, world._objects)):
        if obj is not player:
            world.remove(obj)
    world.change(world._mat_map >= 0, ground)
    centre = (world.area[0] // 2, world.area[1] // 2)
    if tuple(player.pos.tolist()) != centre:
        world.move(player, centre)
    world[centre] = "grass"


def _player(env: Any, mechanism: Mechanism, setting: Setting, cause: str) -> None:
    player = env._player
    held = {name: PLENTY for name in (*mechanism.causes, cause) if name not in mechanism.helps}
    held |= {cause: PLENTY}
    player.inventory = {
        name: setting.own.get(name, 9 if name in LIFE else held.get(name, 0)) for name in player.inventory
    }
    player.achievements = dict.fromkeys(player.achievements, 0)
    player.facing, player.sleeping = (1, 0), setting.asleep
    player._hunger = player._thirst = player._fatigue = player._recover = 0
    player._last_health = env._last_health = player.inventory["health"]


def _put(env: Any, thing: str, place: tuple[int, int]) -> None:
    objects = package_part("objects")
    made = {
        "cow": lambda: objects.Cow(env._world, place),
        "zombie": lambda: objects.Zombie(env._world, place, env._player),
        "skeleton": lambda: objects.Skeleton(env._world, place, env._player),
        "arrow": lambda: objects.Arrow(env._world, place, (-1, 0)),
        "plant": lambda: objects.Plant(env._world, place),
    }[thing]()
    if thing == "plant":
        made.grown = _RIPE
    env._world.add(made)


def _take_away(env: Any, thing: str) -> None:
    world = env._world
    if thing in MATERIALS:
        world.change(world._mat_map == world._mat_ids[thing], _INSTEAD)
        return
    for obj in tuple(filter(None, world._objects)):
        if type(obj).__name__.lower() == thing:
            world.remove(obj)
