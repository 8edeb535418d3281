"""Every metric agents are ranked by, declared once (§5): its value for a run and its words.

A new metric is one more declaration here and a paragraph in `docs/concepts.md`: rankings, the gate, tables,
pages and the report read the rest from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from untaken.errors import Score, Unscored
from untaken.scoring import NodeResult, RunScore


class Metric(Struct, frozen=True, kw_only=True):
    """A number from 0 to 1 for each run; higher is better.

    Attributes:
        label: a few words for the axis of a figure; `words`: the same inside a sentence.
        value: of one run.
        trials: how many yes-or-no questions a run's value is the mean of: intervals rest on it.
        weight: of a sub-goal, where the value is the weight completed over the weight required.
        headline: among the few that stand for all where there is little room.
        column: the same value in SQL, over the table `runs` of facts; `column_trials` likewise, and
            `column_reason` says why there is none.
    """

    label: str
    words: str
    value: Callable[[RunScore], Score]
    trials: Callable[[RunScore], int] = lambda run: run.required
    weight: Callable[[NodeResult], float] | None = None
    headline: bool = False
    column: str
    column_trials: str = "coalesce(required, 0)"
    column_reason: str = "completion_reason"


def _outcome(run: RunScore) -> Score:
    return run.success if isinstance(run.success, Unscored) else float(run.success)


def _share(run: RunScore, completed: int) -> Score:
    return run.completion if isinstance(run.completion, Unscored) else completed / run.required


OUTCOME: Final = "success_rate"
USUAL: Final = ("critical_completion", "completion", OUTCOME)
WEIGHTED: Final = "completion_weighted"
METRICS: Final[Mapping[str, Metric]] = {
    OUTCOME: Metric(
        label="outcome success",
        words="outcome success",
        value=_outcome,
        trials=lambda _: 1,
        headline=True,
        column="success::INT::DOUBLE",
        column_trials="1",
        column_reason="success_reason",
    ),
    "coverage": Metric(
        label="attempted",
        words="sub-goals attempted",
        value=lambda run: run.coverage,
        column="coverage",
        column_reason="coverage_reason",
    ),
    "completion": Metric(
        label="completed",
        words="sub-goals completed",
        value=lambda run: run.completion,
        weight=lambda _: 1.0,
        headline=True,
        column="completion",
    ),
    WEIGHTED: Metric(
        label="completed, by weight",
        words="sub-goals completed, by weight",
        value=lambda run: run.completion_weighted,
        weight=lambda node: node.weight,
        column="completion_weighted",
        column_reason="completion_weighted_reason",
    ),
    "critical_completion": Metric(
        label="critical completed",
        words="critical sub-goals completed",
        value=lambda run: run.critical_completion,
        trials=lambda run: run.critical,
        weight=lambda node: float(node.critical),
        headline=True,
        column="critical_completion",
        column_trials="coalesce(critical, 0)",
        column_reason="critical_completion_reason",
    ),
    "completion_with_deps": Metric(
        label="completed with dependencies",
        words="completed, with dependencies",
        value=lambda run: _share(run, run.completed_with_deps),
        column="if(completion IS NULL, NULL, completed_with_deps / required)",
    ),
    "completion_with_deps_all": Metric(
        label="completed with all dependencies",
        words="completed, with all dependencies",
        value=lambda run: _share(run, run.completed_with_deps_all),
        column="if(completion IS NULL, NULL, completed_with_deps_all / required)",
    ),
}
"""Metrics by name, in the order in which they are shown: outcome first."""
HEADLINE: Final = tuple(name for name, metric in METRICS.items() if metric.headline)


def metric_words(name: str) -> str:
    """A metric's name inside a sentence."""
    return METRICS[name].words if name in METRICS else name.replace("_", " ")
