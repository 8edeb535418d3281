"""Figures for notebooks: ``from untaken.figures import rank_flow``.

The figures themselves are part of the app (`components/figures`) and need the extra ``app``. They are loaded
when one is first asked for, as a part of the private package ``untaken._app``: the app's folder does not have
to be on the path, and a package of the user's own called ``components`` is left alone.

Each has a title, which ``figure.update_layout(title=…)`` changes; the app has headings instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from untaken.app_folder import PRIVATE, app_folder
from untaken.extras import extra_missing

TITLES: Final = {
    "ablation_figure": "Arms of the ablation",
    "agents_by_criterion": "Two agents by criterion",
    "attack_matrix": "Disturbed runs that score worse",
    "choice_deltas": "Deltas by choice",
    "choice_figure": "Alternatives against the choice made",
    "compare_matrix": "Runs side by side",
    "criteria_distributions": "Criteria by outcome: how runs are spread",
    "criteria_means": "Criteria by outcome: means",
    "delta_distribution": "How deltas are spread",
    "delta_figure": "Deltas of the alternatives",
    "difference_bar": "The difference, with its interval",
    "draft_figure": "Suggested graph",
    "estimates_over_time": "Success rate of a skill over time",
    "fix_first_bars": "What to fix first",
    "frame_figure": "What was seen",
    "frame_strip": "What was seen around the step",
    "gap_bars": "Difference by sub-goal",
    "mode_contrasts": "Failure modes: failed against successful runs",
    "mode_matrix": "Failure modes by group",
    "mode_over_time": "A failure mode over time",
    "original_vs_disturbed": "Criteria before and after the disturbance",
    "outcome_scatter": "Outcome against sub-goals",
    "pair_matrix": "Every pair of agents",
    "pass_k_lines": "Chance that k trials all succeed",
    "plan_calibration": "Forecasts against what happened",
    "plan_changes_figure": "Chance of success after each plan change",
    "plan_diff_figure": "What differs between the versions",
    "plan_figure": "Plan graph",
    "progress_curve": "Progress",
    "rank_flow": "Ranks by outcome and by sub-goals",
    "saturation_curve": "Failure modes seen, by runs read",
    "scm_figure": "Causal model",
    "skill_rates": "Success by skill",
    "state_causality_figure": "What acts on the task",
    "status_changes": "Sub-goals whose status would change",
    "sub_goal_bars": "Completed sub-goals by agent",
    "timeline_figure": "Timeline",
    "win_figure": "WIN by step",
}


def __getattr__(name: str) -> Any:
    """A figure by its name."""
    # Imports look for `__path__` and the like: no reason to load the app.
    if name != "__all__" and (name.startswith("_") or name not in __dir__()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return _titled(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("untaken."):  # a fault in our own modules is no missing extra
            raise
        raise extra_missing(
            "app-extra-missing", "app", f"figures need {error.name}, which is not installed"
        ) from error


def __dir__() -> list[str]:
    return list(_figures().__all__)


@lru_cache(maxsize=64)
def _titled(name: str) -> Any:
    draw: Callable[..., Any] = getattr(_figures(), name)
    if name not in TITLES:
        return draw
    # Bounded, but with room for every figure: a figure keeps its identity.
    theme = import_module(f"{_figures().__name__}.theme")

    @wraps(draw)
    def titled(*given: Any, **named: Any) -> Any:
        return theme.titled(draw(*given, **named), TITLES[name])

    return titled


def _figures() -> ModuleType:
    app = import_module(f"untaken.{PRIVATE}")
    # A package of our own name: a user's `components` is neither found nor shadowed.
    app.__path__ = [str(app_folder())]
    return import_module(f"{app.__name__}.components.figures")
