"""The interval of a coefficient of agreement, 1 − Dₒ/Dₑ, whose items come in clusters (§6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf, isfinite, log, sqrt
from statistics import fmean
from typing import Final

from untaken.errors import Score, Unscored
from untaken.stats.means import student_quantile

FEWEST_CLUSTERS: Final = 10
"""Below, rare answers are seen in too few tasks: measured coverage falls to 86%."""
TOO_FEW: Final = Unscored(f"too few tasks: an interval needs {FEWEST_CLUSTERS} tasks (or runs of one task)")
TOO_RARE: Final = Unscored("too few disagreements: an interval needs them, and both answers, in two tasks")
FARTHEST: Final = 100.0
"""Largest half-width on the logarithmic scale; beyond it, the interval reaches its end anyway."""
Sums = Sequence[float]
"""Sums of a cluster: first its disagreements, then what chance is computed from."""


def agreement_interval(
    clusters: Sequence[Sequence[Sums]], ratio: Callable[[Sums], float]
) -> tuple[Score, Score]:
    """95% interval of 1 − Dₒ/Dₑ, whole clusters being left out in turn.

    log(Dₒ/Dₑ) ± t · s, s² the jackknife variance of the logarithm, t Student's at as many degrees of freedom
    as clusters show a disagreement, less one.

    Args:
        clusters: of each, the additive sums of its items; at least one has a disagreement.
        ratio: Dₒ/Dₑ of added sums; infinite where chance leaves no disagreement.
    """
    if len(clusters) < FEWEST_CLUSTERS:
        return TOO_FEW, TOO_FEW
    units = [_added(cluster) for cluster in clusters]
    informative, total = sum(unit[0] > 0 for unit in units), _added(units)
    whole = ratio(total)
    # Clusters may resemble each other by chance: items are never taken for more than independent.
    spread = [
        _variance(some, total, ratio) for some in (units, [item for items in clusters for item in items])
    ]
    if informative < 2 or not isfinite(whole) or None in spread:
        return TOO_RARE, TOO_RARE
    # The other clusters tell how rare disagreement is, not how it varies.
    reach = student_quantile(informative - 1) * sqrt(max(value for value in spread if value is not None))
    return max(-1.0, 1 - whole * exp(min(reach, FARTHEST))), 1 - whole * exp(-reach)


def _added(sums: Sequence[Sums]) -> Sums:
    return [sum(column) for column in zip(*sums, strict=True)]


def _variance(units: Sequence[Sums], total: Sums, ratio: Callable[[Sums], float]) -> float | None:
    """Jackknife variance of log Dₒ/Dₑ; ``None`` where it rests on a single unit."""
    left = [ratio([t - x for t, x in zip(total, unit, strict=True)]) for unit in units]
    if not all(0 < value < inf for value in left):
        return None
    logs, n = [log(value) for value in left], len(left)
    mean = fmean(logs)
    return (n - 1) / n * sum((value - mean) ** 2 for value in logs)
