"""What differs between two versions of a plan graph, and what is no difference."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from typing import Any

import pytest
from builders import a_graph
from hypothesis import given
from hypothesis import strategies as st

from untaken import limits
from untaken.plans import PlanGraph, diff_graphs, edges
from untaken.plans.diff import FieldChange, Renamed, Reordered

DESK: list[dict[str, Any] | str] = [
    {"id": "intent", "title": "Intent", "rules": [{"tool": "read"}, {"tool": "ask"}]},
    {"id": "order", "title": "Order", "deps": ["intent"], "rules": [{"tool": "search"}]},
    {"id": "policy", "title": "Policy", "deps": ["intent"], "check": {"verdict": {"by": ["human:a", "human:b"]}}},
    {"id": "pay", "title": "Pay", "deps": ["order", "policy"], "critical": True}
]  # fmt: skip


def changed(number: int, **fields: Any) -> PlanGraph:
    """The desk with one sub-goal replaced."""
    nodes = [dict(node) for node in DESK if isinstance(node, dict)]
    nodes[number] |= fields
    return a_graph(*nodes)


SAME = {
    "the same": DESK,
    "dependencies in another order": [*DESK[:3], {**DESK[3], "deps": ["policy", "order"]}],  # type: ignore[dict-item]
    "rules in another order": [{**DESK[0], "rules": [{"tool": "ask"}, {"tool": "read"}]}, *DESK[1:]],  # type: ignore[dict-item]
    "reviewers in another order": [
        *DESK[:2],
        {**DESK[2], "check": {"verdict": {"by": ["human:b", "human:a"]}}},  # type: ignore[dict-item]
        DESK[3],
    ],
    "sub-goals in another order": [DESK[0], DESK[2], DESK[1], DESK[3]],
    "defaults written out": [*DESK[:3], {**DESK[3], "kind": "subgoal", "metadata": {}, "any_of": []}],  # type: ignore[dict-item]
}


@pytest.mark.parametrize("nodes", SAME.values(), ids=SAME)
def test_what_has_no_effect_is_no_difference(nodes: list[dict[str, Any] | str]) -> None:
    assert diff_graphs(a_graph(*DESK), a_graph(*nodes)).equal


def test_a_changed_field_has_its_value_before_and_after() -> None:
    found = diff_graphs(a_graph(*DESK), changed(3, critical=False, check={"expr": "state.paid"}))
    (pay,) = found.changed
    assert (pay.sub_goal, pay.title) == ("pay", "Pay")
    assert pay.fields == (
        FieldChange(field="critical", before=True, after=False),
        FieldChange(field="check", before=None, after={"expr": "state.paid"}),
    )
    assert not found.equal


def renamed(**names: str) -> PlanGraph:
    """The desk with other ids."""
    nodes = [node for node in DESK if isinstance(node, dict)]
    return a_graph(
        *(
            {**n, "id": names.get(n["id"], n["id"])}
            | ({"deps": [names.get(d, d) for d in n["deps"]]} if "deps" in n else {})
            for n in nodes
        )
    )


def test_a_new_id_for_the_same_thing_is_proposed_as_a_rename_and_still_listed_as_two() -> None:
    found = diff_graphs(a_graph(*DESK), renamed(order="lookup"))
    assert found.renamed == (Renamed(before="order", after="lookup"),)
    assert [node.id for node in found.added] == ["lookup"]
    assert [node.id for node in found.removed] == ["order"]


@pytest.mark.parametrize("same", [{"title": "T"}, {"rules": [{"tool": "pay"}]}], ids=["a title", "rules"])
def test_a_title_or_rules_alone_show_that_two_ids_are_the_same_thing(same: dict[str, Any]) -> None:
    found = diff_graphs(a_graph({"id": "a", **same}), a_graph({"id": "b", **same}))
    assert found.renamed == (Renamed(before="a", after="b"),)


NO_RENAME = {
    "two that look alike": (
        [{"id": "a", "title": "T"}],
        [{"id": "b", "title": "T"}, {"id": "c", "title": "T"}],
    ),
    "another title": ([{"id": "a", "title": "T"}], [{"id": "b", "title": "U"}]),
    "nothing but an id": (["a"], ["b"]),
    "other dependencies": (["x", {"id": "a", "title": "T", "deps": ["x"]}], ["x", {"id": "b", "title": "T"}]),
}


@pytest.mark.parametrize(("old", "new"), NO_RENAME.values(), ids=NO_RENAME)
def test_a_rename_that_is_not_certain_is_not_proposed(old: list[Any], new: list[Any]) -> None:
    found = diff_graphs(a_graph(*old), a_graph(*new))
    assert found.renamed == ()
    assert found.added
    assert found.removed


RIVALS = {
    "one tool": ({"tool": "pay"}, {"tool": "pay"}, True),
    "a tool and a glob over it": ({"tool": "pay"}, {"tool": "p*"}, True),
    "a glob over the tool": ({"tool": "p*"}, {"tool": "pay"}, True),
    "two globs": ({"tool": "p*"}, {"tool": "*y"}, True),
    "two tools": ({"tool": "pay"}, {"tool": "ask"}, False),
    "a tool and a glob past it": ({"tool": "pay"}, {"tool": "q*"}, False),
    "a tool and a text": ({"tool": "pay"}, {"text": "*pay*"}, False),
    "one text in two cases": ({"text": "Paid"}, {"text": "paid"}, True),
    "arguments of any tool": ({"arguments": {"a": 1}}, {"tool": "pay"}, True),
}


@pytest.mark.parametrize(("one", "other", "rivals"), RIVALS.values(), ids=RIVALS)
def test_the_order_of_sub_goals_matters_where_both_may_claim_an_action(one, other, rivals) -> None:
    first, second = {"id": "a", "rules": [one]}, {"id": "b", "rules": [other]}
    found = diff_graphs(a_graph(first, second), a_graph(second, first))
    assert found.reordered == ((Reordered(first="b", second="a"),) if rivals else ())
    assert found.equal is not rivals


@pytest.mark.parametrize(("most", "rivals"), [(1, 0), (0, 1)])
def test_past_the_limit_of_comparisons_a_pair_counts_as_rivals(most, rivals, monkeypatch) -> None:
    monkeypatch.setattr(limits, "MAPPING_COMPARISONS", most)
    first, second = ({"id": name, "rules": [{"tool": name}]} for name in "ab")
    assert len(diff_graphs(a_graph(first, second), a_graph(second, first)).reordered) == rivals


IDS = "abcde"


@st.composite
def graphs(draw: st.DrawFn) -> PlanGraph:
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, unique=True))
    nodes = [
        {
            "id": name,
            "title": draw(st.sampled_from(["", "one", "two"])),
            "deps": draw(st.lists(st.sampled_from(ids[:n]), unique=True)) if n else [],
            "critical": draw(st.booleans()),
        }
        for n, name in enumerate(ids)
    ]
    return a_graph(*nodes)


@given(before=graphs(), after=graphs())
def test_the_listed_changes_lead_from_one_version_to_the_other(before: PlanGraph, after: PlanGraph) -> None:
    found = diff_graphs(before, after)
    ids = {n.id for n in before.sub_goals} - {n.id for n in found.removed} | {n.id for n in found.added}
    assert ids == {n.id for n in after.sub_goals}
    gone = {(e.dependency, e.sub_goal) for e in found.edges_removed}
    come = {(e.dependency, e.sub_goal) for e in found.edges_added}
    assert set(edges(before)) - gone | come == set(edges(after))
    fields = {(c.sub_goal, f.field): f.after for c in found.changed for f in c.fields}
    for old in before.sub_goals:
        for new in after.sub_goals:
            if old.id == new.id:
                assert fields.get((new.id, "title"), old.title) == new.title
                assert fields.get((new.id, "critical"), old.critical) == new.critical
    assert {n.before for n in found.renamed} <= {n.id for n in found.removed}


@given(before=graphs(), after=graphs())
def test_the_way_back_is_the_way_there_turned_round(before: PlanGraph, after: PlanGraph) -> None:
    there, back = diff_graphs(before, after), diff_graphs(after, before)
    assert [n.id for n in there.added] == [n.id for n in back.removed]
    assert set(there.edges_added) == set(back.edges_removed)
    assert {(r.before, r.after) for r in there.renamed} == {(r.after, r.before) for r in back.renamed}
    assert there.equal == back.equal


CONDITIONS: list[dict[str, Any]] = [
    {"when": "state.member"},
    {"when_at": "step"},
    {"needs_action": False},
    {"times": 2},
    {"evidence": "message"},
]


@pytest.mark.parametrize("fields", CONDITIONS, ids=lambda fields: next(iter(fields)))
def test_each_part_of_a_condition_is_a_difference(fields: dict[str, Any]) -> None:
    (name, value) = next(iter(fields.items()))
    (sub_goal,) = diff_graphs(a_graph(*DESK), changed(1, **fields)).changed
    assert [(change.field, change.after) for change in sub_goal.fields] == [(name, value)]
