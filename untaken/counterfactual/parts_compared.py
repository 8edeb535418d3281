"""How two skills of a snapshot differ in success, cost and steps between runs of one task and agent (§2e)."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import Final

import numpy as np

from untaken.counterfactual.parts import ScorePart, ScoreParts
from untaken.counterfactual.scoring import Outcome
from untaken.counterfactual.strata import UNKNOWN, Runs, numbers_of, one_of_each
from untaken.errors import Score, Unscored
from untaken.memory import Record, Snapshot
from untaken.memory.sums import mean
from untaken.stats.stratified import mean_differences

NOT_RECORDED: Final = Unscored("a side does not record it")
NOT_NAMED: Final = Unscored("the memory does not name the task and agent of every run")
NOT_ALIKE: Final = Unscored("no agent took both in one task")
ONE_RUN: Final = Unscored("a history is compared with one run")
SAME_IN_ALL: Final = Unscored("it is the same in all runs that are compared")


def parts_between(
    snapshot: Snapshot, pairs: Iterable[tuple[str, str, str]]
) -> dict[tuple[str, str, str], ScoreParts]:
    """The parts of each (selected skill, alternative, context hash), over all that the snapshot knows.

    A run that took both in the context is on neither side.
    """
    numbers = numbers_of(snapshot.history)
    found = {}
    for selected, alternative, context_hash in pairs:
        one, two = (
            _known(numbers.runs(snapshot.history, skill, context_hash), snapshot.observations)
            for skill in (alternative, selected)
        )
        both = np.intersect1d(one.run, two.run)
        one, two = (side.where(~np.isin(side.run, both)) for side in (one, two))
        found[selected, alternative, context_hash] = ScoreParts(
            success=_part(one, two, one.success, two.success),
            cost=_part(one, two, one.cost, two.cost),
            steps=_part(one, two, one.steps, two.steps),
            cost_unit=snapshot.cost_unit or "",
        )
    return found


def parts_of_delta(history: Record, own: Outcome, cost_unit: str | None) -> ScoreParts:
    """The parts of a delta: a history's outcomes against one run's own."""
    s = history.sums
    columns = (
        (mean(s.x, s.n), s.n, own.success),
        (history.avg_cost, s.priced, own.cost),
        (history.avg_steps, s.timed, own.steps),
    )
    success, cost, steps = (
        ScorePart(
            alternative=value if n else NOT_RECORDED,
            selected=NOT_RECORDED if figure is None else figure,
            n_alternative=n,
            n_selected=int(figure is not None),
            within=ONE_RUN,
            low=ONE_RUN,
            high=ONE_RUN,
        )
        for value, n, figure in columns
    )
    return ScoreParts(success=success, cost=cost, steps=steps, cost_unit=cost_unit or "")


def _known(runs: Runs, observations: int) -> Runs:
    return runs.where(runs.position < observations)


def _part(one: Runs, two: Runs, alternative: np.ndarray, selected: np.ndarray) -> ScorePart:
    have = ~np.isnan(alternative), ~np.isnan(selected)
    values = alternative[have[0]], selected[have[1]]
    once = one_of_each(one.unit[have[0]]), one_of_each(two.unit[have[1]])
    strata = one.stratum[have[0]][once[0]], two.stratum[have[1]][once[1]]
    within, low, high = _within((values[0][once[0]], values[1][once[1]]), strata)
    return ScorePart(
        alternative=_mean(values[0]),
        selected=_mean(values[1]),
        n_alternative=values[0].size,
        n_selected=values[1].size,
        within=within,
        low=low,
        high=high,
    )


def _mean(values: np.ndarray) -> Score:
    return fsum(values.tolist()) / values.size if values.size else NOT_RECORDED


def _within(
    values: tuple[np.ndarray, np.ndarray], strata: tuple[np.ndarray, np.ndarray]
) -> tuple[Score, Score, Score]:
    """The difference between runs of one stratum, and its interval."""
    every, stratum = np.concatenate(values), np.concatenate(strata)
    if not values[0].size or not values[1].size:
        return NOT_RECORDED, NOT_RECORDED, NOT_RECORDED
    if (stratum == UNKNOWN).any():
        return NOT_NAMED, NOT_NAMED, NOT_NAMED
    first = np.arange(every.size) < values[0].size
    kept = np.isin(stratum, np.intersect1d(*strata))
    if not kept.any():
        return NOT_ALIKE, NOT_ALIKE, NOT_ALIKE
    number = np.unique(stratum[kept], return_inverse=True)[1]
    one = np.zeros(number.size, dtype=int)  # comparison
    found = mean_differences(every[kept], first[kept], number, one, comparisons=1)
    value, low, high = (float(column[0]) for column in found)
    if np.isnan(value):
        return 0.0, SAME_IN_ALL, SAME_IN_ALL
    return value, low, high
