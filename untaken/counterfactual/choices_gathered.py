"""Gathers every choice of many runs, from columns (§2a)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from untaken.counterfactual.advantage import Trust
from untaken.counterfactual.choice import Choice, Points
from untaken.counterfactual.evaluate import Evaluations
from untaken.counterfactual.levels import Situation, coarse_contexts
from untaken.counterfactual.memory import Memories, PolicyMemory, Snapshot, by_memory
from untaken.counterfactual.pairs import Pair, among_all, compare_pairs, levels_compared
from untaken.counterfactual.parts import ScoreParts
from untaken.counterfactual.parts_compared import parts_between
from untaken.counterfactual.path_columns import VERDICTS, PathColumns
from untaken.counterfactual.paths import THRESHOLD
from untaken.counterfactual.run_evaluation import DeltaVerdict, RunEvaluation
from untaken.counterfactual.scoring import Weights
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run, readable

Key = tuple[str, str, str]
"""Selected skill, alternative, context hash."""
Skills = tuple[frozenset[str], str]
"""Two skills in a context, whichever was selected: met both ways they are one test."""

NO_TEST: Final = "too few comparable runs for any test"
UNSEEN: Final = Unscored("no run chose this alternative in this context")


def choices(
    evaluations: Mapping[str, RunEvaluation],
    runs: Mapping[str, Run],
    memory: PolicyMemory | Snapshot | Memories,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> tuple[Choice, ...]:
    """Every choice that an evaluated run made, once for each (selected, alternative, context).

    Args:
        evaluations: by run digest; skipped and aborted ones hold no decision.
        runs: of at least these evaluations, by digest; their contexts make a choice readable.
        memory: what both histories are taken from, all that it knows; or that of each run, by digest: then
            runs with different memories make no choice in common.
        weights: of success, cost and steps.
        threshold: of `Choice.p_better`.

    Returns:
        First the supported ones whose alternative has a better history, by advantage × number of points;
        then the others with an advantage, in the same order; then those without, the most frequent first.
    """
    digests, paths = tuple(evaluations), _columns(evaluations, runs)
    parts: Sequence[tuple[PolicyMemory | Snapshot, Sequence[str]]]
    parts = (
        [(memory, digests)] if isinstance(memory, PolicyMemory | Snapshot) else by_memory(memory, evaluations)
    )
    made: list[Choice] = []
    for one, some in parts:
        mine = paths if len(parts) == 1 else paths.at(np.flatnonzero(_are_of(paths, digests, some)))
        snapshot = one.snapshot() if isinstance(one, PolicyMemory) else one
        gathering = _Gathering(mine, digests, {digest: runs[digest] for digest in some}, snapshot, weights)
        made += gathering.choices(threshold)
    return tuple(sorted(made, key=_weight))


def _columns(evaluations: Mapping[str, RunEvaluation], runs: Mapping[str, Run]) -> PathColumns:
    """Every path of the evaluations, each run numbered by its place among them."""
    if isinstance(evaluations, Evaluations):
        return PathColumns.joined(evaluations.columns())
    kinds: dict[Situation, int] = {}
    rows: list[tuple[float, ...]] = []
    for place, (digest, evaluation) in enumerate(evaluations.items()):
        # Not strict: a run that was skipped or aborted has selections, and no decisions.
        for at, decision in zip(runs[digest].selections, evaluation.decisions, strict=False):
            for path in decision.branches:
                kind = kinds.setdefault((at.selected, path.alternative, at.layers), len(kinds))
                delta, verdict = number(path.delta), VERDICTS.index(path.verdict)
                figure = np.nan if delta is None else delta
                rows.append((place, at.seq, kind, at.context is not None, figure, verdict))
    run, seq, code, named, delta_of, verdicts = np.array(rows, dtype=np.float64).reshape(-1, 6).T
    return PathColumns(
        kinds=tuple(kinds),
        run=run.astype(np.int64),
        seq=seq.astype(np.int64),
        kind=code.astype(np.int64),
        named=named.astype(np.bool_),
        known=~np.isnan(delta_of),
        delta=delta_of,
        verdict=verdicts.astype(np.int8),
        # Never read here: a choice compares both histories itself.
        advantage=np.full(run.size, np.nan),
        direction=np.zeros(run.size, dtype=np.int8),
    )


def _are_of(paths: PathColumns, digests: Sequence[str], some: Collection[str]) -> np.ndarray:
    here = set(some)
    of: np.ndarray = np.array([digest in here for digest in digests], dtype=np.bool_)[paths.run]
    return of


@dataclass(frozen=True, slots=True)
class _Seen:
    """The paths of one choice, compared at `level` of `levels` layers.

    Attributes:
        paths: its rows.
        verdicts: how many have each of `VERDICTS`.
    """

    paths: slice
    verdicts: Sequence[int]
    level: int
    levels: int
    context: str | None


class _Gathering:
    """The choices of runs that share a memory.

    Paths are put in an order that does not depend on which file was read first: by choice, agent, task and
    run.
    """

    def __init__(
        self,
        paths: PathColumns,
        digests: Sequence[str],
        runs: Mapping[str, Run],
        snapshot: Snapshot,
        weights: Weights,
    ) -> None:
        self._digests, self._runs, self._snapshot, self._weights = digests, runs, snapshot, weights
        found = np.unique(paths.kind).tolist()
        situations = [paths.kinds[kind] for kind in found]
        # With one layer there is nothing to choose.
        levels = levels_compared(snapshot, (one for one in situations if len(one[2]) > 1), weights)
        keys: dict[int, Key] = {}
        self._level = np.ones(len(paths.kinds), dtype=np.int64)
        for kind, situation in zip(found, situations, strict=True):
            selected, alternative, layers = situation
            self._level[kind] = level = levels.get(situation, 1)
            keys[kind] = selected, alternative, layers[level - 1]  # a choice is made where it can be compared
        self._keys = sorted(set(keys.values()))
        place = {key: at for at, key in enumerate(self._keys)}
        choice = np.full(len(paths.kinds), -1)
        choice[found] = [place[key] for key in keys.values()]
        met = np.unique(paths.run).tolist()
        of = [runs[digests[run]] for run in met]
        self._agent, self._task = (np.zeros(len(digests), dtype=object) for _ in range(2))
        names = [(run.agent, run.task_id, run.run_id, run.digest) for run in of]
        order = sorted(range(len(of)), key=names.__getitem__)
        rank = np.zeros(len(digests), dtype=np.int64)
        rank[np.array(met, dtype=np.int64)[order]] = np.arange(len(order))
        self._agent[met], self._task[met] = [run.agent for run in of], [run.task_id for run in of]
        rows = np.lexsort((rank[paths.run], choice[paths.kind]))  # `lexsort` takes its last key first
        self._paths = paths.at(rows)
        self._run, self._seq = (_whole(column) for column in (self._paths.run, self._paths.seq))
        self._bounds = np.searchsorted(choice[self._paths.kind], np.arange(len(self._keys) + 1))

    def choices(self, threshold: float) -> list[Choice]:
        """Each of them, by its key."""
        pairs = [Pair(context, selected, alternative) for selected, alternative, context in self._keys]
        tests = list(map(_skills, self._keys))
        found = compare_pairs(self._snapshot, pairs, self._weights, threshold)
        trusts, adjusted = among_all(found, tests)
        differ, family = parts_between(self._snapshot, self._keys), len(adjusted)
        no_test = Unscored(NO_TEST)
        return [
            self._choice(key, one, trust, (adjusted.get(test, no_test), family), differ[key])
            for key, one, trust, test in zip(self._keys, self._seen(), trusts, tests, strict=True)
        ]

    def _seen(self) -> list[_Seen]:
        paths, first = self._paths, self._bounds[:-1]
        levels = self._level[paths.kind]
        layers = [len(paths.kinds[kind][2]) for kind in paths.kind[first].tolist()]
        # A choice takes its context from its first event that says it in words.
        fine = np.flatnonzero(paths.named & (levels == 1))
        named = np.searchsorted(fine, self._bounds)
        coarse = coarse_contexts(self._runs.values()) if (levels > 1).any() else {}
        of, kinds = np.repeat(np.arange(first.size), np.diff(self._bounds)), len(VERDICTS)
        verdicts = np.bincount(of * kinds + paths.verdict, minlength=first.size * kinds).reshape(-1, kinds)
        return [
            _Seen(
                slice(begin, end),
                counts,
                level,
                all_layers,
                coarse.get(key[2]) if level > 1 else self._context(fine[at]) if at < behind else None,
            )
            for key, begin, end, counts, level, all_layers, at, behind in zip(
                self._keys,
                first.tolist(),
                self._bounds[1:].tolist(),
                verdicts.tolist(),
                levels[first].tolist(),
                layers,
                named[:-1].tolist(),
                named[1:].tolist(),
                strict=True,
            )
        ]

    def _context(self, row: int) -> str | None:
        run, seq = self._runs[self._digests[self._paths.run[row]]], self._paths.seq[row]
        at = bisect_left(run.selections, seq, key=lambda selection: selection.seq)
        return readable(run.selections[at].context)

    def _choice(
        self,
        key: Key,
        seen: _Seen,
        trust: Trust | None,
        adjusted: tuple[Score, int],
        parts: ScoreParts,
    ) -> Choice:
        selected, alternative, context_hash = key
        run, seq, delta = self._run[seen.paths], self._seq[seen.paths], self._paths.delta[seen.paths]
        count: dict[DeltaVerdict, int] = dict(zip(VERDICTS, seen.verdicts, strict=True))
        runs = set(run)
        return Choice(
            selected=selected,
            alternative=alternative,
            context_hash=context_hash,
            context=seen.context,
            advantage=trust.advantage if trust else UNSEEN,
            low=trust.low if trust else UNSEEN,
            high=trust.high if trust else UNSEEN,
            p_better=trust.p_better if trust else UNSEEN,
            support=trust.support if trust else "none",
            support_reason=trust.reason if trust else UNSEEN.reason,
            direction=trust.direction if trust else None,
            q=adjusted[0],
            q_family=adjusted[1],
            parts=parts,
            taken=self._snapshot.record(selected, context_hash),
            other=self._snapshot.record(alternative, context_hash),
            deltas=tuple(delta[~np.isnan(delta)].tolist()),
            may_be_better=count["alternative_may_be_better"],
            was_better=count["actual_was_better"],
            equivalent=count["equivalent"],
            unknown=count["unknown"],
            points=Points(self._digests, run, seq),
            agents=tuple(sorted({self._agent[one] for one in runs})),
            tasks=tuple(sorted({self._task[one] for one in runs})),
            level=seen.level,
            levels=seen.levels,
        )


def _whole(column: np.ndarray) -> array[int]:
    return array("q", column.astype(np.int64).tobytes())


def _skills(key: Key) -> Skills:
    selected, alternative, context_hash = key
    return frozenset((selected, alternative)), context_hash


def _weight(choice: Choice) -> tuple[object, ...]:
    """Ascending, so what counts most is negated."""
    advantage, often = number(choice.advantage), len(choice.points)
    name = choice.selected, choice.alternative, choice.context_hash
    if advantage is None:
        return (2, -often, *name)
    return (0 if choice.direction == "better" else 1, -advantage * often, *name)
