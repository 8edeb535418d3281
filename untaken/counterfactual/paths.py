"""Paths not taken of many runs as columns, and as rows of plain figures (§2).

Verbs that compare no paths load none of it: NumPy takes longer to load than most verbs to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple, get_args

import numpy as np

from untaken.counterfactual.advantage import Advantages
from untaken.counterfactual.histories import NO_FIGURE, WHY, Used, scored
from untaken.counterfactual.levels import Situation
from untaken.counterfactual.pooling import PooledAdvantages
from untaken.counterfactual.run_evaluation import DeltaVerdict
from untaken.errors import Score

VERDICTS: Final[tuple[DeltaVerdict, ...]] = get_args(DeltaVerdict)


def verdicts_of(delta: np.ndarray, threshold: float) -> np.ndarray:
    """`verdict_of` over a column, as places in `VERDICTS`."""
    names: list[DeltaVerdict] = ["alternative_may_be_better", "actual_was_better", "unknown"]
    where = [delta > threshold, delta < -threshold, np.isnan(delta)]
    found = np.select(where, list(map(VERDICTS.index, names)), VERDICTS.index("equivalent"))
    verdicts: np.ndarray = found.astype(np.int8)
    return verdicts


class Paths(NamedTuple):
    """Paths not taken, compared: columns over `Asked`; NaN where a figure is unscored.

    Attributes:
        known: whether the alternative has a history; `level` the one it is from, `shared` the one that both
            histories of the advantage are from (0 for none).
        score, actual: of the history and of the run, over the terms `used` by both; `low` to `high` the
            interval of their difference `delta`; `why` has the code of `WHY` where that has none.
        n_selected: outcomes of the selected skill at its finest level, by decision.
        advantage, pooled: of the alternative; `pooled` is ``None`` for one layer.
        claim: the place of each row among those that `Rulings` decide, -1 where no layer has both skills.
    """

    known: np.ndarray
    level: np.ndarray
    shared: np.ndarray
    used: Used
    score: np.ndarray
    actual: np.ndarray
    low: np.ndarray
    high: np.ndarray
    why: np.ndarray
    n_selected: np.ndarray
    n_shared: np.ndarray
    advantage: Advantages
    pooled: PooledAdvantages | None
    claim: np.ndarray

    @property
    def delta(self) -> np.ndarray:
        """What the alternative's history scores more than the run."""
        difference: np.ndarray = self.score - self.actual
        return difference


class PathColumns(NamedTuple):
    """Paths not taken, by run, decision point and the ledger's order of alternatives: columns.

    Attributes:
        kinds: the skill selected (untrusted), that of the path, and the layers of the context.
        run: number of the run; `seq` of the SKILL_SELECTION event.
        kind: place in `kinds`.
        named: whether the event says in words what its context is.
        delta, advantage: NaN where the alternative has no history.
        verdict: on the delta, as its place in `VERDICTS`.
    """

    kinds: tuple[Situation, ...]
    run: np.ndarray
    seq: np.ndarray
    kind: np.ndarray
    named: np.ndarray
    delta: np.ndarray
    verdict: np.ndarray
    advantage: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[PathColumns]) -> PathColumns:
        """Those of several groups of decisions, by run and decision point."""
        if not parts:
            number, yes, figure, code = np.int64, np.bool_, np.float64, np.int8
            types = number, number, number, yes, figure, code, figure
            return cls((), *(np.zeros(0, like) for like in types))
        if len(parts) == 1:
            return parts[0]
        begins = accumulate((len(part.kinds) for part in parts), initial=0)
        # The last of the begins is where all the parts end.
        moved = [part._replace(kind=part.kind + begin) for part, begin in zip(parts, begins, strict=False)]
        columns = map(np.concatenate, zip(*(part[1:] for part in moved), strict=True))
        whole = cls(tuple(chain.from_iterable(part.kinds for part in parts)), *columns)
        return whole.at(np.lexsort((whole.seq, whole.run)))  # the last key counts first

    def at(self, rows: np.ndarray | slice) -> PathColumns:
        """Some of the rows."""
        return PathColumns(self.kinds, *(column[rows] for column in self[1:]))

    def skills(self, *, taken: bool) -> tuple[list[str], np.ndarray]:
        """The skill that was selected, or each path's own: the names in order, its place for each path."""
        names = [selected if taken else own for selected, own, _ in self.kinds]
        every = sorted(set(names))
        place = {name: number for number, name in enumerate(every)}
        return every, np.array([place[name] for name in names], dtype=np.int64)[self.kind]


class PathFigures(NamedTuple):
    """One path's figures out of `Paths`, as plain numbers, or why there is none."""

    level: int
    shared: int
    n_shared: int
    score: Score
    actual: Score
    delta: Score
    delta_low: Score
    delta_high: Score
    cost_used: bool
    steps_used: bool
    advantage: Score
    low: Score
    high: Score
    p_better: Score


class _Column:
    """A column that is written end to end; rows that nothing is written to take no memory."""

    def __init__(self, like: np.ndarray, rows: int) -> None:
        self._values, self._size = np.empty(rows, dtype=like.dtype), 0

    def write(self, part: np.ndarray) -> None:
        self._values[self._size : self._size + part.size] = part
        self._size += part.size

    def written(self) -> np.ndarray:
        return self._values[: self._size]


def joined(parts: Iterator[Paths], rows: int) -> Paths:
    """The columns of several blocks, end to end, none with more than so many rows."""
    first = next(parts)
    columns = [_Column(column, rows) for column in _columns(first)]
    for part in chain([first], parts):
        for whole, column in zip(columns, _columns(part), strict=True):
            whole.write(column)
    made: Paths = _with_columns(first, (column.written() for column in columns))
    return made


def _columns(value: Any) -> Iterator[np.ndarray]:
    """Every column of a tuple, and of tuples in it."""
    if isinstance(value, np.ndarray):
        yield value
    elif value is not None:
        for part in value:
            yield from _columns(part)


def _with_columns(like: Any, columns: Iterator[np.ndarray]) -> Any:
    """A tuple of the same form with other columns."""
    if isinstance(like, np.ndarray):
        return next(columns)
    if like is None:
        return None
    parts = [_with_columns(part, columns) for part in like]
    return type(like)._make(parts) if hasattr(like, "_make") else tuple(parts)


def figures_at(paths: Paths, row: int) -> PathFigures:
    """One of the paths."""
    trust, score, actual = paths.advantage, paths.score[row], paths.actual[row]
    none, why, no_advantage = WHY[NO_FIGURE], WHY[paths.why[row]], WHY[trust.why[row]]
    found = (
        *(int(column[row]) for column in (paths.level, paths.shared, paths.n_shared)),
        *(scored(value, none) for value in (score, actual, score - actual)),
        *(scored(column[row], why) for column in (paths.low, paths.high)),
        *(bool(column[row]) for column in paths.used),
        *(scored(c[row], no_advantage) for c in (trust.advantage, trust.low, trust.high, trust.p_better)),
    )
    return PathFigures._make(found)


def scores_of(column: np.ndarray, why: np.ndarray) -> list[Score]:
    """The numbers of a column; for each NaN the reason with that code."""
    found: list[Score] = column.tolist()
    for row in np.flatnonzero(np.isnan(column)).tolist():
        found[row] = WHY[why[row]]
    return found
