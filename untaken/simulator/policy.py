"""What a policy is given and what it answers: π(a | s, l) of the action model; what policies share (§7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.simulator.crafter import LocalView
from untaken.simulator.crafter.names import ACTIONS
from untaken.simulator.state_causality.causal_state import CausalState


class Feedback(Struct, frozen=True, kw_only=True):
    """Why a policy is asked again (a, r, Ã, WIN).

    Attributes:
        action: what it had answered.
        reward: f_R of that action.
        others: reward of each other action that was tried in a clone.
        win: the What-If-Not reward of `action`, 0 to 1.
    """

    action: str
    reward: float
    others: Mapping[str, float]
    win: float


class Seen(Struct, frozen=True, kw_only=True):
    """What a policy is given at a step: the state it may see, and the task l.

    Attributes:
        task: an achievement to reach; ``None`` for open play, where the policy sets its own aims.
        step: steps done in this episode.
        causes: the causal representation attached to the state (`augment`); ``None`` without it.
        feedback: ``None`` unless it is asked again about this very step.
    """

    observation: LocalView
    task: str | None
    step: int
    causes: CausalState | None = None
    feedback: Feedback | None = None


def augment(state: Seen | LocalView, causes: CausalState | None) -> Seen:
    """s^SCE = Augment(s, CR): the state as it was, with its causal representation beside it.

    Args:
        state: what a policy is about to be given; a bare observation is one at step 0 of the task.
        causes: ``None`` leaves the state without.
    """
    if isinstance(state, LocalView):
        state = Seen(observation=state, task=causes.task if causes else None, step=0)
    return replace(state, causes=causes)


class Selection(Struct, frozen=True, kw_only=True):
    """A decision point: a skill starts.

    Attributes:
        skill: what is pursued from now on, by the name of an achievement where it is one.
        alternatives: the other skills that could start here, in a stable order.
        propensities: probability of each, the selected one among them, where the policy draws; else empty.
    """

    skill: str
    alternatives: tuple[str, ...]
    propensities: Mapping[str, float] = msgspec.field(default_factory=dict)


class Act(Struct, frozen=True, kw_only=True):
    """The answer: an action by its name, and the selection where it begins a skill with it.

    Attributes:
        unanswered: why a language model gave no usable answer, so that the action is none of its own; empty
            where it gave one, ``None`` where none was asked.
    """

    action: str
    selection: Selection | None = None
    unanswered: str | None = None


class Policy(Protocol):
    """Answers one step after the other; keeps its own memory of an episode.

    The same seed and the same things seen give the same answers in any process.
    """

    name: str

    def begin(self, seed: int, task: str | None) -> None:
        """Forgets the last episode. `seed` decides all it draws in the next one."""

    def act(self, seen: Seen) -> Act:
        """The action for this step. Asked again about the same step, `seen.feedback` says why."""

    @property
    def aim(self) -> str | None:
        """The achievement it pursues now: the task if there is one, otherwise by its current skill."""

    def take(self, skill: str) -> None:
        """Begins `skill` at the next step instead of what it would select: for clones that try alternatives.

        That step's `Act.selection` names it.

        Raises:
            UntakenError: ``skill-unknown``.
        """

    def reseed(self, seed: int) -> None:
        """Another `seed` decides all it draws from here on: for clones that meet other chance."""

    def clone(self) -> Self:
        """A policy that goes on from here by itself, with all it remembers."""


def better(feedback: Feedback) -> str | None:
    """The best rewarded of the other actions tried, where it beats the chosen one.

    Of equally rewarded ones the first in the order of `ACTIONS`; ``None`` where none beats it.
    """
    tried = [name for name in ACTIONS if feedback.others.get(name, feedback.reward) > feedback.reward]
    return max(tried, key=lambda name: feedback.others[name], default=None)


class WithoutSkills:
    """What policies have in common that answer step by step and begin no skill."""

    name: str
    _task: str | None

    @property
    def aim(self) -> str | None:
        """The task; what else it pursues it does not say."""
        return self._task

    def take(self, skill: str) -> None:
        """It has no skills.

        Raises:
            UntakenError: ``skill-unknown``.
        """
        raise UntakenError(
            "skill-unknown",
            f"the policy {self.name} has no skill {skill!r}: it has none",
            hint="Ask scripted, noisy or uniform.",
        )
