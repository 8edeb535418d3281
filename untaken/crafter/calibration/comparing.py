"""Estimates from ledgers alone, next to the results in clones, and how well the two agree (§2c)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

from untaken.counterfactual import THRESHOLD, Alternative, Outcome, Scale, Weights, evaluate_run
from untaken.crafter.calibration.calibration_result import (
    Bin,
    Calibration,
    CalibrationPair,
    Estimator,
    Figure,
    Measure,
    Settings,
)
from untaken.crafter.calibration.playing import CalibrationPlan, Known, Played, play_plan
from untaken.crafter.calibration.truth import Result
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run
from untaken.memory import PolicyMemory
from untaken.stats.bootstrap import bootstrap_interval, task_weights
from untaken.stats.correlation import spearman
from untaken.stats.rounding import Floats

WEIGHTS = Weights()
OWN = ""
"""Rank of the run's own score among those of its skills."""
RESAMPLES: Final = 500
SEED: Final = 0
BINS: Final = 8
"""Most bins of a curve, with about as many pairs in each."""
LEAST: Final = 10
"""Fewest pairs in a bin."""
DIGITS: Final = 4
ESTIMATORS: Final[tuple[Estimator, ...]] = ("delta", "advantage", "pooled", "ceiling")
DRAWN: Final[tuple[Estimator, ...]] = ("delta", "advantage", "pooled")
"""Those that have a curve."""


def calibrate(
    plan: CalibrationPlan, *, workers: int = 1, progress: Callable[[int, int, str], None] | None = None
) -> Calibration:
    """Plays, and compares; the same for any number of workers.

    Raises:
        UntakenError: as `play_plan`.
    """
    with TemporaryDirectory() as folder:
        return compared(plan, play_plan(plan, Path(folder) / "runs", workers=workers, progress=progress))


def compared(plan: CalibrationPlan, played: Played) -> Calibration:
    """What the engine makes of the held-out ledgers with a memory of the training ledgers, and the truth."""
    memory = PolicyMemory.build(played.training)
    runs = {run.run_id: run for run in played.held_out}
    pairs, not_begun, unknown = list[CalibrationPair](), 0, 0
    for known in played.known:
        run = runs[known.run_id]
        evaluation = evaluate_run(run, memory)
        if not evaluation.decisions:
            continue
        decision = evaluation.decisions[known.index]
        arms = _scored(run, memory, known)
        for branch in decision.branches:
            if decision.selected not in arms or branch.alternative not in arms:
                not_begun += 1
            elif not branch.known:
                unknown += 1
            else:
                pairs.append(_pair(known, decision.selected, branch, arms))
    return Calibration(
        settings=_settings(plan, played, not_begun, unknown),
        measures=tuple(measures(pairs)),
        curve=tuple(curve(pairs)),
        pairs=tuple(pairs),
    )


def _scored(run: Run, memory: PolicyMemory, known: Known) -> dict[str, list[float]]:
    """The score of each draw, by skill, and that of the run itself: by the evaluation's own scale."""
    spans = memory.snapshot(run.started.ts).spans(without_run=run.run_id)
    scale = Scale(spans=spans, weights=WEIGHTS)

    def score(result: Result) -> float:
        outcome = Outcome(success=float(result.success), cost=None, steps=float(result.steps))
        return _certain(scale.score(outcome, scale.terms(outcome)))

    steps = 0 if run.finished is None or run.finished.steps is None else run.finished.steps
    own = Result(run.success is True, steps)
    return {OWN: [score(own)]} | {
        skill: [score(r) for r in results] for skill, results in known.results.items()
    }


def _pair(
    known: Known, selected: str, branch: Alternative, arms: Mapping[str, Sequence[float]]
) -> CalibrationPair:
    one, other = arms[branch.alternative], arms[selected]
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    return CalibrationPair(
        map=known.map,
        run=known.run_id,
        index=known.index,
        selected=selected,
        alternative=branch.alternative,
        support=branch.support,
        level=branch.advantage_level,
        levels=branch.levels,
        n=branch.n,
        n_selected=branch.n_selected,
        delta=_short(branch.delta),
        advantage=_short(branch.advantage),
        low=_short(branch.low),
        high=_short(branch.high),
        pooled=_short(branch.pooled),
        pooled_low=_short(branch.pooled_low),
        pooled_high=_short(branch.pooled_high),
        true_delta=round(fmean(one) - arms[OWN][0], DIGITS),
        true_advantage=round(fmean(gaps), DIGITS),
        error=round(stdev(gaps) / len(gaps) ** 0.5, DIGITS),
        half=round(fmean(gaps[::2]), DIGITS),
        other_half=round(fmean(gaps[1::2]), DIGITS),
    )


def _settings(plan: CalibrationPlan, played: Played, not_begun: int, unknown: int) -> Settings:
    setup = plan.setup
    return Settings(
        policy=setup.policy,
        options=dict(sorted(setup.options.items())),
        task=setup.task,
        steps=setup.steps,
        train=plan.train,
        held_out=plan.held_out,
        points=plan.points,
        draws=plan.draws,
        seed=plan.seed,
        success_train=_successes(played.training),
        success_held_out=_successes(played.held_out),
        decisions=len(played.known),
        not_begun=not_begun,
        unknown=unknown,
    )


def _successes(runs: Sequence[Run]) -> float:
    return round(fmean(run.success is True for run in runs), DIGITS)


def _short(value: Score) -> float | None:
    found = number(value)
    return None if found is None else round(found, DIGITS)


def _certain(value: Score) -> float:
    if isinstance(value, Unscored):
        raise TypeError(value.reason)  # success always has a weight
    return value


def values_of(pair: CalibrationPair, estimator: Estimator) -> tuple[float, float] | None:
    """An estimate, and what it is an estimate of; ``None`` if there is none."""
    if estimator == "ceiling":
        return pair.half, pair.other_half
    if estimator == "delta":
        return None if pair.delta is None else (pair.delta, pair.true_delta)
    value = pair.advantage if estimator == "advantage" else pair.pooled
    return None if value is None else (value, pair.true_advantage)


def ends_of(pair: CalibrationPair, estimator: Estimator) -> tuple[float, float] | None:
    """The 95% interval of an estimate of the advantage; ``None`` if there is none."""
    ends = {"advantage": (pair.low, pair.high), "pooled": (pair.pooled_low, pair.pooled_high)}
    low, high = ends.get(estimator, (None, None))
    return None if low is None or high is None else (low, high)


def measures(pairs: Sequence[CalibrationPair]) -> Iterator[Measure]:
    """Every estimator, over all pairs and over each part."""
    levels = max((pair.levels for pair in pairs), default=0)
    parts: list[tuple[str, Callable[[CalibrationPair], bool]]] = [
        ("all", lambda _: True),
        ("supported", lambda pair: pair.support == "supported"),
        ("weak", lambda pair: pair.support == "weak"),
        *((f"level {n}", lambda pair, n=n: pair.level == n) for n in range(1, levels + 1)),
    ]
    for estimator in ESTIMATORS:
        for name, belongs in (*parts, ("interval", _left_out_by(estimator))):
            part = Part.of([pair for pair in pairs if belongs(pair)], estimator)
            if part is not None:
                yield part.measure(estimator, name)


def curve(pairs: Sequence[CalibrationPair]) -> Iterator[Bin]:
    """Bins of each estimate, where it is supported and where it is weak."""
    for estimator in DRAWN:
        for support in ("supported", "weak"):
            part = Part.of([pair for pair in pairs if pair.support == support], estimator)
            if part is not None:
                yield from part.bins(estimator, support)


class Part:
    """Some pairs with an estimate, as columns."""

    def __init__(self, maps: Sequence[int], estimates: Floats, truths: Floats, ends: Floats) -> None:
        self._names, self._map = np.unique(np.asarray(maps), return_inverse=True)
        self._e, self._t, self._ends = estimates, truths, ends

    @classmethod
    def of(cls, pairs: Sequence[CalibrationPair], estimator: Estimator) -> Part | None:
        """The pairs that have the estimate; ``None`` where none has."""
        known = [
            (pair.map, *values, *(ends_of(pair, estimator) or (np.nan, np.nan)))
            for pair in pairs
            if (values := values_of(pair, estimator)) is not None
        ]
        if not known:
            return None
        maps, *columns = (np.asarray(column) for column in zip(*known, strict=True))
        return cls(maps.tolist(), columns[0], columns[1], np.stack(columns[2:]))

    def measure(self, estimator: Estimator, part: str) -> Measure:
        """All measures of agreement."""
        e, t = self._e, self._t
        beyond = np.abs(e) > THRESHOLD
        return Measure(
            estimator=estimator,
            part=part,
            pairs=e.size,
            maps=self._names.size,
            three_way=self._mean(_verdicts(e) == _verdicts(t)),
            sign=self._mean(np.sign(e) == np.sign(t), beyond),
            spearman=self._spearman(),
            rmse=self._mean((e - t) ** 2, root=True),
            coverage=self._mean((self._ends[0] <= t) & (t <= self._ends[1]), np.isfinite(self._ends[0])),
        )

    def bins(self, estimator: Estimator, part: str) -> Iterator[Bin]:
        """Bins of equally many pairs, ordered by estimate."""
        count = max(1, min(BINS, self._e.size // LEAST))
        for some in np.array_split(np.argsort(self._e, kind="stable"), count):
            inside = np.zeros(self._e.size, dtype=bool)
            inside[some] = True
            truth = self._mean(self._t, inside)
            yield Bin(
                estimator=estimator,
                part=part,
                pairs=some.size,
                maps=np.unique(self._map[some]).size,
                estimate=round(float(self._e[some].mean()), DIGITS),
                truth=round(float(self._t[some].mean()), DIGITS),
                low=truth.low,
                high=truth.high,
            )

    def _mean(
        self,
        values: NDArray[np.float64] | NDArray[np.bool_],
        of: NDArray[np.bool_] | None = None,
        *,
        root: bool = False,
    ) -> Figure:
        """A mean over pairs (its root, on request), resampled by map."""
        kept = np.ones(self._e.size, dtype=bool) if of is None else of
        clusters, at = np.unique(self._map[kept], return_inverse=True)
        n = int(kept.sum())
        if not n:
            return Figure(n=0, value=None, low=None, high=None)
        sums = np.bincount(at, weights=values[kept].astype(np.float64))
        sizes = np.bincount(at).astype(np.float64)
        resampled = [weights @ np.stack([sums, sizes], axis=1) for weights in _weights(clusters.size)]
        means = [block[:, 0] / block[:, 1] for block in resampled]
        return _figure(n, sums.sum() / n, means, clusters.size, root=root)

    def _spearman(self) -> Figure:
        found = number(spearman(self._e, self._t))
        if found is None:
            return Figure(n=self._e.size, value=None, low=None, high=None)
        rows = [np.flatnonzero(self._map == at) for at in range(self._names.size)]
        drawn = []
        for block in _weights(self._names.size):
            for weights in block.astype(int):
                some = np.concatenate([rows[at] for at in np.repeat(np.arange(weights.size), weights)])
                drawn.append(number(spearman(self._e[some], self._t[some])))
        known = np.asarray([value for value in drawn if value is not None])
        return _figure(self._e.size, found, [known], self._names.size)


def _weights(maps: int) -> Iterator[Floats]:
    return task_weights(maps, RESAMPLES, SEED)


def _figure(n: int, value: float, resampled: Sequence[Floats], maps: int, *, root: bool = False) -> Figure:
    drawn = np.concatenate(resampled)[:, None]
    ends = bootstrap_interval(drawn, maps)[:, 0] if maps > 1 else None
    low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
    return Figure(
        n=n, value=_figure_value(value, root), low=_figure_value(low, root), high=_figure_value(high, root)
    )


def _figure_value(value: float | None, root: bool) -> float | None:
    return None if value is None else round(float(value**0.5 if root else value), DIGITS)


def _verdicts(values: Floats) -> Floats:
    """−1, 0 or 1: worse, equivalent, better by more than the threshold."""
    verdicts: Floats = np.sign(values) * (np.abs(values) > THRESHOLD)
    return verdicts


def _left_out_by(estimator: Estimator) -> Callable[[CalibrationPair], bool]:
    """Whether the estimate's own interval leaves 0 out."""

    def belongs(pair: CalibrationPair) -> bool:
        ends = ends_of(pair, estimator)
        return ends is not None and (ends[0] > 0 or ends[1] < 0)

    return belongs
