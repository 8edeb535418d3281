"""The exported plan graph is one inert page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

from drawn import a_graph, a_score

from components.plan.markup import plan_html

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--<script>",
    "{{ 7 * 7 }}{% for %}",
    "href=javascript:alert(1)",
]


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


def hostile_page() -> str:
    graph = a_graph({name: [] for name in HOSTILE}, critical=HOSTILE)
    return plan_html(graph, a_score(graph, dict.fromkeys(HOSTILE, "attempted")), title=HOSTILE[0])


def test_hostile_names_add_no_element_and_no_attribute() -> None:
    plain = a_graph(
        {f"g{n}": [] for n in range(len(HOSTILE))}, critical=[f"g{n}" for n in range(len(HOSTILE))]
    )
    harmless = plan_html(plain, a_score(plain, {goal.id: "attempted" for goal in plain.sub_goals}), title="x")
    page = hostile_page()
    assert Elements(page).names == Elements(harmless).names
    assert not [name for name, _ in Elements(page).attributes if name.startswith("on")]


def test_the_page_runs_exactly_the_scripts_it_was_written_with() -> None:
    page = hostile_page()
    data, *scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert json.loads(data)["boxes"][0]["id"] == HOSTILE[0]
    allowed = re.findall(r"sha256-([^']+)", page)
    assert [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts] == allowed
    assert "default-src 'none'" in page


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = hostile_page()
    sources = [value for name, value in Elements(page).attributes if name in ("src", "href", "action")]
    assert sources == []
    assert len(page) < 600_000


def test_a_graph_without_a_score_is_drawn_unscored() -> None:
    page = plan_html(a_graph({"a": [], "b": ["a"]}))
    assert "2 unscored" in page
