"""The What-If-Not reward: terms, classes, noise, and that the world it looks at stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import exp, isclose
from statistics import fmean

import pytest
from crafter_worlds import NIGHT, SEED, some_actions, walked
from hypothesis import given
from hypothesis import strategies as st

from untaken import Unscored, UntakenError
from untaken.simulator.crafter import CrafterWorld, LocalView
from untaken.simulator.win import Valuation, summarise_wins, what_if_not
from untaken.simulator.win.win_result import sigmoid, verdict_of

REWARD_NAMES = ["env", "shaped", "rollout-3", "rollout-2-noop"]


def by_action(values: dict[str, float]) -> object:
    """A reward that depends on the action alone, as the world after it tells."""

    def reward(_world: CrafterWorld, _seen: LocalView, _task: str | None) -> Valuation:
        return lambda _step, after: values.get(after._env._player.action, 0.0)

    return reward


@given(st.floats(-50, 50))
def test_the_sigmoid_is_that_of_the_source_and_symmetric(x: float) -> None:
    assert isclose(sigmoid(x), 1 / (1 + exp(-x)), rel_tol=1e-12)
    assert isclose(sigmoid(x) + sigmoid(-x), 1, rel_tol=1e-12)


@given(st.floats(-30, 30), st.floats(-30, 30), st.floats(-30, 30))
def test_win_is_the_mean_of_the_sigmoids_and_is_between_0_and_1(a: float, b: float, c: float) -> None:
    found = what_if_not(
        walked(), "move_left", reward=by_action({"move_left": a, "noop": b, "move_right": c}), states=False
    )
    assert 0 < found.win < 1
    terms = {term.intervention: term for term in found.terms}
    assert isclose(terms["wait"].value, 1 / (1 + exp(b - a)), rel_tol=1e-9)
    assert isclose(terms["opposite"].value, 1 / (1 + exp(c - a)), rel_tol=1e-9)
    assert isclose(found.win, fmean(term.value for term in found.terms), rel_tol=1e-12)


@given(st.floats(-20, 20), st.floats(-20, 20))
def test_what_an_action_is_worth_beside_its_opposite_the_opposite_lacks(a: float, b: float) -> None:
    values = by_action({"move_left": a, "move_right": b})
    one, other = (
        what_if_not(walked(), action, reward=values, interventions=["opposite"])
        for action in ("move_left", "move_right")
    )
    assert isclose(one.win + other.win, 1, rel_tol=1e-12)


def test_equal_rewards_are_a_tie_which_is_revised_only_on_request() -> None:
    tie = what_if_not(walked(), "move_left", reward=by_action({}))
    assert (tie.win, tie.verdict, tie.revise) == (0.5, "tie", True)
    assert what_if_not(walked(), "move_left", reward=by_action({}), at="<").revise is False


@pytest.mark.parametrize(
    ("win", "want"),
    [(0.5, "tie"), (0.5 + 1e-13, "tie"), (0.5 - 1e-13, "tie"), (0.5 + 1e-9, "better"), (0.4, "worse")],
)
def test_rounding_alone_is_a_tie(win: float, want: str) -> None:
    assert verdict_of(win) == want


def test_where_nothing_differs_from_the_action_there_is_no_win() -> None:
    found = what_if_not(walked(), "noop", interventions=["wait", "opposite"])
    assert isinstance(found.win, Unscored)
    assert (found.verdict, found.revise, found.terms) == ("unscored", False, ())
    assert found.left_out == {"wait": "the action is to wait", "opposite": "noop has no opposite here"}
    told = summarise_wins([found])
    assert (told.steps, told.unscored) == (1, 1)
    assert isinstance(told.mean, Unscored)


@pytest.mark.parametrize("steps", [0, 45, NIGHT - 1])  # the second one's next step balances the chunks
@pytest.mark.parametrize("noise", ["same", "resampled"])
@pytest.mark.parametrize("reward", REWARD_NAMES)
def test_the_world_is_as_it_was(steps: int, noise: str, reward: str) -> None:
    world = walked(steps)
    before = world.state_hash()
    what_if_not(world, "do", reward=reward, noise=noise)
    assert world.state_hash() == before


@pytest.mark.parametrize("steps", [0, 49, NIGHT])
def test_every_action_is_tried_from_the_state_of_the_world_itself(steps: int) -> None:
    world = walked(steps)
    for action in ("move_left", "do", "place_stone"):
        found = what_if_not(world, action, reward="env", states=True)
        for tried, state, reward in [
            (action, found.state, found.reward),
            *((term.action, term.state, term.reward) for term in found.terms),
        ]:
            alone = world.clone()
            step = alone.step(tried)
            assert (alone.state_hash(), step.reward) == (state, reward)


@pytest.mark.parametrize("steps", [0, 49, NIGHT])
def test_a_world_goes_back_to_its_mark_whatever_was_done(steps: int) -> None:
    world = walked(steps)
    before, mark = world.state_hash(), world.mark()
    ahead = world.clone()
    for _ in range(2):  # a mark can be gone back to again
        for action in some_actions(60, seed=steps):
            world.step(action)
        mark.restore()
        assert world.state_hash() == before
    for action in some_actions(30, seed=1):
        assert world.step(action) == ahead.step(action)
    assert world.state_hash() == ahead.state_hash()


def by_chance(_world: CrafterWorld, _seen: LocalView, _task: str | None) -> Valuation:
    """The next random number of the world after the action."""
    return lambda _step, after: after.clone()._env._world.random.uniform()


def test_resampled_noise_is_drawn_anew_and_said_with_its_spread() -> None:
    world, options = walked(45), {"reward": by_chance, "noise": "resampled"}
    found = what_if_not(world, "move_left", draws=6, seed=4, **options)
    assert found.spread is not None
    assert found.spread > 0
    assert found == what_if_not(world, "move_left", draws=6, seed=4, **options)
    assert found.win != what_if_not(world, "move_left", draws=6, seed=5, **options).win
    assert what_if_not(world, "move_left", **options).spread is None


def test_with_the_same_noise_chance_prefers_nothing() -> None:
    found = what_if_not(walked(45), "make_iron_sword", interventions=["wait"], reward=by_chance)
    assert found.verdict == "tie"
    resampled = what_if_not(
        walked(45), "make_iron_sword", interventions=["wait"], reward=by_chance, noise="resampled"
    )
    assert resampled.verdict != "tie"


IN_ANOTHER_PROCESS = f"""
import msgspec
from untaken.simulator.crafter import CrafterWorld
from untaken.simulator.win import what_if_not
world = CrafterWorld({SEED}, area=(32, 32))
for _ in range(12):
    world.step("move_right")
print(msgspec.json.encode([
    what_if_not(world, action, reward=reward, noise="resampled", draws=2, seed=7)
    for action in ("do", "move_up") for reward in ("shaped", "rollout-3")
]).decode())
"""


def test_the_same_arguments_give_the_same_answer_in_any_process() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", IN_ANOTHER_PROCESS],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert len(json.loads(told[0])) == 4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "fly"}, "action-unknown"),
        ({"task": "fly"}, "achievement-unknown"),
        ({"reward": "rollout-0"}, "reward-unknown"),
        ({"reward": "rollout"}, "reward-unknown"),
        ({"reward": "rollout-8-fly"}, "reward-unknown"),
        ({"reward": "rollout-08"}, "reward-unknown"),
        ({"reward": "rollout-١"}, "reward-unknown"),
        ({"interventions": ["fly"]}, "intervention-unknown"),
        ({"interventions": []}, "intervention-unknown"),
        ({"draws": 0}, "draws-invalid"),
        ({"draws": 2}, "draws-invalid"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(UntakenError, match=code):
        what_if_not(walked(), **{"action": "do"} | arguments)
