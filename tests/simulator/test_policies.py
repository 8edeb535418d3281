"""Policies play by what they see alone, the same each time, and say what they choose among."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from crafter_worlds import AREA, SEED, walked

from untaken.errors import UntakenError
from untaken.simulator.crafter import CrafterWorld
from untaken.simulator.players import SKILLS, policy_named
from untaken.simulator.players.agent_state import AgentState
from untaken.simulator.players.local_map import ARROW, DOWN, LEFT, PATH, RIGHT, SIDES, STONE, UP, WATER
from untaken.simulator.players.routes import costs_of
from untaken.simulator.players.shelter import hide
from untaken.simulator.players.skills import NEEDS
from untaken.simulator.policy import Act, Feedback, Policy, Seen, Selection
from untaken.simulator.state_causality import SymbolicCausality

WITH_SKILLS = ("scripted", "noisy", "uniform")
SLIPPING = {"noisy": {"slips": 0.2}, "uniform": {"slips": 0.1}}


def begun(name: str, task: str | None = None, *, seed: int = 3, **options: Any) -> Policy:
    policy = policy_named(name, **options)
    policy.begin(seed, task)
    return policy


def seen(world: CrafterWorld, task: str | None = None, **more: Any) -> Seen:
    return Seen(observation=world.observe(), task=task, step=world.steps, **more)


def play(
    policy: Policy, world: CrafterWorld, steps: int, task: str | None = None, *, causal: bool = False
) -> list[Act]:
    acts = []
    for _ in range(steps):
        causes = SymbolicCausality().evaluate(task, world.observe()) if causal else None
        acts.append(policy.act(seen(world, task, causes=causes)))
        if world.step(acts[-1].action).done:
            break
    return acts


def selections(acts: list[Act]) -> list[Selection]:
    return [act.selection for act in acts if act.selection is not None]


# Which there are


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("random", {"epsilon": 0.1}),
        ("scripted", {"slips": 0.1}),
        ("noisy", {"epsilon": 1.1}),
        ("uniform", {"slips": -0.1}),
        ("language", {}),
    ],
)
def test_an_option_that_a_policy_does_not_take_is_reported(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(UntakenError, match="policy-option-invalid"):
        policy_named(name, **options)


# Playing


def test_the_scripted_policy_reaches_most_of_the_tech_tree_on_a_map_it_has_not_seen() -> None:
    world = walked(seed=101)
    play(begun("scripted"), world, 400)
    reached = {name for name, times in world.observe().achievements.items() if times}
    assert {
        "collect_wood",
        "place_table",
        "make_wood_pickaxe",
        "collect_stone",
        "make_stone_pickaxe",
    } <= reached
    assert len(reached) >= 10


# Decision points


@pytest.mark.parametrize("name", WITH_SKILLS)
def test_a_selection_names_a_skill_and_the_others_that_were_feasible(name: str) -> None:
    world, policy = walked(), begun(name)
    found = 0
    for _ in range(200):
        held = world.observe().inventory
        act = policy.act(seen(world))
        if (chosen := act.selection) is not None:
            found += 1
            assert chosen.skill in SKILLS
            assert chosen.skill not in chosen.alternatives
            assert list(chosen.alternatives) == sorted(chosen.alternatives, key=SKILLS.index)
            for other in chosen.alternatives:
                assert all(held[item] >= amount for item, amount in NEEDS.get(other, {}).items())
        if world.step(act.action).done:
            break
    assert found >= 3


@pytest.mark.parametrize(("name", "epsilon"), [("noisy", 0.3), ("uniform", 1.0)])
def test_propensities_are_those_of_the_rule_and_sum_to_one(name: str, epsilon: float) -> None:
    chosen = selections(play(begun(name), walked(), 300))
    assert len(chosen) >= 5
    for one in chosen:
        pool = (*one.alternatives, one.skill)
        drawn = epsilon / len(pool)
        assert sorted(one.propensities) == sorted(pool)
        assert sum(one.propensities.values()) == pytest.approx(1)
        best = [share for share in one.propensities.values() if share != pytest.approx(drawn)]
        assert best == ([pytest.approx(drawn + 1 - epsilon)] if epsilon < 1 else [])


# Causes


def test_with_causes_only_skills_that_serve_the_task_are_drawn() -> None:
    task = "make_wood_pickaxe"
    with_causes = selections(play(begun("uniform", task), walked(seed=101), 120, task, causal=True))
    without = selections(play(begun("uniform", task), walked(seed=101), 120, task))
    drawn = {one.skill for one in with_causes}
    assert drawn <= {"collect_wood", "place_table", "make_wood_pickaxe", "explore"}
    offered = {name for one in without for name in (one.skill, *one.alternatives)}
    assert "collect_sapling" in offered - drawn


# Feedback


def asked_again(policy: Policy, world: CrafterWorld, action: str, others: dict[str, float]) -> Act:
    told = Feedback(action=action, reward=0.0, others=others, win=0.3)
    return policy.act(seen(world, feedback=told))


@pytest.mark.parametrize("name", ["random", "noisy", "uniform"])
def test_asked_again_the_best_rewarded_action_that_beats_its_own_is_taken(name: str) -> None:
    policy, world = begun(name), walked()
    own = policy.act(seen(world)).action
    others = {
        action: value for action, value in (("do", 0.4), ("noop", 0.9), ("sleep", 0.9)) if action != own
    }
    assert asked_again(policy, world, own, others).action == ("noop" if own != "noop" else "sleep")


def test_asked_again_about_a_slip_its_own_action_is_taken() -> None:
    slipping, sure, world = begun("noisy", epsilon=0.0, slips=1.0), begun("scripted"), walked()
    for _ in range(10):
        own, slip = sure.act(seen(world)).action, slipping.act(seen(world)).action
        if slip != own:
            break
    assert slip != own
    assert asked_again(slipping, world, slip, {"noop": 5.0}).action == own


# Clones and what they are made to take


@pytest.mark.parametrize("name", ["random", *WITH_SKILLS])
@pytest.mark.parametrize("start", [0, 60])
def test_a_cloned_policy_in_a_cloned_world_goes_on_as_the_original(name: str, start: int) -> None:
    policy, world = begun(name, **SLIPPING.get(name, {})), walked()
    play(policy, world, start)
    twin, copy = policy.clone(), world.clone()
    theirs = play(twin, copy, 200)
    assert play(policy, world, 200) == theirs
    assert world.state_hash() == copy.state_hash()


@pytest.mark.parametrize("name", WITH_SKILLS)
def test_a_clone_that_takes_another_skill_names_it_and_leaves_the_original_alone(name: str) -> None:
    policy, world = begun(name), walked()
    play(policy, world, 30)
    before = policy.clone()
    twin, copy = policy.clone(), world.clone()
    twin.take("collect_sapling")
    act = twin.act(seen(copy))
    assert act.selection.skill == "collect_sapling" == twin.aim
    assert act.selection.propensities == {}
    play(twin, copy, 40)
    assert play(policy, world.clone(), 60) == play(before, world.clone(), 60)


# The same in any process


def test_the_same_seed_gives_the_same_answers_in_any_process() -> None:
    program = (
        "from test_policies import *\n"
        "for name in WITH_SKILLS:\n"
        "    world = CrafterWorld(SEED, area=AREA)\n"
        "    acts = play(begun(name, **SLIPPING.get(name, {})), world, 150)\n"
        "    print(world.state_hash(), selections(acts))\n"
    )
    folders = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])
    environment = os.environ | {"PYTHONHASHSEED": "4242", "PYTHONPATH": folders}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment
    )
    wanted = []
    for name in WITH_SKILLS:
        world = CrafterWorld(SEED, area=AREA)
        acts = play(begun(name, **SLIPPING.get(name, {})), world, 150)
        wanted.append(f"{world.state_hash()} {selections(acts)}")
    assert (done.stdout.splitlines(), done.stderr) == (wanted, "")


@pytest.mark.parametrize(
    ("arrow", "facing", "stone", "between", "action"),
    [
        (2 * RIGHT, RIGHT, 1, PATH, "place_stone"),
        (4 * RIGHT, RIGHT, 1, WATER, "place_stone"),
        (RIGHT, RIGHT, 1, PATH, "move_up"),  # it is where the stone would go
        (2 * RIGHT, LEFT, 1, PATH, "move_up"),
        (2 * DOWN, DOWN, 0, PATH, "move_left"),
        (2 * DOWN, DOWN, 0, STONE, None),
        (5 * RIGHT, RIGHT, 1, PATH, None),
        (2 * (RIGHT + UP), RIGHT, 1, PATH, None),
    ],
)
def test_an_arrow_in_line_is_stopped_by_a_stone_or_stepped_aside_for(
    arrow: int, facing: int, stone: int, between: int, action: str | None
) -> None:
    agent = AgentState(inventory={"stone": stone})
    known, here = agent.known_map, agent.known_map.here
    for side in SIDES:
        known.ground[here + side] = between
        for steps in range(2, 6):
            known.ground[here + steps * side] = PATH
    known.standing, known.faced = {here + arrow: ARROW}, here + facing
    assert agent.reflex() == action


def test_a_tunnel_open_at_both_ends_is_no_shelter() -> None:
    tools = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe")
    agent = AgentState(inventory=dict.fromkeys((*tools, "energy"), 1) | {"stone": 0})
    ground, here = agent.known_map.ground, agent.known_map.here
    for y in range(-3, 4):
        ground[here + y], ground[here + LEFT + y], ground[here + RIGHT + y] = PATH, WATER, WATER
    for x in (LEFT, 0, RIGHT):  # ground to dig in, out of reach at the end of the tunnel
        for y in range(4, 9):
            ground[here + x + y] = STONE
    agent.costs = costs_of(agent.inventory)
    assert hide(agent) is None
