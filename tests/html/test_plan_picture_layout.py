"""The layout of plan graphs in the report: from above to below, and no box on another."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from untaken.html.plan_layout import GAP, Edge, lay_out

Size = tuple[float, float]


@st.composite
def drawings(draw: st.DrawFn) -> tuple[list[Size], list[Edge]]:
    """Boxes of any size, and lines from earlier ones to later ones."""
    sizes = draw(st.lists(st.tuples(st.floats(20, 300), st.floats(20, 90)), min_size=1, max_size=20))
    pairs = list(combinations(range(len(sizes)), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=40)) if pairs else []
    return sizes, edges


@given(drawings())
def test_boxes_keep_apart_and_inside_the_frame(drawn: tuple[list[Size], list[Edge]]) -> None:
    sizes, edges = drawn
    layout = lay_out(sizes, edges)
    boxes = list(zip(layout.centres, sizes, strict=True))
    for (x, y), (width, height) in boxes:
        assert x - width / 2 >= -1
        assert x + width / 2 <= layout.width + 1
        assert y - height / 2 >= -1
        assert y + height / 2 <= layout.height + 1
    for ((x, y), (w, h)), ((v, u), (b, d)) in combinations(boxes, 2):
        assert abs(x - v) >= (w + b) / 2 + GAP - 1 or abs(y - u) >= (h + d) / 2


@given(drawings())
def test_lines_lead_down_from_box_to_box(drawn: tuple[list[Size], list[Edge]]) -> None:
    sizes, edges = drawn
    layout = lay_out(sizes, edges)
    assert set(layout.lines) == set(edges)
    for (start, end), points in layout.lines.items():
        heights = [y for _, y in points]
        assert heights == sorted(heights)
        assert points[0][0] == layout.centres[start][0]
        assert points[-1][0] == layout.centres[end][0]


@given(drawings())
def test_the_same_graph_is_laid_out_the_same(drawn: tuple[list[Size], list[Edge]]) -> None:
    assert lay_out(*drawn) == lay_out(*drawn)


def test_a_crossing_that_can_be_avoided_is() -> None:
    layout = lay_out([(50.0, 20.0)] * 4, [(0, 3), (1, 2)])
    (left, _), (right, _), (under_right, _), (under_left, _) = layout.centres
    assert (left < right) == (under_left < under_right)
