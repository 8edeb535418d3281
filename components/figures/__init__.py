"""Figures in plotly, the same in the app, in notebooks and in exported pages; nothing here knows the app.

Every function takes result objects of the engine and ``dark=`` for the dark theme, and returns a
`plotly.graph_objects.Figure`. Words from ledgers are escaped: plotly reads
tags, links and TeX in every label.
"""

from components.figures.agents import rank_flow, sub_goal_bars
from components.figures.agreement import agreement_figure
from components.figures.annotating import draft_figure, status_changes
from components.figures.calibration import calibration_agreement, calibration_figure
from components.figures.causality import scm_figure, state_causality_figure
from components.figures.choices import choice_deltas, choice_figure
from components.figures.compare import compare_matrix
from components.figures.criteria import (
    attack_matrix,
    criteria_distributions,
    criteria_means,
    original_vs_disturbed,
    pass_change,
)
from components.figures.decisions import delta_distribution, delta_figure
from components.figures.failure_modes import mode_contrasts, mode_course, mode_matrix, saturation_curve
from components.figures.frames import frame_figure, frame_strip
from components.figures.labelled_rates import labelled_rates_figure
from components.figures.memory import estimate_course, skill_rates
from components.figures.outcome import outcome_scatter, pass_k_lines
from components.figures.pairs import (
    difference_bar,
    gap_bars,
    pair_matrix,
)
from components.figures.plan import plan_figure
from components.figures.plan_changes import plan_calibration, plan_changes_figure
from components.figures.plan_diff import plan_diff_figure
from components.figures.proposals import agents_by_criterion, unique_criteria
from components.figures.reviewers import reliability_figure, reviewer_pairs_figure
from components.figures.run import progress_curve, timeline_figure
from components.figures.theme import themed
from components.figures.triage import fix_first_bars
from components.figures.what_if_not import ablation_figure, win_figure
from components.plan.markup import plan_html

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
