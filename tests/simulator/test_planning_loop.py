"""Algorithm 1, line by line: what a policy is given, when it is asked again, and what is then done."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Self

import pytest
from crafter_worlds import SEED, some_actions, walked

from untaken.simulator.crafter import CrafterWorld
from untaken.simulator.loop import Episode, Turn, WinSettings, play
from untaken.simulator.policy import Act, Seen, Selection
from untaken.simulator.state_causality import SymbolicCausality


class Reads:
    """Does what is written; asked again, what is written for that. Remembers all it was given."""

    name = "reads"

    def __init__(self, actions: Sequence[str], again: str | None = None, aim: str | None = None) -> None:
        self.actions, self.again, self._aim = list(actions), again, aim
        self.given: list[Seen] = []
        self.begun: list[tuple[int, str | None]] = []

    def begin(self, seed: int, task: str | None) -> None:
        self.begun.append((seed, task))

    def act(self, seen: Seen) -> Act:
        self.given.append(seen)
        selection = Selection(skill="walk", alternatives=("rest",)) if seen.step % 5 == 0 else None
        action = self.actions[seen.step]
        if seen.feedback is None:
            return Act(action=action, selection=selection)
        return Act(action=self.again or action)

    @property
    def aim(self) -> str | None:
        return self._aim

    def take(self, skill: str) -> None:
        """What is written has no skills to choose from."""

    def clone(self) -> Self:
        return deepcopy(self)


def played(
    policy: Reads,
    world: CrafterWorld | None = None,
    *,
    task: str | None = None,
    sce: bool = False,
    win: WinSettings | None = None,
) -> tuple[Episode, list[Turn]]:
    turns: list[Turn] = []
    causality = SymbolicCausality() if sce else None
    episode = play(
        world or walked(),
        policy,
        task=task,
        steps=len(policy.actions),
        causality=causality,
        win=win,
        seed=SEED,
        record=turns.append,
    )
    return episode, turns


def test_without_its_parts_the_loop_does_what_the_policy_says() -> None:
    actions, ours, theirs = some_actions(40), walked(), walked()
    episode, turns = played(Reads(actions), ours)
    rewards = [theirs.step(action).reward for action in actions]
    assert ours.state_hash() == theirs.state_hash()
    assert [turn.action for turn in turns] == actions
    assert episode.total == pytest.approx(sum(rewards))
    assert (episode.steps, episode.asked_again, episode.revised) == (40, 0, 0)


def test_the_causal_representation_is_of_the_task_and_of_the_state_given_with_it() -> None:
    policy, causality = Reads(some_actions(15)), SymbolicCausality()
    episode, turns = played(policy, task="collect_iron", sce=True)
    for seen, turn in zip(policy.given, turns, strict=True):
        assert seen.causes == turn.causes == causality.evaluate("collect_iron", seen.observation)
    kept = [name for turn in turns for name in (turn.causes.kept if turn.causes else ())]
    assert episode.kept == {name: kept.count(name) for name in sorted(set(kept))}


def test_in_open_play_both_evaluators_are_asked_about_what_is_pursued() -> None:
    _, turns = played(Reads(["noop"], aim="eat_cow"), sce=True, win=WinSettings())
    assert (turns[0].causes.task, turns[0].win.task, turns[0].aim) == ("eat_cow",) * 3


@pytest.mark.parametrize("at", ["<=", "<"])
def test_a_policy_is_asked_again_with_the_reason_where_win_is_low(at: str) -> None:
    policy = Reads(some_actions(40), again="noop")
    episode, turns = played(policy, task="collect_wood", win=WinSettings(at=at))
    again = {seen.step: seen for seen in policy.given if seen.feedback}
    low = {
        t.step
        for t in turns
        if t.win and t.win.win and (t.win.win < 0.5 or (at == "<=" and t.win.win <= 0.5))
    }
    assert low == again.keys() == {turn.step for turn in turns if turn.asked_again}
    assert 0 < len(low) < len(turns)
    assert episode.asked_again == len(low)
    for turn in (turn for turn in turns if turn.asked_again):
        told, win = again[turn.step].feedback, turn.win
        assert (told.action, told.reward, told.others, told.win) == (
            win.action,
            win.reward,
            win.others,
            win.win,
        )


def test_the_second_answer_is_what_is_done() -> None:
    actions = some_actions(40)
    episode, turns = played(Reads(actions, again="noop"), task="collect_wood", win=WinSettings())
    assert [t.action for t in turns] == [
        "noop" if turn.asked_again else action for turn, action in zip(turns, actions, strict=True)
    ]
    changed = sum(t.asked_again and action != "noop" for t, action in zip(turns, actions, strict=True))
    assert episode.revised == changed > 0


def test_asking_changes_nothing_where_the_policy_stays_with_its_answer() -> None:
    plain, asked = walked(), walked()
    one, _ = played(Reads(some_actions(40)), plain)
    other, _ = played(Reads(some_actions(40)), asked, sce=True, win=WinSettings())
    assert plain.state_hash() == asked.state_hash()
    assert (one.unlocked, one.total, one.steps) == (other.unlocked, other.total, other.steps)
    assert other.revised == 0 < other.asked_again


def test_an_episode_ends_where_its_task_is_reached() -> None:
    actions = some_actions(200)
    everything, turns = played(Reads(actions))
    task, step = next(iter(everything.unlocked.items()))
    reached, _ = played(Reads(actions), task=task)
    assert (reached.steps, list(reached.unlocked)[-1]) == (step, task)
    assert step < everything.steps
    assert everything.unlocked == {name: t.step + 1 for t in turns for name in t.outcome.unlocked}
