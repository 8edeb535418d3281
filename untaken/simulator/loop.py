"""Algorithm 1: counterfactual planning (§7, source 003)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import fsum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict, replace

from untaken.errors import Unscored
from untaken.simulator.policy import Feedback, Policy, Seen, Selection, augment
from untaken.simulator.state_causality import CausalState, StateCausality
from untaken.simulator.win import INTERVENTIONS, At, Noise, WhatIfNot, what_if_not
from untaken.simulator.win.rewards import SHAPED

if TYPE_CHECKING:
    from untaken.simulator.crafter import CrafterWorld, LocalView, WorldStep


class WinSettings(Struct, frozen=True, kw_only=True):
    """How What-If-Not evaluates the actions of an episode; as in `what_if_not`."""

    reward: str = SHAPED
    interventions: tuple[str, ...] = INTERVENTIONS
    noise: Noise = "same"
    draws: int = 1
    at: At = "<="


class Turn(Struct, frozen=True, kw_only=True):
    """One step t of the loop, after it was done.

    Attributes:
        step: t, from 0.
        seen: s_t, as far as the policy may see it.
        causes: CR_t; ``None`` without a causality.
        aim: the achievement that the policy pursued.
        selection: the skill it began, where it began one.
        win: the evaluation of its first answer; ``None`` without What-If-Not.
        action: what was done.
        outcome: the result of the action.
        after: s_{t+1}, as far as the policy may see it.
        unanswered, unanswered_again: why a language model gave no usable answer, the first time and when it
            was asked again; empty where it gave one, ``None`` where none was asked.
    """

    step: int
    seen: LocalView
    causes: CausalState | None
    aim: str | None
    selection: Selection | None
    win: WhatIfNot | None
    action: str
    outcome: WorldStep
    after: LocalView
    unanswered: str | None = None
    unanswered_again: str | None = None

    @property
    def asked_again(self) -> bool:
        """Whether What-If-Not had the policy asked again."""
        return self.win is not None and self.win.revise

    @property
    def revised(self) -> bool:
        """Whether it then chose another action, other than waiting because there was no answer."""
        return self.win is not None and self.win.action != self.action and not self.unanswered_again


class Episode(Struct, frozen=True, kw_only=True):
    """The result of one episode.

    Attributes:
        policy, task, seed: who played what in which world.
        steps: steps done.
        unlocked: at which step each achievement was reached first, counted from 1; in that order.
        total: sum of the environment's own rewards.
        dead: whether it ended by death.
        asked_again: steps at which What-If-Not had the policy asked again.
        revised: those of them at which it then did something else.
        kept: at how many steps each variable was kept for the task.
        unanswered: how many questions to a language model had no usable answer, so that the policy waited;
            ``None`` where it asks none.
        why_unanswered: the reasons, each once.
    """

    policy: str
    task: str | None
    seed: int
    steps: int
    unlocked: Mapping[str, int]
    total: float
    dead: bool
    asked_again: int
    revised: int
    kept: Mapping[str, int]
    unanswered: int | None = None
    why_unanswered: tuple[str, ...] = ()


def play(
    world: CrafterWorld,
    policy: Policy,
    *,
    task: str | None,
    steps: int,
    causality: StateCausality | None = None,
    win: WinSettings | None = None,
    seed: int,
    record: Callable[[Turn], None] | None = None,
) -> Episode:
    """Plays one episode by Algorithm 1, until the task is reached, the episode is over or the steps are used.

    In open play both evaluators are given what the policy pursues at the moment as their task.

    Args:
        world: where the episode begins; it is stepped.
        policy: π; started with `seed`.
        task: l, an achievement; ``None`` for open play.
        steps: K, the planning horizon.
        causality: the state causality evaluator; ``None`` is the arm without it.
        win: how What-If-Not evaluates; ``None`` is the arm without it.
        seed: of all that the policy and the interventions draw.
        record: is given each turn.

    Raises:
        UntakenError: ``achievement-unknown``, ``reward-unknown``, ``intervention-unknown``.
    """
    policy.begin(seed, task)
    tally = _Tally()
    observation = world.observe()
    for step in range(steps):
        state = Seen(observation=observation, task=task, step=step)
        turn = _turn(world, policy, state, causality=causality, win=win, seed=seed)
        tally.add(turn)
        if record is not None:
            record(turn)
        observation = turn.after
        if turn.outcome.done or (task is not None and task in turn.outcome.unlocked):
            break
    return tally.episode(policy.name, task, seed)


def _turn(
    world: CrafterWorld,
    policy: Policy,
    state: Seen,
    *,
    causality: StateCausality | None,
    win: WinSettings | None,
    seed: int,
) -> Turn:
    """Lines 3 to 21 of Algorithm 1."""
    observation, causes, asked = state.observation, None, None
    if causality is not None:
        causes = causality.evaluate(state.task or policy.aim, observation)  # 4 to 7
    seen = augment(state, causes)  # 8
    first = act = policy.act(seen)  # 9
    if win is not None:  # 10 to 16
        task = state.task or policy.aim  # asked after `act`, which may have turned to another aim
        asked = what_if_not(world, act.action, task=task, seed=seed, **asdict(win))
    if asked is not None and asked.revise:  # 17
        assert not isinstance(asked.win, Unscored)  # noqa: S101 (what has no WIN is not asked again)
        why = Feedback(action=asked.action, reward=asked.reward, others=asked.others, win=asked.win)
        again = policy.act(replace(seen, feedback=why))  # 18
        # The first answer may have begun a skill: without this, that decision would be in no record.
        act = replace(again, selection=again.selection or first.selection)  # 19
    outcome = world.step(act.action)  # 21
    return Turn(
        step=state.step,
        seen=observation,
        causes=causes,
        aim=policy.aim,
        selection=act.selection,
        win=asked,
        action=act.action,
        outcome=outcome,
        after=world.observe(),
        unanswered=first.unanswered,
        unanswered_again=act.unanswered if act is not first else None,
    )


class _Tally:
    """An episode so far."""

    def __init__(self) -> None:
        self._unlocked: dict[str, int] = {}
        self._rewards: list[float] = []
        self._dead = False
        self._counts: Counter[str] = Counter()
        self._kept: Counter[str] = Counter()
        self._unanswered: list[str] = []

    def add(self, turn: Turn) -> None:
        """One more turn."""
        self._rewards.append(turn.outcome.reward)
        self._unlocked |= dict.fromkeys(turn.outcome.unlocked, len(self._rewards))
        self._dead = turn.outcome.dead
        self._counts.update(asked=turn.asked_again, revised=turn.revised)
        self._kept.update(turn.causes.kept if turn.causes else ())
        self._unanswered += [why for why in (turn.unanswered, turn.unanswered_again) if why is not None]

    def episode(self, policy: str, task: str | None, seed: int) -> Episode:
        """The episode that these turns make."""
        return Episode(
            policy=policy,
            task=task,
            seed=seed,
            steps=len(self._rewards),
            unlocked=self._unlocked,
            total=fsum(self._rewards),
            dead=self._dead,
            asked_again=self._counts["asked"],
            revised=self._counts["revised"],
            kept=dict(sorted(self._kept.items())),
            # An answered question leaves an empty reason; no entry at all means that no model was asked.
            unanswered=sum(map(bool, self._unanswered)) if self._unanswered else None,
            why_unanswered=tuple(dict.fromkeys(filter(None, self._unanswered))),
        )
