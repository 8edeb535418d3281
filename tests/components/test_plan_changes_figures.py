"""Figures of plan decisions: a line of states with its decisive step, and the calibration."""

from __future__ import annotations

from itertools import product

import pytest
from builders import a_graph, a_run
from drawn import HOSTILE, markup

from components.figures import plan_calibration, plan_changes_figure
from untaken.counterfactual.plan import EvaluatedPath, calibration_card, evaluate_plans
from untaken.errors import Unscored
from untaken.plans import map_actions

GRAPH = a_graph({"id": "refund", "check": {"tool_call": {"name": "refund"}}}, mutates=["*"])


def evaluated(tasks: int, wrong: str = "cancel"):
    rows = []
    for task, trial in product(range(tasks), range(4)):
        did = "refund" if trial % 2 else wrong
        run = a_run(f"{task}-{trial}", task=f"t{task}", agent="a").call(did).finish(trial % 2 == 1).run()
        rows.append((run, GRAPH, map_actions(run, GRAPH).mapped))
    return evaluate_plans(rows, shuffles=1)


def a_failure(tasks: int, wrong: str = "cancel") -> EvaluatedPath:
    return next(run for run in evaluated(tasks, wrong).runs.values() if run.path.success is False)


def words(figure) -> str:
    texts = [str(t) for trace in figure.data for t in (trace.text or ())]
    return " ".join([*texts, *(a.text for a in figure.layout.annotations), *figure.layout.xaxis.ticktext])


@pytest.mark.parametrize("dark", [False, True])
def test_each_plan_change_is_drawn_at_its_forecast_and_the_decisive_one_is_named(dark: bool) -> None:
    run = a_failure(4)
    figure = plan_changes_figure(run, dark=dark)
    line = figure.data[0]
    assert list(line.y) == [decision.forecast for decision in run.decisions]
    assert "▼ decisive −" in words(figure)
    assert {trace.name for trace in figure.data[1:]} == {"unplanned change", "stop, changes left"}
    assert len({trace.marker.symbol for trace in figure.data[1:]}) == 2
    assert len(figure.layout.shapes) == 1


def test_a_change_without_a_forecast_is_a_question_and_never_at_zero() -> None:
    figure = plan_changes_figure(a_failure(1))
    assert list(figure.data[0].y) == [None, None]
    assert all(y < 0 for trace in figure.data[1:] for y in trace.y)
    assert words(figure).count("?") == 2
    assert not figure.layout.yaxis.tickvals


def test_names_of_tools_are_escaped() -> None:
    assert markup(plan_changes_figure(a_failure(4, HOSTILE))) == []


def test_the_calibration_shows_every_bin_with_its_interval() -> None:
    card = calibration_card(evaluated(6))
    assert not isinstance(card, Unscored)
    points = plan_calibration(card).data[1]
    assert [round(y, 6) for y in points.y] == [round(b.observed, 6) for b in card.bins]
    assert [round(y + up, 6) for y, up in zip(points.y, points.error_y.array, strict=True)] == [
        round(b.high, 6) for b in card.bins
    ]
