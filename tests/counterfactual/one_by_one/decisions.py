"""One decision point: the paths not taken, each scored by its history and set against the run (§2.1–§2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zlib import crc32

import numpy as np
from msgspec import UNSET

from one_by_one.histories import Arm, common_terms, compare_arms
from one_by_one.levels import NOT_POOLED, finest, pooled_advantage, record_of_context, strength_for
from untaken.counterfactual.memory import Observed, Snapshot
from untaken.counterfactual.run_evaluation import (
    Alternative,
    Decision,
    alternatives_of,
    outcome_of,
    verdict_of,
)
from untaken.counterfactual.scoring import Outcome, Scale, Weights, difference, score_placed
from untaken.counterfactual.strata import NOT_NAMED, NOT_TAKEN_BEFORE, decided_at
from untaken.counterfactual.support import ComparedRuns, OptionComparison, nested_groups
from untaken.errors import Score, Unscored
from untaken.ledger.events import SkillSelection
from untaken.ledger.run import Run

DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Everything that one run's decisions are measured with; `actual` is the run's own outcome, placed."""

    run_id: str
    started: datetime
    snapshot: Snapshot
    scale: Scale
    actual: Outcome
    threshold: float

    @classmethod
    def of(cls, run: Run, snapshot: Snapshot, weights: Weights, threshold: float) -> Bench:
        """For a finished run with a known success, against a snapshot."""
        scale = Scale(spans=snapshot.spans(without_run=run.run_id), weights=weights)
        return cls(
            run_id=run.run_id,
            started=run.started.ts,
            snapshot=snapshot,
            scale=scale,
            actual=scale.place(outcome_of(run, snapshot.cost_unit)),
            threshold=threshold,
        )

    def actual_score(self) -> Score:
        """The run's own score over all the terms it has."""
        if self.scale.spans.cost is None and self.scale.spans.steps is None:
            return Unscored("no other run in memory to normalise cost and steps with")
        return score_placed(self.actual, common_terms(self.actual, self.actual), self.scale.weights)

    def decision(self, selection: SkillSelection) -> Decision:
        """The decision point with a branch for each path not taken."""
        return Decision(
            decision_point=selection.seq,
            selected=selection.selected,
            context_hash=selection.context_hash,
            n_selected=outcomes(self._history(selection.selected, selection.layers[0])),
            branches=tuple([self._branch(name, selection) for name in alternatives_of(selection)]),
        )

    def _history(self, skill: str, context_hash: str) -> Arm | None:
        record = self.snapshot.record(skill, context_hash, without_run=self.run_id)
        return None if record is None else Arm(record, self.scale)

    def _branch(self, alternative: str, selection: SkillSelection) -> Alternative:
        layers, skills = selection.layers, (alternative, selection.selected)
        found = finest(self._history, layers, alternative)
        if found is None:
            chosen = outcomes(self._history(selection.selected, layers[0]))
            return _unknown(alternative, n_selected=chosen, levels=len(layers))
        level, (arm,) = found
        shared, (first, second) = finest(self._history, layers, *skills) or (None, (arm, None))
        history, weights, terms = arm.record, self.scale.weights, common_terms(self.actual, arm.placed)
        score, actual = score_placed(arm.placed, terms, weights), score_placed(self.actual, terms, weights)
        delta = difference(score, actual)
        low, high = arm.around(score, terms)
        support, why, direction = "weak", NOT_TAKEN_BEFORE, None
        if second is not None:
            support, why, direction = support_of(
                self.snapshot, first.record.context_hash, *skills, without=self.run_id
            )
        pooled = NOT_POOLED if len(layers) == 1 else self._pooled(layers, skills)
        return Alternative(
            alternative=alternative,
            known=True,
            n=history.n,
            success_rate=history.success_rate,
            avg_cost=history.avg_cost,
            avg_steps=history.avg_steps,
            score=score,
            actual_score=actual,
            delta=delta,
            verdict=verdict_of(delta, self.threshold),
            cost_used=terms.cost,
            steps_used=terms.steps,
            **compare_arms(first, second, self.threshold)._asdict(),
            support=support,
            support_reason=why,
            direction=direction,
            runs=history.runs,
            delta_low=difference(low, actual),
            delta_high=difference(high, actual),
            evidence_from=history.oldest,
            evidence_to=history.newest,
            evidence_age_days=(self.started - history.newest) / DAY,
            level=level,
            levels=len(layers),
            advantage_level=shared,
            n_selected=outcomes(second),
            pooled=pooled.value,
            pooled_low=pooled.low,
            pooled_high=pooled.high,
            strength=pooled.strength,
        )

    def _pooled(self, layers: tuple[str, ...], skills: tuple[str, str]) -> Any:
        record = record_of_context(self.snapshot, layers[-1], without_run=self.run_id)
        everything = None if record is None else Arm(record, self.scale)
        strength = strength_for(self.snapshot, self.scale.weights)
        return pooled_advantage(self._history, layers, skills, everything, strength)


def outcomes(arm: Arm | None) -> int:
    """How many outcomes a history has."""
    return arm.record.n if arm else 0


UNKNOWN: Final = (
    *("success_rate", "avg_cost", "avg_steps", "score", "actual_score", "delta", "advantage", "low", "high"),
    *("p_better", "delta_low", "delta_high", "evidence_from", "evidence_to", "evidence_age_days"),
)


def _unknown(alternative: str, *, n_selected: int, levels: int) -> Alternative:
    where = f", at any of its {levels} levels" if levels > 1 else ""
    none = Unscored(f"no earlier run chose this alternative in this context{where}")
    return Alternative(
        **dict.fromkeys(UNKNOWN, none),
        alternative=alternative,
        known=False,
        n=0,
        verdict="unknown",
        cost_used=True,
        steps_used=True,
        support="none",
        support_reason=none.reason,
        levels=levels,
        n_selected=n_selected,
    )


def support_of(
    snapshot: Snapshot, context: str, alternative: str, selected: str, *, without: str
) -> tuple[str, str, str | None]:
    """Support inside strata, run by run, its reason and its direction, without a run (§2a)."""
    log = [o for o in snapshot.history.log[: snapshot.observations] if o.run_id != without]
    took: dict[str, dict[str, Observed]] = {}
    for observed in log[: int(decided_at(np.array([len(log)]))[0])]:
        if observed.kind == "outcome" and context in observed.layers:
            took.setdefault(observed.skill, {}).setdefault(observed.run_id, observed)
    one, two = sorted((alternative, selected))
    first, second = took.get(one, {}), took.get(two, {})
    runs = [*((o, True) for o in first.values()), *((o, False) for o in second.values())]
    runs = [(o, took_one) for o, took_one in runs if not (o.run_id in first and o.run_id in second)]
    units: dict[object, tuple[Observed, bool]] = {}
    for observed, took_one in runs:
        copied = (observed.run_id,) if observed.trail is UNSET else (*parts_of(observed), observed.trail)
        units.setdefault(copied, (observed, took_one))
    runs = list(units.values())
    if any(o.task_id is UNSET or o.agent is UNSET for o, _ in runs):
        return "weak", NOT_NAMED, None
    ruling = OptionComparison(
        ComparedRuns(
            first=np.array([took_one for _, took_one in runs], dtype=bool),
            group=nested_groups(parts_of(o) for o, _ in runs),
            identity=nested_groups(parts_of(o)[1:] * 2 for o, _ in runs)[:, 3],
            start=np.array([np.nan if o.started is UNSET else o.started.timestamp() for o, _ in runs]),
            tie=np.array([crc32(o.run_id.encode()) for o, _ in runs]),
        )
    ).ruling(np.array([o.success for o, _ in runs]))
    if not ruling.holds:
        return "weak", ruling.reason, None
    sign = 1 if one == alternative else -1
    return "supported", ruling.words(sign), "better" if sign * ruling.difference > 0 else "worse"


def parts_of(observed: Observed) -> tuple[str, ...]:
    """What a run has for `IDENTITY`."""
    parts = observed.task_id, observed.agent, observed.model, observed.version, observed.prompt_version
    return tuple("" if part is UNSET else part for part in parts)
