"""What is downloaded is safe to open."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

import pandas as pd
import pytest
from drawn import a_graph, a_score
from plotly.offline import get_plotlyjs

from components import figures
from components.figures.page import figure_page
from components.shared import tables


def test_no_cell_and_no_heading_of_a_csv_is_a_formula() -> None:
    frame = pd.DataFrame({"=cmd()": ["=1+1", "@x", "plain"], "n": [-1.5, 2.0, 3.0]})
    lines = tables.csv(frame).decode("utf-8-sig").splitlines()
    assert lines == ['"\'=cmd()","n"', '"\'=1+1",-1.5', '"\'@x",2.0', '"plain",3.0']


GRAPH = a_graph({"a": []})
SCORE = a_score(GRAPH, {"a": "completed"})


def test_a_figure_s_page_is_small_and_may_load_nothing() -> None:
    page = figure_page(figures.plan_figure(GRAPH, SCORE), "Plan")
    assert len(page) < len(get_plotlyjs()) / 2
    assert "default-src 'none'" in page
    assert set(re.findall(r"<(script|link|img|iframe)[^>]*(?:src|href)=", page)) == set()


def test_a_figure_s_page_runs_the_scripts_it_carries_and_no_other() -> None:
    page = figure_page(figures.plan_figure(GRAPH, SCORE), "Plan")
    allowed = set(re.findall(r"'sha256-([^']+)'", page))
    starter = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    packed = re.findall(r'<script type="text/plain" id="plotly">(.*?)</script>', page, re.DOTALL)
    carried = [starter[0].encode(), gzip.decompress(base64.b64decode(packed[0]))]
    assert allowed == {base64.b64encode(hashlib.sha256(part).digest()).decode() for part in carried}


def test_a_figure_s_page_and_a_picture_saved_from_it_are_titled() -> None:
    title = '</script><img src=x onerror="alert(1)">'
    drawn = figures.plan_figure(GRAPH, SCORE)
    page = figure_page(drawn, title)
    shown = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    assert shown["layout"]["title"]["text"] == title.replace("<", "&lt;").replace(">", "&gt;")
    assert shown["layout"]["height"] > drawn.layout.height
    assert "<img" not in page
    assert "<title>&lt;/script&gt;" in page


@pytest.mark.parametrize("dark", [False, True])
def test_figures_use_fonts_of_the_system_so_that_saved_pictures_have_the_same_widths(dark: bool) -> None:
    family = figures.plan_figure(GRAPH, SCORE, dark=dark).layout.template.layout.font.family
    assert "Source Sans" not in family
    assert family.endswith("sans-serif")
