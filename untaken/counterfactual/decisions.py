"""One decision point: the paths not taken, each scored by its history and set against the run (§2.1–§2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from untaken.counterfactual.confounding import Call, guarded
from untaken.counterfactual.levels import Layered, sides
from untaken.counterfactual.model import Branch, Decision, DeltaVerdict
from untaken.counterfactual.pooling import NOT_POOLED, Pooled, pooled_advantage, strength_for, supported
from untaken.counterfactual.scoring import Outcome, Scale, Weights, common_terms, difference, score_placed
from untaken.counterfactual.trust import Arm, compare_arms
from untaken.errors import Score, Unscored
from untaken.ledger.events import SkillSelection
from untaken.ledger.model import Run
from untaken.memory import Snapshot, priced

THRESHOLD: Final = 0.1
DAY: Final = timedelta(days=1)


def verdict_of(delta: Score, threshold: float = THRESHOLD) -> DeltaVerdict:
    """The verdict on an unrounded delta; exactly ±threshold is ``equivalent`` (§2.4)."""
    if isinstance(delta, Unscored):
        return "unknown"
    if delta > threshold:
        return "alternative_may_be_better"
    return "actual_was_better" if delta < -threshold else "equivalent"


def alternatives_of(selection: SkillSelection) -> tuple[str, ...]:
    """The paths not taken: without the selected skill and duplicates, in the ledger's order."""
    return tuple(dict.fromkeys([name for name in selection.alternatives if name != selection.selected]))


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

    def _branch(self, alternative: str, chosen: Layered) -> Branch:
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
        called = (
            Call(trust.support, trust.reason, trust.direction)
            if other is None
            else Call(*supported(pooled, first, second))
        )
        support, why, direction = guarded(called, first, second, self.snapshot, self.run_id)
        return Branch(
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

    def _pooled(self, other: Layered | None, chosen: Layered) -> Pooled:
        if other is None:
            return NOT_POOLED
        context_hash = chosen.layers[-1]
        record = self.snapshot.record_of_context(context_hash, without_run=self.run_id)
        everything = None if record is None else Arm(record, self.scale)
        return pooled_advantage(other, chosen, everything, strength_for(self.snapshot, self.scale.weights))


def outcomes(arm: Arm | None) -> int:
    """How many outcomes a history has."""
    return arm.record.n if arm else 0


def outcome_of(run: Run, cost_unit: str | None) -> Outcome:
    """The run's own outcome; a cost in another unit than the memory's cannot be compared and is left out.

    Raises:
        ValueError: for a run that did not finish or whose success is unknown.
    """
    finished = run.finished
    if finished is None or isinstance(run.success, Unscored):
        raise ValueError("only finished runs with a known outcome are evaluated")
    comparable = cost_unit is None or finished.cost_unit == cost_unit
    return Outcome(
        success=float(run.success),
        cost=priced(finished) if comparable else None,
        steps=None if finished.steps is None else float(finished.steps),
    )


def _unknown(alternative: str, chosen: Layered) -> Branch:
    where = f", at any of its {chosen.levels} levels" if chosen.levels > 1 else ""
    none = Unscored(f"no earlier run chose this alternative in this context{where}")
    return Branch(
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
