"""Markup is made of parts, and only what was made as markup is any."""

from __future__ import annotations

import pytest

from untaken.views.html.markup import short, tag, together, words


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (words("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#x27;"),
        (words("a\nb\x00\u202ec\ud800"), "a b\ufffd\ufffdc\ufffd"),
        (tag("p", "<b>", tag("b", "x")), "<p>&lt;b&gt;<b>x</b></p>"),
        (tag("p", class_="a", aria_label='"><i>'), '<p class="a" aria-label="&quot;&gt;&lt;i&gt;"></p>'),
        (tag("rect", x=1, y=1 / 3, stroke_dasharray=None), '<rect x="1" y="0.3333"></rect>'),
        (tag("br"), "<br>"),
        (together("<", tag("i", "x"), ">"), "&lt;<i>x</i>&gt;"),
        (words(tag("i", "x")), "<i>x</i>"),
        (tag("p", short(tag("i", "x" * 90), 5)), "<p>&lt;i&gt;x…</p>"),
    ],
)
def test_whatever_is_not_markup_is_escaped(made: str, want: str) -> None:
    assert made == want
