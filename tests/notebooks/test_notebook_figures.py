"""Every figure of the app works in notebooks: each public figure is used in one of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from components import figures

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))
CRITERIA = "its records come from a model or from published tables; it is on the Criteria page"
WITHOUT = {
    "themed": "what all figures look like, and no figure",
    "plan_html": "a page of its own, to be clicked; `plan_figure` shows the same",
    "agreement_figure": CRITERIA,
    "reliability_figure": "it needs the verdicts of several people: it is on the Queue page",
    "reviewer_pairs_figure": "as the figure above",
    "labelled_rates_figure": "it needs verdicts of people and of a judge: it is on the Rankings page",
    "compare_matrix": "runs side by side: it is on the Compare page",
    "draft_figure": "a graph that runs suggest: it belongs to editing one",
    "status_changes": "what an edit would change: it is on the Annotate page",
    "pass_change": CRITERIA,
    "unique_criteria": CRITERIA,
}
"""Public names that no notebook needs to show, each with its reason."""


def _called(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


DRAWN = set().union(*map(_called, NOTEBOOKS))


@pytest.mark.parametrize("name", sorted(set(figures.__all__) - WITHOUT.keys()))
def test_every_figure_has_a_twin_in_a_notebook(name: str) -> None:
    assert name in DRAWN


def test_the_exceptions_are_figures_that_no_notebook_draws() -> None:
    assert WITHOUT.keys() <= set(figures.__all__)
    assert WITHOUT.keys() & DRAWN == set()
