"""Decision points of many runs: each path not taken scored by its history and set against its run (§2).

Every path not taken is a row, and every figure a column over all runs that share a policy memory. What
history says at a run's start is looked up (`untaken.counterfactual.memory.totals`), placed and scored
(`histories`), set against the selected skill's (`advantage`), over several layers pooled (`pooling`), and
supported or not (`strata`). A `Decision` is made of its rows when somebody looks at it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from untaken.counterfactual.advantage import advantages, around
from untaken.counterfactual.asked import Asked, AskedBlock
from untaken.counterfactual.histories import (
    CODE,
    COUNT,
    NO_FIGURE,
    WHY,
    Histories,
    Placed,
    Scales,
    Used,
    at_level,
    finest,
    scored,
)
from untaken.counterfactual.insights import BetterPath, signals_expected
from untaken.counterfactual.memory import Snapshot
from untaken.counterfactual.memory.totals import NOWHERE, Moment, Totals
from untaken.counterfactual.parts_compared import parts_of_delta
from untaken.counterfactual.paths import (
    PathColumns,
    Paths,
    figures_at,
    joined,
    scores_of,
    verdicts_of,
)
from untaken.counterfactual.pooling import NOT_POOLED, PooledAdvantages, pooled_advantages, strengths_for
from untaken.counterfactual.run_evaluation import (
    MAY_BE_BETTER,
    Alternative,
    Decision,
    Summary,
    outcome_of,
    tally,
    verdict_of,
)
from untaken.counterfactual.scoring import Weights
from untaken.counterfactual.strata import Claims, Rulings, called, decided_at
from untaken.errors import Score, Unscored
from untaken.ledger import Run, SkillSelection

AT_ONCE: Final = 4_096
"""Decisions compared at a time: what it takes in between stays small, however many runs there are."""
DAY: Final = timedelta(days=1)
Situation = tuple[Asked, int]
"""Where decisions with equally many layers are gathered, and the number of a situation there."""
NOT_NORMALISED: Final = Unscored("no other run in memory to normalise cost and steps with")


class KnownAtStart(NamedTuple):
    """What was known when a run began, and the run's id where it has put something in itself."""

    snapshot: Snapshot
    own: str | None
    began: datetime


class DecisionScorer:
    """Scores every decision of some finished runs against what a snapshot knew when each began."""

    def __init__(self, runs: Sequence[Run], given: Snapshot, weights: Weights, threshold: float) -> None:
        history = given.history
        self.runs, self._history, self._weights, self._threshold = runs, history, weights, threshold
        self._given = given
        known = [history.cut(run.started.ts) for run in runs]
        # The snapshot may be of an earlier moment than a run's start.
        self._cut = np.minimum(np.array(known, dtype=np.int64), given.observations)
        numbers = np.array([history.run_numbers.get(run.run_id, NOWHERE) for run in runs], dtype=np.int64)
        self._first = np.append(history.first_of_run, len(history.log))  # the last one, at `NOWHERE`
        # As a rule a run was not known when it began, and there is nothing of its own to leave out.
        self._own = np.where(self._first[numbers] < self._cut, numbers, NOWHERE)
        # A scale for each run: what was known when it began. Its own cost must not stretch it.
        cost, steps = (history.spans(figure, self._cut, self._own) for figure in ("cost", "steps"))
        self._scales = Scales(cost, steps, weights)
        self._own_outcomes = own = [outcome_of(run, given.cost_unit) for run in runs]
        columns = ([getattr(o, figure) for o in own] for figure in ("success", "cost", "steps"))
        with np.errstate(all="ignore"):
            self._actual = self._scales.place(*(np.array(column, dtype=float) for column in columns))
        self._asked: dict[int, Asked] = {}
        # The same situation recurs in thousands of decisions, and is looked up once.
        met: dict[tuple[object, ...], Situation] = {}
        for number, run in enumerate(runs):
            for at in run.selections:
                key = at.selected, at.context_hash, at.context_layers, *at.alternatives
                situation = met.get(key)
                if situation is None:
                    situation = met[key] = self._situation(at)
                asked, place = situation
                asked.add(number, at, place)
        self._rulings: dict[int, Rulings] = {}
        self.paths = {layers: self._compare(asked) for layers, asked in self._asked.items()}

    def _situation(self, selection: SkillSelection) -> Situation:
        """Where decisions like this one are gathered."""
        layers = len(selection.layers)
        if layers not in self._asked:
            self._asked[layers] = Asked(layers, self._history)
        return self._asked[layers], self._asked[layers].look_up(selection)

    def _places(self, run: int) -> list[tuple[int, int]]:
        """Number of layers of each decision point of a run, and its place among those alike."""
        # Those of a run come together, in order.
        coming = {layers: count(bisect_left(asked.run, run)) for layers, asked in self._asked.items()}
        layers = [len(selection.layers) for selection in self.runs[run].selections]
        return [(one, next(coming[one])) for one in layers]

    def snapshot(self, run: int) -> Snapshot:
        """What was known when a run began."""
        return self._given.at(self.runs[run].started.ts)

    def actual_score(self, run: int) -> Score:
        """A run's own score over all the terms it has."""
        return self._actual_scores[run]

    @cached_property
    def _actual_scores(self) -> list[Score]:
        with np.errstate(all="ignore"):
            scores = self._scales.scores(self._actual, Used.common(self._actual, self._actual))
        spanless = np.isinf(self._scales.cost[0]) & np.isinf(self._scales.steps[0])
        none = WHY[NO_FIGURE]
        return [
            NOT_NORMALISED if without else scored(score, none)
            for without, score in zip(spanless.tolist(), scores.tolist(), strict=True)
        ]

    def decisions(self, run: int) -> tuple[Decision, ...]:
        """A run's decision points, with a branch for each path not taken."""
        known = self._known(run)
        return tuple([self._decision(layers, number, known) for layers, number in self._places(run)])

    def decision(self, run: int, seq: int, alternative: str) -> Decision:
        """One of them, by its `seq`, with one branch alone."""
        at = [selection.seq for selection in self.runs[run].selections].index(seq)
        return self._decision(*self._places(run)[at], self._known(run), alternative)

    def _known(self, run: int) -> KnownAtStart:
        own = None if self._own[run] == NOWHERE else self.runs[run].run_id
        return KnownAtStart(self.snapshot(run), own, self.runs[run].started.ts)

    def summary(self, run: int) -> Summary:
        """The counts of a run's paths; its decisions are not made for it."""
        places = self._places(run)
        rows = [
            (place, delta)
            for place in places
            for delta in self._deltas[place[0]][slice(*self._asked[place[0]].first[place[1] : place[1] + 2])]
        ]
        verdicts = [verdict_of(delta, self._threshold) for _, delta in rows]
        better = [place for (place, _), v in zip(rows, verdicts, strict=True) if v == MAY_BE_BETTER]
        return tally(
            [("evaluated", None)],
            decisions=len(places),
            verdicts=verdicts,
            deltas=[delta for _, delta in rows if not isinstance(delta, Unscored)],
            signals=signals_expected(better),
        )

    def columns(self, place: Mapping[str, int]) -> PathColumns:
        """Every path of the runs in `place`, which gives each run its number; no object is made of any."""
        here = np.array([place.get(run.digest, NOWHERE) for run in self.runs], dtype=np.int64)
        parts = []
        for layers, asked in self._asked.items():
            run, seq, kind, named = asked.columns()
            found = self.paths[layers]
            delta, advantage = (
                np.where(found.known, column, np.nan) for column in (found.delta, found.advantage.advantage)
            )
            columns = PathColumns(
                kinds=tuple(asked.kinds),
                run=here[run],
                seq=seq,
                kind=kind,
                named=named,
                delta=delta,
                verdict=verdicts_of(delta, self._threshold),
                advantage=advantage,
            )
            parts.append(columns.at(np.flatnonzero(columns.run != NOWHERE)))
        return PathColumns.joined(parts)

    def better_paths(self, run: int) -> Iterator[BetterPath]:
        """The paths of a run with an insight; its decisions are not made for it."""
        for layers, number in self._places(run):
            asked, deltas, directions = self._asked[layers], self._deltas[layers], self._directions[layers]
            at = asked.selection[number]
            for row in range(*asked.first[number : number + 2].tolist()):
                delta = deltas[row]
                if not isinstance(delta, Unscored) and verdict_of(delta, self._threshold) == MAY_BE_BETTER:
                    better = bool(directions[row] > 0)
                    name = asked.name(row)
                    yield BetterPath(at.seq, at.context_hash, at.selected, name, delta, better)

    @cached_property
    def _deltas(self) -> dict[int, list[Score]]:
        """The delta of each path."""
        return {
            layers: scores_of(
                np.where(paths.known, paths.delta, np.nan), np.full(paths.known.size, NO_FIGURE)
            )
            for layers, paths in self.paths.items()
        }

    @cached_property
    def _directions(self) -> dict[int, np.ndarray]:
        """Of each path 1 where more success is supported, -1 where less is, else 0."""
        # Where there is no claim, its place is −1: that of the 0 at the end.
        return {
            layers: np.append(self._rulings[layers].direction(), 0)[paths.claim]
            for layers, paths in self.paths.items()
        }

    def _compare(self, asked: Asked) -> Paths:
        """Every path, block by block."""
        # Some columns have a row for each decision, others for each path.
        rows = max(len(asked.run), int(asked.first[-1]))
        found = joined(map(self._compared, asked.blocks(AT_ONCE)), rows)
        claimed = np.flatnonzero(found.shared)
        by_path = np.array(asked.run, dtype=np.int64)[asked.decision[claimed]]
        compared, which = asked.compared_once(claimed, found.shared[claimed])
        cut, without = self._decided(self._cut[by_path], self._own[by_path])
        self._rulings[asked.layers] = Rulings(self._history, Claims(compared, which, cut, without))
        found.claim[claimed] = np.arange(claimed.size)
        return found

    def _decided(self, cut: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moments as of which support is decided, and the runs left out: it does not depend on these."""
        decided, without = decided_at(cut), np.full_like(own, NOWHERE)
        for row in np.flatnonzero(own != NOWHERE).tolist():  # few runs end before they begin
            positions = self._history.positions_of_run(int(own[row]))
            # Decided as if the run's own observations were not in the log; then back to a place in the log.
            known = int(decided_at(cut[row : row + 1] - np.count_nonzero(positions < cut[row]))[0])
            for position in positions.tolist():
                known += position < known
            decided[row], without[row] = known, own[row]
        return decided, without

    def _compared(self, block: AskedBlock) -> Paths:
        """Some decisions' paths, before the guard."""
        by_path = block.run[block.decision]
        scales = self._scales.rows(by_path)
        with np.errstate(all="ignore"):
            other, taken = self._looked_up(block)
            chosen = [histories.rows(block.decision) for histories in taken]
            runs, taken_runs = ([h.figures.runs for h in skill] for skill in (other, chosen))
            level, shared = finest(runs), finest(runs, taken_runs)
            arm = at_level(other, level)
            # With one layer, its history is the finest and the shared one.
            first = arm if len(other) == 1 else at_level(other, np.where(shared > 0, shared, level))
            second = at_level(chosen, shared)
            own = Placed(*(column[by_path] for column in self._actual))
            used = Used.common(own, arm.placed)
            score, actual = scales.scores(arm.placed, used), scales.scores(own, used)
            low, high, why = around(arm, score, scales, used)
            advantage = advantages(first, second, scales, self._threshold)
            pooled = None
            if block.context is not None:
                pooled = self._pooled(block.context, other, chosen, by_path)
        return Paths(
            known=level > 0,
            level=level.astype(CODE),
            shared=shared.astype(CODE),
            used=used,
            score=score,
            actual=actual,
            low=low - actual,  # the run's own score is known: its history alone is in doubt
            high=high - actual,
            why=why.astype(CODE),
            n_selected=taken[0].figures.n.astype(COUNT),
            n_shared=second.figures.n.astype(COUNT),
            advantage=advantage,
            pooled=pooled,
            claim=np.full(level.size, NOWHERE, dtype=COUNT),
        )

    def _looked_up(self, block: AskedBlock) -> tuple[list[Histories], list[Histories]]:
        """Histories of the paths, and of the skills selected, by layer: looked up together."""
        runs, paths = np.concatenate([block.run[block.decision], block.run]), block.decision.size
        places = np.concatenate([block.alternative, block.selected])
        found = [self._histories(self._history.totals, layer, runs) for layer in places.T]
        return [f.rows(np.s_[:paths]) for f in found], [f.rows(np.s_[paths:]) for f in found]

    def _histories(self, totals: Totals, places: np.ndarray, runs: np.ndarray) -> Histories:
        """Histories of places as of the starts of runs, without the runs' own observations."""
        rows = Moment(places, self._cut[runs], self._own[runs])
        return Histories.of(totals.figures(rows), self._scales.rows(runs))

    def _pooled(
        self, context: np.ndarray, other: list[Histories], chosen: list[Histories], by_path: np.ndarray
    ) -> PooledAdvantages:
        everything = self._histories(self._history.totals_of_contexts, context, by_path)
        strength = self._strengths[by_path]
        return pooled_advantages(other, chosen, everything, strength, self._scales.rows(by_path))

    @cached_property
    def _strengths(self) -> np.ndarray:
        return strengths_for(self._given, self._cut, self._weights)

    def _decision(
        self, layers: int, number: int, known: KnownAtStart, alternative: str | None = None
    ) -> Decision:
        asked, columns = self._asked[layers], self.paths[layers]
        selection, rows = asked.selection[number], range(*asked.first[number : number + 2].tolist())
        some = [row for row in rows if alternative in (None, asked.name(row))]
        return Decision(
            decision_point=selection.seq,
            selected=selection.selected,
            context_hash=selection.context_hash,
            n_selected=int(columns.n_selected[number]),
            branches=tuple([self._branch(layers, row, known) for row in some]),
        )

    def _branch(self, layers: int, row: int, known: KnownAtStart) -> Alternative:
        asked, columns = self._asked[layers], self.paths[layers]
        decision, alternative = int(asked.decision[row]), asked.name(row)
        figures = figures_at(columns, row)
        if not figures.level:
            return _unknown(alternative, layers, int(columns.n_selected[decision]))
        context, run = asked.selection[decision].layers[figures.level - 1], asked.run[decision]
        history = known.snapshot.record(alternative, context, without_run=known.own)
        if history is None:
            raise AssertionError("a known path has a history")
        pooled = NOT_POOLED if columns.pooled is None else columns.pooled.row(row)
        support, reason, direction = called(self._rulings[layers], int(columns.claim[row]))
        return Alternative(
            alternative=alternative,
            known=True,
            n=history.n,
            success_rate=history.success_rate,
            avg_cost=history.avg_cost,
            avg_steps=history.avg_steps,
            score=figures.score,
            actual_score=figures.actual,
            delta=figures.delta,
            verdict=verdict_of(figures.delta, self._threshold),
            cost_used=figures.cost_used,
            steps_used=figures.steps_used,
            advantage=figures.advantage,
            low=figures.low,
            high=figures.high,
            p_better=figures.p_better,
            support=support,
            support_reason=reason,
            direction=direction,
            runs=history.runs,
            delta_low=figures.delta_low,
            delta_high=figures.delta_high,
            evidence_from=history.oldest,
            evidence_to=history.newest,
            evidence_age_days=(known.began - history.newest) / DAY,
            level=figures.level,
            levels=layers,
            advantage_level=figures.shared or None,
            n_selected=figures.n_shared,
            pooled=pooled.value,
            pooled_low=pooled.low,
            pooled_high=pooled.high,
            strength=pooled.strength,
            parts=parts_of_delta(history, self._own_outcomes[run], self._given.cost_unit),
        )


def _unknown(alternative: str, levels: int, n_selected: int) -> Alternative:
    where = f", at any of its {levels} levels" if levels > 1 else ""
    none = Unscored(f"no earlier run chose this alternative in this context{where}")
    return Alternative(
        alternative=alternative,
        known=False,
        n=0,
        success_rate=none,
        avg_cost=none,
        avg_steps=none,
        score=none,
        actual_score=none,
        delta=none,
        verdict="unknown",
        cost_used=True,
        steps_used=True,
        advantage=none,
        low=none,
        high=none,
        p_better=none,
        delta_low=none,
        delta_high=none,
        evidence_from=none,
        evidence_to=none,
        evidence_age_days=none,
        support="none",
        support_reason=none.reason,
        levels=levels,
        n_selected=n_selected,
    )
