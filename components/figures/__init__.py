"""Figures in plotly, the same in the app, in notebooks and in exported pages; nothing here knows the app.

Every function takes result objects of the engine and ``dark=`` for the dark theme, and returns a
`plotly.graph_objects.Figure`. Words from ledgers are escaped: plotly reads
tags, links and TeX in every label.
"""

from ..plan.markup import plan_html
from .agents import rank_flow, sub_goal_bars
from .agreement import agreement_figure
from .annotating import draft_figure, status_changes
from .calibration import calibration_agreement, calibration_figure
from .causality import scm_figure, state_causality_figure
from .choices import choice_deltas, choice_figure
from .compare import compare_matrix
from .criteria import (
    attack_matrix,
    criteria_distributions,
    criteria_means,
    original_vs_disturbed,
    pass_change,
)
from .decisions import delta_distribution, delta_figure
from .failure_modes import mode_contrasts, mode_course, mode_matrix, saturation_curve
from .frames import frame_figure, frame_strip
from .labelled_rates import labelled_rates_figure
from .memory import estimate_course, skill_rates
from .outcome import outcome_scatter, pass_k_lines
from .pairs import (
    difference_bar,
    gap_bars,
    pair_matrix,
)
from .plan import plan_figure
from .plan_changes import plan_calibration, plan_changes_figure
from .plan_diff import plan_diff_figure
from .proposals import agents_by_criterion, unique_criteria
from .reviewers import reliability_figure, reviewer_pairs_figure
from .run import progress_curve, timeline_figure
from .theme import themed
from .triage import fix_first_bars
from .what_if_not import ablation_figure, win_figure

__all__ = [
    "ablation_figure",
    "agents_by_criterion",
    "agreement_figure",
    "attack_matrix",
    "calibration_agreement",
    "calibration_figure",
    "choice_deltas",
    "choice_figure",
    "compare_matrix",
    "criteria_distributions",
    "criteria_means",
    "delta_distribution",
    "delta_figure",
    "difference_bar",
    "draft_figure",
    "estimate_course",
    "fix_first_bars",
    "frame_figure",
    "frame_strip",
    "gap_bars",
    "labelled_rates_figure",
    "mode_contrasts",
    "mode_course",
    "mode_matrix",
    "original_vs_disturbed",
    "outcome_scatter",
    "pair_matrix",
    "pass_change",
    "pass_k_lines",
    "plan_calibration",
    "plan_changes_figure",
    "plan_diff_figure",
    "plan_figure",
    "plan_html",
    "progress_curve",
    "rank_flow",
    "reliability_figure",
    "reviewer_pairs_figure",
    "saturation_curve",
    "scm_figure",
    "skill_rates",
    "state_causality_figure",
    "status_changes",
    "sub_goal_bars",
    "themed",
    "timeline_figure",
    "unique_criteria",
    "win_figure",
]
