"""The simulator is Crafter itself: the same states, rewards, pictures and random numbers, and true clones."""

from __future__ import annotations

import cProfile
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from crafter import constants
from crafter_worlds import AREA, NIGHT, SEED, some_actions, stock, walked
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.simulator.crafter import ACHIEVEMENTS, ACTIONS, MATERIALS, OBJECTS, CrafterWorld, LocalView
from untaken.simulator.crafter.stock import state_hash

actions = st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=25)


def seen(world: CrafterWorld) -> tuple[LocalView, bytes, str]:
    """All that can be seen of a world, and its hash."""
    return world.observe(), world.image().tobytes(), world.state_hash()


def numbers(random: Any) -> list[Any]:
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in random.get_state()]


def masked(info: dict[str, Any]) -> list[list[int]]:
    """The part of the stock map that its picture shows."""
    x, y = info["player_pos"]
    around = np.pad(info["semantic"], 9)[x + 5 : x + 14, y + 6 : y + 13]
    return around.tolist()


# The same as stock


@pytest.mark.parametrize(("seed", "area", "steps"), [(3, (52, 40), 60), (SEED, AREA, 300)])
def test_every_step_is_that_of_the_stock_environment_by_day_and_by_night(seed, area, steps) -> None:
    theirs, ours = stock(seed, area), CrafterWorld(seed, area=area)
    assert (theirs.reset() == ours.image()).all()
    nights = 0
    for action in some_actions(steps):
        picture, reward, done, info = theirs.step(ACTIONS.index(action))
        step = ours.step(action)
        assert (step.reward, step.done, step.dead) == (reward, done, info["discount"] == 0)
        assert state_hash(theirs) == ours.state_hash()
        assert (picture == ours.image()).all()
        observation = ours.observe()
        assert [list(column) for column in observation.semantic] == masked(info)
        assert (observation.inventory, observation.achievements) == (info["inventory"], info["achievements"])
        nights += theirs._world.daylight < 0.5
    assert numbers(theirs._world.random) == numbers(ours._env._world.random)
    assert steps < 300 or 100 < nights < 200


def test_our_words_are_those_of_the_package_in_its_order() -> None:
    assert list(ACTIONS) == constants.actions
    assert list(MATERIALS) == constants.materials
    assert list(ACHIEVEMENTS) == constants.achievements
    kinds = stock(0, AREA)._sem_view._obj_ids
    assert [(f"{name}".capitalize(), 13 + i) for i, name in enumerate(OBJECTS)] == [
        (kind.__name__, number) for kind, number in kinds.items()
    ]


# Clones


@given(start=st.sampled_from([0, 50, NIGHT, 260]), suite=actions)
def test_the_same_actions_have_the_same_effects_in_a_clone(start: int, suite: list[str]) -> None:
    world = walked(start)
    clone = world.clone()
    for action in suite:
        assert clone.step(action) == world.step(action)
        assert seen(clone) == seen(world)


@given(start=st.sampled_from([0, 50, NIGHT, 260]), suite=actions)
def test_whatever_a_clone_does_the_original_is_as_it_was(start: int, suite: list[str]) -> None:
    world = walked(start)
    before = seen(world)
    clone = world.clone()
    for action in suite:
        clone.step(action)
    assert seen(world) == before != seen(clone)


# Hashes and pictures


CHANGES: dict[str, Any] = {
    "the ground far away": lambda env: env._world.__setitem__((0, 0), "diamond"),
    "an amount": lambda env: env._player.inventory.update(wood=9),
    "a count": lambda env: env._player.achievements.update(wake_up=7),
    "a hidden stat": lambda env: setattr(env._player, "_hunger", 24.5),
    "sleep": lambda env: setattr(env._player, "sleeping", True),
    "a random number": lambda env: env._world.random.uniform(),
    "the hour": lambda env: setattr(env, "_step", 1),
    "light": lambda env: setattr(env._world, "daylight", 0.25),
    "what was unlocked": lambda env: env._unlocked.symmetric_difference_update({"wake_up"}),
    "health at the last step": lambda env: setattr(env, "_last_health", 1),
    "the health of a creature": lambda env: setattr(env._world.objects[1], "health", 1),
    "who came first": lambda env: turn(next(c for c in env._world._chunks.values() if len(c) > 1)),
}


def turn(chunk: dict[Any, None]) -> None:
    first = next(iter(chunk))
    chunk[first] = chunk.pop(first)


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_decides_what_comes_next_is_in_the_hash(change: str) -> None:
    world = walked(50)
    before = world.state_hash()
    CHANGES[change](world._env)
    assert world.state_hash() != before


# What the environment does, and others may not expect


def test_several_achievements_in_one_step_are_rewarded_once() -> None:
    world = walked()
    world._env._player.achievements.update(collect_wood=1, collect_stone=1)
    step = world.step("noop")
    assert (step.reward, step.unlocked) == (1.0, ("collect_stone", "collect_wood"))
    assert world.step("noop").reward == 0.0


def test_death_and_length_end_an_episode() -> None:
    world = walked()
    assert not world.step("noop").done
    world._env._player.health = -1
    step = world.step("noop")
    assert (step.done, step.dead) == (True, True)
    short = CrafterWorld(0, area=(12, 12), length=2)
    assert [(s.done, s.dead) for s in map(short.step, ["noop", "noop"])] == [(False, False), (True, False)]
    assert short.steps == 2


def test_beyond_the_edge_of_the_map_there_is_nothing() -> None:
    world = walked()
    env = world._env
    for there in [(0, 0), (31, 31)]:
        if (creature := env._world[there][1]) is not None:
            env._world.remove(creature)
        env._world.move(env._player, there)
        observation = world.observe()
        assert len(observation.materials) == 9
        assert {len(column) for column in observation.materials} == {7}
        assert observation.objects[4][3] == 1 + OBJECTS.index("player")
        beyond = [
            (x, y) for x in range(9) for y in range(7) if not inside(x - 4 + there[0], y - 3 + there[1])
        ]
        assert {observation.materials[x][y] for x, y in beyond} == {0}
        shown = {observation.materials[x][y] for x in range(9) for y in range(7) if (x, y) not in beyond}
        assert 0 not in shown


def inside(x: int, y: int) -> bool:
    return 0 <= x < AREA[0] and 0 <= y < AREA[1]


def test_a_view_beyond_the_edge_is_the_same_under_a_profiler() -> None:
    world = CrafterWorld(SEED, area=AREA)
    world._env._world.move(world._env._player, (0, 0))
    plain, profiler = world.observe(), cProfile.Profile()
    assert profiler.runcall(world.observe) == plain


# Use


@pytest.mark.parametrize("action", ["jump", "", -1, 17])
def test_an_unknown_action_is_refused_and_nothing_happens(action: str | int) -> None:
    world = walked()
    before = world.state_hash()
    with pytest.raises(UntakenError, match="action") as caught:
        world.step(action)
    assert caught.value.code == "action-unknown"
    assert world.state_hash() == before


def test_without_the_extra_the_engine_starts_and_says_what_to_install(monkeypatch) -> None:
    program = (
        "import sys, untaken.cli, untaken.simulator.crafter\n"
        "untaken.cli.parser()\n"
        "print(sorted({'crafter', 'imageio', 'PIL', 'opensimplex'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    monkeypatch.delitem(sys.modules, "untaken.simulator.crafter.stock")
    monkeypatch.setitem(sys.modules, "crafter", None)
    with pytest.raises(UntakenError, match="crafter is not installed") as caught:
        CrafterWorld(0)
    assert caught.value.code == "crafter-extra-missing"
    assert "untaken[crafter]" in caught.value.hint
