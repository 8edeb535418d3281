"""The guard on support: a difference over all runs must hold within task and agent, too (§2a).

Of each comparison that an interval over all runs supports, the runs behind it are laid out in one column, so
that a thousand comparisons cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from untaken.counterfactual.histories import Scales, Used
from untaken.counterfactual.strata import BothSides, Compared, FirstPositions, Numbers, Together, numbers_of
from untaken.counterfactual.words import N_MIN, end_words
from untaken.memory.history import History
from untaken.memory.totals import NOWHERE
from untaken.stats.stratified import (
    MeanDifferences,
    mean_differences,
    orders_of,
    places_of,
    running_differences,
    shown_by,
)

AT_ONCE: Final = 30_000
"""Runs laid out at a time: few enough for a processor's cache."""
COMPARED_AT_ONCE: Final = 32
"""Comparisons whose runs are held at a time."""
WORTHWHILE: Final = 8
"""Claims are worked out together if one by one they had so many times the runs that they have together."""
DIGITS: Final = 9
"""Of figures in words: so they do not depend on the order in which runs are added up."""
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

    def about(self, first: int, last: int) -> tuple[Claims, np.ndarray]:
        """Those about some of the comparisons, and their numbers."""
        some = np.flatnonzero((first <= self.which) & (self.which < last))
        return Claims(
            compared=self.compared[first:last],
            which=self.which[some] - first,
            cut=self.cut[some],
            without=self.without[some],
            scales=self.scales.rows(some),
            used=Used(*(used[some] for used in self.used)),
            above=self.above[some],
        ), some


class Doubts(NamedTuple):
    """Whether each claim holds, by number; what was found inside strata, over how many runs of a side."""

    outcome: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n1: np.ndarray
    n0: np.ndarray

    @classmethod
    def none(cls, claims: int) -> Doubts:
        """Room for so many claims."""
        return cls(*(np.zeros(claims, kind) for kind in (int, float, float, float, int, int)))

    def put(self, some: np.ndarray, found: Doubts) -> None:
        """Write what was found of some claims."""
        for column, values in zip(self, found, strict=True):
            column[some] = values

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


NO_DOUBTS: Final = Doubts.none(0)


class LaidOut(NamedTuple):
    """Runs that may count, of one comparison after the other; of each claim those `begin` and what follows.

    Only runs in strata (or tasks) that have both skills can say anything: as a rule few of all there are.
    `lasting` marks the claims in which every run that may count does so from then on.
    """

    runs: Together
    begin: np.ndarray
    size: np.ndarray
    lasting: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Together], claims: Claims) -> LaidOut:
        """Those known at each claim's cut."""
        runs = Together(*map(np.concatenate, zip(*parts, strict=True)))
        lengths = [part.run.size for part in parts]
        below = max(int(runs.since.max(initial=0)), int(claims.cut.max(initial=0))) + 1
        order = np.repeat(np.arange(len(parts)), lengths) * below + runs.since
        begin = (np.cumsum(lengths) - lengths)[claims.which]
        size = np.searchsorted(order, claims.which * below + claims.cut) - begin
        lasting = np.array([bool(np.isinf(part.other).all()) for part in parts])[claims.which]
        return cls(runs, begin, size, lasting & (claims.without == NOWHERE))

    def together(self, claims: Claims, among: np.ndarray) -> Iterator[np.ndarray]:
        """Those of the claims that are worked out together: of one comparison on the same scales."""
        some = among[self.lasting[among]]
        columns = *claims.used, *claims.scales.cost, *claims.scales.steps, claims.which
        some = some[np.lexsort([column[some] for column in columns])]
        other = np.logical_or.reduce([column[some][1:] != column[some][:-1] for column in columns])
        for like in np.split(some, np.flatnonzero(other) + 1):
            if like.size > 1 and self.size[like].sum() > WORTHWHILE * self.size[like].max():
                yield like

    def batches(self, among: np.ndarray) -> Iterator[np.ndarray]:
        """Some of the claims, by number, as many at a time as have few enough runs."""
        batch = np.cumsum(self.size[among] + 16) // AT_ONCE  # a claim has its cost without any run, too
        for number in np.unique(batch):
            yield among[batch == number]

    def rows(self, claims: Claims, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The runs of some claims: the place of the claim among these, and of the run.

        A run that took both skills by then is on neither side, nor is the one to leave out.
        """
        size = self.size[some]
        claim = np.repeat(np.arange(some.size), size)
        at = np.arange(claim.size) + np.repeat(self.begin[some] - (np.cumsum(size) - size), size)
        counts = self.runs.other[at] >= claims.cut[some][claim]
        if ((without := claims.without[some]) != NOWHERE).any():
            counts &= self.runs.run[at] != without[claim]
        return claim[counts], at[counts]


def doubts_of(history: History, claims: Claims) -> Doubts:
    """Which of the claims hold within task and agent; some comparisons at a time, for their runs are many."""
    doubts = Doubts.none(claims.which.size)
    for first in range(0, len(claims.compared), COMPARED_AT_ONCE):
        about, some = claims.about(first, first + COMPARED_AT_ONCE)
        doubts.put(some, _doubts_of(history, about))
    return doubts


def _doubts_of(history: History, claims: Claims) -> Doubts:
    numbers = numbers_of(history)
    sides = [numbers.both(history, compared) for compared in claims.compared]
    unnamed, single = _seen(sides, claims)
    strata, rest = LaidOut.of([side.in_strata for side in sides], claims), np.ones(claims.which.size, bool)
    doubts = Doubts.none(rest.size)
    for some in strata.together(claims, np.arange(rest.size)):
        found, sure = _judged_together(numbers, strata, claims, some)
        doubts.put(some, found)
        rest[some[sure]] = False
    for some in strata.batches(np.flatnonzero(rest)):
        doubts.put(some, _judged(numbers, strata, claims, some))
    tasks, apart = LaidOut.of([side.in_tasks for side in sides], claims), np.flatnonzero(doubts.n1 == 0)
    doubts.outcome[apart] = AGENT_COINCIDES
    doubts.outcome[_without_tasks(tasks, claims, apart)] = TASK_COINCIDES
    outcome = np.select([single, unnamed], [HOLDS, NOT_NAMED], doubts.outcome)
    return doubts._replace(outcome=outcome)


def _seen(sides: Sequence[BothSides], claims: Claims) -> tuple[np.ndarray, np.ndarray]:
    """Of each claim, whether the log does not name some run behind it, or all are of one stratum."""
    begins = np.array([(side.seen.unnamed, side.seen.varied) for side in sides])[claims.which]
    for claim in np.flatnonzero(claims.without != NOWHERE).tolist():
        side, own = sides[claims.which[claim]], claims.without[claim]
        if own in side.seen.decisive:
            begins[claim] = FirstPositions.of(side.everyone.where(side.everyone.run != own))[:2]
    unnamed, varied = (begins < claims.cut[:, None]).T
    return unnamed, ~varied & ~unnamed


def _judged(numbers: Numbers, strata: LaidOut, claims: Claims, some: np.ndarray) -> Doubts:
    """Whether some claims hold within strata."""
    rows, (claim, at), runs = some.size, strata.rows(claims, some), strata.runs
    n1, n0, shared = _in_shared(claim, runs.alternative[at], runs.group[at], rows)
    claim, at = claim[shared], at[shared]
    score = _scores(runs, at, claims, some[claim])
    if (lacking := np.isnan(score)).any():  # these can make no difference
        claim, at, score = claim[~lacking], at[~lacking], score[~lacking]
        n1, n0, shared = _in_shared(claim, runs.alternative[at], runs.group[at], rows)
        claim, at, score = claim[shared], at[shared], score[shared]
    first, stratum = runs.alternative[at], runs.group[at]
    found = mean_differences(score, first, stratum, claim, comparisons=rows)
    timed = _excludes(claims, some, found, n1, n0)
    order = np.zeros(rows, dtype=int)
    if timed[claim].any():
        in_time = timed[claim]
        moment = numbers.moments[runs.position[at[in_time]]]
        order = orders_of(moment, first[in_time], stratum[in_time], claim[in_time], comparisons=rows)
    return _outcomes(timed, order, found, n1, n0)


def _judged_together(
    numbers: Numbers, strata: LaidOut, claims: Claims, some: np.ndarray
) -> tuple[Doubts, np.ndarray]:
    """`_judged` of claims of one comparison on the same scales; and whether rounding could change nothing."""
    begin, size, runs = strata.begin[some[0]], strata.size[some], strata.runs
    at = np.arange(begin, begin + size.max())
    score = _scores(runs, at, claims, np.full(at.size, some[0]))
    complete = ~np.isnan(score)  # the others can make no difference
    known = np.append(0, np.cumsum(complete))[size]
    at, score = at[complete], score[complete]
    first, stratum, position = runs.alternative[at], runs.group[at], runs.position[at]
    by_stratum = np.lexsort((position, stratum))
    found, n1, n0, sure = running_differences(score, first, stratum, by_stratum, known)
    timed = _excludes(claims, some, found, n1, n0)
    order = np.zeros(some.size, dtype=int)
    if timed.any():
        place = places_of(numbers.moments[position], stratum, np.zeros_like(stratum))
        in_time = running_differences(place, first, stratum, by_stratum, known[timed])
        order[timed] = shown_by(in_time.found)
        sure[timed] &= in_time.sure
    return _outcomes(timed, order, found, n1, n0), sure | (n1 == 0)


def _excludes(
    claims: Claims, some: np.ndarray, found: MeanDifferences, n1: np.ndarray, n0: np.ndarray
) -> np.ndarray:
    """Whether enough runs show what a claim says."""
    shown = np.where(claims.above[some], found.low > 0, found.high < 0)
    enough: np.ndarray = shown & (np.minimum(n1, n0) >= N_MIN)
    return enough


def _outcomes(
    excludes: np.ndarray, order: np.ndarray, found: MeanDifferences, n1: np.ndarray, n0: np.ndarray
) -> Doubts:
    outcome = np.select([~excludes, order < 0, order > 0], [NOT_WITHIN, BEFORE, AFTER], HOLDS)
    value, low, high = (np.round(column, DIGITS) for column in found)
    return Doubts(outcome, value, low, high, n1, n0)


def _without_tasks(tasks: LaidOut, claims: Claims, among: np.ndarray) -> np.ndarray:
    """Those of the claims in which no task has both skills."""
    none = np.zeros(claims.which.size, dtype=bool)
    for some in tasks.batches(among[~tasks.lasting[among]]):
        claim, at = tasks.rows(claims, some)
        n1, _, _ = _in_shared(claim, tasks.runs.alternative[at], tasks.runs.group[at], some.size)
        none[some] = n1 == 0
    lasting = among[tasks.lasting[among]]  # a run that may count is in a task that has both
    none[lasting] = tasks.size[lasting] == 0
    return np.flatnonzero(none)


def _scores(runs: Together, at: np.ndarray, claims: Claims, claim: np.ndarray) -> np.ndarray:
    """Scores of runs on the scales of their claims; NaN where a run lacks what its claim compares."""
    scales = claims.scales.rows(claim)
    with np.errstate(all="ignore"):
        placed = scales.place(runs.success[at], runs.cost[at], runs.steps[at])
        return scales.scores(placed, Used(*(used[claim] for used in claims.used)))


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
