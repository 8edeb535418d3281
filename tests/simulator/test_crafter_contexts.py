"""The layers of a decision's context: from fine to coarse, nested, and of few values at the end."""

from __future__ import annotations

from typing import Any

import pytest
from crafter_worlds import walked
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from untaken.simulator.crafter import ACHIEVEMENTS, MATERIALS, OBJECTS, LocalView
from untaken.simulator.crafter.contexts import LAYERS, MANY, NEEDS, context_layers

START = walked().observe()
ITEMS = [name for name in START.inventory if name not in NEEDS]


def seen(
    *,
    items: dict[str, int] | None = None,
    reached: tuple[str, ...] = (),
    ground: str = "grass",
    standing: str | None = None,
    daylight: float = 1.0,
) -> LocalView:
    """A field of one ground, with something standing to the right of the player."""
    objects = [[0] * 7 for _ in range(9)]
    objects[4][3] = 1
    if standing:
        objects[5][3] = OBJECTS.index(standing) + 1
    return replace(
        START,
        materials=((MATERIALS.index(ground) + 1,) * 7,) * 9,
        objects=tuple(map(tuple, objects)),
        inventory=dict.fromkeys(START.inventory, 0) | dict.fromkeys(NEEDS, 9) | (items or {}),
        achievements={name: int(name in reached) for name in ACHIEVEMENTS},
        facing=(1, 0),
        daylight=daylight,
    )


observations = st.builds(
    seen,
    items=st.dictionaries(st.sampled_from([*ITEMS, *NEEDS]), st.integers(0, 9), max_size=4),
    reached=st.sets(st.sampled_from(ACHIEVEMENTS), max_size=3).map(tuple),
    ground=st.sampled_from(["grass", "stone", "table"]),
    standing=st.sampled_from([None, "zombie", "cow"]),
    daylight=st.sampled_from([0.1, 0.9]),
)

CASES = [
    {"desc": "nothing yet", "state": {}, "layer": "stage",
     "want": {"stage": "nothing", "low": None, "night": False}},
    {"desc": "the furthest tool counts", "state": {"reached": ("make_wood_pickaxe", "collect_wood")},
     "layer": "stage", "want": {"stage": "wood pickaxe", "low": None, "night": False}},
    {"desc": "night, and thirsty", "state": {"items": {"drink": 3, "energy": 1}, "daylight": 0.2},
     "layer": "stage", "want": {"stage": "nothing", "low": "drink", "night": True}},
    {"desc": "a foe in view", "state": {"standing": "zombie"}, "layer": "aims",
     "want": {"stage": "nothing", "view": ["zombie"], "low": [], "night": False}},
    {"desc": "no foe in view", "state": {"standing": "cow", "ground": "stone"}, "layer": "aims",
     "want": {"stage": "nothing", "view": [], "low": [], "night": False}},
    {"desc": "which items there are", "state": {"items": {"wood": 2, "sapling": 1}}, "layer": "means",
     "want": {"items": ["sapling", "wood"], "stage": "nothing", "view": [], "low": [], "night": False}},
    {"desc": "many are many", "state": {"items": {"wood": 9}}, "layer": "everything",
     "want": {"items": {"wood": MANY}, "view": [], "reached": [], "low": [], "night": False}}
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["desc"])
def test_a_layer_tells_the_situation_in_its_own_terms(case: dict[str, Any]) -> None:
    layers = dict(zip(LAYERS, context_layers(seen(**case["state"])), strict=True))
    assert layers[case["layer"]] == case["want"]


@given(observations, observations)
def test_situations_alike_in_one_layer_are_alike_in_all_coarser_ones(a: LocalView, b: LocalView) -> None:
    alike = [one == other for one, other in zip(context_layers(a), context_layers(b), strict=True)]
    assert alike == sorted(alike)
