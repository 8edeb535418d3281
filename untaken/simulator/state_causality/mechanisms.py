"""C: the mechanisms by which Crafter's variables act on each other, from the package's own rules (§7).

Collecting, placing and making are derived from the package's tables, as the tech tree is. What its code alone
says (hunger, blows, arrows, night) is written down here; the tests hold every edge of it against clones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.simulator.crafter.world import package_rules
from untaken.simulator.state_causality.causal_state import Concept, plain
from untaken.simulator.state_causality.variables import near

Reach = Literal["", "front", "around"]


class Mechanism(Struct, frozen=True, kw_only=True):
    """Causes that act together on one variable, on reaching one achievement, or on both.

    Attributes:
        name: of the achievement where it reaches one.
        causes: variables that the effect rests on; each is needed, but for `helps`.
        effect: a variable; empty where only the achievement is reached.
        action: what a player does for it; empty where the world does it by itself.
        reach: where a thing among the causes must be for the rule to read it: in front of the player, or
            beside it; elsewhere the policy must walk up first. Empty where the thing acts from afar.
        helps: causes without which it works as well, if slower.
        mediated: whether no rule of the world uses the cause: only a policy may react to it.
    """

    name: str
    words: str
    causes: tuple[str, ...]
    effect: str = ""
    action: str = ""
    reach: Reach = ""
    helps: tuple[str, ...] = ()
    mediated: bool = False

    @property
    def concept(self) -> Concept:
        """The name that the evaluator uses."""
        return Concept(name=self.name, words=self.words)


SWORDS: Final = ("wood_sword", "stone_sword", "iron_sword")


def _does(name: str, words: str, causes: tuple[str, ...], effect: str, **more: Any) -> Mechanism:
    return Mechanism(name=name, words=words, causes=causes, effect=effect, **more)


_LIFE: Final = (
    _does("hunger", "food is used up, asleep half as fast", ("sleeping",), "food"),
    _does("thirst", "drink is used up, asleep half as fast", ("sleeping",), "drink"),
    _does("rest", "energy comes back asleep and is used up awake", ("sleeping",), "energy"),
    _does(
        "recovery",
        "health comes back while there is food, drink and energy (or sleep), and is lost without",
        ("food", "drink", "energy", "sleeping"),
        "health",
    ),
    _does(
        "falling_asleep",
        "sleep begins while energy is below its most",
        ("energy",),
        "sleeping",
        action="sleep",
    ),
    _does("being_woken", "losing health wakes", ("health",), "sleeping"),
    _does("turning", "asleep, no move is made", ("sleeping",), "facing", action="move"),
    _does(
        "night_rest",
        "a policy may sleep at night; no rule asks for it",
        ("daylight",),
        "sleeping",
        action="sleep",
        mediated=True,
    ),
)
_DANGER: Final = (
    _does(
        "zombie_attack",
        "a zombie beside the player costs 2 health, asleep 7",
        ("near_zombie", "sleeping"),
        "health",
    ),
    _does("arrow_hit", "an arrow that hits costs 2 health", ("near_arrow",), "health"),
    _does("skeleton_shot", "skeletons shoot arrows", ("near_skeleton",), "near_arrow"),
    _does("lava", "walking into lava kills", ("near_lava",), "health", action="move", reach="front"),
    _does(
        "nightfall", "the darker, the more zombies come, on grass", ("daylight", "near_grass"), "near_zombie"
    ),
    _does(
        "trampling",
        "creatures beside a plant eat it up",
        ("near_zombie", "near_skeleton", "near_cow"),
        "near_plant",
    ),
)
_FIGHTS: Final = (
    _does(
        "eat_cow",
        "hitting a cow until it is eaten; swords hit harder",
        ("facing", "near_cow", *SWORDS),
        "food",
        helps=SWORDS,
        action="do",
        reach="front",
    ),
    _does(
        "eat_plant",
        "eating a plant that is ripe",
        ("facing", "near_plant"),
        "food",
        action="do",
        reach="front",
    ),
    _does(
        "defeat_zombie",
        "hitting a zombie until it falls, alive; swords hit harder",
        ("facing", "near_zombie", "health", *SWORDS),
        "",
        helps=SWORDS,
        action="do",
        reach="front",
    ),
    _does(
        "defeat_skeleton",
        "hitting a skeleton until it falls, alive; swords hit harder",
        ("facing", "near_skeleton", "health", *SWORDS),
        "",
        helps=SWORDS,
        action="do",
        reach="front",
    ),
    _does("wake_up", "waking with full energy; losing health wakes without it", ("sleeping", "energy"), ""),
)


@cache
def mechanisms() -> Mapping[str, Mechanism]:
    """Every mechanism by its name.

    Raises:
        UntakenError: ``crafter-extra-missing``.
    """
    constants = package_rules()
    every = [*_collecting(constants), *_placing(constants), *_making(constants), *_FIGHTS, *_LIFE, *_DANGER]
    return {mechanism.name: mechanism for mechanism in every}


def _collecting(rules: Any) -> Iterator[Mechanism]:
    for ground, info in rules.collect.items():
        for item in info["receive"]:
            needed = " and ".join(plain(tool) for tool in info["require"])
            yield Mechanism(
                name=f"collect_{item}",
                words=f"{plain(item)} comes from {plain(ground)} in front"
                + (f", with a {needed}" if needed else ""),
                causes=("facing", near(ground), *info["require"]),
                effect=item,
                action="do",
                reach="front",
            )


def _placing(rules: Any) -> Iterator[Mechanism]:
    """What is placed is near from then on; to put back what was collected yields nothing new."""
    for thing, info in rules.place.items():
        uses, where = info["uses"], info["where"]
        only = (near(where[0]),) if len(where) == 1 else ()  # of several, none is needed
        yield Mechanism(
            name=f"place_{thing}",
            words=f"placing a {thing} takes {_amounts(uses)}, and {' or '.join(where)} in front",
            causes=("facing", *only, *uses),
            effect="" if thing in uses else near(thing),  # to put a stone back yields nothing new
            action=f"place_{thing}",
            reach="front",
        )


def _making(rules: Any) -> Iterator[Mechanism]:
    for item, info in rules.make.items():
        where = " and a ".join(info["nearby"])
        yield Mechanism(
            name=f"make_{item}",
            words=f"making a {plain(item)} takes {_amounts(info['uses'])}, beside a {where}",
            causes=(*map(near, info["nearby"]), *info["uses"]),
            effect=item,
            action=f"make_{item}",
            reach="around",
        )


def _amounts(uses: Mapping[str, int]) -> str:
    return ", ".join(f"{amount} {plain(item)}" for item, amount in uses.items())
