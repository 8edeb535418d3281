"""One decision point: the paths not taken, each scored by its history and set against the run (§2.1–§2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from one_by_one.levels import Layered, sides
from one_by_one.pooling import NOT_POOLED, Pooled, pooled_advantage, strength_for
from one_by_one.records import record_of_context
from one_by_one.strata import support_of
from one_by_one.terms import common_terms
from one_by_one.trust import Arm, compare_arms
from untaken.counterfactual.memory import Snapshot
from untaken.counterfactual.paths import alternatives_of, outcome_of, verdict_of
from untaken.counterfactual.run_evaluation import Alternative, Decision, Direction, Support
from untaken.counterfactual.scoring import Outcome, Scale, Weights, difference, score_placed
from untaken.counterfactual.strata import NOT_TAKEN_BEFORE
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
        chosen = Layered(selection.selected, selection.layers, self._history)
        return Decision(
            decision_point=selection.seq,
            selected=selection.selected,
            context_hash=selection.context_hash,
            n_selected=outcomes(chosen.at(1)),
            branches=tuple([self._branch(name, chosen) for name in alternatives_of(selection)]),
        )

    def _history(self, skill: str, context_hash: str) -> Arm | None:
        record = self.snapshot.record(skill, context_hash, without_run=self.run_id)
        return None if record is None else Arm(record, self.scale)

    def _branch(self, alternative: str, chosen: Layered) -> Alternative:
        found = sides(alternative, chosen, self._history)
        if found is None:
            return _unknown(alternative, chosen)
        level, arm, shared, first, second, other = found
        pooled = self._pooled(other, chosen)
        history, weights, terms = arm.record, self.scale.weights, common_terms(self.actual, arm.placed)
        score, actual = score_placed(arm.placed, terms, weights), score_placed(self.actual, terms, weights)
        delta = difference(score, actual)
        low, high = arm.around(score, terms)
        trust = compare_arms(first, second, self.threshold)
        support, why, direction = self._called(first, second)
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
            advantage=trust.advantage,
            low=trust.low,
            high=trust.high,
            p_better=trust.p_better,
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
            levels=chosen.levels,
            advantage_level=shared,
            n_selected=outcomes(second),
            pooled=pooled.value,
            pooled_low=pooled.low,
            pooled_high=pooled.high,
            strength=pooled.strength,
        )

    def _called(self, first: Arm, second: Arm | None) -> tuple[Support, str, Direction | None]:
        if second is None:
            return "weak", NOT_TAKEN_BEFORE, None
        skills = first.record.skill, second.record.skill
        return support_of(self.snapshot, first.record.context_hash, *skills, self.run_id)

    def _pooled(self, other: Layered | None, chosen: Layered) -> Pooled:
        if other is None:
            return NOT_POOLED
        context_hash = chosen.layers[-1]
        record = record_of_context(self.snapshot, context_hash, without_run=self.run_id)
        everything = None if record is None else Arm(record, self.scale)
        return pooled_advantage(other, chosen, everything, strength_for(self.snapshot, self.scale.weights))


def outcomes(arm: Arm | None) -> int:
    """How many outcomes a history has."""
    return arm.record.n if arm else 0


def _unknown(alternative: str, chosen: Layered) -> Alternative:
    where = f", at any of its {chosen.levels} levels" if chosen.levels > 1 else ""
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
        levels=chosen.levels,
        n_selected=outcomes(chosen.at(1)),
    )
