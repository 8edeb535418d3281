"""What is drawn of a plan graph, and where; what of it can be edited."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import combinations
from typing import get_args

import networkx as nx
import pytest
from drawn import a_graph, a_score
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from components.plan.editor import _commands, editor_payload
from components.plan.markup import plan_html
from untaken.errors import UntakenError
from untaken.plans import Check, PlanGraph, SubGoal
from untaken.plans.editing import Connect, Set
from untaken.scoring.run_score import DetailLater, ScoreDetail, Status
from untaken.views.plan_drawing import READABLE, Drawing, draw, wrapped
from untaken.views.plan_layout import PlanLayout
from untaken.views.statuses import STATUS

STATUSES: tuple[Status, ...] = get_args(Status)


@st.composite
def scored_graphs(draw_from: st.DrawFn) -> tuple[dict[str, list[str]], dict[str, Status]]:
    """A random DAG as name → needs, and a status for each name."""
    size = draw_from(st.integers(1, 25))
    names = [f"g{n}" for n in range(size)]
    needs = {
        name: draw_from(st.lists(st.sampled_from(names[:n]), unique=True, max_size=3)) if n else []
        for n, name in enumerate(names)
    }
    return needs, {name: draw_from(st.sampled_from(STATUSES)) for name in names}


@given(scored_graphs())
def test_collapsing_keeps_every_sub_goal_once_makes_no_cycle_and_never_hides_what_went_wrong(case) -> None:
    needs, status = case
    graph = a_graph(needs)
    drawing = draw(graph, a_score(graph, status), readable=0)
    drawn = [goal for box in drawing.boxes for goal in box.sub_goals]
    assert sorted(drawn) == sorted(needs)
    assert nx.is_directed_acyclic_graph(nx.DiGraph([(a, b) for a, b, _ in drawing.lines]))
    hidden = {status[goal] for box in drawing.boxes if box.collapsed for goal in box.sub_goals}
    assert not hidden & {"attempted", "unscored"}


def test_a_plan_is_coloured_by_results_without_a_look_at_the_record() -> None:
    def look() -> ScoreDetail:
        raise AssertionError("the record was read again")

    graph = a_graph({"a": [], "b": ["a"]})
    score = a_score(graph, {"a": "completed", "b": "attempted"})
    drawing = draw(graph, structs.replace(score, detail=DetailLater(look)))
    assert [box.status for box in drawing.boxes] == ["completed", "attempted"]


def boxes_overlap(drawing: Drawing, layout: PlanLayout) -> bool:
    placed = [(c, b.size) for c, b in zip(layout.centres, drawing.boxes, strict=True)]
    return any(
        abs(a[0] - b[0]) < (v[0] + w[0]) / 2 - 0.5 and abs(a[1] - b[1]) < (v[1] + w[1]) / 2 - 0.5
        for (a, v), (b, w) in combinations(placed, 2)
    )


@given(scored_graphs())
def test_boxes_never_overlap_and_stand_in_layers(case) -> None:
    needs, status = case
    graph = a_graph(needs)
    drawing = draw(graph, a_score(graph, status))
    for layout, axis in ((drawing.sideways, 0), (drawing.downwards, 1)):
        assert not boxes_overlap(drawing, layout)
        for start, end, _ in drawing.lines:
            assert layout.centres[start][axis] < layout.centres[end][axis]


def test_a_large_graph_shows_what_is_unfinished_and_opens_branches_on_request() -> None:
    names = [f"g{n}" for n in range(READABLE + 40)]
    graph = a_graph({name: names[max(0, n - 1) : n] for n, name in enumerate(names)})
    status: dict[str, Status] = dict.fromkeys(names, "completed")
    status["g80"] = "attempted"
    status |= dict.fromkeys(names[81:], "skipped")
    score = a_score(graph, status)
    assert [len(box.sub_goals) for box in draw(graph, score).boxes] == [80, 1, 19]
    assert len(draw(graph, score, expanded={"g3"}).boxes) == 82
    assert draw(graph, score).boxes[0].lines == ("✓ 80 completed",)


def test_only_the_surroundings_of_one_sub_goal() -> None:
    graph = a_graph({"a": [], "b": ["a"], "c": ["b"], "x": [], "y": ["x"]})
    drawing = draw(graph, around="b")
    assert [box.sub_goals for box in drawing.boxes] == [("a",), ("b",), ("c",)]
    assert drawing.hidden == 2


def test_statuses_are_shown_by_icon_and_words_not_by_colour_alone() -> None:
    graph = a_graph({name: [] for name in STATUSES})
    drawing = draw(graph, a_score(graph, {name: name for name in STATUSES}))
    icons = [box.lines[0][0] for box in drawing.boxes]
    assert icons == ["✓", "✗", "–", "?", "·"]
    assert len({STATUS[name].dash for name in ("completed", "skipped", "unscored")}) == 3
    assert drawing.description == (
        "Plan graph with 5 sub-goals: 1 completed, 1 attempted, not completed, 1 skipped, 1 unscored, "
        "1 not required"
    )
    two = a_graph({"a": [], "b": []})  # a verdict alone does not make a sub-goal attempted
    told = draw(two, a_score(two, {"a": "attempted", "b": "attempted"}, unknown={"b"})).description
    assert told == "Plan graph with 2 sub-goals: 1 attempted, not completed, 1 not completed"


@pytest.mark.parametrize("words", ["x" * 500, "漢" * 300, "a\nb\u202ec", "", " ", "<b>tag</b>"])
def test_any_title_becomes_at_most_three_lines(words: str) -> None:
    graph = a_graph({"a": []}, titles={"a": words})
    box = draw(graph).boxes[0]
    assert 1 <= len(box.lines) <= 3
    assert not any("\n" in line or "\u202e" in line for line in box.lines)


def test_a_line_past_an_undone_critical_sub_goal_is_marked() -> None:
    graph = a_graph({"policy": [], "refund": ["policy"]}, critical={"policy"})
    score = a_score(graph, {"policy": "skipped", "refund": "completed"}, violated=[("policy", "refund")])
    assert draw(graph, score).lines == ((0, 1, "violated"),)


def test_the_same_graph_is_drawn_the_same_again() -> None:
    graph = a_graph({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]})
    assert draw(graph).digest == draw(graph).digest
    done = a_score(graph, dict.fromkeys("abcd", "completed"))
    assert draw(graph, done).sideways == draw(graph).sideways


LABELS = [
    ("Issue refund", ("Issue refund",)),
    ("update_reservation_baggages(x)", ("update_reservation_", "baggages(x)")),
    (
        "book(user_id=mia_li_3668, origin=JFK, destination=SEA, cabin=economy, insurance=no)",
        ("book(user_id=mia_li_3668,", "origin=JFK, destination=SEA,", "cabin=economy, insurance=no)"),
    ),
]


@pytest.mark.parametrize(("title", "want"), LABELS, ids=[title for title, _ in LABELS])
def test_a_long_title_gets_a_wider_box_and_breaks_between_arguments(title, want) -> None:
    assert wrapped(title) == want


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
    names = [f"g{n}" for n in range(len(HOSTILE))]
    plain = a_graph({name: [] for name in names}, critical=names)
    harmless = plan_html(plain, a_score(plain, dict.fromkeys(names, "attempted")), title="x")
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
    assert "2 unscored" in plan_html(a_graph({"a": [], "b": ["a"]}))


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = hostile_page()
    sources = [value for name, value in Elements(page).attributes if name in ("src", "href", "action")]
    assert sources == []
    assert len(page) < 600_000


def graph() -> PlanGraph:
    first = SubGoal(id="a", title="First </script>", critical=True)
    third = SubGoal(id="c", deps=["a", "b"], check=Check(outcome=True))
    goals = [first, SubGoal(id="b", deps=["a"]), third, SubGoal(id="d", any_of=["b", "c"])]
    return PlanGraph(id="g", sub_goals=goals)


def test_every_line_can_be_picked_and_an_implied_one_goes_around() -> None:
    sent = json.loads(json.dumps(editor_payload(graph(), selected="a")))
    lines = {(edge["from"], edge["to"], edge["kind"]): edge["bent"] for edge in sent["edges"]}
    straight = {(0, 1, "needs"), (1, 2, "needs"), (2, 3, "option")}
    bent = {(0, 2, "needs"), (1, 3, "option")}
    assert lines == dict.fromkeys(straight, False) | dict.fromkeys(bent, True)
    assert (sent["boxes"][0]["title"], sent["boxes"][0]["critical"]) == ("First </script>", True)
    many = PlanGraph(id="g", sub_goals=[SubGoal(id=f"s{n}", deps=[f"s{n - 1}"] * (n > 0)) for n in range(90)])
    assert len(editor_payload(many)["boxes"]) == 90  # a large graph is edited whole


def test_commands_come_with_their_numbers() -> None:
    sent = [
        {"number": 4, "edit": {"edit": "connect", "dependency": "a", "sub_goal": "b"}},
        {"number": 5, "edit": {"edit": "set", "sub_goal": "a", "field": "critical", "value": False}},
        {"number": 6, "edit": {"edit": "undo"}},
    ]
    assert _commands(json.dumps(sent)) == [
        (4, Connect(dependency="a", sub_goal="b")),
        (5, Set(sub_goal="a", field="critical", value=False)),
        (6, "undo"),
    ]


@pytest.mark.parametrize(
    "sent",
    ["{", "7", '[{"number": "x", "edit": {}}]', '[{"edit": {}}]', "[" * 5000, '[{"number": 1, "edit": 3}]'],
)
def test_what_is_no_command_is_refused(sent: str) -> None:
    with pytest.raises(UntakenError, match="edit-invalid"):
        _commands(sent)
