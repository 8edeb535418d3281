"""The arms of an ablation set side by side, world by world: intervals and tests (§5, §7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

import numpy as np

from untaken.errors import Score, Unscored
from untaken.simulator.ablation_runs import FULL, Ablation, AblationArm, ArmDifference
from untaken.simulator.crafter.names import ACHIEVEMENTS
from untaken.simulator.crafter.playing import Setup
from untaken.simulator.crafter.recording import succeeded
from untaken.simulator.crafter.scores import crafter_score
from untaken.simulator.loop import Episode
from untaken.stats import (
    Floats,
    adjusted_wald,
    bootstrap_interval,
    discordant_tasks,
    holm,
    mcnemar_p,
    resampled_interval,
    sign_flip_p,
    task_weights,
    wald_interval,
)

RESAMPLES: Final = 10_000
LEAST_WORLDS: Final = 2


def ablation(setup: Setup, played: Mapping[str, Sequence[Episode]]) -> Ablation:
    """Compares the arms, world by world."""
    seeds = tuple(episode.seed for episode in played[FULL])
    # One draw of worlds serves all arms: the difference of two scores is over the same worlds each time.
    drawn = _drawn(len(seeds))
    scores = {name: _resampled_scores(_reached(episodes), drawn) for name, episodes in played.items()}
    arms = tuple(_arm(name, episodes, scores[name]) for name, episodes in played.items())
    return Ablation(
        setup=setup,
        seeds=seeds,
        arms=arms,
        differences=_differences(played, {arm.name: arm.score for arm in arms}, scores),
        causes_matter=any(
            not _same(with_it, without)
            for one, other in ((FULL, "w/o SCE"), ("w/o WIN", "w/o both"))
            for with_it, without in zip(played[one], played[other], strict=True)
        ),
        unanswered=unanswered([episode for episodes in played.values() for episode in episodes]),
    )


def unanswered(episodes: Sequence[Episode]) -> int | None:
    """Questions to a language model without a usable answer; ``None`` where none was asked."""
    counts = [episode.unanswered for episode in episodes if episode.unanswered is not None]
    return sum(counts) if counts else None


def summarise(name: str, episodes: Sequence[Episode]) -> AblationArm:
    """Results of episodes in different worlds."""
    return _arm(name, episodes, _resampled_scores(_reached(episodes), _drawn(len(episodes))))


def _same(one: Episode, other: Episode) -> bool:
    # What was kept says what the evaluator saw, not what was done: an arm without an evaluator keeps nothing.
    return replace(one, kept={}) == replace(other, kept={}, policy=one.policy)


def _reached(episodes: Sequence[Episode]) -> Floats:
    """(worlds, achievements): 1 where it was reached."""
    return np.array([[float(name in e.unlocked) for name in ACHIEVEMENTS] for e in episodes])


def _drawn(worlds: int) -> Floats:
    """(resamples, worlds): how often each world was drawn; none for a single world."""
    if worlds < LEAST_WORLDS:
        return np.empty((0, worlds))
    return np.concatenate(list(task_weights(worlds, RESAMPLES, 0)))


def _resampled_scores(reached: Floats, drawn: Floats) -> Floats:
    """(resamples,): the Crafter score over the drawn worlds."""
    # The score is not a mean over worlds: each resample needs its own success rates before the logarithms.
    percents = 100 * drawn @ reached / max(len(reached), 1)
    return np.array([crafter_score(row) for row in percents.tolist()])


def _interval(values: Floats, worlds: int) -> tuple[Score, Score]:
    if not values.size:
        none = Unscored("an interval needs at least two worlds")
        return none, none
    low, high = bootstrap_interval(values[:, None], worlds)[:, 0]
    return float(low), float(high)


def _arm(name: str, episodes: Sequence[Episode], scores: Floats) -> AblationArm:
    steps = sum(e.steps for e in episodes)
    reached = _reached(episodes)
    low, high = _interval(scores, len(episodes))
    return AblationArm(
        name=name,
        episodes=len(episodes),
        score=crafter_score((100 * reached.mean(axis=0)).tolist()),
        score_low=low,
        score_high=high,
        achievements=fmean(len(e.unlocked) for e in episodes),
        successes=sum(map(succeeded, episodes)),
        mean_steps=steps / len(episodes),
        asked_again=sum(e.asked_again for e in episodes) / steps,
        revised=sum(e.revised for e in episodes) / steps,
        success_percent=dict(zip(ACHIEVEMENTS, (100 * reached.mean(axis=0)).tolist(), strict=True)),
    )


def _differences(
    played: Mapping[str, Sequence[Episode]], score: Mapping[str, float], scores: Mapping[str, Floats]
) -> tuple[ArmDifference, ...]:
    full, others = played[FULL], [name for name in played if name != FULL]
    worlds = len(full)
    pairs = _paired(played, lambda episode: len(episode.unlocked))
    p = sign_flip_p(pairs, resamples=RESAMPLES, seed=0)
    adjusted = holm(p)
    none = Unscored("an interval needs at least two worlds")
    intervals = None
    if worlds >= LEAST_WORLDS:
        intervals = resampled_interval(pairs, resamples=RESAMPLES, seed=0)
    wins = _paired(played, succeeded)
    more, less = discordant_tasks(wins)
    # Two arms may succeed in the same worlds, where a bootstrap interval would collapse to a point.
    within, unlike = wald_interval(*adjusted_wald(more, less, worlds)), mcnemar_p(more, less)
    found = []
    for place, name in enumerate(others):
        low, high = _interval(scores[FULL] - scores[name], worlds)
        found.append(
            ArmDifference(
                without=name,
                worlds=worlds,
                same=sum(map(_same, full, played[name])),
                achievements=float(pairs[place].mean()),
                low=none if intervals is None else float(intervals[0, place]),
                high=none if intervals is None else float(intervals[1, place]),
                p=float(p[place]),
                p_holm=float(adjusted[place]),
                success=float(wins[place].mean()),
                success_low=float(within[0, place]),
                success_high=float(within[1, place]),
                success_p=float(unlike[place]),
                score=score[FULL] - score[name],
                score_low=low,
                score_high=high,
            )
        )
    return tuple(found)


def _paired(played: Mapping[str, Sequence[Episode]], measure: Callable[[Episode], float]) -> Floats:
    """(other arms, worlds): the full arm's measure minus theirs."""
    by_arm = {name: np.array([float(measure(e)) for e in episodes]) for name, episodes in played.items()}
    return np.array([by_arm[FULL] - by_arm[name] for name in played if name != FULL])
