"""How two skills of a snapshot differ in success, cost and steps between runs of one task and agent (§2e)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from untaken import stats
from untaken.counterfactual.memory import Record, Snapshot
from untaken.counterfactual.memory.sums import mean
from untaken.counterfactual.parts import ScorePart, ScoreParts
from untaken.counterfactual.scoring import Outcome
from untaken.counterfactual.strata import UNKNOWN, Numbers, Runs, numbers_of, one_of_each
from untaken.errors import Score, Unscored

NOT_RECORDED: Final = Unscored("a side does not record it")
NOT_NAMED: Final = Unscored("the memory does not name the task and agent of every run")
NOT_ALIKE: Final = Unscored("no agent took both in one task")
ONE_RUN: Final = Unscored("a history is compared with one run")
SAME_IN_ALL: Final = Unscored("it is the same in all runs that are compared")
NOBODY: Final = np.zeros(0, dtype=int)
CELLS: Final = 1_000_000
"""Strata of comparisons that are added up at a time."""


def parts_between(
    snapshot: Snapshot, pairs: Iterable[tuple[str, str, str]]
) -> dict[tuple[str, str, str], ScoreParts]:
    """The parts of each (selected skill, alternative, context hash), over all that the snapshot knows.

    A run that took both in the context is on neither side.
    """
    numbers, asked = numbers_of(snapshot.history), list(pairs)
    # One for all comparisons, cleared after each: a new one each time would be a pass over the log.
    taken = np.zeros(numbers.unit.size, dtype=bool)

    sides: dict[tuple[str | None, ...], tuple[Runs, Runs]] = {}
    which = []
    for selected, alternative, context_hash in asked:
        one, two = (
            _known(numbers.runs(snapshot.history, skill, context_hash), snapshot.observations)
            for skill in (alternative, selected)
        )
        # Options that nobody took are alike: of a log with many they are by far the most.
        key = alternative if one.run.size else None, selected if two.run.size else None, context_hash
        which.append(key)
        if key not in sides:
            sides[key] = _without(one, two, taken), _without(two, one, taken)
    copies = snapshot.history.columns.copies
    figures = {
        name: [_Figures.of(one, two, name, copies=copies) for one, two in sides.values()]
        for name in ("success", "cost", "steps")
    }
    success = _parts(figures["success"])
    cost, steps = (
        [
            _held_in_time(part, some, numbers)
            for part, some in zip(_parts(figures[name]), figures[name], strict=True)
        ]
        for name in ("cost", "steps")
    )
    unit = snapshot.cost_unit or ""
    parts = {
        key: ScoreParts(success=s, cost=c, steps=t, cost_unit=unit)
        for key, s, c, t in zip(sides, success, cost, steps, strict=True)
    }
    return {pair: parts[key] for pair, key in zip(asked, which, strict=True)}


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
    unit = "" if isinstance(cost.difference, Unscored) else cost_unit  # else it may be that of later runs
    return ScoreParts(success=success, cost=cost, steps=steps, cost_unit=unit or "")


def parts_of_runs(
    alternative: Sequence[tuple[int, Outcome]], selected: Sequence[tuple[int, Outcome]], cost_unit: str
) -> ScoreParts:
    """The parts of two groups of runs, each run with the number of its stratum (task, agent and so on)."""
    figures = []
    for name in ("success", "cost", "steps"):
        columns = []
        for side in (alternative, selected):
            known = [(at, value) for at, one in side if (value := getattr(one, name)) is not None]
            columns.append(
                (np.array([value for _, value in known]), np.array([at for at, _ in known], dtype=int))
            )
        (one, first), (two, second) = columns
        figures.append(_Figures((one, two), (one, two), (first, second)))
    success, cost, steps = _parts(figures)
    return ScoreParts(success=success, cost=cost, steps=steps, cost_unit=cost_unit)


def _known(runs: Runs, observations: int) -> Runs:
    return runs.where(runs.position < observations)


def _without(runs: Runs, others: Runs, taken: np.ndarray) -> Runs:
    """Those that are not in both; `taken` has False for every run of the log, before and after."""
    taken[others.run] = True
    kept = ~taken[runs.run]
    taken[others.run] = False
    return runs.where(kept)


class _Figures(NamedTuple):
    """One figure of the runs on both sides of a comparison, the alternative's first; of copies the first.

    Attributes:
        every: all the values of a side, copies too.
        values: one a unit; `stratum`: of each; `run`: its number in the log, empty without a log.
    """

    every: tuple[np.ndarray, np.ndarray]
    values: tuple[np.ndarray, np.ndarray]
    stratum: tuple[np.ndarray, np.ndarray]
    run: tuple[np.ndarray, np.ndarray] = (NOBODY, NOBODY)

    @classmethod
    def of(cls, one: Runs, two: Runs, figure: str, *, copies: bool) -> _Figures:
        """Of the runs that have the figure."""
        every, values, strata, runs = [], [], [], []
        for side in (one, two):
            column = getattr(side, figure)
            have = ~np.isnan(column)
            value, stratum = column[have], side.stratum[have]
            once = one_of_each(side.unit[have]) if copies else slice(None)
            every.append(value)
            values.append(value[once])
            strata.append(stratum[once])
            runs.append(side.run[have][once])
        return cls(*((some[0], some[1]) for some in (every, values, strata, runs)))

    @property
    def why_not(self) -> Unscored | None:
        """Why there is nothing to compare, as far as one sees without looking into strata."""
        if not self.values[0].size or not self.values[1].size:
            return NOT_RECORDED
        return NOT_NAMED if any((side == UNKNOWN).any() for side in self.stratum) else None


def _parts(figures: Sequence[_Figures]) -> list[ScorePart]:
    """A figure over many comparisons, all tested at once."""
    refused = [some.why_not for some in figures]
    tested = iter(_within([some for some, why in zip(figures, refused, strict=True) if why is None]))
    return [
        _part(some, next(tested) if why is None else (why, why, why))
        for some, why in zip(figures, refused, strict=True)
    ]


def _part(some: _Figures, difference: tuple[Score, Score, Score]) -> ScorePart:
    (alternative, selected), (within, low, high) = some.every, difference
    return ScorePart(
        alternative=_mean(alternative),
        selected=_mean(selected),
        n_alternative=alternative.size,
        n_selected=selected.size,
        within=within,
        low=low,
        high=high,
    )


def _held_in_time(part: ScorePart, some: _Figures, numbers: Numbers) -> ScorePart:
    """The part, without its interval where the difference does not hold at about the same time.

    The rule of success (`support`): prices and tasks change with time, too.
    """
    if not part.sign:
        return part
    first = np.arange(sum(side.size for side in some.run)) < some.run[0].size
    why = numbers.comparison(np.concatenate(some.run), first).why_time(np.concatenate(some.values))
    return replace(part, low=Unscored(why), high=Unscored(why)) if why else part


def _mean(values: np.ndarray) -> Score:
    return stats.mean(values.tolist()) if values.size else NOT_RECORDED


def _within(figures: Sequence[_Figures]) -> Iterator[tuple[Score, Score, Score]]:
    """The difference of each between runs of one stratum, and its interval."""
    # There may be no figures.
    every = np.concatenate([np.zeros(0, int), *(s for some in figures for s in some.stratum)])
    there = np.bincount(every) > 0
    number, strata = np.cumsum(there) - 1, max(1, int(there.sum()))
    at_once = max(1, CELLS // strata)
    for begin in range(0, len(figures), at_once):
        batch = figures[begin : begin + at_once]
        sides = [len(side) for some in batch for side in some.values]
        first = np.repeat(np.arange(len(sides)) % 2 == 0, sides)
        comparison = np.repeat(np.arange(len(sides)) // 2, sides)
        values = np.concatenate([side for some in batch for side in some.values])
        stratum = number[np.concatenate([side for some in batch for side in some.stratum])]
        alike = _alike(first, stratum, comparison, (len(batch), strata)).tolist()
        found = stats.mean_differences(values, first, stratum, comparison, comparisons=len(batch))
        for there, value, low, high in zip(alike, *(column.tolist() for column in found), strict=True):
            if not there:
                yield NOT_ALIKE, NOT_ALIKE, NOT_ALIKE
            elif isnan(value):
                yield 0.0, SAME_IN_ALL, SAME_IN_ALL
            else:
                yield value, low, high


def _alike(
    first: np.ndarray, stratum: np.ndarray, comparison: np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    """Whether some stratum of each comparison has both sides."""
    place, (comparisons, strata) = comparison * shape[1] + stratum, shape
    one, two = (np.bincount(place[side], minlength=comparisons * strata) > 0 for side in (first, ~first))
    found: np.ndarray = np.logical_or.reduce((one & two).reshape(shape), axis=1)
    return found
