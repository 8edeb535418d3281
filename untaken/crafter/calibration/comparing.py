"""Estimates from ledgers alone, next to the results in clones (§2c)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

from untaken.counterfactual import Alternative, Outcome, Scale, Weights, evaluate_run
from untaken.crafter.calibration.agreement import DIGITS, curve, measures
from untaken.crafter.calibration.model import Calibration, CalibrationPair, Settings
from untaken.crafter.calibration.playing import CalibrationPlan, Known, Played, play_plan
from untaken.crafter.calibration.truth import Result
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run
from untaken.memory import PolicyMemory

WEIGHTS = Weights()


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


OWN = ""
"""Rank of the run's own score among those of its skills."""


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
