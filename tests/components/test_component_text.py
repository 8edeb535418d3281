"""Words from ledgers stay words, wherever they are shown."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.shared import text

HOSTILE = [
    "<b>x</b><img src=x onerror=alert(1)>",
    "![i](http://evil.example/a.png)",
    "[l](http://evil.example)",
    ":material/home: :smile: :red[hi]",
    "$\\frac{a}{b}$ $$x$$",
    "http://evil.example www.evil.example a@b.example",
    "# head",
    "- item",
    "1. one",
    "    code `x`",
    "|a|b|\n|-|-|",
    "\u202egnp.exe",
    "&lt;b&gt; &#58;smile:",
]


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
    assert all(len(html.unescape(line).replace(text.JOINER, "")) <= width for line in shown)
