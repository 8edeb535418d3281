"""A policy that asks a language model for each action (§7)."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Self

from msgspec import Meta, Struct

from untaken import limits
from untaken.errors import Unscored
from untaken.judging import ModelAccess, Question, Template, enveloped, nonce_for, read_template
from untaken.simulator.crafter.names import ACTION_PATTERN
from untaken.simulator.policy import Act, WithoutSkills
from untaken.simulator.state_causality.variables import variables_of
from untaken.traces import clip

if TYPE_CHECKING:
    from untaken.simulator.policy import Feedback, Seen

CAUSES_CHARS = 2_000
"""Longest description of causes; more is cut."""


class ActionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of an answer."""

    action: Annotated[str, Meta(pattern=ACTION_PATTERN, max_length=20)]


class Language(WithoutSkills):
    """Asks a model for one of the 17 actions; where there is no such answer, it does nothing.

    Attributes:
        asked: questions in this episode.
        unanswered: of these, how many had no usable answer and became ``noop``.
    """

    name = "language"

    def __init__(self, *, model: ModelAccess) -> None:
        self._model = model
        self.begin(0, None)

    def begin(self, seed: int, task: str | None) -> None:
        """Forgets the last episode. Another `seed` asks again what was answered."""
        self._seed, self._task = seed, task
        self.asked = self.unanswered = 0

    def act(self, seen: Seen) -> Act:
        """The model's answer; ``noop`` if there is none, which is counted and said why."""
        answer = self._model.ask(
            Question(template=template(), prompt=self._prompt(seen), output=ActionReply, seed=self._seed)
        )
        self.asked += 1
        if isinstance(answer, Unscored):
            self.unanswered += 1
            return Act(action="noop", unanswered=clip(answer.reason)[: limits.NAME_CHARS])
        return Act(action=answer.output.action, unanswered="")

    def reseed(self, seed: int) -> None:
        """Another `seed` asks again what was answered."""
        self._seed = seed

    def clone(self) -> Self:
        """A policy that goes on from here by itself, asking the same model."""
        twin = type(self)(model=self._model)
        twin.begin(self._seed, self._task)
        twin.asked, twin.unanswered = self.asked, self.unanswered
        return twin

    def _prompt(self, seen: Seen) -> str:
        task = (seen.task or "stay alive and reach new achievements").replace("_", " ")
        parts = [
            f"Task: {task}",
            "You see:",
            *(f"- {v.name}: {v.words}" for v in variables_of(seen.observation)),
        ]
        causes = seen.causes.in_words()[:CAUSES_CHARS] if seen.causes is not None else ""
        if causes:  # another model may have worded it
            nonce = nonce_for(self._model.replies.salt, "language", causes)
            parts.append(enveloped(causes, nonce, "causes"))
        return "\n".join((*parts, *_feedback_words(seen.feedback)))


def template() -> Template:
    """The standing instructions."""
    return read_template(files("untaken.simulator.players") / "prompts" / "play.md")


def _feedback_words(feedback: Feedback | None) -> list[str]:
    if feedback is None:
        return []
    others = (f"{name} {reward:.2f}" for name, reward in feedback.others.items())
    return [
        f"You answered {feedback.action}: reward {feedback.reward:.2f}. Tried instead: {', '.join(others)}.",
        f"What-If-Not reward {feedback.win:.2f} of 1, 0.50 is even. Answer again.",
    ]
