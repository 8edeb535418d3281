"""The decision points of many runs as columns: what each selected, and the paths it did not take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from untaken.counterfactual.histories import COUNT
from untaken.counterfactual.levels import Situation
from untaken.counterfactual.memory.history import ANY, History
from untaken.counterfactual.memory.totals import NOWHERE
from untaken.counterfactual.run_evaluation import alternatives_of
from untaken.counterfactual.strata import Compared
from untaken.ledger import SkillSelection


class AskedBlock(NamedTuple):
    """Decision points one after the other, as columns.

    Attributes:
        run: number of each one's run.
        decision: of each path, the place of its decision in the block.
        selected: place of each decision's skill in each layer, shape (decisions, layers).
        alternative: place of each path's skill in each layer, shape (paths, layers).
        context: of each path, the place of the coarsest of several layers among those of contexts; ``None``
            for one layer.
    """

    run: np.ndarray
    decision: np.ndarray
    selected: np.ndarray
    alternative: np.ndarray
    context: np.ndarray | None


class Asked:
    """Decision points whose contexts have equally many layers.

    A *situation* is a skill selected, others left, in a context: it is looked up once, however often met.
    A path is numbered by decision, then in the ledger's order of alternatives.

    Attributes:
        selection: of each decision; `run` the number of its run.
        kinds: of each path of every situation the skill selected, its own, and the layers of the context.
    """

    def __init__(self, layers: int, history: History) -> None:
        self.layers, self._history = layers, history
        self.selection: list[SkillSelection] = []
        self.run: list[int] = []
        self._situation: list[int] = []
        self._selected: list[list[int]] = []
        self._context: list[int] = []
        self._first: list[int] = [0]
        self.kinds: list[Situation] = []
        self._alternative: list[list[int]] = []

    def add(self, run: int, selection: SkillSelection, situation: int) -> None:
        """One more decision, in a situation looked up before; those of a run come together."""
        self.run.append(run)
        self.selection.append(selection)
        self._situation.append(situation)

    def look_up(self, selection: SkillSelection) -> int:
        """The number of one more situation: that of the decision."""
        places, layers = self._history.totals.places, selection.layers
        names = alternatives_of(selection)
        self._selected.append([places.get((selection.selected, layer), NOWHERE) for layer in layers])
        self.kinds += [(selection.selected, name, layers) for name in names]
        self._alternative += [[places.get((name, layer), NOWHERE) for layer in layers] for name in names]
        self._first.append(len(self.kinds))
        if len(layers) > 1:
            whole = self._history.totals_of_contexts.places
            self._context.append(whole.get((ANY, layers[-1]), NOWHERE))
        return len(self._first) - 2

    @cached_property
    def first(self) -> np.ndarray:
        """Number of the first path of each decision, and behind the last one."""
        return np.concatenate([[0], np.cumsum(np.diff(self._first)[self._situation])])

    @cached_property
    def decision(self) -> np.ndarray:
        """Number of the decision, for each path."""
        return np.repeat(np.arange(len(self.run), dtype=COUNT), np.diff(self.first))

    @cached_property
    def path(self) -> np.ndarray:
        """The place of each path in `kinds`."""
        # The paths of a decision are those of its situation, in their order: only where they begin differs.
        begins = np.array(self._first)[self._situation] - self.first[:-1]
        path: np.ndarray = np.arange(self.first[-1]) + begins[self.decision]
        return path.astype(COUNT)

    def blocks(self, size: int) -> Iterator[AskedBlock]:
        """All decisions, at most `size` at a time."""
        run, situation = (np.array(column, dtype=np.int64) for column in (self.run, self._situation))
        for begin in range(0, run.size, size):
            some = slice(begin, begin + size)
            first, last = self.first[begin], self.first[min(begin + size, run.size)]
            decision = self.decision[first:last]
            context = np.array(self._context)[situation[decision]] if self.layers > 1 else None
            yield AskedBlock(
                run=run[some],
                decision=decision - begin,
                selected=self._rows(self._selected, situation[some]),
                alternative=self._rows(self._alternative, self.path[first:last]),
                context=context,
            )

    def _rows(self, places: list[list[int]], at: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.array(places, dtype=np.int64).reshape(-1, self.layers)[at]
        return found

    def columns(self) -> tuple[np.ndarray, ...]:
        """Of each path its run, `seq` of its decision point, place in `kinds`, whether a context is named."""
        seq, named = (
            np.fromiter(column, kind, len(self.selection))
            for column, kind in (
                ((one.seq for one in self.selection), np.int64),
                ((one.context is not None for one in self.selection), np.bool_),
            )
        )
        of = self.decision
        return np.array(self.run, dtype=np.int64)[of], seq[of], self.path, named[of]

    def name(self, path: int) -> str:
        """The skill of a path."""
        return self.kinds[int(self.path[path])][1]

    def compared(self, path: int, level: int) -> Compared:
        """What a path is compared with, and where."""
        selection = self.selection[self.decision[path]]
        return selection.layers[level - 1], self.name(path), selection.selected

    def compared_once(self, paths: np.ndarray, levels: np.ndarray) -> tuple[list[Compared], np.ndarray]:
        """`compared`, each different one once, and which of them each path has."""
        # The kind and the level in one number.
        key = self.path[paths].astype(np.int64) * (self.layers + 1) + levels
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return [self.compared(int(paths[at]), int(levels[at])) for at in first], which
