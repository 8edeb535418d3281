"""Words from ledgers stay words wherever they are shown, and what is downloaded is safe to open."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import zipfile
from io import BytesIO

import pandas as pd
import pytest
from drawn import a_graph, a_score
from hypothesis import given
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from components import figures
from components.figures.page import PLOTLY, figure_page, figures_zip
from components.shared import tables, text

HOSTILE = [
    "<b>x</b><img src=x onerror=alert(1)>", "![i](http://evil.example/a.png)", "[l](http://evil.example)",
    ":material/home: :smile: :red[hi]", "$\\frac{a}{b}$ $$x$$",
    "http://evil.example www.evil.example a@b.example", "# head", "- item", "1. one", "    code `x`",
    "|a|b|\n|-|-|", "\u202egnp.exe", "&lt;b&gt; &#58;smile:",
]  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE)
def test_a_label_holds_no_active_punctuation(words: str) -> None:
    """Each character that markdown could act on is escaped; no icon, emoji code or link can begin."""
    label = text.label(words, 200)
    assert re.search(r"(?<!\\)[\[\]()<>$`*_#|!&]", label.replace("\\\\", "")) is None
    assert re.search(r":[\w+\-/]", label) is None
    assert re.search(r"@\w|www\.", label) is None
    assert "\n" not in label


@pytest.mark.parametrize(
    ("desc", "words", "want"),
    [
        ("tags", "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("a link", '<a href="//e">', '&lt;a href="//e"&gt;'),
        ("TeX", "$x$", "&#36;x&#36;"),
        ("an entity stays what was written", "&lt;", "&amp;lt;"),
        ("a template field", "%{x}", "%\u2060{x}"),
    ],
)
def test_a_figure_label_has_no_tags_and_no_tex(desc: str, words: str, want: str) -> None:
    assert text.figure(words) == want, desc


@given(st.text(max_size=300))
def test_one_line_is_one_visible_line_within_its_limit(words: str) -> None:
    shown = text.one_line(words, 50)
    assert len(shown) <= 50
    assert shown.splitlines() in ([], [shown])
    assert not re.search(r"[\x00-\x1f\u202a-\u202e\u2066-\u2069\u200b-\u200f]", shown)


@given(st.text(max_size=300))
def test_a_file_name_never_leaves_its_folder(words: str) -> None:
    name = text.file_name(words)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,60}", name)
    assert not name.startswith((".", "-"))


@pytest.mark.parametrize(
    ("name", "limit", "want"),
    [
        ("gpt-4.1", 20, "gpt-4.1"),
        ("azureai/Meta-Llama-3-1-405B-Instruct-jqf", 20, "azureai/Me…truct-jqf"),
        ("azureai/Meta-Llama-3-1-405B-Instruct-abc", 20, "azureai/Me…truct-abc"),
        ("ab", 1, "…"),
    ],
)
def test_a_long_name_keeps_its_beginning_and_its_end(name: str, limit: int, want: str) -> None:
    assert text.short(name, limit) == want


@given(st.text(max_size=120), st.integers(4, 20), st.integers(1, 4))
def test_a_folded_name_has_room_in_its_lines(name: str, width: int, lines: int) -> None:
    shown = text.folded(name, width=width, lines=lines).split("<br>")
    assert len(shown) <= lines
    assert all(len(re.sub("[\u2060\u2066\u2069]", "", html.unescape(line))) <= width for line in shown)


def test_no_cell_and_no_heading_of_a_csv_is_a_formula() -> None:
    frame = pd.DataFrame({"=cmd()": ["=1+1", "@x", "plain"], "n": [-1.5, 2.0, 3.0]})
    lines = tables.csv(frame).decode("utf-8-sig").splitlines()
    assert lines == ['"\'=cmd()","n"', '"\'=1+1",-1.5', '"\'@x",2.0', '"plain",3.0']


def test_headings_are_words_that_say_what_their_column_means_and_a_hidden_column_is_not_sent() -> None:
    def page() -> None:
        import pandas as pd
        import streamlit as st

        from components.shared import tables
        from untaken.views.frame import count, frame, text

        made = frame({"sub_goal": text("the sub-goal's id", str), "n_runs": count("runs", len)}, ["order"])
        own = {"n_runs": st.column_config.NumberColumn("how many", format="%d")}
        tables.table(made, key="t", name="T", columns=own)
        runs = pd.DataFrame({"run": ["r1", "r2"], "digest": ["0" * 64] * 2})
        tables.table(runs, key="runs", name="Runs", columns={"digest": None}, most=1)

    app = AppTest.from_function(page).run()
    columns = json.loads(app.dataframe[0].proto.columns)
    headings = {name: (how["label"], how["help"]) for name, how in columns.items() if "help" in how}
    assert headings == {"sub_goal": ("sub-goal", "the sub-goal's id"), "n_runs": ("how many", "runs")}
    assert app.dataframe[1].value.to_dict("list") == {"run": ["r1"]}
    assert [one.value for one in app.caption] == ["The first 1 of 2 rows; download the table to see all."]


def test_numbers_are_written_as_their_table_declares_unless_the_page_says_otherwise() -> None:
    def page() -> None:
        import streamlit as st

        from components.shared import tables
        from untaken.views.frame import figure, frame

        columns = {
            "rate": figure("a share", float, "percent"),
            "p": figure("a p-value", float, "p"),
            "own": figure("a share", float, "percent"),
            "difference": figure("of two shares", float, "points"),
            "plain": figure("a figure", float),
        }
        own = {"rate": "share", "own": st.column_config.NumberColumn(format="%.3f")}
        tables.table(frame(columns, [0.25, 0.8741, 3e-14]), key="t", name="T", columns=own)

    app = AppTest.from_function(page).run()
    columns = json.loads(app.dataframe[0].proto.columns)
    written = {name: how.get("type_config", {}).get("format") for name, how in columns.items()}
    written.pop("_index", None)
    assert written == {"rate": None, "p": None, "own": "%.3f", "difference": None, "plain": None}
    assert [columns[name]["label"] for name in ("rate", "difference")] == ["share", "difference, points"]
    (shown,) = app.dataframe
    assert list(shown.value["p"]) == [0.25, 0.8741, 3e-14]  # so that it sorts as a number
    words = convert_arrow_bytes_to_pandas_df(shown.proto.arrow_data.styler.display_values)
    assert list(words["p"]) == ["0.250", "0.874", "<0.001"]
    assert list(words["difference"]) == ["+25", "+87", "0"]
    assert [list(words[name]) for name in ("rate", "plain")] == [
        ["25%", "87%", "0%"],
        ["0.25", "0.874", "3e-14"],
    ]


def test_what_is_folded_is_drawn_once_it_is_opened() -> None:
    def page() -> None:
        import streamlit as st

        from components.shared import tables

        tables.folded("More", lambda: st.text("drawn"), key="more")

    app = AppTest.from_function(page).run()
    assert not app.text
    app.session_state["more-open"] = True
    app.run()
    assert [line.value for line in app.text] == ["drawn"]


GRAPH = a_graph({"a": []})
SCORE = a_score(GRAPH, {"a": "completed"})


def test_a_figure_s_page_is_small_and_runs_the_scripts_it_carries_and_no_other() -> None:
    page = figure_page(figures.plan_figure(GRAPH, SCORE), "Plan")
    assert len(page) < len(get_plotlyjs()) / 2
    assert "default-src 'none'" in page
    assert set(re.findall(r"<(script|link|img|iframe)[^>]*(?:src|href)=", page)) == set()
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


def test_a_figure_that_is_kept_becomes_a_mapping_once_and_says_the_same() -> None:
    plain, kept = (figures.plan_figure(GRAPH, SCORE) for _ in range(2))
    kept = tables.serialised(kept)
    assert kept.to_dict() is kept.to_dict()
    assert figure_page(kept, "Plan") == figure_page(plain, "Plan")
    assert kept.to_json() == plain.to_json()


def test_an_archive_of_figures_holds_small_titled_pages_beside_one_plotly() -> None:
    drawn = figures.plan_figure(GRAPH, SCORE)
    titles = ["Plan", "Plan", '../</script><img src=x onerror="alert(1)">']
    made = figures_zip([(title, drawn) for title in titles])
    assert made == figures_zip([(title, drawn) for title in titles])
    with zipfile.ZipFile(BytesIO(made)) as archive:
        names = archive.namelist()
        assert archive.read(PLOTLY).decode() == get_plotlyjs()
        pages = [archive.read(name).decode() for name in names if name != PLOTLY]
    assert names[:3] == [PLOTLY, "Plan.html", "Plan-2.html"]
    assert not [name for name in names if re.search(r"[^A-Za-z0-9._-]|\.\.", name)]
    assert "<title>Plan</title>" in pages[0]
    for page in pages:
        assert len(page) < 100_000
        assert re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[^>]*>", page) == [
            f'<script src="{PLOTLY}">'
        ]
        (digest,) = re.findall(r"'sha256-([^']+)'", page)
        (starter,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        assert digest == base64.b64encode(hashlib.sha256(starter.encode()).digest()).decode()


@pytest.mark.parametrize("dark", [False, True])
def test_figures_use_fonts_of_the_system_so_that_saved_pictures_have_the_same_widths(dark: bool) -> None:
    family = figures.plan_figure(GRAPH, SCORE, dark=dark).layout.template.layout.font.family
    assert "Source Sans" not in family
    assert family.endswith("sans-serif")


@pytest.mark.parametrize(
    ("words", "want"),
    [
        ("never attempted", "Never attempted"),
        ("book_flight was called", "book_flight was called"),
        ("human:ann judged it met", "human:ann judged it met"),
        ("failed: no reason", "Failed: no reason"),
    ],
)
def test_a_sentence_begins_with_a_capital_but_for_a_name(words: str, want: str) -> None:
    assert text.sentence(words) == want


@pytest.mark.parametrize("write", [text.label, text.figure, text.name])
def test_words_written_from_the_right_do_not_move_what_stands_beside_them(write) -> None:
    assert write("وكيل") == "\u2066وكيل\u2069"
    assert write("agent") == "agent"


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("## The **final** answer: **67 euros**.", "The final answer: 67 euros."),
        ("2 ** 3 and 2**3**4 and ** x ** stay", "2 ** 3 and 2**3**4 and ** x ** stay"),
        ("#4711 and `#!/bin/sh` stay", "#4711 and `#!/bin/sh` stay"),
    ],
)
def test_marks_of_headings_and_bold_words_are_left_out_where_markdown_is_shown_as_text(line, plain) -> None:
    assert text.without_marks(line) == plain
