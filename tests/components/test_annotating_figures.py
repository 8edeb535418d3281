"""What an edit would change, and a draft with what its edges rest on."""

from __future__ import annotations

import desk
import pytest
from drawn import HOSTILE, a_graph, markup, note

from components import figures
from components.figures.annotating import GONE
from components.figures.plan import LOOKS
from untaken.analysis.previewing import preview
from untaken.plans import PlanGraph, SubGoal, diff_graphs
from untaken.plans.discovery import discover
from untaken.plans.editing import Add, Delete, Rename, Set, apply, apply_all
from untaken.views.statuses import STATUS


def graph() -> PlanGraph:
    found = desk.graphs().get("desk")
    assert found is not None
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_each_change_has_the_colours_of_both_statuses_and_its_number_of_runs(dark: bool) -> None:
    stricter = Set(sub_goal="policy", field="check", value={"expr": "state.read == false"})
    edited = apply_all(graph(), [stricter, Delete(sub_goal="polite")])
    drawn = figures.status_changes(preview(desk.runs(), desk.graphs(), edited), dark=dark)
    told = dict(zip(drawn.data[0].hovertext, drawn.data[0].text, strict=True))
    assert told["policy: ✓ completed → ✗ attempted, not completed<br>4 of 12 runs"] == "<b>4</b>"
    assert told["polite: ? unscored → ∅ not there<br>4 of 12 runs"] == "<b>4</b>"
    fills = {shape.fillcolor for shape in drawn.layout.shapes}
    attempted, completed, gone = (
        look.shaded(dark=dark) for look in (STATUS["attempted"], STATUS["completed"], GONE)
    )
    assert fills >= {attempted.fill, completed.line, gone.fill}
    assert "✓ completed<br>↓<br>✗ attempted" in [one.text for one in drawn.layout.annotations]
    same = figures.status_changes(preview(desk.runs(), desk.graphs(), graph()), dark=dark)
    assert "No run" in note(same)


def test_a_draft_shows_the_support_of_each_edge_with_n_in_the_colours_of_the_theme() -> None:
    draft = discover(desk.runs(), graph(), min_runs=2, theta=0.9)
    drawn = figures.draft_figure(draft)
    words = [one.text for one in drawn.layout.annotations]
    assert {f"{edge.first}/{edge.both}" for edge in draft.edges} <= set(words)
    assert f"n = {draft.runs} runs" in words[0]
    assert all("runs)" in label for label in drawn.data[0].text)
    light, dark = (
        {shape.fillcolor for shape in figures.draft_figure(draft, dark=dark).layout.shapes if shape.fillcolor}
        for dark in (False, True)
    )
    assert "#F3F7FB" in light
    assert "#1A222B" in dark
    assert not light & dark
    empty = discover(desk.runs(), graph(), min_share=1.0, min_runs=1)
    assert len(empty.graph.sub_goals) <= 2
    assert note(figures.draft_figure(empty))


def test_hostile_names_in_edits_and_drafts_stay_words() -> None:
    renamed = apply(graph(), Rename(sub_goal="policy", id=HOSTILE))
    seen = preview(desk.runs(), desk.graphs(), apply(renamed, Add(sub_goal=SubGoal(id="x", title=HOSTILE))))
    titled = apply(renamed, Set(sub_goal=HOSTILE, field="title", value=HOSTILE))
    draft = discover(desk.runs(), titled, min_runs=1)
    assert markup(figures.status_changes(seen), figures.draft_figure(draft)) == []


OLD = a_graph({"a": [], "gone": ["a"], "c": ["a"], "d": ["c"]})
NEW = a_graph({"a": [], HOSTILE: ["a"], "c": [], "d": ["c"]}, critical={"d"})
DIFF = diff_graphs(OLD, NEW)


@pytest.mark.parametrize("dark", [False, True])
def test_each_sub_goal_is_drawn_with_the_line_and_mark_of_its_change(dark: bool) -> None:
    figure = figures.plan_diff_figure(DIFF, dark=dark)
    boxes = [shape for shape in figure.layout.shapes if shape.path.endswith("Z") and shape.line.width]
    drawn = [(box.fillcolor, box.line.color, box.line.dash) for box in boxes]
    changes = ("kept", "added", "kept", "changed", "removed")
    want = [LOOKS[change].shaded(dark=dark) for change in changes]
    assert drawn == [(look.fill, look.line, look.line_name) for look in want]
    marks = [words.split(" ")[0] for words in figure.data[0].text]
    assert marks == ["a", "+", "c", "~", "−"]
    assert len({(look.icon, look.line_name) for look in LOOKS.values()}) == len(LOOKS)


def test_edges_that_came_and_went_differ_in_width_and_dash() -> None:
    figure = figures.plan_diff_figure(DIFF)
    lines = [(s.line.width, s.line.dash) for s in figure.layout.shapes if not s.path.endswith("Z")]
    assert sorted(lines) == [(1.5, "dash"), (1.5, "dash"), (1.5, "solid"), (3, "solid")]
    for words in ("+ added", "− removed", "~ changed", "edge added", "edge removed"):
        assert words in note(figure)
    assert markup(figure) == []
    turned = diff_graphs(a_graph({"a": [], "b": ["a"]}), a_graph({"a": ["b"], "b": []}))  # a cycle across
    assert "1 edges added, 1 edges removed" in figures.plan_diff_figure(turned).layout.meta["description"]
    empty = a_graph({})
    assert "Neither" in note(figures.plan_diff_figure(diff_graphs(empty, empty)))
