"""Any two agents under a metric, over the tasks that both ran (§5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from untaken.analysis.ranking.compared.tables import Cells
from untaken.analysis.ranking.comparisons import Comparison, PairedDifference
from untaken.analysis.ranking.metrics import OUTCOME
from untaken.analysis.ranking.ranked import NO_INTERVAL, Bootstrap
from untaken.errors import Score, Unscored
from untaken.stats import Floats, holm, paired

NOT_COUNTED: Final = Unscored("not a comparison of single binary trials")
NO_COMMON_TASK: Final = Unscored("no task has a value for both agents")


def compare(found: Cells, bootstrap: Bootstrap) -> Comparison:
    """Every pair of agents under one metric, over all tasks."""
    pairs = _adjusted(_pairs(found, bootstrap))
    return Comparison(
        metric=found.metric, agents=found.agents, pairs=pairs, ties=tie_groups(found.agents, pairs)
    )


def _pairs(found: Cells, bootstrap: Bootstrap) -> list[PairedDifference]:
    """All pairs in order; those over the same tasks are computed together."""
    rows = list(combinations(range(len(found.agents)), 2))
    known = ~np.isnan(found.means)
    alike: dict[bytes, list[int]] = defaultdict(list)
    for number, (one, other) in enumerate(rows):
        alike[(known[one] & known[other]).tobytes()].append(number)  # an array cannot be a key
    compared: dict[int, PairedDifference] = {}
    for mask, numbers in alike.items():
        columns = np.flatnonzero(np.frombuffer(mask, dtype=np.bool_))
        some = [rows[number] for number in numbers]
        compared |= zip(numbers, _over(columns, some, found, bootstrap), strict=True)
    return [compared[number] for number in range(len(rows))]


def _over(
    columns: NDArray[np.intp], rows: Sequence[tuple[int, int]], found: Cells, bootstrap: Bootstrap
) -> list[PairedDifference]:
    """The pairs whose common tasks are these columns."""
    firsts, seconds = (list(side) for side in zip(*rows, strict=True))
    means, runs = found.means[:, columns], found.runs[:, columns]
    differences = means[firsts] - means[seconds]
    binary = np.zeros(len(rows), dtype=np.bool_)
    if found.metric == OUTCOME:
        single = (runs == 1).all(axis=1)
        binary = single[firsts] & single[seconds]
    sums = runs.sum(axis=1)
    measured = Measured.of(differences, binary, bootstrap)
    return [
        measured.pair(
            row, found.metric, (found.agents[one], found.agents[other]), int(sums[one] + sums[other])
        )
        for row, (one, other) in enumerate(rows)
    ]


class Measured(Struct, frozen=True, kw_only=True):
    """Differences of pairs over the same tasks, with intervals: one entry per pair, NaN for unknown."""

    tasks: int
    binary: NDArray[np.bool_]
    walds: NDArray[np.bool_]
    counts: tuple[Floats, Floats]
    difference: Floats
    interval: Floats
    p: Floats
    mde: Floats
    above: Floats

    @classmethod
    def of(
        cls, differences: Floats, binary: NDArray[np.bool_], bootstrap: Bootstrap, *, tested: bool = True
    ) -> Measured:
        """Measure (pairs, tasks) differences.

        Single binary trials get the adjusted Wald interval, as do differences that are the same on every
        task: no spread is seen in them, and no other difference varies more than one of trials.
        Not `tested`, they get no p.
        """
        pairs, tasks = differences.shape
        b, c = paired.discordant_tasks(differences)
        # 1e-12: equal differences may differ in the last digits of a sum.
        walds = binary | (np.ptp(differences, axis=1) < 1e-12 if tasks else binary)
        interval, above, mde, p = np.full((2, pairs), np.nan), *np.full((3, pairs), np.nan)
        if tasks > 1:
            centre, error = paired.adjusted_wald(b, c, tasks)
            if bootstrap.resamples:
                above = paired.share_above(differences, resamples=bootstrap.resamples, seed=bootstrap.seed)
            interval = paired.student_interval(differences)
            interval[:, walds] = paired.wald_interval(centre, error)[:, walds]
            error = np.where(walds, error, paired.standard_error(differences))
            mde = paired.minimal_detectable(error, tasks)
            if tested:
                flips = paired.sign_flip_p(differences, resamples=bootstrap.resamples, seed=bootstrap.seed)
                # The test wants whole counts, also of rows that are not binary and do not use it.
                p = np.where(binary, paired.mcnemar_p(np.round(b), np.round(c)), flips)
        return cls(
            tasks=tasks,
            binary=binary,
            walds=walds,
            counts=(b, c),
            difference=(differences.mean(axis=1) if tasks else np.full(pairs, np.nan)),
            interval=interval,
            p=p,
            mde=mde,
            above=above,
        )

    @property
    def nothing(self) -> Unscored:
        """Why what is not known is not."""
        return NO_INTERVAL if self.tasks else NO_COMMON_TASK

    def scores(self, row: int) -> tuple[Score, Score, Score]:
        """Low, high and the difference itself of one pair."""
        low, high = (_score(bound, self.nothing) for bound in self.interval[:, row])
        return low, high, _score(self.difference[row], self.nothing)

    def pair(self, row: int, metric: str, names: tuple[str, str], runs: int) -> PairedDifference:
        """One pair, in words and numbers; `_adjusted` looks at the whole family."""
        binary, why = bool(self.binary[row]), self.nothing
        low, high, difference = self.scores(row)
        return PairedDifference(
            metric=metric,
            first=names[0],
            second=names[1],
            difference=difference,
            low=low,
            high=high,
            interval="adjusted_wald" if self.walds[row] else "student_t",
            p=_score(self.p[row], why),
            test="mcnemar" if binary else "sign_flip",
            p_holm=why,
            family=0,
            first_only=round(self.counts[0][row]) if binary else NOT_COUNTED,
            second_only=round(self.counts[1][row]) if binary else NOT_COUNTED,
            mde=_score(self.mde[row], why),
            p_above=_score(self.above[row], why),
            n_tasks=self.tasks,
            n_runs=runs,
        )


def _score(value: float, why: Unscored) -> Score:
    return why if np.isnan(value) else float(value)


def _adjusted(pairs: Sequence[PairedDifference]) -> tuple[PairedDifference, ...]:
    """The pairs with Holm's p; the family is all of them that have a p."""
    p = np.array([np.nan if isinstance(pair.p, Unscored) else pair.p for pair in pairs])
    family = int((~np.isnan(p)).sum())
    return tuple(
        replace(pair, p_holm=pair.p if isinstance(pair.p, Unscored) else float(adjusted), family=family)
        for pair, adjusted in zip(pairs, holm(p), strict=True)
    )


def tie_groups(agents: Sequence[str], pairs: Iterable[PairedDifference]) -> tuple[tuple[str, ...], ...]:
    """Groups that overlap, like the letters of a compact letter display (Piepho 2004).

    Two agents share a group exactly if the interval of their difference includes 0, and each group is as
    large as possible. So an agent can be in two groups: a tied with b and b with c does not make a tied with
    c. An agent that ties with no other is its own group.

    Each pair not yet together opens a group with the first such agents, best first, that fit everyone in it:
    at most as many groups as pairs, where listing every largest group could take for ever.
    """
    apart = {frozenset((pair.first, pair.second)) for pair in pairs if not pair.tie}
    tied = {one: {other for other in agents if frozenset((one, other)) not in apart} for one in agents}
    together: set[frozenset[str]] = set()
    groups: list[tuple[str, ...]] = []
    for place, one in enumerate(agents):
        for other in agents[place:]:
            if other in tied[one] and frozenset((one, other)) not in together:
                if one == other and len(tied[one]) > 1:  # a group with another agent has it
                    continue
                group = _grown((one, other), agents, tied)
                together |= {frozenset((x, y)) for x in group for y in group}
                groups.append(group)
    return tuple(groups)


def _grown(seed: tuple[str, str], agents: Sequence[str], tied: dict[str, set[str]]) -> tuple[str, ...]:
    members = set(seed)
    for agent in agents:
        if members <= tied[agent]:
            members.add(agent)
    return tuple(agent for agent in agents if agent in members)
