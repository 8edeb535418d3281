"""What values say together: means by outcome, and how they hold over repeated passes (§8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, inf
from statistics import fmean, pstdev

from msgspec import Struct

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.judging.criteria.criterion import QuantifierRun

NO_VALUE = Unscored("no run has an accepted value")
NO_GAP = Unscored("no pass has accepted values of both successes and failures")
NOT_REPEATED = Unscored("no run has accepted values in two passes")


class CriterionMeans(Struct, frozen=True, kw_only=True):
    """One criterion in one pass: mean level (0 is worst) by outcome, over accepted values only.

    Attributes:
        gap: success mean − failed mean.
        out_of_vocabulary: what was said instead of an accepted value, and how often.
    """

    name: str
    success_mean: Score
    success_n: int
    failed_mean: Score
    failed_n: int
    gap: Score
    out_of_vocabulary: dict[str, int]


class AcrossRuns(Struct, frozen=True, kw_only=True):
    """One criterion over several passes of a quantifier over the same subjects.

    Attributes:
        mean_of_run_gaps: mean over passes of the gap.
        mean_within_problem_sd: mean over subjects with two values or more of their population sd.
        problems: number of such subjects.
        runs: passes; `runs_ordered_rightly` of them have a higher mean for successes.
    """

    name: str
    runs: int
    mean_of_run_gaps: Score
    mean_within_problem_sd: Score
    problems: int
    runs_ordered_rightly: int


class OutcomeMean(Struct, frozen=True, kw_only=True):
    """One criterion over the runs of one outcome (and agent): a run's level is the mean over its passes.

    Repeats of a task are no new evidence: the mean is that over tasks of each task's mean over its runs.

    Attributes:
        n, tasks: runs with a value, and the tasks that they are of.
        low, high: 95% interval of the mean over tasks (`level_interval`); unscored for one task.
        top: the best level.
    """

    name: str
    agent: str
    success: bool
    n: int
    tasks: int
    mean: float
    low: Score
    high: Score
    top: int


def criterion_means(run: QuantifierRun) -> tuple[CriterionMeans, ...]:
    """Each criterion's means in one pass, in the order of the criteria."""
    return tuple(_means(run, criterion.name) for criterion in run.criteria)


def across_runs(runs: Sequence[QuantifierRun]) -> tuple[AcrossRuns, ...]:
    """Each criterion over all passes that know it."""
    names = dict.fromkeys(criterion.name for run in runs for criterion in run.criteria)
    return tuple(_across([r for r in runs if name in {c.name for c in r.criteria}], name) for name in names)


def outcome_means(passes: Sequence[QuantifierRun], *, by_agent: bool = False) -> tuple[OutcomeMean, ...]:
    """Means by criterion and outcome, successes first, in the order of the criteria (fig. 3).

    Args:
        passes: over the same runs.
        by_agent: one mean for each agent; otherwise over all of them, and `agent` is empty.
    """
    tops = {c.name: len(c.accepted_values) - 1 for run in passes for c in run.criteria}
    task_of = tasks_of_subjects(passes)
    kinds = {
        item.subject: (item.agent if by_agent else "", item.success)
        for run in passes
        for item in run.items
        if item.success is not None
    }
    found = []
    for name, top in tops.items():
        grouped: dict[tuple[str, bool], dict[str, list[float]]] = {}
        for subject, levels in levels_by_subject(passes, name).items():
            if subject in kinds:
                by_task = grouped.setdefault(kinds[subject], {})
                by_task.setdefault(task_of[subject], []).append(fmean(levels))
        ordered = sorted(grouped.items(), key=lambda group: (group[0][0], not group[0][1]))
        found += [_outcome_mean(name, agent, success, v, top) for (agent, success), v in ordered]
    return tuple(found)


def tasks_of_subjects(passes: Iterable[QuantifierRun]) -> dict[str, str]:
    """The task of each subject; a recorded problem without one is its own."""
    return {item.subject: item.task_id or item.subject for run in passes for item in run.items}


def _outcome_mean(
    name: str, agent: str, success: bool, by_task: Mapping[str, Sequence[float]], top: int
) -> OutcomeMean:
    values = [fmean(runs) for runs in by_task.values()]
    low, high = level_interval(values, top)
    return OutcomeMean(
        name=name,
        agent=agent,
        success=success,
        n=sum(map(len, by_task.values())),
        tasks=len(values),
        mean=fmean(values),
        low=low,
        high=high,
        top=top,
    )


def level_interval(values: Sequence[float], top: int) -> tuple[Score, Score]:
    """95% interval of the mean of tasks' levels, on the scale from 0 to `top`.

    That of a share (`untaken.stats.interval_of_share`) by the spread of the tasks alone, as levels are no
    counted trials. Student's t holds the mean in one world of seven where nearly all tasks have one level.
    """
    if len(values) < 2:
        return Unscored("one task has no spread"), Unscored("one task has no spread")
    low, high = stats.interval_of_share([value / top for value in values], trials=inf)
    return top * low, top * high


def levels_by_subject(runs: Iterable[QuantifierRun], name: str) -> dict[str, list[int]]:
    """The accepted values of a criterion as levels, pass by pass, for each subject."""
    found: dict[str, list[int]] = {}
    for run in runs:
        for item in run.items:
            value = item.values.get(name)
            if value is not None and value.level is not None:
                found.setdefault(item.subject, []).append(value.level)
    return found


def top_level(passes: Iterable[QuantifierRun], name: str) -> int:
    """The best level of a criterion."""
    return max(
        (len(c.accepted_values) - 1 for run in passes for c in run.criteria if c.name == name), default=1
    )


def _means(run: QuantifierRun, name: str) -> CriterionMeans:
    values = [(item.success, item.values[name]) for item in run.items if name in item.values]
    success = [v.level for outcome, v in values if outcome is True and v.level is not None]
    failed = [v.level for outcome, v in values if outcome is False and v.level is not None]
    best, worst = mean_or(success), mean_or(failed)
    gap = best if isinstance(best, Unscored) else worst if isinstance(worst, Unscored) else best - worst
    other = Counter(v.text for _, v in values if v.out_of_vocabulary)
    return CriterionMeans(
        name=name,
        success_mean=best,
        success_n=len(success),
        failed_mean=worst,
        failed_n=len(failed),
        gap=gap,
        out_of_vocabulary=dict(sorted(other.items())),
    )


def _across(runs: Sequence[QuantifierRun], name: str) -> AcrossRuns:
    gaps = [gap for run in runs if not isinstance(gap := _means(run, name).gap, Unscored)]
    repeated = [levels for levels in levels_by_subject(runs, name).values() if len(levels) > 1]
    return AcrossRuns(
        name=name,
        runs=len(runs),
        mean_of_run_gaps=mean_or(gaps, NO_GAP),
        mean_within_problem_sd=mean_or([pstdev(levels) for levels in repeated], NOT_REPEATED),
        problems=len(repeated),
        runs_ordered_rightly=sum(gap > 0 for gap in gaps),
    )


def mean_or(values: Sequence[float], none: Unscored = NO_VALUE) -> Score:
    """Their mean, or why there is none."""
    return fsum(values) / len(values) if values else none  # the same in whatever order
