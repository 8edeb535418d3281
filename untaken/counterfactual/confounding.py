"""The guard on support: a difference over all runs must hold within task and agent, too (§2a).

Of each comparison that an interval over all runs supports, the runs behind it are laid out in one column, so
that a thousand comparisons cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from untaken.counterfactual.histories import Scales, Used
from untaken.counterfactual.strata import Compared, Numbers, Together, numbers_of
from untaken.counterfactual.words import N_MIN, end_words
from untaken.memory.history import History
from untaken.memory.totals import NOWHERE
from untaken.stats.stratified import mean_differences, orders_of

AT_ONCE: Final = 30_000
"""Runs laid out at a time: few enough for a processor's cache."""
HOLDS, NOT_NAMED, TASK_COINCIDES, AGENT_COINCIDES, NOT_WITHIN, BEFORE, AFTER = range(7)


class Claims(NamedTuple):
    """Supported differences, to be looked at within task and agent: columns.

    Attributes:
        compared: two skills, and where; `which` of these each claim is about.
        cut: how many observations are known; `without` the number of the run left out.
        scales, used: of the comparison; `above` whether the alternative has the better histories.
    """

    compared: Sequence[Compared]
    which: np.ndarray
    cut: np.ndarray
    without: np.ndarray
    scales: Scales
    used: Used
    above: np.ndarray


class Doubts(NamedTuple):
    """Whether each claim holds, by number; what was found inside strata, over how many runs of a side."""

    outcome: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n1: np.ndarray
    n0: np.ndarray

    def words(self, row: int) -> str:
        """Why a claim does not hold."""
        outcome = self.outcome[row]
        if outcome == NOT_NAMED:
            return "the memory does not name the task and agent of every run: rebuild it from its ledgers"
        if outcome in (TASK_COINCIDES, AGENT_COINCIDES):
            what = "task" if outcome == TASK_COINCIDES else "agent"
            return f"confounded: {what} and skill coincide"
        if outcome in (BEFORE, AFTER):
            when = "before" if outcome == BEFORE else "after"
            return f"confounded: time and skill coincide (within task and agent the alternative came {when})"
        runs = f"{self.n1[row]} and {self.n0[row]} runs"
        if np.isnan(self.value[row]):
            return f"compared within task and agent: nothing varied, {runs}"
        low, high = end_words(max(-1.0, self.low[row])), end_words(min(1.0, self.high[row]))
        return f"compared within task and agent: {self.value[row]:+.2f} ({low} to {high}), {runs}"


NO_DOUBTS: Final = Doubts(*(np.zeros(0, dtype=int) for _ in Doubts._fields))


def doubts_of(history: History, claims: Claims) -> Doubts:
    """Which of the claims hold within task and agent.

    A run that took both skills says nothing of the two.
    """
    numbers = numbers_of(history)
    parts = [numbers.together(history, compared) for compared in claims.compared]
    if not parts:
        return NO_DOUBTS
    flat = Together(*map(np.concatenate, zip(*parts, strict=True)))
    lengths, size = [part.run.size for part in parts], len(history.log) + 1
    begins = (np.cumsum(lengths) - lengths)[claims.which]
    order = np.repeat(np.arange(len(parts)), lengths) * size + flat.position
    sizes = np.searchsorted(order, claims.which * size + claims.cut) - begins
    found = [
        _judged(numbers, flat, begins[rows], sizes[rows], _some(claims, rows)) for rows in _batches(sizes)
    ]
    return Doubts(*map(np.concatenate, zip(*found, strict=True)))


def _batches(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Rows that together have few enough runs."""
    batch = np.cumsum(sizes) // AT_ONCE
    for number in np.unique(batch):
        yield np.flatnonzero(batch == number)


def _some(claims: Claims, rows: np.ndarray) -> Claims:
    return Claims(
        claims.compared,
        claims.which[rows],
        claims.cut[rows],
        claims.without[rows],
        claims.scales.rows(rows),
        Used(*(column[rows] for column in claims.used)),
        claims.above[rows],
    )


def _judged(
    numbers: Numbers, flat: Together, begins: np.ndarray, sizes: np.ndarray, claims: Claims
) -> Doubts:
    rows = sizes.size
    claim = np.repeat(np.arange(rows), sizes)
    at = np.arange(claim.size) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    if (claims.without != NOWHERE).any():
        taken = flat.run[at] != claims.without[claim]
        claim, at = claim[taken], at[taken]
    unnamed = np.bincount(claim[~flat.known[at]], minlength=rows) > 0
    single = _one_stratum(claim, flat.stratum[at], rows) & ~unnamed
    one_side = flat.other[at] >= claims.cut[claim]
    claim, at = claim[one_side], at[one_side]
    n1, n0, shared = _in_shared(claim, flat.alternative[at], flat.stratum[at], rows)
    score = np.full(claim.size, np.nan)
    score[shared] = _scores(flat, at[shared], claims, claim[shared])
    kept = ~np.isnan(score)  # the others can make no difference
    both = kept[kept]
    if both.size < shared.sum():
        n1, n0, both = _in_shared(claim[kept], flat.alternative[at[kept]], flat.stratum[at[kept]], rows)
    lone = (n1 == 0)[claim]
    tasks, _, _ = _in_shared(claim[lone], flat.alternative[at[lone]], flat.task[at[lone]], rows)
    claim, at, score, shared = claim[kept], at[kept], score[kept], both
    first, stratum = flat.alternative[at], flat.stratum[at]
    value, low, high = mean_differences(score, first, stratum, claim, comparisons=rows)
    excludes = np.where(claims.above, low > 0, high < 0) & (np.minimum(n1, n0) >= N_MIN)
    timed = excludes[claim] & shared
    order = np.zeros(rows, dtype=int)
    if timed.any():
        moment = numbers.moments[flat.position[at[timed]]]
        order = orders_of(moment, first[timed], stratum[timed], claim[timed], comparisons=rows)
    outcome = np.select(
        [single, unnamed, (n1 == 0) & (tasks == 0), n1 == 0, ~excludes, order < 0, order > 0],
        [HOLDS, NOT_NAMED, TASK_COINCIDES, AGENT_COINCIDES, NOT_WITHIN, BEFORE, AFTER],
        HOLDS,
    )
    return Doubts(outcome, value, low, high, n1, n0)


def _scores(runs: Together, at: np.ndarray, claims: Claims, claim: np.ndarray) -> np.ndarray:
    """Scores of runs on the scales of their claims; NaN where a run lacks what its claim compares."""
    scales = claims.scales.rows(claim)
    with np.errstate(all="ignore"):
        placed = scales.place(runs.success[at], runs.cost[at], runs.steps[at])
        return scales.scores(placed, Used(*(used[claim] for used in claims.used)))


def _one_stratum(claim: np.ndarray, stratum: np.ndarray, rows: int) -> np.ndarray:
    """Whether all runs of a claim are of one stratum."""
    strata = int(stratum.max(initial=0)) + 1
    there = np.bincount(claim * strata + stratum, minlength=rows * strata) > 0
    one: np.ndarray = there.reshape(rows, strata).sum(axis=1) <= 1
    return one


def _in_shared(
    claim: np.ndarray, first: np.ndarray, stratum: np.ndarray, rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Runs of either side in strata (or tasks) that have both, by claim; and whether each run is in one."""
    strata = int(stratum.max(initial=0)) + 1
    cell = claim * strata + stratum
    n1, n0 = (np.bincount(cell[side], minlength=rows * strata) for side in (first, ~first))
    both = (n1 > 0) & (n0 > 0)
    one, two = ((n * both).reshape(rows, strata).sum(axis=1) for n in (n1, n0))
    return one, two, both[cell]
