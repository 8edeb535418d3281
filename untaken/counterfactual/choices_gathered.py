"""Gathers every choice of many runs, from columns (§2a)."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, overload

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

UNTESTED: Final = Unscored("too few comparable runs for any test")
LISTED: Final = 1_000
"""Among so many choices those without a history are listed, too; of more they are only counted."""
AT_ONCE: Final = 4_096
"""Choices that are made at a time."""
UNSEEN: Final = Unscored("no run chose this alternative in this context")


def choices(
    evaluations: Mapping[str, RunEvaluation],
    runs: Mapping[str, Run],
    memory: PolicyMemory | Snapshot | Memories,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> Choices:
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
    gatherings, rows = [], []
    for one, some in parts:
        rows.append(np.flatnonzero(_are_of(paths, digests, some)))
        snapshot = one.snapshot() if isinstance(one, PolicyMemory) else one
        mine = {digest: runs[digest] for digest in some}
        gatherings.append(_Gathering(paths.at(rows[-1]), digests, mine, snapshot, weights))
    return Choices(gatherings, [one.with_history(threshold) for one in gatherings], rows)


class Choices(Sequence[Choice]):
    """The choices of some runs, in the order of `choices`; most of those without a history are not made yet.

    A log with many options, and a context of its own for each decision, has hundreds of thousands of these.

    Attributes:
        listed: those whose alternative was taken in some run, and others among the first `LISTED`, in order.
        of_paths: of each path of the runs, in the order of `PathColumns.joined`, the number of its choice:
            its place in `listed`, or for one that is not a number behind these.
    """

    def __init__(
        self,
        gatherings: Sequence[_Gathering],
        made: Sequence[Mapping[int, Choice]],
        rows: Sequence[np.ndarray],
    ) -> None:
        """Of each memory its choices, those that were made, by place, and the rows of its paths."""
        self._made = dict[int, Choice]()
        self._gatherings, self._begins = gatherings, [0]
        keys: list[Key] = []
        place = np.zeros(sum(map(len, rows)), dtype=np.int64)
        for gathering, some, paths in zip(gatherings, made, rows, strict=True):
            self._made |= {len(keys) + at: choice for at, choice in some.items()}
            place[paths] = len(keys) + gathering.choice_of_paths
            keys += gathering.keys
            self._begins.append(len(keys))
        self._order = self._ordered(keys)
        listed = [at for n, at in enumerate(self._order) if n < LISTED or at in self._made]
        self.listed = tuple(self._choices(listed))
        self._made |= zip(listed, self.listed, strict=True)
        # The frame of paths needs a number of each choice to count those that are not listed.
        number_of = np.full(len(keys), -1)
        number_of[listed] = np.arange(len(listed))
        number_of[number_of < 0] = np.arange(len(listed), len(keys))
        self.of_paths: np.ndarray = number_of[place]
        if len(listed) == len(keys):
            self._gatherings = ()  # nothing is left to be made

    def _ordered(self, keys: Sequence[Key]) -> list[int]:
        """The places of all, what weighs most first, then those without an advantage, most frequent first."""
        made = self._made
        scored = [at for at, choice in made.items() if number(choice.advantage) is not None]
        scored.sort(key=lambda at: _weight(made[at]))
        # Over all memories: which of two equally frequent ones comes first must not depend on their order.
        name = np.empty(len(keys), dtype=np.int64)
        name[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        often = np.concatenate([np.zeros(0, dtype=np.int64), *(one.often for one in self._gatherings)])
        rest = np.lexsort((name, -often))
        return [*scored, *rest[~np.isin(rest, np.array(scored, dtype=np.int64))].tolist()]

    @overload
    def __getitem__(self, at: int) -> Choice: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Choice, ...]: ...
    def __getitem__(self, at: int | slice) -> Choice | tuple[Choice, ...]:
        if isinstance(at, slice):
            return tuple(self._choices(self._order[at]))
        return next(self._choices([self._order[at]]))

    def __iter__(self) -> Iterator[Choice]:
        return self._choices(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def _choices(self, places: Sequence[int]) -> Iterator[Choice]:
        for begin in range(0, len(places), AT_ONCE):
            some = places[begin : begin + AT_ONCE]
            missing: dict[int, list[int]] = {}
            for place in some:
                if place not in self._made:
                    missing.setdefault(bisect_right(self._begins, place) - 1, []).append(place)
            now = dict[int, Choice]()
            for which, left in missing.items():
                first = self._begins[which]
                now |= zip(left, self._gatherings[which].unseen([at - first for at in left]), strict=True)
            for place in some:
                yield self._made[place] if place in self._made else now[place]


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


class _Gathering:
    """The choices of runs that share a memory.

    Paths are put in an order that does not depend on which file was read first: by choice, agent, task and
    run.

    Attributes:
        keys: of the choices, in order; `often` the number of points of each.
        choice_of_paths: of each path, in the order given, the place of its choice.
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
        self.keys = sorted(set(keys.values()))
        place = {key: at for at, key in enumerate(self.keys)}
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
        self.choice_of_paths = choice[paths.kind]
        # `lexsort` takes its last key first.
        self._paths = paths.at(np.lexsort((rank[paths.run], self.choice_of_paths)))
        self._run, self._seq = (_whole(column) for column in (self._paths.run, self._paths.seq))
        self._bounds = np.searchsorted(choice[self._paths.kind], np.arange(len(self.keys) + 1))
        self.often = np.diff(self._bounds)
        # A choice takes its context from its first event that says it in words.
        self._fine = np.flatnonzero(self._paths.named & (self._level[self._paths.kind] == 1))
        self._named = np.searchsorted(self._fine, self._bounds)

    def with_history(self, threshold: float) -> dict[int, Choice]:
        """Those whose alternative was taken in some run, by place."""
        record = self._snapshot.record
        # One look at each alternative, before anything is compared: most have no history in a wide log.
        places = [at for at, (_, other, context) in enumerate(self.keys) if record(other, context)]
        keys = [self.keys[at] for at in places]
        pairs = [Pair(context, selected, alternative) for selected, alternative, context in keys]
        found, tests = (
            compare_pairs(self._snapshot, pairs, self._weights, threshold),
            list(map(_skills, keys)),
        )
        trusts, adjusted = among_all(found, tests)
        self._family = len(adjusted)
        differ = parts_between(self._snapshot, keys)
        return {
            at: self._choice(at, trust, adjusted.get(test, UNTESTED), differ[key])
            for at, key, trust, test in zip(places, keys, trusts, tests, strict=True)
        }

    def unseen(self, places: Sequence[int]) -> Iterator[Choice]:
        """Some whose alternative no run took."""
        # Together: alternatives that nobody took share their parts within a context.
        parts = parts_between(self._snapshot, [self.keys[at] for at in places])
        return (self._choice(at, None, UNTESTED, parts[self.keys[at]]) for at in places)

    def _context_at(self, place: int) -> str | None:
        if self._level[self._paths.kind[self._bounds[place]]] > 1:
            return self._coarse.get(self.keys[place][2])
        # Events that name no context in words are skipped; they are no reason to show a digest.
        at, behind = self._named[place : place + 2]
        if at == behind:
            return None
        row = self._fine[at]
        run, seq = self._runs[self._digests[self._paths.run[row]]], self._paths.seq[row]
        selection = bisect_left(run.selections, seq, key=lambda selection: selection.seq)
        return readable(run.selections[selection].context)

    @cached_property
    def _coarse(self) -> Mapping[str, str | None]:
        return coarse_contexts(self._runs.values())

    def _choice(self, place: int, trust: Trust | None, q: Score, parts: ScoreParts) -> Choice:
        selected, alternative, context_hash = self.keys[place]
        rows = slice(*self._bounds[place : place + 2].tolist())
        run, seq, delta = self._run[rows], self._seq[rows], self._paths.delta[rows]
        verdicts = np.bincount(self._paths.verdict[rows], minlength=len(VERDICTS)).tolist()
        count: dict[DeltaVerdict, int] = dict(zip(VERDICTS, verdicts, strict=True))
        runs, kind = set(run), self._paths.kind[rows.start]
        return Choice(
            selected=selected,
            alternative=alternative,
            context_hash=context_hash,
            context=self._context_at(place),
            advantage=trust.advantage if trust else UNSEEN,
            low=trust.low if trust else UNSEEN,
            high=trust.high if trust else UNSEEN,
            p_better=trust.p_better if trust else UNSEEN,
            support=trust.support if trust else "none",
            support_reason=trust.reason if trust else UNSEEN.reason,
            direction=trust.direction if trust else None,
            q=q,
            q_family=self._family,
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
            level=int(self._level[kind]),
            levels=len(self._paths.kinds[kind][2]),
        )


def _whole(column: np.ndarray) -> array[int]:
    return array("q", column.astype(np.int64).tobytes())


def _skills(key: Key) -> Skills:
    selected, alternative, context_hash = key
    return frozenset((selected, alternative)), context_hash


def _weight(choice: Choice) -> tuple[object, ...]:
    """Of one with an advantage: ascending, so what counts most is negated."""
    weight = (number(choice.advantage) or 0.0) * len(choice.points)
    name = choice.selected, choice.alternative, choice.context_hash
    return (0 if choice.direction == "better" else 1, -weight, *name)
