"""Merging two people's edits of one graph."""

# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from test_annotating_edits import GRAPH, shape

from untaken.plans import PlanGraph, validate
from untaken.plans.editing import apply_all, merge, read_edit


def edited(*edits: dict[str, Any]) -> PlanGraph:
    return apply_all(GRAPH, map(read_edit, edits))


def setting(sub_goal: str, field: str, value: Any) -> dict[str, Any]:
    return {"edit": "set", "sub_goal": sub_goal, "field": field, "value": value}


def test_what_only_one_side_changed_is_taken() -> None:
    mine = edited(setting("mail", "title", "By mail"), {"edit": "add", "sub_goal": {"id": "x"}})
    theirs = edited(setting("mail", "critical", True), {"edit": "delete", "sub_goal": "refund"})
    for merged in (merge(GRAPH, mine, theirs), merge(GRAPH, theirs, mine)):
        assert merged.conflicts == ()
        assert shape(merged.graph) == {
            "intent": "", "order": "intent", "mail": "intent", "found": "intent |order |mail", "x": ""
        }  # fmt: skip
        mail = next(node for node in merged.graph.sub_goals if node.id == "mail")
        assert (mail.title, mail.critical) == ("By mail", True)
    versions = [replace(GRAPH, version=version) for version in (2, 3)]
    assert [merge(GRAPH, *pair).graph.version for pair in (versions, versions[::-1])] == [3, 3]


def test_dependencies_of_both_sides_come_together() -> None:
    mine = edited({"edit": "connect", "dependency": "order", "sub_goal": "refund"})
    theirs = edited(
        {"edit": "connect", "dependency": "mail", "sub_goal": "refund"},
        {"edit": "disconnect", "dependency": "found", "sub_goal": "refund"},
    )
    merged = merge(GRAPH, mine, theirs)
    assert merged.conflicts == ()
    assert shape(merged.graph)["refund"] == "mail order"
    assert merge(GRAPH, theirs, mine).graph == merged.graph


CONFLICTS: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str | None, str]]] = [
    ("two titles", setting("mail", "title", "A"), setting("mail", "title", "B"), ("mail", "title")),
    ("two checks", setting("mail", "check", "outcome"), setting("mail", "check", "verdict"), ("mail", "check")),
    ("deleted and changed", {"edit": "delete", "sub_goal": "mail"}, setting("mail", "title", "B"), ("mail", "sub_goal")),
    ("deleted and needed", {"edit": "delete", "sub_goal": "mail"}, {"edit": "connect", "dependency": "mail", "sub_goal": "refund"}, ("mail", "sub_goal")),
    ("added twice", {"edit": "add", "sub_goal": {"id": "x", "title": "A"}}, {"edit": "add", "sub_goal": {"id": "x", "title": "B"}}, ("x", "title")),
    ("a circle", {"edit": "connect", "dependency": "order", "sub_goal": "mail"}, {"edit": "connect", "dependency": "mail", "sub_goal": "order"}, ("order", "deps")),
    ("two orders", {"edit": "move", "sub_goal": "refund", "at": 0}, {"edit": "move", "sub_goal": "refund", "at": 1}, (None, "order")),
    ("two titles of the graph", {"edit": "graph", "field": "title", "value": "A"}, {"edit": "graph", "field": "title", "value": "B"}, (None, "title"))
]  # fmt: skip


@pytest.mark.parametrize(("desc", "a", "b", "place"), CONFLICTS, ids=[case[0] for case in CONFLICTS])
def test_a_conflict_is_named_and_the_choice_is_followed(desc, a, b, place) -> None:
    mine, theirs = edited(a, setting("intent", "title", "A")), edited(b, setting("intent", "title", "B"))
    places = {place, ("intent", "title")}
    merged = merge(GRAPH, mine, theirs)
    assert [one.taken for one in merged.conflicts] == ["mine", "mine"]
    assert {one.place for one in merged.conflicts} == places
    assert merged.graph == mine
    other = merge(GRAPH, mine, theirs, choices=dict.fromkeys(places, "theirs"))
    assert [one.taken for one in other.conflicts] == ["theirs", "theirs"]
    assert other.graph == theirs
    for graph in (merged.graph, other.graph):
        assert not [found for found in validate(graph) if found.severity == "error"]


def test_who_deletes_everything_of_the_other_leaves_no_empty_graph() -> None:
    base = edited(*({"edit": "delete", "sub_goal": name} for name in ("order", "mail", "found")))
    mine = apply_all(base, [read_edit({"edit": "delete", "sub_goal": "intent"})])
    theirs = apply_all(base, [read_edit({"edit": "delete", "sub_goal": "refund"})])
    merged = merge(base, mine, theirs)
    assert [node.id for node in merged.graph.sub_goals] == ["refund"]
    assert [conflict.place for conflict in merged.conflicts] == [("refund", "sub_goal")]
    other = merge(base, mine, theirs, choices={("refund", "sub_goal"): "theirs"})
    assert [node.id for node in other.graph.sub_goals] == ["intent"]
