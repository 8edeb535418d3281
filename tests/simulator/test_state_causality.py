"""What acts on a task in a state, by the rules: exact, task-conditioned, the same every time."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec
import networkx as nx
import pytest
from crafter_worlds import some_actions, walked
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.simulator.crafter import ACHIEVEMENTS, MATERIALS, OBJECTS, LocalView
from untaken.simulator.loop import Turn, play
from untaken.simulator.players import policy_named
from untaken.simulator.state_causality import STAY_ALIVE, CausalState, SymbolicCausality
from untaken.simulator.state_causality.causal_state import require_known_names

TASKS = (*ACHIEVEMENTS, None)
CAUSALITY = SymbolicCausality()
LIMITS = (1, 2, 3, 5, None)
ITEMS = tuple(walked().observe().inventory)


@cache
def random_states() -> tuple[LocalView, ...]:
    """Every tenth of 400 steps at random, into the night."""
    world, seen = walked(), []
    for step, action in enumerate(some_actions(400)):
        world.step(action)
        if step % 10 == 0:
            seen.append(world.observe())
    return tuple(seen)


@cache
def played_states() -> tuple[LocalView, ...]:
    """Every tenth of 400 steps of the scripted policy: tools, tables, furnaces."""
    seen: list[LocalView] = []

    def keep(turn: Turn) -> None:
        if turn.step % 10 == 0:
            seen.append(turn.seen)

    play(walked(), policy_named("scripted"), task=None, steps=400, seed=1, record=keep)
    return tuple(seen)


def a_state(
    *,
    held: dict[str, int] | None = None,
    ground: dict[tuple[int, int], str] | None = None,
    standing: dict[tuple[int, int], str] | None = None,
    **more: Any,
) -> LocalView:
    """Sand all around, except for the given fields (right, down) of the player, who faces right."""
    materials = [[MATERIALS.index("sand") + 1] * 7 for _ in range(9)]
    objects = [[0] * 7 for _ in range(9)]
    objects[4][3] = OBJECTS.index("player") + 1
    for (x, y), name in (ground or {}).items():
        materials[4 + x][3 + y] = MATERIALS.index(name) + 1
    for (x, y), name in (standing or {}).items():
        objects[4 + x][3 + y] = OBJECTS.index(name) + 1
    inventory = {name: 9 if name in ("health", "food", "drink", "energy") else 0 for name in ITEMS}
    state = LocalView(
        materials=tuple(map(tuple, materials)),
        objects=tuple(map(tuple, objects)),
        inventory=inventory | (held or {}),
        achievements=dict.fromkeys(ACHIEVEMENTS, 0),
        facing=(1, 0),
        sleeping=False,
        daylight=1.0,
    )
    return replace(state, **more)


AT_WORK = a_state(
    held={"wood": 2, "sapling": 1, "wood_pickaxe": 1},
    ground={(1, 0): "tree", (0, 1): "table", (3, 2): "stone", (-2, 0): "water", (-1, -1): "grass"},
    standing={(-4, 0): "cow", (2, -3): "zombie"},
)
KEPT = {
    "collect_wood": {"sleeping", "facing", "near_tree"},
    "collect_drink": {"sleeping", "facing", "near_water"},
    "collect_sapling": {"sleeping", "facing", "near_grass"},
    "collect_stone": {"wood", "wood_pickaxe", "sleeping", "facing", "near_stone", "near_table"},
    "collect_iron": {"wood", "sleeping", "facing", "near_table"},
    "make_wood_sword": {"wood", "facing", "near_table", "near_tree"},
    "make_stone_sword": {"wood", "wood_pickaxe", "facing", "near_table", "near_tree", "near_stone"},
    "place_plant": {"sapling", "sleeping", "facing", "near_grass"},
    "place_table": {"wood", "sleeping", "facing", "near_tree"},
    "eat_cow": {"wood", "sleeping", "facing", "near_cow", "near_table"},
    "wake_up": {"health", "energy", "daylight", "sleeping"},
    "defeat_zombie": {
        *("health", "food", "drink", "energy", "wood", "daylight"),
        *("sleeping", "facing", "near_grass", "near_table", "near_zombie"),
    },
}
MISSING = {
    "collect_wood": [],
    "collect_iron": ["near_iron", "stone_pickaxe", "stone"],
    "make_stone_sword": ["stone"],
    "make_iron_sword": ["near_furnace", "coal", "iron", "near_coal", "near_iron", "stone_pickaxe", "stone"],
    "defeat_skeleton": ["near_skeleton"],
    "eat_plant": ["near_plant"],
}


@pytest.mark.parametrize("task", KEPT)
def test_what_is_kept_is_what_the_task_rests_on_within_two_hops(task: str) -> None:
    assert set(CAUSALITY(task, AT_WORK).kept) == KEPT[task]


@pytest.mark.parametrize("task", MISSING)
def test_what_the_task_needs_and_the_state_lacks_is_missing_swords_are_no_need(task: str) -> None:
    assert list(CAUSALITY(task, AT_WORK).missing) == MISSING[task]


def test_open_play_is_about_staying_alive() -> None:
    found = CAUSALITY(None, AT_WORK)
    assert found.goal == STAY_ALIVE
    acting = {edge.cause for edge in found.edges if edge.effect == STAY_ALIVE}
    assert acting == {"food", "drink", "energy", "sleeping", "near_zombie"}
    assert {"near_water", "near_cow", "daylight"} <= set(found.kept)
    assert "near_tree" not in found.kept


def test_a_thing_in_reach_acts_by_rule_and_one_out_of_reach_through_the_policy() -> None:
    kinds = {(e.cause, e.effect): e.kind for e in CAUSALITY("make_stone_sword", AT_WORK).edges}
    assert kinds["near_tree", "wood"] == "rule"
    assert kinds["near_stone", "stone"] == "policy-mediated"
    assert kinds["near_table", "make_stone_sword"] == "rule"
    turned = {
        (e.cause, e.effect): e.kind
        for e in CAUSALITY("make_stone_sword", replace(AT_WORK, facing=(0, -1))).edges
    }
    assert turned["near_tree", "wood"] == "policy-mediated"
    assert turned["near_table", "make_stone_sword"] == "rule", "beside is enough"


def test_values_are_reported_in_words_and_as_numbers() -> None:
    shown = {v.name: (v.words, v.number) for v in CAUSALITY("collect_wood", AT_WORK).variables}
    assert shown["wood"] == ("2", 2)
    assert shown["near_zombie"] == ("5 steps away: 2 right, 3 up", 5)
    assert shown["near_tree"] == ("1 step away: 1 right", 1)
    assert shown["facing"][0] == "tree"
    assert (shown["daylight"], shown["sleeping"]) == (("day", 1.0), ("awake", 0.0))
    assert "stone" not in shown, "what is not held is no variable of this state"


def test_an_achievement_that_there_is_not_is_an_error() -> None:
    with pytest.raises(UntakenError, match="achievement-unknown"):
        CAUSALITY("make_tea", AT_WORK)
    with pytest.raises(ValueError, match="at least one"):
        SymbolicCausality(0)


# Of every state


STATES = st.deferred(lambda: st.sampled_from(random_states() + played_states()))


@given(STATES, st.sampled_from(TASKS), st.sampled_from(LIMITS))
def test_what_is_kept_is_there_and_edges_are_among_it(state, task, hops) -> None:
    found = SymbolicCausality(hops)(task, state)
    names = [variable.name for variable in found.variables]
    assert [name for name in names if name in found.kept] == list(found.kept)
    assert set(found.kept_concepts) <= {concept.name for concept in found.concepts}
    assert set(found.missing).isdisjoint(names)
    assert set(found.absent).isdisjoint([*names, *found.missing])
    nodes = {*found.kept, *found.missing, *found.absent}
    assert all(edge.cause in nodes and edge.effect in nodes | {found.goal} for edge in found.edges)
    assert len({(edge.cause, edge.effect) for edge in found.edges}) == len(found.edges)
    size = len(found.kept)
    assert [len(row) for row in found.adjacency] == [size] * size
    assert {bit for row in found.adjacency for bit in row} <= {0, 1}
    assert found.unscored == ""


@given(STATES, st.sampled_from(TASKS))
def test_more_hops_keep_no_less(state: LocalView, task: str | None) -> None:
    found = [SymbolicCausality(hops)(task, state) for hops in LIMITS]
    for fewer, more in pairwise(found):
        assert set(fewer.kept) <= set(more.kept)
        assert set(fewer.missing) <= set(more.missing)
        pairs = [{(edge.cause, edge.effect) for edge in one.edges} for one in (fewer, more)]
        assert pairs[0] <= pairs[1]


@given(STATES, st.sampled_from(TASKS), st.sampled_from(LIMITS))
def test_every_variable_that_is_kept_leads_to_the_task(
    state: LocalView, task: str | None, hops: int | None
) -> None:
    found = SymbolicCausality(hops)(task, state)
    graph = nx.DiGraph((edge.cause, edge.effect) for edge in found.edges)
    graph.add_node(found.goal)
    leading = nx.ancestors(graph, found.goal)
    assert set(found.kept) <= leading
    assert leading <= {*found.kept, *found.missing, *found.absent}


@given(STATES, st.sampled_from(TASKS))
def test_within_two_hops_nothing_acts_on_itself_but_sleep_and_energy(state, task) -> None:
    """Edges lead from one step to the next, so two may act on each other."""
    found = CAUSALITY(task, state)
    graph = nx.DiGraph((edge.cause, edge.effect) for edge in found.edges)
    circles = [part for part in nx.strongly_connected_components(graph) if len(part) > 1]
    assert circles in ([], [{"sleeping", "energy"}])
    assert not any(row[place] for place, row in enumerate(found.adjacency))


@given(STATES, st.sampled_from(TASKS))
def test_the_same_state_gives_the_same_and_it_survives_json(state: LocalView, task: str | None) -> None:
    found = CAUSALITY(task, state)
    again = SymbolicCausality()(task, state)
    assert (found, found.to_json()) == (again, again.to_json())
    assert msgspec.json.decode(found.to_json(), type=CausalState) == found


# What a policy is given


def test_words_for_a_policy_that_reads_name_values_what_is_missing_and_what_acts_on_what() -> None:
    words = CAUSALITY("make_stone_sword", AT_WORK).in_words()
    assert words.startswith("What acts on make stone sword:\n- wood: 2\n")
    assert "- stone: missing" in words
    assert "near table → make stone sword (rule): making a stone sword takes 1 wood, 1 stone" in words
    assert "face it first" in words


# Read again


def changed(**values: Any) -> str:
    return json.dumps(json.loads(CAUSALITY("collect_wood", AT_WORK).to_json()) | values)


MALFORMED = {
    "no json": "{",
    "no object": "[]",
    "a number for a name": changed(kept=[1]),
    "a variable that is not there": changed(kept=["near_gold"]),
    "a concept that is not there": changed(kept_concepts=["alchemy"]),
    "an edge from nowhere": changed(edges=[{"cause": "near_gold", "effect": "collect_wood", "kind": "rule", "concept": "", "reason": ""}]),
    "a kind that is none": changed(edges=[{"cause": "facing", "effect": "collect_wood", "kind": "magic", "concept": "", "reason": ""}])
}  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_causal_state_is_refused(text: str) -> None:
    with pytest.raises(msgspec.MsgspecError):
        require_known_names(msgspec.json.decode(text, type=CausalState))
