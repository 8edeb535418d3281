"""An episode watched: each action beside what else could have been done, and none of them revised (§7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from msgspec import Struct

from untaken.errors import Score, Unscored
from untaken.simulator.crafter import CrafterWorld
from untaken.simulator.policy import Policy, Seen
from untaken.simulator.win.evaluate import what_if_not
from untaken.simulator.win.interventions import INTERVENTIONS, possible_actions
from untaken.simulator.win.rewards import SHAPED
from untaken.simulator.win.win_result import Noise, WhatIfNot


class Watching(Struct, frozen=True, kw_only=True):
    """What is watched, and how it is evaluated.

    Attributes:
        policy: name of who plays.
        task: an achievement; without one, actions are evaluated for what the policy pursues at the moment.
        seed: of the policy, the interventions and what is injected.
        steps: at most so many; fewer where the episode ends or the task is reached.
        reward, interventions, noise, draws: as in `what_if_not`.
        inject: probability that another possible action is done instead of the policy's: known mistakes, to
            see whether WIN finds them. Never while the player sleeps, when no action has an effect.
        model: name of the language model that plays, where one does.
    """

    policy: str
    task: str | None = None
    seed: int = 0
    steps: int
    reward: str = SHAPED
    interventions: tuple[str, ...] = INTERVENTIONS
    noise: Noise = "same"
    draws: int = 1
    inject: float = 0.0
    model: str | None = None


class Watched(Struct, frozen=True, kw_only=True):
    """A step of the episode.

    Attributes:
        step: from 1.
        asleep: whether the player slept, so that no action had an effect.
        injected: whether the action was put in the place of the policy's.
        found: the action that was done, beside the others.
        unanswered: why a language model gave no usable answer at this step, so that it waited; else empty.
    """

    step: int
    asleep: bool
    injected: bool
    found: WhatIfNot
    unanswered: str = ""


def watch(world: CrafterWorld, policy: Policy, settings: Watching) -> Iterator[Watched]:
    """Plays an episode and evaluates each action before it is done; the actions are done as they are."""
    policy.begin(settings.seed, settings.task)
    draw = Random(f"inject {settings.seed}")
    for step in range(settings.steps):
        seen = world.observe()
        act = policy.act(Seen(observation=seen, task=settings.task, step=step))
        action = act.action
        # Drawn asleep, too: later draws stay the same.
        mistaken = draw.random() < settings.inject and not seen.sleeping
        if mistaken:
            action = draw.choice([other for other in possible_actions(seen) if other != action])
        found = what_if_not(
            world,
            action,
            task=settings.task or policy.aim,
            reward=settings.reward,
            interventions=settings.interventions,
            noise=settings.noise,
            draws=settings.draws,
            seed=settings.seed,
        )
        yield Watched(
            step=step + 1,
            asleep=seen.sleeping,
            injected=mistaken,
            found=found,
            unanswered=act.unanswered or "",
        )
        done = world.step(action)
        if done.done or (settings.task is not None and settings.task in done.unlocked):
            return


class Mistakes(Struct, frozen=True, kw_only=True):
    """How well a low WIN tells injected actions from the policy's own.

    Attributes:
        injected: actions that were injected; `others` were not. Steps asleep and without WIN do not count.
        auc: share of pairs of one and the other in which the injected one has the lower WIN; an equal one
            counts half (Mann–Whitney).
    """

    injected: int
    others: int
    auc: Score


def found_mistakes(steps: Sequence[Watched]) -> Mistakes:
    """Whether WIN finds known mistakes, in an episode or in several."""
    awake = [(step.found.win, step.injected) for step in steps if not step.asleep]
    wrong, right = (
        [win for win, injected in awake if injected is kind and not isinstance(win, Unscored)]
        for kind in (True, False)
    )
    lower = sum(0.5 if bad == good else float(bad < good) for bad in wrong for good in right)
    pairs = len(wrong) * len(right)
    auc = lower / pairs if pairs else Unscored("there are no injected actions, or no others")
    return Mistakes(injected=len(wrong), others=len(right), auc=auc)
