"""The calibration card: what the forecasts of left-out tasks were worth (§2d)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from msgspec import Struct

from untaken.counterfactual.plan.evaluate import EvaluatedDecision, PlanEvaluation
from untaken.errors import Score, Unscored
from untaken.stats import wilson

RUNS_MIN: Final = 20
"""Fewest runs with an outcome and a forecast for a card."""
TASKS_MIN: Final = 3
BINS: Final = 5
ENDS: Final = frozenset({"stop_open", "stop_done"})


class ReliabilityBin(Struct, frozen=True, kw_only=True, gc=False):
    """Forecasts between two bounds, and the outcomes.

    Attributes:
        predicted, observed: means over the forecasts.
        low, high: Wilson's 95% interval of `observed` with the tasks as n, for runs of one task are alike.
        n: forecasts; `runs` and `tasks`: behind them.
    """

    above: float
    up_to: float
    predicted: float
    observed: float
    low: float
    high: float
    n: int
    runs: int
    tasks: int


class SupportClass(Struct, frozen=True, kw_only=True, gc=False):
    """The forecasts at decisions where an alternative is supported, or not, or where there was none."""

    support: str
    n: int
    brier: float
    skill: Score


class Hindsight(Struct, frozen=True, kw_only=True, gc=False):
    """What forecasts at the end of their run were worth: they know all of the run but its outcome."""

    n: int
    brier: float
    skill: Score


class CalibrationCard(Struct, frozen=True, kw_only=True):
    """How good the forecasts at the plan changes of runs were, the run's own task left out.

    At its end a run is over: a forecast made then is hindsight, and is counted apart.

    Attributes:
        n: forecasts, one a plan change; `runs` and `tasks`: behind them.
        brier: mean squared error of the forecasts.
        skill: 1 − brier / that of the mean success of all runs with a plan change.
        skill_over_task: the same against the mean of the run's own task, which knows that task's outcomes.
        bins: of equal width; empty ones are left out.
        hindsight: forecasts at the end of runs, where nothing changes any more; ``None`` without any.
    """

    n: int
    runs: int
    tasks: int
    brier: float
    skill: Score
    skill_over_task: Score
    bins: tuple[ReliabilityBin, ...]
    by_support: tuple[SupportClass, ...]
    hindsight: Hindsight | None


class _Point(NamedTuple):
    forecast: float
    outcome: float
    task_id: str
    digest: str
    support: str
    at_end: bool

    @property
    def squared(self) -> float:
        return (self.forecast - self.outcome) ** 2


def calibration_card(evaluation: PlanEvaluation) -> CalibrationCard | Unscored:
    """The card of a corpus, or why it has none."""
    everything = list(_points(evaluation))
    points, after = ([p for p in everything if p.at_end is end] for end in (False, True))
    runs, tasks = {p.digest for p in points}, {p.task_id for p in points}
    if len(runs) < RUNS_MIN or len(tasks) < TASKS_MIN:
        return Unscored(
            f"{len(runs)} runs of {len(tasks)} tasks have an outcome and a forecast before their end: a "
            f"card needs at least {RUNS_MIN} runs of {TASKS_MIN} tasks"
        )
    brier = fmean(p.squared for p in points)
    everybody = fmean({p.digest: p.outcome for p in everything}.values())  # a run once, whatever its changes
    hindsight = None
    if after:
        skill = _skill(after, lambda _: everybody)
        hindsight = Hindsight(n=len(after), brier=fmean(p.squared for p in after), skill=skill)
    own = _task_means(points)
    return CalibrationCard(
        n=len(points),
        runs=len(runs),
        tasks=len(tasks),
        brier=brier,
        skill=_skill(points, lambda _: everybody),
        skill_over_task=_skill(points, lambda p: own[p.task_id]),
        bins=tuple(_bins(points)),
        by_support=tuple(_classes(points, everybody)),
        hindsight=hindsight,
    )


def _points(evaluation: PlanEvaluation) -> Iterable[_Point]:
    for run in evaluation.runs.values():
        if isinstance(run.path.success, Unscored):
            continue
        for each in run.decisions:
            if not isinstance(each.forecast, Unscored):
                yield _Point(
                    each.forecast,
                    float(run.path.success),
                    run.path.task_id,
                    run.path.digest,
                    _support(each),
                    each.decision.option.kind in ENDS,
                )


def _support(decision: EvaluatedDecision) -> str:
    if not decision.alternatives:
        return "no alternative"
    return "supported" if any(a.supported for a in decision.alternatives) else "not supported"


def _task_means(points: Iterable[_Point]) -> dict[str, float]:
    outcomes: dict[str, dict[str, float]] = defaultdict(dict)
    for p in points:
        outcomes[p.task_id][p.digest] = p.outcome  # a run once, whatever its changes
    return {task: fmean(runs.values()) for task, runs in outcomes.items()}


def _skill(points: Sequence[_Point], reference: Callable[[_Point], float]) -> Score:
    error = fmean((reference(p) - p.outcome) ** 2 for p in points)
    if not error:
        return Unscored("the reference has no error, so nothing can improve on it")
    return 1 - fmean(p.squared for p in points) / error


def _bins(points: Sequence[_Point]) -> Iterable[ReliabilityBin]:
    filled: dict[int, list[_Point]] = defaultdict(list)
    for p in points:
        filled[min(BINS - 1, int(p.forecast * BINS))].append(p)  # a forecast of 1 is in the last one
    for at in sorted(filled):
        inside = filled[at]
        observed = fmean(p.outcome for p in inside)
        tasks = len({p.task_id for p in inside})
        low, high = wilson(observed * tasks, tasks)  # by tasks: runs of one are alike
        yield ReliabilityBin(
            above=at / BINS,
            up_to=(at + 1) / BINS,
            predicted=fmean(p.forecast for p in inside),
            observed=observed,
            low=low,
            high=high,
            n=len(inside),
            runs=len({p.digest for p in inside}),
            tasks=tasks,
        )


def _classes(points: Sequence[_Point], everybody: float) -> Iterable[SupportClass]:
    for support in ("supported", "not supported", "no alternative"):
        inside = [p for p in points if p.support == support]
        if inside:
            yield SupportClass(
                support=support,
                n=len(inside),
                brier=fmean(p.squared for p in inside),
                skill=_skill(inside, lambda _: everybody),
            )
