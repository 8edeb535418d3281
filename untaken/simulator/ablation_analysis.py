"""The arms of an ablation set side by side, world by world: intervals and tests (§5, §7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import expm1, log1p
from statistics import fmean
from typing import Final

import numpy as np
from msgspec.structs import replace

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
    discordant_tasks,
    holm,
    mcnemar_p,
    reach_of_sum,
    resampled_interval,
    sign_flip_p,
    wald_interval,
)

RESAMPLES: Final = 10_000
LEAST_WORLDS: Final = 5
"""Worlds that an interval needs: of two or three, one of 95% held in about half of simulated arms."""
FEW: Final = Unscored("an interval needs at least five worlds")
ALIKE: Final = Unscored("all worlds gave the same: how far others differ is unknown")


def ablation(setup: Setup, played: Mapping[str, Sequence[Episode]]) -> Ablation:
    """Compares the arms, world by world."""
    seeds = tuple(episode.seed for episode in played[FULL])
    arms = tuple(summarise(name, episodes) for name, episodes in played.items())
    return Ablation(
        setup=setup,
        seeds=seeds,
        arms=arms,
        differences=_differences(played, {arm.name: arm.score for arm in arms}),
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


def _same(one: Episode, other: Episode) -> bool:
    # What was kept says what the evaluator saw, not what was done: an arm without an evaluator keeps nothing.
    return replace(one, kept={}) == replace(other, kept={}, policy=one.policy)


def _reached(episodes: Sequence[Episode]) -> Floats:
    """(worlds, achievements): 1 where it was reached."""
    return np.array([[float(name in e.unlocked) for name in ACHIEVEMENTS] for e in episodes])


def _without_each(reached: Floats) -> Floats:
    """(worlds,): ln(1 + score) without each of the worlds."""
    others = (reached.sum(axis=0) - reached) / max(len(reached) - 1, 1)
    scores: Floats = np.log1p(100 * others).mean(axis=1)
    return scores


def _without_interval(by_world: Floats, same: int) -> Unscored | None:
    if len(by_world) < LEAST_WORLDS:
        return FEW
    return None if np.ptp(by_world) or same == len(by_world) else ALIKE


def _interval(value: float, without: Floats, same: int = 0) -> tuple[Score, Score]:
    """Of what as many worlds give: value ± t · s, s² the jackknife variance over worlds."""
    n = len(without)
    none = _without_interval(without, same)
    if none is not None:
        return none, none
    # No bootstrap: a world that is not drawn takes its rare achievements along, and resampled scores are low.
    reach = reach_of_sum(((n - 1) / n * (without - without.mean())).tolist(), n)
    return value - reach, value + reach


def _mean_interval(differences: Floats, same: int) -> tuple[Score, Score]:
    none = _without_interval(differences, same)
    if none is not None:
        return none, none
    low, high = resampled_interval(differences[None], resamples=RESAMPLES, seed=0)[:, 0].tolist()
    return low, high


def summarise(name: str, episodes: Sequence[Episode]) -> AblationArm:
    """Results of episodes in different worlds."""
    steps = sum(e.steps for e in episodes)
    reached = _reached(episodes)
    score = crafter_score((100 * reached.mean(axis=0)).tolist())
    # On the scale of its logarithms, on which a score is a mean over achievements.
    low, high = _interval(log1p(score), _without_each(reached))
    return AblationArm(
        name=name,
        episodes=len(episodes),
        score=score,
        score_low=low if isinstance(low, Unscored) else max(0.0, expm1(low)),
        score_high=high if isinstance(high, Unscored) else min(100.0, expm1(high)),
        achievements=fmean(len(e.unlocked) for e in episodes),
        successes=sum(map(succeeded, episodes)),
        mean_steps=steps / len(episodes),
        asked_again=sum(e.asked_again for e in episodes) / steps,
        revised=sum(e.revised for e in episodes) / steps,
        success_percent=dict(zip(ACHIEVEMENTS, (100 * reached.mean(axis=0)).tolist(), strict=True)),
    )


def _differences(
    played: Mapping[str, Sequence[Episode]], score: Mapping[str, float]
) -> tuple[ArmDifference, ...]:
    full, others = played[FULL], [name for name in played if name != FULL]
    worlds = len(full)
    pairs = _paired(played, lambda episode: len(episode.unlocked))
    p = sign_flip_p(pairs, resamples=RESAMPLES, seed=0)
    adjusted = holm(p)
    wins = _paired(played, succeeded)
    more, less = discordant_tasks(wins)
    # Two arms may succeed in the same worlds, where a bootstrap interval would collapse to a point.
    within, unlike = wald_interval(*adjusted_wald(more, less, worlds)), mcnemar_p(more, less)
    left = {name: np.expm1(_without_each(_reached(episodes))) for name, episodes in played.items()}
    found = []
    for place, name in enumerate(others):
        same = sum(map(_same, full, played[name]))
        low, high = _mean_interval(pairs[place], same)
        score_low, score_high = _interval(score[FULL] - score[name], left[FULL] - left[name], same)
        found.append(
            ArmDifference(
                without=name,
                worlds=worlds,
                same=same,
                achievements=float(pairs[place].mean()),
                low=low,
                high=high,
                p=float(p[place]),
                p_holm=float(adjusted[place]),
                success=float(wins[place].mean()),
                success_low=float(within[0, place]),
                success_high=float(within[1, place]),
                success_p=float(unlike[place]),
                score=score[FULL] - score[name],
                score_low=score_low,
                score_high=score_high,
            )
        )
    return tuple(found)


def _paired(played: Mapping[str, Sequence[Episode]], measure: Callable[[Episode], float]) -> Floats:
    """(other arms, worlds): the full arm's measure minus theirs."""
    by_arm = {name: np.array([float(measure(e)) for e in episodes]) for name, episodes in played.items()}
    return np.array([by_arm[FULL] - by_arm[name] for name in played if name != FULL])
