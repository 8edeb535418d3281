"""The matrix of runs side by side: status by colour, icon and line; where runs part; clicks."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest
from builders import RunBuilder, a_graph, a_run
from drawn import HOSTILE, markup, note

from components.figures import compare_matrix
from components.figures.compare import MOST_ROWS
from untaken.analysis.comparing import SideBySide, align_runs
from untaken.analysis.corpus import score_runs
from untaken.plans import GraphSet, PlanGraph
from untaken.views.statuses import BORDER, CRITICAL_BORDER, STATUS

GRAPH = a_graph(
    {"id": "look", "rules": [{"tool": "look"}], "check": {"tool_call": {"name": "look"}}},
    {
        "id": "pay",
        "title": HOSTILE,
        "critical": True,
        "rules": [{"tool": "pay"}],
        "check": {"expr": "state.paid == true"},
    },
)


def runs() -> list[RunBuilder]:
    good = a_run("good", agent="ann", task="t", task_repeat=1).call("look").call("pay").state(paid=True)
    bad = a_run("bad", agent=HOSTILE, task="t").call("look").call("pay", ok=False).state(paid=False)
    lost = a_run("lost", agent="eve", task="t").call("look").finish(None)
    return [good.finish(True), bad.finish(False), lost]


def found(graph: PlanGraph | None = GRAPH, builders: list[RunBuilder] | None = None) -> SideBySide:
    made = [one.run() for one in builders or runs()]
    graphs = GraphSet.of([graph] if graph else [])
    return align_runs("t", made, score_runs(made, graphs)[0], graphs)


def boxes(figure: go.Figure) -> list[tuple[str, str, int]]:
    shapes = [
        s
        for s in figure.layout.shapes
        if s.type == "rect" and s.fillcolor in {x.fill for x in STATUS.values()}
    ]
    return [(s.fillcolor, s.line.dash, s.line.width) for s in shapes]


def test_a_cell_tells_its_status_by_colour_icon_and_line() -> None:
    figure = compare_matrix(found())
    done, tried, left = (STATUS[name] for name in ("completed", "attempted", "skipped"))
    assert boxes(figure)[:3] == [(done.fill, "solid", BORDER)] * 3
    assert boxes(figure)[3:] == [
        (style.fill, style.line_name, CRITICAL_BORDER) for style in (done, tried, left)
    ]
    words = figure.data[0].text
    assert words[3] == "<b>✓</b> 1"
    assert {"≠ <b>✗</b> 1!"} <= set(words)


def test_columns_are_headed_by_agent_repeat_and_outcome_and_a_click_carries_run_and_row() -> None:
    aligned = found()
    figure = compare_matrix(aligned)
    heads = figure.layout.xaxis.ticktext
    assert heads[0] == "reference<br>ann<br>#1<br><b>✓ success</b>"
    assert {head.rsplit("<br>", 1)[1] for head in heads[1:]} == {"<b>✗ failure</b>", "<b>? unknown</b>"}
    carried = [point[0] for point in figure.data[1].customdata]
    assert carried == [f"{run.digest} {place}" for place in range(2) for run in aligned.runs]


def test_a_line_is_above_the_first_row_at_which_runs_diverge() -> None:
    (line,) = [s for s in compare_matrix(found()).layout.shapes if s.type == "line"]
    assert (line.y0, line.line.dash) == (0.5, "dash")
    alike = [a_run(name, agent=name, task="t").call("look").finish(True) for name in "ab"]
    assert [s for s in compare_matrix(found(builders=alike)).layout.shapes if s.type == "line"] == []


@pytest.mark.parametrize("dark", [False, True])
def test_words_from_ledgers_and_graphs_stay_words(dark: bool) -> None:
    assert markup(compare_matrix(found(), marked="pay", dark=dark)) == []


def test_a_cell_of_many_actions_makes_the_columns_wider() -> None:
    busy = a_run("bad", task="t").call("look").state(paid=False)
    for _ in range(100):
        busy.call("pay", ok=False)
    few, many = (
        compare_matrix(found(builders=[runs()[0], other])).layout.meta["least_width"]
        for other in (runs()[1], busy.finish(False))
    )
    assert many > few


def test_without_a_plan_rows_are_tools_and_nothing_to_align_by_is_said() -> None:
    figure = compare_matrix(found(None))
    assert list(figure.layout.yaxis.ticktext) == ["look", "pay"]
    assert figure.data[0].text[0] == "<b>●</b> 1"
    empty = [a_run(name, agent=name, task="t").finish(True) for name in "ab"]
    assert "neither sub-goals nor tool calls" in note(compare_matrix(found(None, empty)))


def test_of_very_many_rows_those_at_which_runs_part_are_kept() -> None:
    tools = [(f"g{n}", {"name": f"t{n}"}) for n in range(99)]
    goals = [{"id": name, "rules": [{"tool": of["name"]}], "check": {"tool_call": of}} for name, of in tools]
    one = a_run("one", task="t").call("t98").finish(True)
    other = a_run("two", task="t").call("t0").call("t98").finish(False)
    figure = compare_matrix(found(a_graph(*goals), [one, other]))
    assert len(figure.layout.yaxis.ticktext) == MOST_ROWS
    assert figure.layout.yaxis.ticktext[0] == "g0"
