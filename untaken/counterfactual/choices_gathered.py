"""Gathers every choice of many runs, from columns (§2a)."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, overload

import numpy as np

from untaken.counterfactual.advantage import Trust
from untaken.counterfactual.choice import Choice, Points
from untaken.counterfactual.evaluate import Evaluations
from untaken.counterfactual.levels import Situation, coarse_contexts
from untaken.counterfactual.memory import Memories, PolicyMemory, Snapshot, by_memory
from untaken.counterfactual.pairs import Pair, advantages_of, among_all, compare_pairs, levels_compared
from untaken.counterfactual.parts import ScoreParts
from untaken.counterfactual.parts_compared import parts_between
from untaken.counterfactual.paths import VERDICTS, PathColumns
from untaken.counterfactual.run_evaluation import THRESHOLD, DeltaVerdict, RunEvaluation
from untaken.counterfactual.scoring import Weights
from untaken.counterfactual.strata import numbers_of
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run, readable

Key = tuple[str, str, str]
"""Selected skill, alternative, context hash."""
Skills = tuple[frozenset[str], str]
"""Two skills in a context, whichever was selected: met both ways they are one test."""

UNTESTED: Final = Unscored("too few comparable runs for any test")
LISTED: Final = 1_000
"""Of more choices those whose skills no agent took in one task are only counted."""
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
        gatherings.append(
            _Gathering(paths.at(rows[-1]), digests, mine, snapshot, weights=weights, threshold=threshold)
        )
    return Choices(gatherings, rows)


class Choices(Sequence[Choice]):
    """The choices of some runs, in the order of `choices`; of many, most are made when somebody looks.

    A log with many options has hundreds of thousands of choices that no agent made both ways in one task:
    nothing can be supported of these.

    Attributes:
        listed: those that some agent made both ways in one task, and the first `LISTED` of all, in order.
        known: how many of the others have an alternative that was taken in some run.
        of_paths: of each path of the runs, in the order of `PathColumns.joined`, the number of its choice:
            its place in `listed`; numbers behind these are of the others, the `known` ones first.
    """

    def __init__(self, gatherings: Sequence[_Gathering], rows: Sequence[np.ndarray]) -> None:
        """Of each memory its choices, and the rows of its paths."""
        self._made = dict[int, Choice]()
        self._gatherings, self._begins = gatherings, [0]
        keys: list[Key] = []
        place = np.zeros(sum(map(len, rows)), dtype=np.int64)
        for gathering, paths in zip(gatherings, rows, strict=True):
            self._made |= {len(keys) + at: choice for at, choice in gathering.comparable.items()}
            place[paths] = len(keys) + gathering.choice_of_paths
            keys += gathering.keys
            self._begins.append(len(keys))
        self._order = self._ordered(keys)
        listed = [at for n, at in enumerate(self._order) if n < LISTED or at in self._made]
        self.listed = tuple(self._choices(listed))
        self._made |= zip(listed, self.listed, strict=True)
        # The frame of paths needs a number of each choice to count those that are not listed.
        known = _joined(gathering.known for gathering in gatherings).astype(bool)
        known[listed] = False
        rest = np.ones(len(keys), dtype=bool)
        rest[listed] = False
        self.known = int(np.count_nonzero(known))
        number_of = np.zeros(len(keys), dtype=np.int64)
        number_of[[*listed, *np.flatnonzero(known), *np.flatnonzero(rest & ~known)]] = np.arange(len(keys))
        self.of_paths: np.ndarray = number_of[place]
        if len(listed) == len(keys):
            self._gatherings = ()  # nothing is left to be made

    def _ordered(self, keys: Sequence[Key]) -> list[int]:
        """The places of all, what weighs most first, then those without an advantage, most frequent first."""
        # Over all memories: which of two that weigh the same comes first must not depend on their order.
        name = np.empty(len(keys), dtype=np.int64)
        name[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        often = _joined(one.often for one in self._gatherings)
        advantage = _joined(one.advantage for one in self._gatherings)
        better = [at for at, choice in self._made.items() if choice.direction == "better"]
        behind = np.ones(len(keys), dtype=bool)
        behind[better] = False
        scored = ~np.isnan(advantage)
        # `lexsort` takes its last key first.
        order: list[int] = np.lexsort(
            (name, np.where(scored, -advantage * often, -often), behind, ~scored)
        ).tolist()
        return order

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
                now |= zip(left, self._gatherings[which].made([at - first for at in left]), strict=True)
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
        delta=delta_of,
        verdict=verdicts.astype(np.int8),
        # Never read here: a choice compares both histories itself.
        advantage=np.full(run.size, np.nan),
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
        known: of each choice whether its alternative was taken in some run.
        advantage: of each; NaN where it has none.
        comparable: those that some agent made both ways in one task, by place.
    """

    def __init__(
        self,
        paths: PathColumns,
        digests: Sequence[str],
        runs: Mapping[str, Run],
        snapshot: Snapshot,
        *,
        weights: Weights,
        threshold: float,
    ) -> None:
        self._digests, self._runs, self._snapshot = digests, runs, snapshot
        self._weights, self._threshold = weights, threshold
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

        # One look at each alternative, before anything is compared: most have no history in a wide log.
        has = [snapshot.record(other, context) is not None for _, other, context in self.keys]
        self.known = np.array(has, dtype=bool)
        self.advantage = np.full(len(self.keys), np.nan)
        places = np.flatnonzero(self.known).tolist()
        found, _, _ = advantages_of(snapshot, self._pairs(places), weights, threshold)
        self.advantage[places] = found.advantage
        numbers = numbers_of(snapshot.history)
        alike = [
            at
            for at, one in zip(places, self._pairs(places), strict=True)
            if numbers.share_a_stratum(snapshot.history, (one.context_hash, one.alternative, one.selected))
        ]
        trusts, self._adjusted = among_all(*self._compared(alike))
        self.comparable = dict(zip(alike, self._choices(alike, trusts), strict=True))

    def made(self, places: Sequence[int]) -> Iterator[Choice]:
        """Some that no agent made both ways in one task."""
        known = [at for at in places if self.known[at]]
        trusts = dict(zip(known, self._compared(known)[0], strict=True))
        return self._choices(places, map(trusts.get, places))

    def _pairs(self, places: Iterable[int]) -> list[Pair]:
        keys = (self.keys[at] for at in places)
        return [Pair(context, selected, alternative) for selected, alternative, context in keys]

    def _compared(self, places: Sequence[int]) -> tuple[list[Trust | None], list[Skills]]:
        trusts = compare_pairs(self._snapshot, self._pairs(places), self._weights, self._threshold)
        return trusts, [_skills(self.keys[at]) for at in places]

    def _choices(self, places: Sequence[int], trusts: Iterable[Trust | None]) -> Iterator[Choice]:
        # Together: alternatives that nobody took share their parts within a context.
        parts = parts_between(self._snapshot, [self.keys[at] for at in places])
        for at, trust in zip(places, trusts, strict=True):
            key = self.keys[at]
            yield self._choice(at, trust, self._adjusted.get(_skills(key), UNTESTED), parts[key])

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
            q_family=len(self._adjusted),
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


def _joined(columns: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *columns])
