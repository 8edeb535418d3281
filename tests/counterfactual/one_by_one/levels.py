"""Which layer of a situation history is taken from: fine where enough is known, else coarser (§2b)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from one_by_one.trust import Arm
from untaken.counterfactual.words import N_MIN

Lookup = Callable[[str, str], Arm | None]
"""The history of a skill in a context, as far as it is known."""
ENOUGH: Final = (N_MIN, 1)
"""Runs that a level must have, asked one after the other: enough to support anything, then any at all."""


class Layered:
    """The histories of one skill in the layers of one situation, looked up when asked for.

    Levels count from 1, the finest.
    """

    __slots__ = ("_arms", "_lookup", "_skill", "layers", "levels")

    def __init__(self, skill: str, layers: tuple[str, ...], lookup: Lookup) -> None:
        self._skill, self.layers, self._lookup = skill, layers, lookup
        self.levels = len(layers)
        self._arms: list[Arm | None] = []

    def at(self, level: int) -> Arm | None:
        """The history at a level; ``None`` without any."""
        arms = self._arms
        while len(arms) < level:
            arms.append(self._lookup(self._skill, self.layers[len(arms)]))
        return arms[level - 1]


class Found(NamedTuple):
    """A level, and the history of each skill there."""

    level: int
    arms: list[Arm]


def finest(*skills: Layered) -> Found | None:
    """The finest level at which each of the skills has `N_MIN` runs; else the finest at which each has any.

    Of one skill for its delta, of two for their advantage: both histories are then of the same level, so that
    a fine situation, which may be an easy one, is never set against a coarse one.
    """
    for enough in ENOUGH:
        for level in range(1, skills[0].levels + 1):
            arms = [a for skill in skills if (a := skill.at(level)) and a.record.n_runs >= enough]
            if len(arms) == len(skills):
                return Found(level, arms)
    return None


class Sides(NamedTuple):
    """What a path not taken is compared by.

    Attributes:
        level, arm: of the alternative's history, for its delta.
        shared, first, second: of the alternative's and the selected skill's histories, for the advantage;
            `shared` and `second` are ``None`` where no level has both.
        other: the alternative's histories at every level; ``None`` if there is only one layer.
    """

    level: int
    arm: Arm
    shared: int | None
    first: Arm
    second: Arm | None
    other: Layered | None = None


def sides(alternative: str, chosen: Layered, lookup: Lookup) -> Sides | None:
    """The histories of an alternative and of the skill chosen; ``None`` where the alternative has none."""
    if chosen.levels == 1:  # nothing to look for; the usual case, and a hot one
        arm, base = lookup(alternative, chosen.layers[0]), chosen.at(1)
        return None if arm is None else Sides(1, arm, 1 if base else None, arm, base)
    other = Layered(alternative, chosen.layers, lookup)
    found, both = finest(other), finest(other, chosen)
    if found is None:
        return None
    level, (arm,) = found
    if both is None:
        return Sides(level, arm, None, arm, None, other)
    first, second = both.arms
    return Sides(level, arm, both.level, first, second, other)
