"""What Crafter's own rules ask for, typed: read from the installed package, none written again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from untaken.simulator.crafter import MATERIALS, tech_tree
from untaken.simulator.crafter.world import package_rules


class Collecting(Struct, frozen=True, kw_only=True):
    """What a ground yields.

    Attributes:
        ground: the material.
        item: what is received.
        needs: items held, which stay.
        leaves: the material that is there afterwards.
    """

    ground: str
    item: str
    needs: Mapping[str, int]
    leaves: str


class Placing(Struct, frozen=True, kw_only=True):
    """What placing takes: items used up, and the ground in front."""

    uses: Mapping[str, int]
    where: frozenset[int]


class Making(Struct, frozen=True, kw_only=True):
    """What making takes: items used up, and materials that are near."""

    uses: Mapping[str, int]
    nearby: tuple[str, ...]


class CrafterRules(Struct, frozen=True, kw_only=True):
    """The rules of the installed package.

    Attributes:
        grounds: collecting, by material.
        sources: collecting, by item.
        placing, making: by what is placed or made.
        walkable: numbers of the materials that can be walked on.
        most: the largest amount of each item.
        serves: by achievement, itself and all it cannot be reached without.
    """

    grounds: Mapping[str, Collecting]
    sources: Mapping[str, Collecting]
    placing: Mapping[str, Placing]
    making: Mapping[str, Making]
    walkable: frozenset[int]
    most: Mapping[str, int]
    serves: Mapping[str, frozenset[str]]


@cache
def rules() -> CrafterRules:
    """The rules, read once.

    Raises:
        UntakenError: ``crafter-extra-missing``.
    """
    constants = package_rules()
    grounds = {ground: _collecting(ground, info) for ground, info in constants.collect.items()}
    return CrafterRules(
        grounds=MappingProxyType(grounds),
        sources=MappingProxyType({found.item: found for found in grounds.values()}),
        placing=MappingProxyType(
            {
                thing: Placing(uses=dict(info["uses"]), where=_numbers(info["where"]))
                for thing, info in constants.place.items()
            }
        ),
        making=MappingProxyType(
            {
                item: Making(uses=dict(info["uses"]), nearby=tuple(info["nearby"]))
                for item, info in constants.make.items()
            }
        ),
        walkable=_numbers(constants.walkable),
        most=MappingProxyType({item: info["max"] for item, info in constants.items.items()}),
        serves=_closures(),
    )


def _collecting(ground: str, info: Any) -> Collecting:
    (item,) = info["receive"]
    return Collecting(ground=ground, item=item, needs=dict(info["require"]), leaves=info["leaves"])


def _numbers(materials: list[str]) -> frozenset[int]:
    return frozenset(MATERIALS.index(name) + 1 for name in materials)


def _closures() -> Mapping[str, frozenset[str]]:
    deps = {sub_goal.id: sub_goal.deps for sub_goal in tech_tree().sub_goals}

    @lru_cache(maxsize=256)
    def closure(name: str) -> frozenset[str]:
        return frozenset({name}).union(*map(closure, deps[name]))

    return MappingProxyType({name: closure(name) for name in deps})
