"""A run's own outcome, the paths it did not take, and the verdict on each (§2.1, §2.4)."""

from __future__ import annotations

from typing import Final

from untaken.counterfactual.memory import priced
from untaken.counterfactual.run_evaluation import DeltaVerdict
from untaken.counterfactual.scoring import Outcome
from untaken.errors import Score, Unscored
from untaken.ledger import Run, SkillSelection

THRESHOLD: Final = 0.1
MAY_BE_BETTER: Final = "alternative_may_be_better"


def verdict_of(delta: Score, threshold: float = THRESHOLD) -> DeltaVerdict:
    """The verdict on an unrounded delta; exactly ±threshold is ``equivalent`` (§2.4)."""
    if isinstance(delta, Unscored):
        return "unknown"
    if delta > threshold:
        return MAY_BE_BETTER
    return "actual_was_better" if delta < -threshold else "equivalent"


def alternatives_of(selection: SkillSelection) -> tuple[str, ...]:
    """The paths not taken: without the selected skill and duplicates, in the ledger's order."""
    return tuple(dict.fromkeys([name for name in selection.alternatives if name != selection.selected]))


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
