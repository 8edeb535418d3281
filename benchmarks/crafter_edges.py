"""Is each edge of a causal graph of Crafter an effect? One cause is changed in clones, the effect observed.

A ``rule`` edge is tried in a clone in which its mechanism has all it needs and nothing else is near, a
``policy-mediated`` one in the world as it is. Printed: every edge that the rules claim, with what 16 pairs of
clones say (exact sign test). The only place that sets the inside of a world instead of stepping it.

    python benchmarks/crafter_edges.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from untaken import stats
from untaken.simulator.crafter import ACHIEVEMENTS, MATERIALS, CrafterWorld, LocalView
from untaken.simulator.crafter.world import package_part
from untaken.simulator.state_causality import STAY_ALIVE, CausalEdge, CausalState
from untaken.simulator.state_causality.mechanisms import Mechanism, mechanisms
from untaken.simulator.state_causality.variables import LIFE, SEEN, faced

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


DRAWS: Final = 16
LEVEL: Final = 0.01
"""Two-sided p of the sign test at which an effect is taken for shown."""

_DONE: Final = {"": "noop", "move": "move_right"}
"""What is done for a mechanism that has no action of one name."""

Found = Literal["effect", "no effect", "not tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTrial:
    """The result for one edge.

    Attributes:
        edge: as it was before.
        found: ``effect`` where the cause changed the effect, by the sign test.
        draws: pairs of clones, each pair with random numbers of its own; 0 where it was not tried.
        higher: pairs in which the effect was higher after the intervention; `lower`: in which it was lower.
        p: two-sided, of the exact sign test; 1 where nothing differed.
        reason: in words.
    """

    edge: CausalEdge
    found: Found
    draws: int = 0
    higher: int = 0
    lower: int = 0
    p: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCauses:
    """A causal state whose edges were tried.

    Attributes:
        causes: with ``tested`` for each edge that had an effect.
        trials: one an edge, in their order.
    """

    causes: CausalState
    trials: tuple[EdgeTrial, ...]


def try_edges(world: CrafterWorld, causes: CausalState, *, draws: int = DRAWS, seed: int = 0) -> TriedCauses:
    """Tries each edge of a causal state in clones.

    A ``rule`` edge is tried where its mechanism has all it needs (`in_isolation`): the same actions and
    the same random numbers, once with the cause as it is, once after do(cause). A ``policy-mediated`` edge
    is tried in the world as it is: with the action given, do(cause) must change nothing at the next step.
    Whichever changed its effect becomes ``tested``.

    Args:
        world: is cloned, and stays as it is.
        causes: of `SymbolicCausality`; edges of a concept that is no mechanism are not tried.
        draws: pairs of clones for each edge.
        seed: decides their random numbers.
    """
    trials = tuple(_try(world, edge, causes, range(seed, seed + draws)) for edge in causes.edges)
    shown = [_shown(trial) for trial in trials]
    return TriedCauses(causes=msgspec.structs.replace(causes, edges=tuple(shown)), trials=trials)


def _try(world: CrafterWorld, edge: CausalEdge, causes: CausalState, seeds: Sequence[int]) -> EdgeTrial:
    mechanism = mechanisms().get(edge.concept)
    if mechanism is None:
        return EdgeTrial(edge=edge, found="not tried", reason="no mechanism is known that could be set up")
    if edge.kind != "policy-mediated":
        setting = setting_of(mechanism)
        base = in_isolation(world, mechanism, edge.cause)
        actions = [setting.action] * (setting.quick if edge.cause in mechanism.helps else setting.steps)
        amount = setting.otherwise.get(edge.cause, 0)
    elif edge.cause in (*causes.missing, *causes.absent):
        return EdgeTrial(edge=edge, found="not tried", reason="the cause is not in this state")
    else:
        base, actions, amount = world, [_DONE.get(mechanism.action, mechanism.action)], 0
        actions = ["noop"] if mechanism.mediated else actions
    return _judged(edge, [_pair(base, edge, actions, amount, seed) for seed in seeds])


def _pair(
    base: CrafterWorld, edge: CausalEdge, actions: Sequence[str], amount: int, seed: int
) -> tuple[float, float]:
    """The effect as it is, and after do(cause), with the same actions and the same random numbers."""
    as_it_is, changed = base.clone(), base.clone()
    intervene(changed, edge.cause, amount)
    for arm in (as_it_is, changed):
        arm.reseed(seed)
    return _effect(as_it_is, edge.effect, actions), _effect(changed, edge.effect, actions)


def _effect(world: CrafterWorld, effect: str, actions: Sequence[str]) -> float:
    """Its value in the end; of things in view their number, over all steps. The dead do nothing."""
    total, in_view = 0.0, effect.startswith("near_")
    for action in actions:
        over = world.step(action).done
        total += _value(effect, world.observe()) if in_view else 0
        if over:
            break
    return total if in_view else _value(effect, world.observe())


def _value(effect: str, seen: LocalView) -> float:
    if effect in ACHIEVEMENTS:
        return float(seen.achievements[effect])
    if effect == "sleeping":
        return float(seen.sleeping)
    if effect == "facing":
        return float(SEEN.index(faced(seen)))
    if effect.startswith("near_"):
        return float(sum(column.count(SEEN.index(effect)) for column in seen.semantic))
    return float(seen.inventory["health" if effect == STAY_ALIVE else effect])


def _judged(edge: CausalEdge, pairs: Sequence[tuple[float, float]]) -> EdgeTrial:
    higher, lower = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    p = min(1.0, 2 * stats.sign_p(max(higher, lower), min(higher, lower)))
    shown = p <= LEVEL
    return EdgeTrial(
        edge=edge,
        found="effect" if shown else "no effect",
        draws=len(pairs),
        higher=higher,
        lower=lower,
        p=p,
        reason=f"higher in {higher}, lower in {lower} of {len(pairs)} pairs of clones (p = {p:.2g})",
    )


def _shown(trial: EdgeTrial) -> CausalEdge:
    if trial.found != "effect":
        return trial.edge
    reason = f"{trial.edge.reason}; {trial.reason}"[:300]
    return msgspec.structs.replace(trial.edge, kind="tested", reason=reason)


def rule_edges() -> Iterator[CausalEdge]:
    """Every edge that the mechanisms claim, whatever the state: on variables and on achievements."""
    for m in mechanisms().values():
        for effect in filter(None, (m.effect, m.name if m.name in ACHIEVEMENTS else "")):
            kind: Literal["rule", "policy-mediated"] = "policy-mediated" if m.mediated else "rule"
            for cause in m.causes:
                yield CausalEdge(cause=cause, effect=effect, kind=kind, concept=m.name, reason=m.words)


def main() -> None:
    claimed = CausalState(task=None, by="all rules", edges=tuple(rule_edges()))
    for trial in try_edges(CrafterWorld(1), claimed).trials:
        print(f"{trial.edge.cause:16} → {trial.edge.effect:20} {trial.found:10} {trial.reason}")


if __name__ == "__main__":
    main()
