"""Discrimination of criteria: successes from failures, and runs from disturbed copies (§8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, TypeVar

from msgspec import Struct

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.judging.criteria.criterion import QuantifierRun
from untaken.judging.criteria.means import level_interval, levels_by_subject, tasks_of_subjects, top_level
from untaken.stats import wilson

Unit = TypeVar("Unit")

ALPHA: Final = 0.05
"""Of the test that a criterion tells successes from failures, or runs from disturbed copies."""


class Separation(Struct, frozen=True, kw_only=True):
    """Successes against failures of tasks: repeats of a task are no new evidence.

    A subject's level is the mean over its passes. A task counts once among the successes with the mean of its
    successful runs, and once among the failures with the mean of its failed ones. Where it has both, they
    tend to be alike, which makes interval and p wider than needed.

    Attributes:
        success_n, failed_n: tasks with a value of a successful run, and of a failed one.
        gap: success mean − failed mean, in levels.
        superiority: chance that a success has the higher level than a failure, ties half: 0.5 is none.
        low, high: its 95% interval (Newcombe 2006, method 5).
        p: two-sided permutation test of the rank sum, exact up to `EXACT` tasks, then normal.
    """

    success_n: int
    failed_n: int
    gap: Score
    superiority: Score
    low: Score
    high: Score
    p: Score

    @property
    def separates(self) -> bool | None:
        """Whether successes score clearly higher, by the interval and by p; ``None`` if there is none."""
        if isinstance(self.low, Unscored) or isinstance(self.p, Unscored):
            return None
        # With three against three the interval alone would be sure, though one order in ten is as extreme.
        return self.low > 0.5 and self.p <= ALPHA

    @property
    def reversed(self) -> bool:
        """Whether failures score higher for certain."""
        return not isinstance(self.high, Unscored) and self.high < 0.5


class AttackTest(Struct, frozen=True, kw_only=True):
    """Original against disturbed, task by task, one attack.

    Attributes:
        n: tasks with a run that has a value in both; of `wins` the mean over such runs became lower by the
            attack, of `losses` higher.
        win_rate: (wins + half the ties) ÷ n, with Wilson's 95% interval, which ties make wider than needed.
        p: one-sided sign test of wins against losses, exact up to `EXACT_SIGNS` of them.
        drop: mean loss of level.
        detected: the interval is above 0.5, and p holds for all attacks tried together (Bonferroni).
    """

    attack: str
    n: int
    wins: int
    ties: int
    losses: int
    win_rate: Score
    low: Score
    high: Score
    p: Score
    drop: Score
    detected: bool

    @property
    def rewarded(self) -> bool:
        """Whether the disturbed runs score higher for certain."""
        return not isinstance(self.high, Unscored) and self.high < 0.5


class BeforeAfter(Struct, frozen=True, kw_only=True):
    """Mean levels of the same runs as recorded and made worse, with 95% intervals over tasks (fig. 7).

    Attributes:
        n: runs with a value in both; of a task with several the mean counts.
        top: the best level.
    """

    name: str
    n: int
    before: float
    before_low: Score
    before_high: Score
    after: float
    after_low: Score
    after_high: Score
    top: int


def before_after(
    original: Sequence[QuantifierRun], disturbed: Sequence[QuantifierRun]
) -> tuple[BeforeAfter, ...]:
    """Each criterion before and after one disturbance, over the runs that have a value in both."""
    return before_after_each(original, {"": disturbed})[""]


def before_after_each(
    original: Sequence[QuantifierRun], disturbed: Mapping[str, Sequence[QuantifierRun]]
) -> dict[str, tuple[BeforeAfter, ...]]:
    """`before_after` of each disturbance by its name: the originals are looked through once for all."""
    found: dict[str, list[BeforeAfter]] = {attack: [] for attack in disturbed}
    task_of = tasks_of_subjects(original)
    for name in dict.fromkeys(c.name for run in original for c in run.criteria):
        before, top = subject_means(original, name), top_level(original, name)
        for attack, passes in disturbed.items():
            after = subject_means(passes, name)
            common = [subject for subject in after if subject in before]
            if not common:
                continue
            first, second = (
                list(_means_by({s: side[s] for s in common}, task_of).values()) for side in (before, after)
            )
            spans = (*level_interval(first, top), *level_interval(second, top))
            found[attack].append(
                BeforeAfter(
                    name=name,
                    n=len(common),
                    before=fmean(first),
                    before_low=spans[0],
                    before_high=spans[1],
                    after=fmean(second),
                    after_low=spans[2],
                    after_high=spans[3],
                    top=top,
                )
            )
    return {attack: tuple(some) for attack, some in found.items()}


def _means_by(levels: Mapping[str, float], unit_of: Mapping[str, Unit]) -> dict[Unit, float]:
    """The mean level of each unit over its subjects; equal means are equal numbers."""
    by_unit: dict[Unit, list[float]] = {}
    for subject, level in levels.items():
        by_unit.setdefault(unit_of[subject], []).append(level)
    return {unit: stats.quantised(fmean(some)) for unit, some in by_unit.items()}


def subject_means(passes: Sequence[QuantifierRun], name: str) -> dict[str, float]:
    """Each subject's mean level over the passes."""
    found = levels_by_subject(passes, name)
    # As a rule there is one pass, and many thousands of subjects.
    return {s: fmean(some) if len(some) > 1 else float(some[0]) for s, some in found.items()}


def outcomes(passes: Sequence[QuantifierRun]) -> dict[str, bool]:
    """The outcome of each subject that has one."""
    return {item.subject: item.success for run in passes for item in run.items if item.success is not None}


def separation(passes: Sequence[QuantifierRun], name: str) -> Separation:
    """Successes against failures by one criterion."""
    known, task_of = outcomes(passes), tasks_of_subjects(passes)
    units = {subject: (task_of[subject], outcome) for subject, outcome in known.items()}
    means = {s: mean for s, mean in subject_means(passes, name).items() if s in known}
    found = _means_by(means, units)
    success = [mean for (_, outcome), mean in found.items() if outcome]
    failed = [mean for (_, outcome), mean in found.items() if not outcome]
    if not success or not failed:
        none = Unscored(f"no {'failed' if success else 'successful'} run has a value")
        return Separation(
            success_n=len(success),
            failed_n=len(failed),
            gap=none,
            superiority=none,
            low=none,
            high=none,
            p=none,
        )
    theta = stats.superiority(success, failed)
    low, high = stats.superiority_interval(theta, len(success), len(failed))
    return Separation(
        success_n=len(success),
        failed_n=len(failed),
        gap=fmean(success) - fmean(failed),
        superiority=theta,
        low=low,
        high=high,
        p=stats.rank_sum_p(success, failed),
    )


def attack_tests(
    original: Sequence[QuantifierRun], disturbed: Mapping[str, Sequence[QuantifierRun]], name: str
) -> tuple[AttackTest, ...]:
    """Original against disturbed by one criterion: one row of the criterion × attack matrix."""
    before, task_of = subject_means(original, name), tasks_of_subjects(original)
    found = []
    for attack, passes in disturbed.items():
        after = subject_means(passes, name)
        lost = {subject: before[subject] - level for subject, level in after.items() if subject in before}
        drops = list(_means_by(lost, task_of).values())
        found.append(_attack_test(attack, drops, attacks=len(disturbed)))
    return tuple(found)


def _attack_test(attack: str, drops: Sequence[float], *, attacks: int) -> AttackTest:
    wins, losses = sum(drop > 0 for drop in drops), sum(drop < 0 for drop in drops)
    counts = {"n": len(drops), "wins": wins, "losses": losses, "ties": len(drops) - wins - losses}
    if not drops:
        none = Unscored("no run has a value before and after")
        return AttackTest(
            attack=attack, **counts, win_rate=none, low=none, high=none, p=none, drop=none, detected=False
        )
    points = wins + counts["ties"] / 2  # a tie is half a win
    low, high = wilson(points, len(drops))
    p = stats.sign_p(wins, losses)
    return AttackTest(
        attack=attack,
        **counts,
        win_rate=points / len(drops),
        low=low,
        high=high,
        p=p,
        drop=fmean(drops),
        detected=low > 0.5 and p * attacks <= ALPHA,  # each attack is one more chance to be lucky
    )
