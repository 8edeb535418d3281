"""Agents between outcome and sub-goals: whom the outcome flatters, whom it hides (§5)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from untaken.analysis.ranking.comparisons import Quadrant, QuadrantPoint
from untaken.analysis.ranking.ranked import RankedAgent
from untaken.errors import Unscored
from untaken.stats import quantised


def quadrant_points(
    metric: str, outcome: Sequence[RankedAgent], by_metric: Sequence[RankedAgent]
) -> tuple[QuadrantPoint, ...]:
    """Each agent that has both metrics, against the mean of these agents; ordered by outcome."""
    values = {s.agent: s.value for s in by_metric if not isinstance(s.value, Unscored)}
    both = [
        (s.agent, s.value, values[s.agent])
        for s in outcome
        if s.agent in values and not isinstance(s.value, Unscored)
    ]
    if not both:
        return ()
    centre = fsum(value for _, value, _ in both) / len(both)
    metric_centre = fsum(value for _, _, value in both) / len(both)
    return tuple(
        QuadrantPoint(
            metric=metric,
            agent=agent,
            outcome=outcome_value,
            value=value,
            outcome_centre=centre,
            metric_centre=metric_centre,
            quadrant=_quadrant(_high(outcome_value, centre), _high(value, metric_centre)),
        )
        for agent, outcome_value, value in both
    )


def _high(value: float, centre: float) -> bool:
    return quantised(value) >= quantised(centre)  # means that differ in their last digits are equal


def _quadrant(outcome_high: bool, metric_high: bool) -> Quadrant:
    if outcome_high:
        return "both_high" if metric_high else "outcome_flatters"
    return "outcome_hides" if metric_high else "both_low"
