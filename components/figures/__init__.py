"""Figures in plotly, the same in the app, in notebooks and in exported pages; nothing here knows the app.

Every function takes result objects of the engine and ``dark=`` for the dark theme, and returns a
`plotly.graph_objects.Figure`. Words from ledgers are escaped: plotly reads
tags, links and TeX in every label. A figure's module is loaded when it is first asked for.
"""

from importlib import import_module
from typing import Any, Final

_FIGURES: Final = {
    ".agents": ("rank_flow", "sub_goal_bars"),
    ".agreement": (
        "agreement_figure",
        "labelled_rates_figure",
        "reliability_figure",
        "reviewer_pairs_figure",
    ),
    ".annotating": ("draft_figure", "status_changes"),
    ".causality": ("scm_figure", "state_causality_figure"),
    ".choices": ("choice_deltas", "choice_figure"),
    ".compare": ("compare_matrix",),
    ".criteria": (
        "agents_by_criterion",
        "attack_matrix",
        "criteria_distributions",
        "criteria_means",
        "original_vs_disturbed",
        "pass_change",
        "unique_criteria",
    ),
    ".decisions": ("delta_distribution", "delta_figure"),
    ".failure_modes": ("mode_contrasts", "mode_over_time", "mode_matrix", "saturation_curve"),
    ".frames": ("frame_figure", "frame_strip"),
    ".memory": ("estimates_over_time", "skill_rates"),
    ".outcome": ("outcome_scatter", "pass_k_lines"),
    ".pairs": ("difference_bar", "gap_bars", "pair_matrix"),
    ".plan": ("plan_diff_figure", "plan_figure"),
    "..plan.markup": ("plan_html",),
    ".plan_changes": ("plan_calibration", "plan_changes_figure"),
    ".run": ("progress_curve", "timeline_figure"),
    ".theme": ("themed",),
    ".triage": ("fix_first_bars",),
    ".what_if_not": ("ablation_figure", "win_figure"),
}
_MODULES: Final = {name: module for module, names in _FIGURES.items() for name in names}
__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """A figure by its name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
