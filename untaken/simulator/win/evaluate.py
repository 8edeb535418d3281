"""What if not this action: the What-If-Not reward, at a mark of the world (source 003, Algorithm 1; §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from statistics import fmean, pstdev

from untaken.errors import Score, Unscored, UntakenError
from untaken.simulator.crafter import ACTIONS, CrafterWorld, LocalView
from untaken.simulator.crafter.names import checked_task
from untaken.simulator.crafter.world import action_number
from untaken.simulator.win.interventions import INTERVENTIONS, alternatives, checked_interventions
from untaken.simulator.win.rewards import SHAPED, Reward, reward_named
from untaken.simulator.win.win_result import At, Noise, Term, WhatIfNot, sigmoid, verdict_of


def what_if_not(
    world: CrafterWorld,
    action: str,
    *,
    task: str | None = None,
    reward: str | Reward = SHAPED,
    interventions: Iterable[str] = INTERVENTIONS,
    noise: Noise = "same",
    draws: int = 1,
    at: At = "<=",
    seed: int = 0,
    states: bool = False,
) -> WhatIfNot:
    """WIN = mean over ψ of σ(r − r̃ψ): what an action is worth beside what else could have been done.

    Actions are done in the world itself, which goes back to its mark after each, also where a reward fails.
    The same arguments give the same answer in any process.

    Args:
        world: the state s.
        action: the action a, by its name.
        task: the task l, an achievement; ``None`` for open play.
        reward: f_R, by name (`reward_named`) or itself.
        interventions: Ψ, any of `INTERVENTIONS`.
        noise: ``same``: each clone draws the random numbers that the world would; ``resampled``: others in
            each draw and for each action.
        draws: how often, with resampled noise.
        at: whether an action is to be revised at a WIN of 0.5 (``<=``, as in the source) or only below.
        seed: decides the random action and resampled noise, together with the step of the world.
        states: hash the states that are reached, too.

    Raises:
        UntakenError: ``action-unknown``, ``achievement-unknown``, ``reward-unknown``,
            ``intervention-unknown``, ``draws-invalid``.
    """
    psi = checked_interventions(interventions)
    value = reward_named(reward) if isinstance(reward, str) else reward
    if draws < 1 or (draws > 1 and noise == "same"):
        raise UntakenError(
            "draws-invalid",
            f"{draws} draws with {noise} noise",
            hint="At least 1; the same noise gives the same draw, so more need resampled noise.",
        )
    task = None if task is None else checked_task(task)
    action, seen = ACTIONS[action_number(action)], world.observe()
    # A text seeds it the same in every process, and the step keeps moments of an episode apart.
    drawn = Random(f"{seed} {world.steps}")
    others, left_out = alternatives(action, seen, task, psi, drawn)
    tried = _try_all(
        world,
        seen,
        list(dict.fromkeys([action, *others.values()])),  # two interventions may come to the same action
        value=value,
        task=task,
        noise=[drawn.getrandbits(32) for _ in range(draws)] if noise == "resampled" else [None],
        states=states,
    )
    (rewards, state), terms, values = tried[action], list[Term](), list[list[float]]()
    for intervention, other in others.items():
        rivals, led_to = tried[other]
        values.append([sigmoid(r - rival) for r, rival in zip(rewards, rivals, strict=True)])
        term = Term(
            intervention=intervention,
            action=other,
            reward=fmean(rivals),
            value=fmean(values[-1]),
            state=led_to,
        )
        terms.append(term)
    win, spread = _win(values)
    verdict = verdict_of(win)
    return WhatIfNot(
        action=action,
        task=task,
        rewarded_by=reward if isinstance(reward, str) else getattr(reward, "__name__", "own"),
        reward=fmean(rewards),
        terms=tuple(terms),
        left_out=left_out,
        win=win,
        spread=spread,
        verdict=verdict,
        revise=verdict == "worse" or (verdict == "tie" and at == "<="),
        noise=noise,
        draws=draws,
        state=state,
    )


_Tried = tuple[list[float], str | None]
"""Of an action done from the mark: its reward in each draw, and the state the first one led to."""


def _try_all(
    world: CrafterWorld,
    seen: LocalView,
    actions: Iterable[str],
    *,
    value: Reward,
    task: str | None,
    noise: list[int] | list[None],
    states: bool,
) -> Mapping[str, _Tried]:
    """Each action in the world, which goes back to its mark after each, also where a reward fails."""
    tried, mark = {}, world.mark()
    try:
        valued = value(world, seen, task)
        for order, action in enumerate(actions):
            rewards, state = [], None
            for numbers in noise:
                if numbers is not None:
                    world.reseed((numbers + order) % 2**32)  # numpy takes seeds of 32 bits
                step = world.step(action)
                if states and state is None:
                    state = world.state_hash()
                rewards.append(valued(step, world))
                mark.restore()
            tried[action] = rewards, state
    # Also at Ctrl-C: the world is the caller's, and the episode goes on in it.
    except BaseException:
        mark.restore()
        raise
    return tried


def _win(terms: list[list[float]]) -> tuple[Score, float | None]:
    """The mean over terms of each draw; then mean and spread over draws."""
    if not terms:
        return Unscored("no other action: no intervention exists here that differs from the action"), None
    wins = [fmean(of_draw) for of_draw in zip(*terms, strict=True)]
    return fmean(wins), pstdev(wins) if len(wins) > 1 else None
