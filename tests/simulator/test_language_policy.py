"""A language model plays: bounded questions, one of 17 actions, replies kept; how well is no claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from crafter_worlds import walked

from untaken.judging.asking import ModelAccess, ReplyStore
from untaken.simulator.crafter import ACTIONS
from untaken.simulator.players import policy_named
from untaken.simulator.policy import Feedback, Seen
from untaken.simulator.state_causality import SymbolicCausality

pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

TASK = "make_stone_pickaxe"


class Player:
    """A stand-in for a model: always says the same, and keeps what it was asked."""

    def __init__(self, action: str = "do") -> None:
        self.action, self.asked = action, []
        self.model = FunctionModel(self._speak, model_name="player")

    def _speak(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        self.asked.append("\n".join(str(p.content) for p in messages[-1].parts if hasattr(p, "content")))
        words = json.dumps({"action": self.action})
        if info.output_tools:
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, words)])
        return ModelResponse(parts=[TextPart(words)])


def seen(steps: int = 0, **more: Any) -> Seen:
    world = walked(steps)
    return Seen(observation=world.observe(), task=TASK, step=world.steps, **more)


def test_the_prompt_holds_what_is_seen_the_task_the_causes_and_why_it_is_asked_again(tmp_path: Path) -> None:
    player = Player()
    causes = SymbolicCausality().evaluate(TASK, walked().observe())
    told = Feedback(action="noop", reward=0.0, others={"do": 0.25}, win=0.4)
    with ModelAccess(player.model, ReplyStore(tmp_path)) as model:
        policy = policy_named("language", model=model)
        policy.begin(0, TASK)
        act = policy.act(seen(causes=causes, feedback=told))
    (asked,) = player.asked
    assert (act.action, act.selection, policy.aim) == ("do", None, TASK)
    assert "Task: make stone pickaxe" in asked
    assert "- health: 9" in asked
    assert "What acts on make stone pickaxe" in asked
    assert "You answered noop: reward 0.00. Tried instead: do 0.25." in asked


def test_the_same_is_asked_once_and_replayed_without_a_model(tmp_path: Path) -> None:
    player = Player("move_up")
    for offline in (False, True):
        with ModelAccess(player.model, ReplyStore(tmp_path), offline=offline) as model:
            policy = policy_named("language", model=model)
            policy.begin(0, TASK)
            assert policy.act(seen()).action == "move_up"
            assert policy.clone().act(seen()).action == "move_up"
    assert len(player.asked) == 1


@pytest.mark.parametrize(("says", "budget"), [("fly to the moon", None), ("do", 0)])
def test_without_a_usable_answer_it_waits_and_counts(tmp_path: Path, says: str, budget: int | None) -> None:
    with ModelAccess(Player(says).model, ReplyStore(tmp_path), budget=budget) as model:
        policy = policy_named("language", model=model)
        policy.begin(0, TASK)
        assert policy.act(seen()).action == "noop"
        assert (policy.asked, policy.unanswered) == (1, 1)
        policy.begin(0, TASK)
        assert (policy.asked, policy.unanswered) == (0, 0)


def test_the_packaged_model_answers_with_actions(local: str, tmp_path: Path) -> None:
    world = walked()
    with ModelAccess(local, ReplyStore(tmp_path), budget=8) as model:
        policy = policy_named("language", model=model)
        policy.begin(0, None)
        for _ in range(2):
            act = policy.act(Seen(observation=world.observe(), task=None, step=world.steps))
            assert act.action in ACTIONS
            world.step(act.action)
    assert policy.asked == 2
    assert model.spent.requests >= 1
    assert len(ReplyStore(tmp_path)) >= 1
    assert policy.unanswered == 0
