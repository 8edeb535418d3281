"""What is downloaded is safe to open."""

from __future__ import annotations

import pandas as pd
from drawn import a_graph, a_score

from components import figures
from components.shared import tables


def test_no_cell_and_no_heading_of_a_csv_is_a_formula() -> None:
    frame = pd.DataFrame({"=cmd()": ["=1+1", "@x", "plain"], "n": [-1.5, 2.0, 3.0]})
    lines = tables.csv(frame).decode("utf-8-sig").splitlines()
    assert lines == ['"\'=cmd()","n"', '"\'=1+1",-1.5', '"\'@x",2.0', '"plain",3.0']


def test_a_figure_s_page_loads_nothing_from_elsewhere() -> None:
    graph = a_graph({"a": []})
    page = figures.plan_figure(graph, a_score(graph, {"a": "completed"})).to_html(include_plotlyjs=True)
    assert "<script src" not in page
    assert "<link" not in page.split("<script", 1)[0]
