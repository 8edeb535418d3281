"""The layout of plan graphs: in layers, no box on another, and lines from box to box."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untaken.views.plan_layout import BOX_GAP, Edge, arrow, lay_out

TOUCH = 6.0
"""Pixels between a line's end and its box at the most."""
Size = tuple[float, float]
Drawn = tuple[tuple[Size, ...], tuple[Edge, ...]]


@pytest.fixture(autouse=True, scope="module", params=["Graphviz", "no Graphviz"])
def installed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every claim holds with Graphviz and without."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "no Graphviz":
            patch.setitem(sys.modules, "pygraphviz", None)
        lay_out.cache_clear()
        yield
    lay_out.cache_clear()


@st.composite
def drawings(draw: st.DrawFn) -> Drawn:
    """Boxes of any size, and lines from earlier ones to later ones."""
    sizes = draw(st.lists(st.tuples(st.floats(20, 300), st.floats(20, 90)), min_size=1, max_size=20))
    pairs = list(combinations(range(len(sizes)), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=40)) if pairs else []
    return tuple(sizes), tuple(edges)


@settings(deadline=None)
@given(drawings())
def test_boxes_keep_apart_and_inside_the_frame(drawn: Drawn) -> None:
    layout = lay_out(*drawn, "TB")
    boxes = list(zip(layout.centres, drawn[0], strict=True))
    for (x, y), (width, height) in boxes:
        assert x - width / 2 >= -1
        assert x + width / 2 <= layout.width + 1
        assert y - height / 2 >= -1
        assert y + height / 2 <= layout.height + 1
    for ((x, y), (w, h)), ((v, u), (b, d)) in combinations(boxes, 2):
        assert abs(x - v) >= (w + b) / 2 + BOX_GAP - 2 or abs(y - u) >= (h + d) / 2 - 1


@settings(deadline=None)
@given(drawings())
def test_lines_lead_down_from_box_to_box_inside_the_frame(drawn: Drawn) -> None:
    sizes, edges = drawn
    layout = lay_out(sizes, edges, "TB")
    assert set(layout.lines) == set(edges)
    for (start, end), points in layout.lines.items():
        for (x, y), box in ((points[0], start), (points[-1], end)):
            assert abs(x - layout.centres[box][0]) <= sizes[box][0] / 2 + TOUCH
            assert abs(y - layout.centres[box][1]) <= sizes[box][1] / 2 + TOUCH
        assert all(-1 <= x <= layout.width + 1 for x, _ in points)


@settings(deadline=None)
@given(drawings())
def test_the_same_graph_is_laid_out_the_same(drawn: Drawn) -> None:
    assert lay_out.__wrapped__(*drawn, "TB") == lay_out.__wrapped__(*drawn, "TB")


def test_a_crossing_that_can_be_avoided_is() -> None:
    layout = lay_out(((50.0, 20.0),) * 4, ((0, 3), (1, 2)), "TB")
    (left, _), (right, _), (under_right, _), (under_left, _) = layout.centres
    assert (left < right) == (under_left < under_right)


def test_a_circle_is_drawn_too() -> None:
    layout = lay_out(((50.0, 20.0),) * 3, ((0, 1), (1, 2), (2, 0), (1, 1)), "LR")
    assert len(set(layout.centres)) == 3
    assert len(layout.lines) == 4


def test_the_head_of_a_line_is_at_its_end_and_points_the_way_it_goes() -> None:
    way, head = arrow(((0, 0), (0, 100)))
    assert way == "M 0,0 L 0,91"
    assert head == "M 0,100 L 5,90 L -5,90 Z"
    assert arrow(((0, 0), (10, 0), (20, 0), (40, 0)))[0] == "M 0,0 C 10,0 20,0 31,0"
