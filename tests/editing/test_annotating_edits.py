"""Commands that edit a plan graph, two people's edits merged, and what a drawing changes."""

# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.plans import (
    GraphFormat,
    PlanGraph,
    SubGoal,
    export_graph,
    load_graph,
    parse_graph,
    read_call,
    validate,
)
from untaken.plans.editing import (
    Add,
    Delete,
    Disconnect,
    Edit,
    Move,
    Session,
    Set,
    SubGoalRow,
    apply,
    apply_all,
    edits_of_rows,
    in_words,
    merge,
    read_edit,
    rows_of,
)
from untaken.plans.editing.edits import FIELDS
from untaken.traces import filled, graphs_in

GRAPH = parse_graph(
    """
schema: untaken.plan/1
id: desk
version: 3
tasks: ["refund-*"]
sub_goals:
- {id: intent, title: Know what is wanted}
- {id: order, deps: [intent], rules: [{tool: search}]}
- {id: mail, deps: [intent]}
- {id: found, deps: [intent], any_of: [order, mail]}
- {id: refund, deps: [found], critical: true, check: {expr: "state.done == true"}}
""",
    name="desk.plan.yaml",
)


def shape(graph: PlanGraph) -> dict[str, Any]:
    return {
        node.id: " ".join([*node.deps, *(f"|{option}" for option in node.any_of)]) for node in graph.sub_goals
    }


APPLIED: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("a new one is the last", {"edit": "add", "sub_goal": {"id": "x", "deps": ["refund"]}}, {"x": "refund"}),
    ("deleting takes its links along", {"edit": "delete", "sub_goal": "order"}, {"order": "-", "found": "intent |mail"}),
    ("deleting what others need", {"edit": "delete", "sub_goal": "intent"}, {"intent": "-", "order": "", "mail": "", "found": "|order |mail"}),
    ("renaming renames its links", {"edit": "rename", "sub_goal": "order", "id": "o"}, {"order": "-", "o": "intent", "found": "intent |o |mail"}),
    ("renaming what is needed", {"edit": "rename", "sub_goal": "found", "id": "f"}, {"found": "-", "f": "intent |order |mail", "refund": "f"}),
    ("a rename to the same id", {"edit": "rename", "sub_goal": "found", "id": "found"}, {}),
    ("connecting", {"edit": "connect", "dependency": "order", "sub_goal": "refund"}, {"refund": "found order"}),
    ("connecting twice", {"edit": "connect", "dependency": "found", "sub_goal": "refund"}, {}),
    ("disconnecting", {"edit": "disconnect", "dependency": "found", "sub_goal": "refund"}, {"refund": ""}),
    ("disconnecting what is not connected", {"edit": "disconnect", "dependency": "mail", "sub_goal": "refund"}, {}),
    ("options", {"edit": "set", "sub_goal": "found", "field": "any_of", "value": ["mail"]}, {"found": "intent |mail"}),
    ("no options", {"edit": "set", "sub_goal": "found", "field": "any_of", "value": None}, {"found": "intent"})
]  # fmt: skip


@pytest.mark.parametrize(("desc", "edit", "want"), APPLIED, ids=[case[0] for case in APPLIED])
def test_a_command_changes_what_it_says_and_keeps_the_rest(desc, edit, want) -> None:
    before, after = shape(GRAPH), shape(apply(GRAPH, read_edit(edit)))
    expected = {name: links for name, links in (before | want).items() if links != "-"}
    assert after == expected


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("a circle, with its path", {"edit": "connect", "dependency": "refund", "sub_goal": "intent"}, "graph-cycle", "intent → refund → found → intent"),
    ("itself", {"edit": "connect", "dependency": "mail", "sub_goal": "mail"}, "graph-self-dependency", "'mail' needs itself"),
    ("a circle of options", {"edit": "set", "sub_goal": "mail", "field": "any_of", "value": ["found"]}, "graph-any-of-cycle", "one of its own options"),
    ("an id that is taken", {"edit": "add", "sub_goal": {"id": "mail"}}, "graph-duplicate-id", "'mail' already"),
    ("a rename to an id that is taken", {"edit": "rename", "sub_goal": "mail", "id": "order"}, "graph-duplicate-id", "'order' already"),
    ("an unknown sub-goal", {"edit": "delete", "sub_goal": "nope"}, "sub-goal-unknown", "'nope'"),
    ("an unknown dependency", {"edit": "connect", "dependency": "nope", "sub_goal": "mail"}, "sub-goal-unknown", "'nope'"),
    ("dependencies that are not there", {"edit": "set", "sub_goal": "mail", "field": "deps", "value": ["no"]}, "graph-unknown-dependency", "'no'"),
    ("an option that is not there", {"edit": "set", "sub_goal": "mail", "field": "any_of", "value": ["no"]}, "graph-any-of-unknown", "'no'"),
    ("an expression that does not compile", {"edit": "set", "sub_goal": "mail", "field": "check", "value": {"expr": "state."}}, "expression-unreadable", "the check of 'mail'"),
    ("a check of two kinds", {"edit": "set", "sub_goal": "mail", "field": "check", "value": {"expr": "true", "outcome": True}}, "graph-check-kind", "it has 2"),
    ("a rule that would match everything", {"edit": "set", "sub_goal": "mail", "field": "rules", "value": [{}]}, "graph-rule-empty", "match everything"),
    ("a title that is none", {"edit": "set", "sub_goal": "mail", "field": "title", "value": 7}, "edit-invalid", "title"),
    ("an unknown kind", {"edit": "set", "sub_goal": "mail", "field": "kind", "value": "step"}, "edit-invalid", "step"),
    ("a field that cannot be set", {"edit": "set", "sub_goal": "mail", "field": "id", "value": "x"}, "edit-invalid", "id"),
    ("a command that is none", {"edit": "explode"}, "edit-invalid", "explode"),
    ("an empty id", {"edit": "rename", "sub_goal": "mail", "id": ""}, "edit-invalid", "id"),
    ("a key of its own", {"edit": "delete", "sub_goal": "mail", "x": 1}, "edit-invalid", "x")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "edit", "code", "words"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_is_refused_says_why_and_what_to_do(desc: str, edit: Any, code: str, words: str) -> None:
    with pytest.raises(UntakenError) as refused:
        apply(GRAPH, read_edit(edit))
    assert refused.value.code == code
    assert words in refused.value.message
    assert refused.value.hint or code in ("graph-check-kind", "graph-self-dependency", "graph-rule-empty")


@pytest.mark.parametrize(
    "text",
    ['{"edit": "delete", "sub_goal": "a", "sub_goal": "b"}', '{"edit": NaN}', "[" * 5_000, "null", "{}"],
)
def test_a_command_from_a_browser_is_read_strictly(text: str) -> None:
    with pytest.raises(UntakenError):
        read_edit(text)


def test_values_that_are_no_json_are_refused() -> None:
    for value in ("\ud800", {"a": object()}, 2**80):
        with pytest.raises(UntakenError) as refused:
            apply(GRAPH, Set(sub_goal="mail", field="metadata", value={"x": value}))
        assert refused.value.code in ("edit-invalid", "plan-json", "plan-not-utf8")


@pytest.mark.parametrize("edit", [Add(sub_goal=SubGoal(id="x"), at=-1), Move(sub_goal="x", at=-1)])
def test_no_place_is_before_the_first(edit: Edit) -> None:
    graph = GRAPH if isinstance(edit, Add) else apply(GRAPH, Add(sub_goal=SubGoal(id="x")))
    assert apply(graph, edit).sub_goals[0].id == "x"


def test_several_commands_are_one_step_and_none_is_done_where_one_is_refused() -> None:
    begun = Session.of(GRAPH)
    done = begun.edit([Set(sub_goal="mail", field="critical", value=True), Delete(sub_goal="order")])
    assert [step.words for step in done.done] == ["2 changes: 'mail' is critical, delete 'order'"]
    assert done.undo().graph == GRAPH
    with pytest.raises(UntakenError):
        begun.edit([Delete(sub_goal="order"), Delete(sub_goal="order")])
    assert begun.graph == GRAPH


def test_what_changes_nothing_is_no_step_and_a_new_step_forgets_what_was_undone() -> None:
    begun = Session.of(GRAPH)
    assert begun.edit(Disconnect(dependency="mail", sub_goal="refund")) == begun
    undone = begun.edit(Delete(sub_goal="order")).undo()
    again = undone.edit(Delete(sub_goal="mail"))
    assert again.undone == ()
    assert again.redo() == again


WITHOUT_COLUMNS = parse_graph(
    """
id: desk
mutates: ["pay*"]
sub_goals:
- id: look
  when: state.asked == true
  when_at: step
  needs_action: false
  evidence: message
  weight: 3
  metadata: {from: review}
  check: {expr: "state.seen == true"}
- {id: pay, deps: [look], times: 2, check: {tool_call: {name: pay, answer: {ok: true}}}}
""",
    name="desk.plan.yaml",
)


def test_what_has_no_column_stays_when_a_row_is_edited() -> None:
    look, pay = rows_of(WITHOUT_COLUMNS)
    assert edits_of_rows(WITHOUT_COLUMNS, [look, pay]) == []
    made = edits_of_rows(WITHOUT_COLUMNS, [replace(look, id="see", title="See it"), pay])
    after = apply_all(WITHOUT_COLUMNS, made)
    before = {"id": "see", "title": "See it"} | {
        field: getattr(WITHOUT_COLUMNS.sub_goals[0], field) for field in FIELDS if field != "title"
    }
    assert {field: getattr(after.sub_goals[0], field) for field in before} == before
    assert after.sub_goals[1].times == 2


def test_how_often_a_call_is_asked_for_may_be_typed_inside_the_check() -> None:
    look, pay = rows_of(WITHOUT_COLUMNS)
    pay = replace(pay, check='{"tool_call": {"name": "pay", "times": 3, "answer": {"ok": true}}}')
    assert edits_of_rows(WITHOUT_COLUMNS, [look, pay]) == [Set(sub_goal="pay", field="times", value=3)]


def test_edited_rows_become_the_fewest_commands() -> None:
    first, order, *others = rows_of(GRAPH)
    rows = [
        replace(first, title="What is wanted", critical=True),
        replace(order, id="look_up", rules='[{"tool": "find"}]', check='"outcome"'),
        *others[1:],
        SubGoalRow(was=None, id="polite", deps=("order",), check='{"verdict": true}'),
        SubGoalRow(was=None, id="  "),
    ]
    made = edits_of_rows(GRAPH, rows)
    after = apply_all(GRAPH, made)
    assert shape(after) == {
        "intent": "", "look_up": "intent", "found": "intent |look_up", "refund": "found", "polite": "look_up"
    }  # fmt: skip
    assert [in_words(edit) for edit in made] == [
        "rename 'order' to 'look_up'",
        "any of of 'found'",
        "add 'polite'",
        "delete 'mail'",
        "title of 'intent'",
        "'intent' is critical",
        "check of 'look_up'",
        "rules of 'look_up'",
        "'polite' needs 'look_up'",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": "[{"}, "rules of 'order'"),
        ({"check": '{"expr": "state."}'}, "the check of 'order'"),
        ({"deps": ("order",)}, "needs itself"),
        ({"id": "mail"}, "mail"),
        ({"kind": "what"}, "what"),
    ],
)
def test_a_row_that_cannot_be_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    rows = [replace(row, **change) if row.id == "order" else row for row in rows_of(GRAPH)]
    with pytest.raises(UntakenError) as refused:
        edits_of_rows(GRAPH, rows)
    assert words in refused.value.message


DEVAI = b"""{"name": "39_Thing", "query": "Do it.", "tags": [], "requirements": [
 {"requirement_id": 0, "prerequisites": [], "criteria": "Load.", "category": "Dataset", "satisfied": null},
 {"requirement_id": 1, "prerequisites": [0], "criteria": "Train.", "category": "Model", "satisfied": null}],
 "preferences": [], "is_kaggle_api_needed": false, "is_training_needed": false, "is_web_navigation_needed": false}"""


@pytest.mark.parametrize(
    ("name", "data", "want"),
    [
        ("my plan.mmd", b"flowchart TD\n a[First] --> b", {"a": "", "b": "a"}),
        ("x.csv", b"source,target\n,a\na,b\n", {"a": "", "b": "a"}),
        (
            "x.json",
            b'{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}',
            {"a": "", "b": "a"},
        ),
        ("x.yaml", b"id: x\nsub_goals: [{id: a}, {id: b, deps: [a]}]", {"a": "", "b": "a"}),
        ("../39_Thing.json", DEVAI, {"R0": "", "R1": "R0"}),
    ],
)
def test_graphs_come_out_of_every_format(name: str, data: bytes, want: dict[str, str]) -> None:
    (graph,) = graphs_in(name, data).graphs
    assert shape(graph) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [(" ", None), (" pay ", {"name": "pay"}), ('{"name": "pay"}', {"name": "pay"}), ("[]", [])],
)
def test_an_expected_call_is_typed_as_json_or_as_the_name_of_a_tool(text: str, want: object) -> None:
    assert read_call(text) == want


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
    versions = [structs.replace(GRAPH, version=version) for version in (2, 3)]
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


SAMPLES = sorted((Path(__file__).parents[2] / "sample_runs").rglob("*.plan.yaml"))
ENDINGS: dict[GraphFormat, str] = {"mermaid": ".mmd", "csv": ".csv", "yaml": ".yaml", "node-link": ".json"}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("format", ["mermaid", "csv"])
def test_a_drawing_that_was_exported_comes_back_as_the_graph_it_was(path: Path, format: GraphFormat) -> None:
    graph = load_graph(path)
    imported = graphs_in(f"g{ENDINGS[format]}", export_graph(graph, format).encode())
    assert imported.drawn
    assert imported.graphs[0] != graph
    assert structs.replace(filled(imported.graphs[0], graph), id=graph.id, version=graph.version) == graph


def test_what_was_drawn_counts_and_what_is_new_or_gone_stays_so() -> None:
    kept = graphs_in("old.plan.yaml", OLD)
    assert not kept.drawn
    old = kept.graphs[0]
    drawn = graphs_in("new.mmd", b"flowchart TD\n a[Look it up] --> c[Close]\n").graphs[0]
    merged = {goal.id: goal for goal in filled(drawn, old).sub_goals}
    assert list(merged) == ["a", "c"]
    assert (merged["a"].title, merged["a"].check) == ("Look it up", old.sub_goals[0].check)
    assert (merged["c"].deps, merged["c"].check, merged["c"].any_of) == (["a"], None, [])
    assert filled(drawn, old).tasks == ["t*"]


OLD = b"""schema: untaken.plan/1
id: old
tasks: ['t*']
sub_goals:
- {id: a, title: Look, check: {verdict: true}, rules: [{tool: look}]}
- {id: b, title: Pay, deps: [a], check: {verdict: true}}
- {id: c, title: Done, any_of: [b]}
"""
